// SPDX-License-Identifier: GPL-2.0-or-later
/* ioviter - its samples against bare loops of the same calls, on the same pages: rate and deviation.
 *
 * In one process, since where the pages of a file and a buffer lie is worth more than the difference that
 * is looked for. */
#include "ioviter/ioviter.h"
#include "common/region.h"
#include "tests/bench/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct row {
	const char *name;
	const struct kind *kind;
	bool write;
	uint64_t call_bytes;
	double wanted;
} rows[] = {
	{ "ubuf read, 4k", &kind_ubuf, false, 4 * KiB, 0.97 },
	{ "ubuf read, 64k", &kind_ubuf, false, 64 * KiB, 0.99 },
	{ "ubuf read, 256m", &kind_ubuf, false, 256 * MiB, 0.99 },
	{ "ubuf write, 4k", &kind_ubuf, true, 4 * KiB, 0.97 },
	{ "ubuf write, 64k", &kind_ubuf, true, 64 * KiB, 0.99 },
	{ "ubuf write, 256m", &kind_ubuf, true, 256 * MiB, 0.99 },
	{ "iovec read, 4k", &kind_iovec, false, 4 * KiB, 0.97 },
	{ "iovec read, 4m", &kind_iovec, false, 4 * MiB, 0.99 },
	{ "iovec write, 4k", &kind_iovec, true, 4 * KiB, 0.97 },
	{ "iovec write, 4m", &kind_iovec, true, 4 * MiB, 0.99 },
};

static struct area area;
static struct iovec iov[MOST_SEGMENTS];

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

/* The volume is the file's size: one walk. */
static uint64_t bare_ubuf(const struct trial *t)
{
	uint64_t began_ns = now_ns();
	ssize_t n = 1;

	for (uint64_t at = 0; at < t->file_bytes && n > 0; at += (uint64_t)n)
		n = t->write ? pwrite(t->fd, t->memory, t->call_bytes, (off_t)at)
			     : pread(t->fd, t->memory, t->call_bytes, (off_t)at);
	if (n <= 0)
		fail("pread or pwrite");
	return now_ns() - began_ns;
}

static uint64_t bare_iovec(const struct trial *t)
{
	int count = (int)kind_iovec.lay(t, 0, t->call_bytes, iov);
	uint64_t began_ns = now_ns();
	ssize_t n = 1;

	for (uint64_t at = 0; at < t->file_bytes && n > 0; at += (uint64_t)n)
		n = t->write ? pwritev2(t->fd, iov, count, (off_t)at, 0)
			     : preadv2(t->fd, iov, count, (off_t)at, 0);
	if (n <= 0)
		fail("preadv2 or pwritev2");
	return now_ns() - began_ns;
}

static uint64_t ours(const struct worker *w, const struct trial *t,
		     const struct kind *kind)
{
	void *state = calloc(1, kind->state_bytes);
	uint64_t ns = 0, calls = 0;

	if (!state || kind->open(state, t) ||
	    trial_sample(w, t, kind, state, &ns, &calls) ||
	    calls != t->file_bytes / t->call_bytes)
		fail(kind->name);
	free(state);
	return ns;
}

/* In percent of the mean. */
static double deviation(const double *ns, unsigned n)
{
	struct summary s;

	summarize(ns, n, &s);
	return s.stddev / s.mean * 100;
}

/* The bare loop's come in two: how far its own deviations differ says what the rows are worth. */
static void print_deviations(const struct pairs *p, const char *name)
{
	double again_ns[PAIRS];

	for (unsigned i = 0; i < p->count; i++)
		again_ns[i] = p->bare_ns[i] / p->noise[i];
	printf("%-24s deviation %.2f %% of the mean, of the bare loop %.2f %% and %.2f "
	       "%% "
	       "(wanted: no more)\n",
	       name, deviation(p->ours_ns, p->count), deviation(p->bare_ns, p->count),
	       deviation(again_ns, p->count));
	fflush(stdout);
}

static void measure(const struct worker *w, const struct row *row)
{
	const struct cell cell = { .kind = row->kind,
				   .write = row->write,
				   .target = TARGET_PAGECACHE,
				   .call_bytes = row->call_bytes };
	uint64_t (*bare)(const struct trial *) = row->kind->segment_bytes ? bare_iovec
									  : bare_ubuf;
	struct pairs pairs = { .count = 0 };
	struct trial t;

	trial_make(&t, &cell, &area);
	bare(&t);
	ours(w, &t, row->kind);
	while (pairs.count < PAIRS) {
		uint64_t bare_ns = bare(&t), ours_ns = ours(w, &t, row->kind);

		pairs_add(&pairs, ours_ns, bare_ns, bare(&t));
	}
	pairs_print(&pairs, row->name, row->wanted, (double)t.file_bytes * 1e3, "MB/s");
	print_deviations(&pairs, row->name);
}

/* PART: rows that have it in their name. */
int main(int argc, char **argv)
{
	struct tally tally = { .limit = UINT64_MAX };
	const struct worker w = { .tally = &tally, .total = 1 };

	base_init();
	cfg.page_bytes = base_page_bytes();
	cfg.targets = (struct values){ .count = 1, .at = { TARGET_PAGECACHE } };
	if (files_open() || area_open(&area, PAGES_BASE, 256 * MiB))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (argc < 2 || strstr(rows[i].name, argv[1]))
			measure(&w, &rows[i]);
	return 0;
}
