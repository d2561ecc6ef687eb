// SPDX-License-Identifier: GPL-2.0-or-later
/* msync - msync's passes against bare loops of the same stores and calls, on the same pages. */
#include "msync/msync.h"
#include "msync/stamp.h"
#include "tests/bench/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
	const char *name, *mode;
	uint64_t range_bytes; /* 0: all in one call */
	bool random;
	uint64_t percent, passes;
} rows[] = {
	{ "sync, all", "sync", 0, false, 100, 4 },
	{ "sync, 1m", "sync", MiB, false, 100, 2 },
	{ "sync, 64k, random 10 %", "sync", 64 * KiB, true, 10, 1 },
	{ "invalidate, all", "invalidate", 0, false, 100, 4 },
	{ "fdatasync", "fdatasync", 0, false, 100, 4 },
	{ "sync_file_range, 1m", "sync_file_range", MiB, false, 100, 2 },
	{ "async, all", "async", 0, false, 100, 200 },
	{ "async, 64k", "async", 64 * KiB, false, 100, 200 },
	{ "none", "none", 0, false, 100, 200 },
};

static struct flush_record record;
static uint64_t *places; /* of the pages, in the order of a pass */

static void choose(const struct row *row)
{
	cfg.mode = 0;
	while (strcmp(modes[cfg.mode].name, row->mode) != 0)
		cfg.mode++;
	cfg.range_bytes = row->range_bytes ?: cfg.size_bytes;
	cfg.pieces = modes[cfg.mode].flush ? cfg.size_bytes / cfg.range_bytes : 0;
	cfg.random = row->random;
	cfg.dirty_percent = row->percent;
	cfg.passes = row->passes;
}

/* Other pages each time, as msync's passes have them: what was dirtied a moment ago is cheaper. */
static void order_places(const struct row *row)
{
	static struct rng rng = { 42 };
	uint64_t pages = cfg.size_bytes / cfg.page_bytes;

	for (uint64_t i = 0; i < pages; i++) {
		uint64_t other = row->random ? rng_scale(rng_next(&rng), i + 1) : i;

		places[i] = places[other];
		places[other] = i * cfg.page_bytes;
	}
}

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static void dirty_bare(const struct row *row, char *memory, uint64_t pass)
{
	uint64_t page = cfg.page_bytes,
		 count = cfg.size_bytes / page * row->percent / 100;

	if (row->random)
		for (uint64_t i = 0; i < count; i++)
			*(struct stamp *)(memory + places[i]) = stamp_make(0, places[i],
									   pass);
	else
		for (uint64_t i = 0; i < count; i++)
			*(struct stamp *)(memory + i * page) = stamp_make(0, i * page,
									  pass);
}

static void run_bare(struct worker *w, const struct row *row)
{
	const struct task *task = w->data;
	const struct mode *mode = &modes[cfg.mode];

	for (uint64_t pass = 1; pass <= row->passes; pass++) {
		dirty_bare(row, task->memory, pass);
		for (uint64_t at = 0; mode->flush && at < cfg.size_bytes;
		     at += cfg.range_bytes) {
			const struct range r = { task->slice->fd, task->memory + at, at,
						 cfg.range_bytes };

			if (mode->flush(&r))
				fail(mode->call);
		}
	}
}

static void run_ours(struct worker *w, const struct row *row)
{
	(void)row;
	if (task_work(w))
		fail("task_work");
}

static uint64_t time_of(void (*run)(struct worker *, const struct row *),
			struct worker *w, const struct row *row)
{
	uint64_t began;

	order_places(row);
	began = now_ns();
	run(w, row);
	return now_ns() - began;
}

static void measure(struct worker *w, const struct row *row)
{
	struct pairs pairs = { .count = 0 };
	uint64_t pages = cfg.size_bytes / cfg.page_bytes * row->percent / 100;

	choose(row);
	if (task_setup(w))
		exit(1);
	time_of(run_bare, w, row);
	while (pairs.count < PAIRS) {
		uint64_t bare, ours, again;

		bare = time_of(run_bare, w, row);
		ours = time_of(run_ours, w, row);
		again = time_of(run_bare, w, row);
		pairs_add(&pairs, ours, bare, again);
	}
	pairs_print(&pairs, row->name, 0.97,
		    (double)(pages * cfg.page_bytes * row->passes) * 1e3, "MB/s");
	task_teardown(w);
}

/* A filesystem in memory: what the calls cost, without the disk and its noise. */
static void open_fs(const char *type, const char **dir)
{
	const struct fs_config config = { .type = type,
					  .size_bytes = 256 * MiB,
					  .on = "tmpfs" };
	static struct fs_made made;
	int ret = fs_open(&config, *dir, &made);

	if (ret)
		exit(exit_status(ret));
	*dir = made.dir;
}

/* PLACE: a directory, or a filesystem to be made in memory. */
int main(int argc, char **argv)
{
	static const char *dirs[] = { "/var/tmp" };
	struct tally tally = { .limit = UINT64_MAX };
	struct worker w = { .tally = &tally, .record = &record, .total = 1 };

	cfg.size_bytes = 8 * MiB;
	cfg.page_bytes = cfg.step_bytes = base_page_bytes();
	cfg.run.workers = 1;
	cfg.run.dirs = (struct words){ dirs, 1 };
	if (argc > 1 && argv[1][0] == '/')
		dirs[0] = argv[1];
	else if (argc > 1)
		open_fs(argv[1], &dirs[0]);
	places = calloc(cfg.size_bytes / cfg.page_bytes, sizeof(*places));
	if (!places || files_open())
		return 1;
	printf("on %s:\n", argc > 1 ? argv[1] : dirs[0]);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (argc <= 2 || strstr(rows[i].name, argv[2]))
			measure(&w, &rows[i]);
	return 0;
}
