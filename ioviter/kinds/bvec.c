// SPDX-License-Identifier: GPL-2.0-or-later
/* bvec - ITER_BVEC: a buffer that is registered with io_uring, whose pages the kernel holds. */
#include "ioviter/kinds/bvec.h"

#include "common/uring.h"

#include <errno.h>

struct state {
	const struct trial *trial;
	const struct kind *kind;
	struct target target; /* what the ring's messages name */
	struct uring uring;
};

/* Room for the offsets of bvec_split is needed too. */
static uint64_t most_of_buffer(void)
{
	return URING_MOST_BYTES / 2;
}

/* Odd, and another one for the next call: pages are split at ever other places. */
static unsigned lay_split(const struct trial *t, uint64_t offset, uint64_t len,
			  struct iovec *iov)
{
	uint64_t shift = (offset / t->call_bytes * 122 + 1) % t->page_bytes;

	iov[0] = (struct iovec){ t->memory + shift, len };
	return 1;
}

static int open_as(void *state, const struct trial *t, const struct kind *kind)
{
	struct state *s = state;
	/* No more than its calls use: memory that other cells need is not locked here, and a buffer
	 * has at most URING_MOST_BYTES. */
	struct iovec all = { t->memory,
			     MIN(t->call_bytes + t->page_bytes, t->span_bytes) };
	int ret;

	s->trial = t;
	s->kind = kind;
	s->target = (struct target){ .name = t->name, .fd = t->fd, .depth = 1 };
	ret = uring_open(&s->uring, &s->target, 1, all.iov_len);
	if (ret)
		return ret;
	ret = uring_buffers(&s->uring, &all, 1);
	if (!ret)
		ret = uring_files(&s->uring, &t->fd, 1);
	if (ret)
		uring_close(&s->uring);
	return ret;
}

/* One request: its result, or -errno, in silence. */
static int64_t call_once(struct state *s, char *memory, uint64_t len, uint64_t at)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&s->uring.ring);
	struct io_uring_cqe *cqe;
	int64_t n;
	int ret;

	if (s->trial->write)
		io_uring_prep_write_fixed(sqe, 0, memory, (unsigned)len, at, 0);
	else
		io_uring_prep_read_fixed(sqe, 0, memory, (unsigned)len, at, 0);
	sqe->flags |= IOSQE_FIXED_FILE;
	ret = uring_await(&s->uring);
	if (!ret)
		ret = io_uring_peek_cqe(&s->uring.ring, &cqe);
	/* The request was handed over: its end comes, whatever interrupts the waiting. */
	while (ret == -EAGAIN || ret == -EINTR)
		ret = io_uring_wait_cqe(&s->uring.ring, &cqe);
	if (ret)
		return ret;
	n = cqe->res;
	io_uring_cqe_seen(&s->uring.ring, cqe);
	return n;
}

static ssize_t finish(struct state *s, const struct span *block, char *memory, int64_t n)
{
	const struct trial *t = s->trial;
	uint64_t done = 0;

	for (;;) {
		errno = n < 0 ? (int)-n : 0;
		if (n < 0 ? n != -EINTR && n != -EAGAIN : !n)
			return trial_failed(t, t->write ? "WRITE_FIXED" : "READ_FIXED",
					    block->at + done, n);
		done += (uint64_t)MAX(n, 0);
		if (done == block->len)
			return (ssize_t)block->len;
		n = call_once(s, memory + done, block->len - done, block->at + done);
	}
}

static ssize_t bvec_pump(void *state, struct cursor *c)
{
	struct state *s = state;
	struct iovec iov;
	struct span block;
	int64_t n;

	if (!cursor_next(c, &block))
		return 0;
	s->kind->lay(s->trial, block.at, block.len, &iov);
	n = call_once(s, iov.iov_base, block.len, block.at);
	return n == (int64_t)block.len ? n : finish(s, &block, iov.iov_base, n);
}

static void bvec_close(void *state)
{
	struct state *s = state;

	uring_close(&s->uring);
}

static int bvec_open(void *state, const struct trial *t)
{
	return open_as(state, t, &kind_bvec);
}

static int bvec_split_open(void *state, const struct trial *t)
{
	return open_as(state, t, &kind_bvec_split);
}

const struct kind kind_bvec = {
	BVEC_ROW,
	.rings = true,
	.state_bytes = sizeof(struct state),
	.most_bytes = most_of_buffer,
	.lay = lay_one,
	.open = bvec_open,
	.pump = bvec_pump,
	.close = bvec_close,
};

const struct kind kind_bvec_split = {
	BVEC_SPLIT_ROW,
	.rings = true,
	.state_bytes = sizeof(struct state),
	.most_bytes = most_of_buffer,
	.lay = lay_split,
	.open = bvec_split_open,
	.pump = bvec_pump,
	.close = bvec_close,
};
