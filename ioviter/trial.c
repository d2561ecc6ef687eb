// SPDX-License-Identifier: GPL-2.0-or-later
/* trial - one sample of a cell, and a look at whether the right bytes move. */
#include "common/clock.h"
#include "common/scratch.h"
#include "ioviter/ioviter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shared by all segments with --buffer small; four pages at least. */
#define SMALL_BYTES (64 * KiB)
/* Who stops waits for as much: well under a millisecond, where the size of a call lets it. */
#define PIECE_BYTES MiB
/* Looked at by --verify, spread over the file. */
enum { VERIFIED_CALLS = 16 };

void trial_make(struct trial *t, const struct cell *cell, const struct area *area)
{
	uint64_t left = area->bytes - cell->align_bytes,
		 small = MAX(SMALL_BYTES, 4 * cfg.page_bytes);
	bool shares = cfg.buffer == BUFFER_SMALL && cell->kind->segment_bytes;

	*t = (struct trial){
		.fd = file_of(cell->target),
		.name = file_name(cell->target),
		.file_bytes = cell->target == TARGET_PAGECACHE ? cfg.size_bytes : 0,
		.write = cell->write,
		.memory = area->memory + cell->align_bytes,
		.span_bytes = shares ? MIN(small, left) : left,
		.call_bytes = cell->call_bytes,
		.most_segments = (unsigned)cfg.segments,
		.page_bytes = cfg.page_bytes,
	};
}

/* All blocks of C, a piece at a time. As trial_sample(). */
static int walk_through(const struct worker *w, const struct kind *kind, void *state,
			struct cursor *c)
{
	ssize_t (*pump)(void *, struct cursor *) = kind->pump;
	uint64_t piece = MAX(PIECE_BYTES / c->block_bytes, 1), end = c->end;
	ssize_t n = 0;

	for (c->end = 0; c->end < end && n >= 0;) {
		if (!keep_going(w))
			return TRIAL_CUT;
		c->end = MIN(c->end + piece, end);
		while ((n = pump(state, c)) > 0)
			;
	}
	return (int)MIN(n, 0);
}

int trial_sample(const struct worker *w, const struct trial *t, const struct kind *kind,
		 void *state, uint64_t *ns, uint64_t *calls)
{
	uint64_t walk = t->file_bytes ?: cfg.volume_bytes, began_ns = now_ns(), done = 0;
	int ret = 0;

	for (uint64_t left = cfg.volume_bytes; left && !ret;) {
		uint64_t bytes = MIN(left, walk);
		struct cursor c = cursor_begin(bytes, t->call_bytes, ORDER_SEQ, 0);

		ret = walk_through(w, kind, state, &c);
		done += c.next;
		left -= bytes;
	}
	if (ret)
		return ret;
	*ns = now_ns() - began_ns;
	*calls = done;
	return 0;
}

