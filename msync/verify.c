// SPDX-License-Identifier: GPL-2.0-or-later
/* verify - read back what was flushed, and compare it with what it must be. */
#include "common/scratch.h"
#include "msync/msync.h"
#include "msync/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read at once. */
#define READ_BYTES (1 * MiB)

struct verifier {
	int fd;
	char *found;    /* READ_BYTES */
	char *expected; /* a page */
};

/* A descriptor of its own, with O_DIRECT unless that is known not to work. */
static int open_for_reading(const struct slice *slice, bool direct)
{
	int fd = scratch_reopen(slice->fd, O_RDONLY);

	if (fd < 0 || !direct || !fcntl(fd, F_SETFL, O_DIRECT))
		return fd;
	close(fd);
	return -EINVAL;
}

int verifier_open(const struct slice *slice, struct verifier **opened)
{
	struct verifier *v = calloc(1, sizeof(*v));

	if (!v)
		return failed("memory to verify in");
	*opened = v;
	v->found = aligned_alloc(cfg.page_bytes, READ_BYTES);
	v->expected = calloc(1, cfg.page_bytes);
	if (!v->found || !v->expected)
		return failed("memory to verify in");
	v->fd = open_for_reading(slice, !cfg.buffered);
	return MIN(v->fd, 0);
}

void verifier_close(struct verifier *v)
{
	if (!v)
		return;
	close(v->fd);
	free(v->found);
	free(v->expected);
	free(v);
}

int verify_direct(const struct slice *slice)
{
	char *page = aligned_alloc(cfg.page_bytes, cfg.page_bytes);
	int fd = page ? open_for_reading(slice, true) : failed("memory to verify in");
	bool works = false;

	/* Some filesystems object only to the reading. */
	if (fd >= 0) {
		works = pread(fd, page, cfg.page_bytes, 0) == (ssize_t)cfg.page_bytes;
		close(fd);
	}
	free(page);
	return fd < 0 && fd != -EINVAL ? fd : works;
}

static int read_back(const struct slice *slice, const struct verifier *v, uint64_t at,
		     uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes;) {
		ssize_t n = pread(v->fd, v->found + done, bytes - done,
				  (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed("read back %ju bytes at offset %ju of %s",
				      (uintmax_t)(bytes - done), (uintmax_t)(at + done),
				      slice->name);
		if (!n)
			return broken("%s ends at offset %ju, where %ju bytes were "
				      "flushed",
				      slice->name, (uintmax_t)(at + done),
				      (uintmax_t)(bytes - done));
		done += (uint64_t)n;
	}
	return 0;
}

/* What the page at OFFSET holds if its last stamp is of PASS: else what the file was filled with. */
static void expect_page(const struct verifier *v, const struct worker *w, uint64_t offset,
			uint32_t pass)
{
	struct stamp *stamp = (struct stamp *)v->expected;
	uint64_t *words = (uint64_t *)v->expected;

	if (cfg.written)
		for (uint64_t i = 0; i < cfg.page_bytes / sizeof(*words); i++)
			words[i] = scratch_word(offset / sizeof(*words) + i);
	else
		*stamp = (struct stamp){ 0 };
	if (pass)
		*stamp = stamp_make(w->id, offset, pass);
}

/* "worker 3, offset 8192, pass 7", or what is there in place of a stamp. */
static const char *page_text(const char *page, size_t differs_at, char buf[static 128])
{
	struct stamp stamp;
	uint64_t word;

	memcpy(&stamp, page, sizeof(stamp));
	memcpy(&word, page + differs_at, sizeof(word));
	if (differs_at < sizeof(stamp) && stamp_is_one(&stamp))
		snprintf(buf, 128, "worker %ju, offset %ju, pass %ju",
			 (uintmax_t)stamp.worker, (uintmax_t)stamp.offset,
			 (uintmax_t)stamp.pass);
	else
		snprintf(buf, 128, "0x%016jx at byte %zu of the page", (uintmax_t)word,
			 differs_at);
	return buf;
}

static int say_wrong(const struct worker *w, const struct slice *slice, uint64_t offset,
		     const char *expected, const char *found)
{
	char wanted[128], there[128];
	size_t at = 0;

	while (!memcmp(expected + at, found + at, sizeof(uint64_t)))
		at += sizeof(uint64_t);
	return broken("worker %u: wrong data at offset %ju of %s: expected %s, found %s",
		      w->id, (uintmax_t)offset, slice->name,
		      page_text(expected, at, wanted), page_text(found, at, there));
}

static int compare_pages(const struct worker *w, const struct task *task, uint64_t at,
			 uint64_t bytes)
{
	const struct slice *slice = task->slice;
	const struct verifier *v = task->verifier;
	uint64_t first = at / cfg.page_bytes, count = bytes / cfg.page_bytes;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t offset = slice->at + (first + i) * cfg.page_bytes;
		const char *found = v->found + i * cfg.page_bytes;

		expect_page(v, w, offset, slice->history->stamped[first + i]);
		if (memcmp(v->expected, found, cfg.page_bytes) != 0)
			return say_wrong(w, slice, offset, v->expected, found);
	}
	return 0;
}

int verify_range(struct worker *w, struct task *task, uint64_t at, uint64_t bytes)
{
	struct flush_record *record = w->record;
	uint64_t len;
	int ret = 0;

	for (uint64_t done = 0; done < bytes && !ret && !crew_stopping(w); done += len) {
		len = MIN(READ_BYTES, bytes - done);
		ret = read_back(task->slice, task->verifier, task->slice->at + at + done,
				len);
		if (!ret)
			ret = compare_pages(w, task, at + done, len);
		if (!ret)
			record->verified_bytes += len;
	}
	return ret;
}
