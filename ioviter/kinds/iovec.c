// SPDX-License-Identifier: GPL-2.0-or-later
/* iovec - ITER_IOVEC: preadv2(2) and pwritev2(2), in segments of a page, or of odd lengths. */
#include "ioviter/kinds.h"

#include <errno.h>

struct state {
	const struct trial *trial;
	const struct kind *kind;
	unsigned count; /* segments of a call of call_bytes */
	struct iovec iov[MOST_SEGMENTS];
};

static uint64_t page_segments(const struct trial *t)
{
	return t->page_bytes;
}

/* Odd, so that each segment begins elsewhere in its page than the one before. */
static uint64_t odd_segments(const struct trial *t)
{
	return t->page_bytes - 1;
}

/* Segments of EACH bytes from FIRST on, one behind the other, again from FIRST when there is no memory
 * left. */
static unsigned lay_from(const struct trial *t, uint64_t first, uint64_t each,
			 uint64_t len, struct iovec *iov)
{
	uint64_t at = first;
	unsigned count = 0;

	for (; len; count++) {
		uint64_t bytes = MIN(each, len);

		if (at + bytes > t->span_bytes)
			at = first;
		iov[count] = (struct iovec){ t->memory + at, bytes };
		at += bytes;
		len -= bytes;
	}
	return count;
}

static unsigned lay_pages(const struct trial *t, uint64_t offset, uint64_t len,
			  struct iovec *iov)
{
	(void)offset;
	return lay_from(t, 0, page_segments(t), len, iov);
}

/* From the middle of a page on: each of them reaches into the next page. */
static unsigned lay_odd(const struct trial *t, uint64_t offset, uint64_t len,
			struct iovec *iov)
{
	(void)offset;
	return lay_from(t, t->page_bytes / 2 + 1, odd_segments(t), len, iov);
}

static int open_as(void *state, const struct trial *t, const struct kind *kind)
{
	struct state *s = state;

	s->trial = t;
	s->kind = kind;
	s->count = kind->lay(t, 0, t->call_bytes, s->iov);
	return 0;
}

static ssize_t call_once(const struct trial *t, const struct iovec *iov, unsigned count,
			 uint64_t at)
{
	return t->write ? pwritev2(t->fd, iov, (int)count, (off_t)at, 0)
			: preadv2(t->fd, iov, (int)count, (off_t)at, 0);
}

/* Leave the first N bytes of IOV out. The segments that are left, from *IOV on. */
static unsigned advance(struct iovec **iov, unsigned count, uint64_t n)
{
	while (count && n >= (*iov)->iov_len) {
		n -= (*iov)->iov_len;
		(*iov)++;
		count--;
	}
	if (count) {
		(*iov)->iov_base = (char *)(*iov)->iov_base + n;
		(*iov)->iov_len -= n;
	}
	return count;
}

/* A call of another length, or what is missing of one that ended with N of BLOCK's bytes. */
static ssize_t finish(struct state *s, const struct span *block, ssize_t n)
{
	const struct trial *t = s->trial;
	struct iovec left[MOST_SEGMENTS], *iov = left;
	unsigned count = s->kind->lay(t, block->at, block->len, left);
	uint64_t done = 0;

	for (;;) {
		if (n > 0) {
			count = advance(&iov, count, (uint64_t)n);
			done += (uint64_t)n;
		}
		if (done == block->len)
			return (ssize_t)block->len;
		n = call_once(t, iov, count, block->at + done);
		if (n < 0 ? errno != EINTR : !n)
			return trial_failed(t, t->write ? "pwritev2" : "preadv2",
					    block->at + done, n);
	}
}

static ssize_t iovec_pump(void *state, struct cursor *c)
{
	struct state *s = state;
	const struct trial *t = s->trial;
	struct span block;
	ssize_t n;

	if (!cursor_next(c, &block))
		return 0;
	if (unlikely(block.len != t->call_bytes))
		return finish(s, &block, 0);
	n = call_once(t, s->iov, s->count, block.at);
	if (n == (ssize_t)block.len)
		return n;
	if (n < 0 ? errno != EINTR : !n)
		return trial_failed(t, t->write ? "pwritev2" : "preadv2", block.at, n);
	return finish(s, &block, n);
}

static int iovec_open(void *state, const struct trial *t)
{
	return open_as(state, t, &kind_iovec);
}

static int iovec_split_open(void *state, const struct trial *t)
{
	return open_as(state, t, &kind_iovec_split);
}

const struct kind kind_iovec = {
	.name = "iovec",
	.help = "preadv2(2), pwritev2(2): segments of a page each",
	.state_bytes = sizeof(struct state),
	.lay = lay_pages,
	.segment_bytes = page_segments,
	.open = iovec_open,
	.pump = iovec_pump,
};

const struct kind kind_iovec_split = {
	.name = "iovec_split",
	.help = "the same: segments a byte shorter, each across two pages",
	.state_bytes = sizeof(struct state),
	.lay = lay_odd,
	.segment_bytes = odd_segments,
	.open = iovec_split_open,
	.pump = iovec_pump,
};