/* What the file, or /dev/zero, holds at AT. 0, or -errno after saying so. */
static int read_target(const struct trial *t, char *data, uint64_t at, uint64_t len)
{
	uint64_t done = 0;

	memset(data, 0, len);
	while (t->file_bytes && done < len) {
		ssize_t n = pread(t->fd, data + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return trial_failed(t, "pread", at + done, n);
		done += (uint64_t)n;
	}
	return 0;
}

/* The memory of a call, in order, to or from DATA. */
static void copy_memory(const struct iovec *iov, unsigned count, char *data, bool out)
{
	for (unsigned i = 0; i < count; i++) {
		if (out)
			memcpy(data, iov[i].iov_base, iov[i].iov_len);
		else
			memcpy(iov[i].iov_base, data, iov[i].iov_len);
		data += iov[i].iov_len;
	}
}

/* Another pattern than the file's, and in each call another one: what an earlier call has left passes for
 * nothing. */
static void fill(char *data, uint64_t len)
{
	static uint64_t calls;
	uint64_t first = ++calls * GiB;

	for (uint64_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t word = scratch_word(first + i);

		memcpy(data + i, &word, MIN(sizeof(word), len - i));
	}
}

/* Where segments lie over each other the last one to come is there. */
static uint64_t first_of_the_last(const struct trial *t, const struct iovec *iov,
				  unsigned count, uint64_t len)
{
	uint64_t bytes = 0;

	while (count &&
	       bytes + iov[count - 1].iov_len + 2 * t->page_bytes <= t->span_bytes)
		bytes += iov[--count].iov_len;
	return len - bytes;
}

static int compare(const struct trial *t, const struct kind *kind, uint64_t at,
		   const char *expected, const char *found, uint64_t from, uint64_t len)
{
	for (uint64_t i = from; i < len; i++)
		if (expected[i] != found[i])
			return broken("%s, %s, memory at byte %ju of a page: wrong data "
				      "at offset %ju of %s: expected 0x%02x, found "
				      "0x%02x",
				      kind->name, t->write ? "write" : "read",
				      (uintmax_t)((uintptr_t)t->memory % t->page_bytes),
				      (uintmax_t)(at + i), t->name,
				      (unsigned char)expected[i],
				      (unsigned char)found[i]);
	return 0;
}

/* One call for BLOCK. EXPECTED and FOUND have room for it. */
static int verify_call(const struct trial *t, const struct kind *kind, void *state,
		       struct cursor *c, const struct span *block, char *expected,
		       char *found)
{
	struct iovec iov[MOST_SEGMENTS];
	unsigned count = kind->lay(t, block->at, block->len, iov);
	uint64_t from = 0;
	ssize_t n;
	int ret = 0;

	if (t->write)
		fill(expected, block->len);
	else
		ret = read_target(t, expected, block->at, block->len);
	if (ret)
		return ret;
	/* Before a read every bit of the memory is wrong. */
	for (uint64_t i = 0; i < block->len; i++)
		found[i] = (char)~expected[i];
	copy_memory(iov, count, t->write ? expected : found, false);
	/* Segments may lie over each other: what is there counts. */
	if (t->write)
		copy_memory(iov, count, expected, true);
	n = kind->pump(state, c);
	if (n != (ssize_t)block->len)
		return n < 0 ? (int)n : trial_failed(t, kind->name, block->at, n);
	if (t->write) {
		ret = read_target(t, found, block->at, block->len);
	} else {
		copy_memory(iov, count, found, true);
		from = first_of_the_last(t, iov, count, block->len);
	}
	return ret ?: compare(t, kind, block->at, expected, found, from, block->len);
}

/* EXPECTED and FOUND have room for a call. */
static int verify_calls(const struct trial *t, const struct kind *kind, void *state,
			char *expected, char *found)
{
	uint64_t bytes = t->file_bytes ?: t->call_bytes * VERIFIED_CALLS;
	struct cursor c = cursor_begin(bytes, t->call_bytes, ORDER_SEQ, 0);
	uint64_t step = MAX(c.blocks / VERIFIED_CALLS, 1), last = c.blocks - 1;
	int ret = 0;

	for (uint64_t i = 0; !ret && i <= last;
	     i = i < last && i + step > last ? last : i + step) {
		struct span block;
		struct cursor look;

		c.next = i;
		c.end = i + 1;
		look = c;
		if (cursor_next(&look, &block))
			ret = verify_call(t, kind, state, &c, &block, expected, found);
	}
	return ret;
}

int trial_verify(const struct trial *t, const struct kind *kind, void *state)
{
	char *expected = calloc(1, t->call_bytes), *found = calloc(1, t->call_bytes);
	int ret = 0;

	/* A device takes all and keeps nothing. */
	if (!expected || !found)
		ret = failed("memory to verify in");
	else if (t->file_bytes || !t->write)
		ret = verify_calls(t, kind, state, expected, found);
	free(expected);
	free(found);
	return ret;
}
