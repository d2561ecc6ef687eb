// SPDX-License-Identifier: GPL-2.0-or-later
/* io_uring - a read linked to a write, for files and buffers that the kernel knows already. */
#include "common/uapi.h"
#include "common/uring.h"
#include "copyfile/methods.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The two requests of a slot, told apart in their completions by the lowest bit of the slot's address. */
enum { READING, WRITING };

struct state {
	struct slots slots;
	struct uring uring;
	unsigned flying; /* requests whose completion is not seen */
	int rw_flags;
	int *read_result; /* of each slot */
};

static int uring_method_open(void *state, const struct target *t)
{
	const int files[] = { [READING] = t->fd, [WRITING] = t->to };
	struct state *s = state;
	int ret;

	s->rw_flags = t->uncached ? UAPI_RWF_DONTCACHE : 0;
	s->read_result = calloc(t->depth, sizeof(*s->read_result));
	if (!s->read_result)
		return failed("memory for %u requests", t->depth);
	ret = uring_open_slots(&s->uring, &s->slots, t, 2, files, ARRAY_SIZE(files));
	if (ret)
		free(s->read_result);
	return ret;
}

static struct io_uring_sqe *take_sqe(struct state *s)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&s->uring.ring);

	assert(sqe); /* the ring has room for two requests of each slot */
	s->flying++;
	return sqe;
}

/* Of a request that is prepared. */
static void finish_sqe(const struct state *s, struct io_uring_sqe *sqe, struct slot *slot,
		       unsigned what, unsigned flags)
{
	io_uring_sqe_set_data(sqe, (char *)slot + what);
	sqe->flags |= IOSQE_FIXED_FILE | flags;
	sqe->rw_flags = s->rw_flags;
}

/* The next LEN bytes of the block. A short read ends a link; that of the last unit of a file, with
 * O_DIRECT, is always short, and must not. */
static void queue(struct state *s, struct slot *slot, uint64_t len)
{
	const struct target *t = s->slots.target;
	struct request r = slot_request(&s->slots, slot);
	uint64_t request = target_request(t, len),
		 to = slot->block.to + (r.at - slot->block.at);
	int buffer = (int)(slot - s->slots.slot);
	struct io_uring_sqe *sqe = take_sqe(s);

	io_uring_prep_read_fixed(sqe, READING, r.to, (unsigned)request, r.at, buffer);
	finish_sqe(s, sqe, slot, READING,
		   request > len ? IOSQE_IO_HARDLINK : IOSQE_IO_LINK);
	sqe = take_sqe(s);
	io_uring_prep_write_fixed(sqe, WRITING, r.to, (unsigned)request, to, buffer);
	finish_sqe(s, sqe, slot, WRITING, 0);
}

static uint64_t left_of(const struct state *s, const struct slot *slot)
{
	return slot->block.len - slot_from(&s->slots, slot);
}

static int say_failed(struct state *s, const struct slot *slot, int result,
		      const char *call)
{
	errno = -result;
	return copy_failed(s->slots.target, call, &slot->block);
}

/* A read that did not bring what was asked for has undone the write: what there is comes next. */
static ssize_t read_was_short(struct state *s, struct slot *slot)
{
	const struct target *t = s->slots.target;
	int result = s->read_result[slot - s->slots.slot];

	if (!result)
		return copy_ended_early(t, slot->block.at + slot->done);
	if (result < 0 && result != -EINTR && result != -EAGAIN)
		return say_failed(s, slot, result, "read by io_uring");
	/* Less than a unit of O_DIRECT: the file ended in it. */
	if (result > 0 && result < (int64_t)t->align_bytes)
		return copy_ended_early(t, slot->block.at + slot->done);
	queue(s, slot,
	      result > 0 ? (uint64_t)result & -t->align_bytes : left_of(s, slot));
	return 0;
}

/* The last unit was written whole. */
static int cut_target(struct state *s, const struct slot *slot)
{
	const struct target *t = s->slots.target;

	if (slot->block.to + slot->block.len < t->size_bytes ||
	    target_request(t, slot->block.len) == slot->block.len)
		return 0;
	return ftruncate(t->to, (off_t)t->size_bytes) ? failed("cut %s", t->to_name) : 0;
}

/* Bytes of the block, which then is whole; 0: there is more to come; -errno after saying so. */
static ssize_t wrote(struct state *s, struct slot *slot, int result)
{
	int read_result = s->read_result[slot - s->slots.slot];
	ssize_t n;
	int ret;

	if (result == -ECANCELED)
		return read_was_short(s, slot);
	if (read_result < 0)
		return say_failed(s, slot, read_result, "read by io_uring");
	if ((uint64_t)read_result < left_of(s, slot) && read_result < result)
		return copy_ended_early(s->slots.target,
					slot->block.at + slot_from(&s->slots, slot) +
						(uint64_t)read_result);
	if (slot_is_stuck(&s->slots, slot, result))
		result = -ENOSPC;
	if (result < 0 && result != -EINTR && result != -EAGAIN)
		return say_failed(s, slot, result, "write by io_uring");
	n = slot_came(&s->slots, slot, MAX(result, -EINTR), "write by io_uring");
	if (!n)
		queue(s, slot, left_of(s, slot));
	ret = n > 0 ? cut_target(s, slot) : 0;
	return ret ?: n;
}

/* All that has come. Bytes of blocks that are whole, or -errno after saying so. */
static ssize_t reap(struct state *s)
{
	struct io_uring_cqe *cqe;
	ssize_t bytes = 0, n = 0;
	unsigned head, seen = 0;

	io_uring_for_each_cqe(&s->uring.ring, head, cqe)
	{
		uintptr_t data = (uintptr_t)io_uring_cqe_get_data(cqe);
		struct slot *slot = (struct slot *)(data & ~(uintptr_t)WRITING);

		seen++;
		if (data & WRITING)
			n = wrote(s, slot, cqe->res);
		else
			s->read_result[slot - s->slots.slot] = cqe->res;
		if (unlikely(n < 0))
			break;
		bytes += data & WRITING ? n : 0;
	}
	io_uring_cq_advance(&s->uring.ring, seen);
	s->flying -= seen;
	return n < 0 ? n : bytes;
}

static ssize_t uring_pump(void *state, struct cursor *c)
{
	struct state *s = state;
	struct slot *slot;
	ssize_t bytes = 0;
	int ret;

	while ((slot = slot_take(&s->slots, c)))
		queue(s, slot, slot->block.len);
	while (!bytes && slots_busy(&s->slots)) {
		ret = uring_await(&s->uring);
		if (ret) {
			errno = -ret;
			return copy_failed(s->slots.target, "io_uring_enter", NULL);
		}
		bytes = reap(s);
	}
	return bytes;
}

static void uring_method_close(void *state)
{
	struct state *s = state;

	uring_close_slots(&s->uring, &s->slots, s->flying);
	free(s->read_result);
}

const struct method method_io_uring = {
	IO_URING_ROW,
	.state_bytes = sizeof(struct state),
	.open = uring_method_open,
	.pump = uring_pump,
	.close = uring_method_close,
};
