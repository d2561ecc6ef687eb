// SPDX-License-Identifier: GPL-2.0-or-later
/* io_uring - many requests in flight, for a file and buffers that the kernel knows already. */
#include "common/parse.h"
#include "common/slots.h"
#include "common/uapi.h"
#include "common/uring.h"
#include "readtwice/methods.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct state {
	struct slots slots;
	struct uring uring;
	int rw_flags;
};

static int fits(const struct target *t)
{
	char size[FORMAT_LEN];

	if (t->depth > URING_MOST_BUFFERS)
		return refused("method io_uring takes %d requests at most, not %u",
			       URING_MOST_BUFFERS, t->depth);
	if (t->block_bytes > URING_MOST_BYTES)
		return refused("method io_uring takes blocks of 1g at most, not %s",
			       format_size(size, t->block_bytes));
	return 0;
}

static int register_slots(struct state *s)
{
	const struct target *t = s->slots.target;
	struct iovec *iov = calloc(t->depth, sizeof(*iov));
	int ret;

	if (!iov)
		return failed("memory for %u buffers", t->depth);
	for (unsigned i = 0; i < t->depth; i++)
		iov[i] = (struct iovec){ s->slots.slot[i].memory, s->slots.step_bytes };
	ret = uring_buffers(&s->uring, iov, t->depth);
	free(iov);
	return ret ?: uring_files(&s->uring, &t->fd, 1);
}

static int uring_method_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ret = fits(t);

	if (ret)
		return ret;
	s->rw_flags = t->uncached ? UAPI_RWF_DONTCACHE : 0;
	ret = slots_open(&s->slots, t);
	if (ret)
		return ret;
	ret = uring_open(&s->uring, t, t->depth, t->depth * s->slots.step_bytes);
	if (ret) {
		slots_close(&s->slots);
		return ret;
	}
	ret = register_slots(s);
	if (ret) {
		uring_close(&s->uring);
		slots_close(&s->slots);
	}
	return ret;
}

static void queue(struct state *s, struct slot *slot)
{
	struct request r = slot_request(&s->slots, slot);
	struct io_uring_sqe *sqe = io_uring_get_sqe(&s->uring.ring);

	assert(sqe); /* the ring has room for all slots */
	io_uring_prep_read_fixed(sqe, 0, r.to, (unsigned)r.len, r.at,
				 (int)(slot - s->slots.slot));
	io_uring_sqe_set_data(sqe, slot);
	sqe->flags |= IOSQE_FIXED_FILE;
	sqe->rw_flags = s->rw_flags;
}

/* All that has come. Bytes of blocks that are whole, or -errno after saying so; of others the rest
 * is queued. */
static ssize_t reap(struct state *s)
{
	struct io_uring_cqe *cqe;
	ssize_t bytes = 0, came = 0;
	unsigned head, seen = 0;

	io_uring_for_each_cqe(&s->uring.ring, head, cqe)
	{
		struct slot *slot = io_uring_cqe_get_data(cqe);

		seen++;
		came = slot_came(&s->slots, slot, cqe->res, "read by io_uring");
		if (unlikely(came < 0))
			break;
		if (unlikely(!came))
			queue(s, slot);
		bytes += came;
	}
	io_uring_cq_advance(&s->uring.ring, seen);
	return came < 0 ? came : bytes;
}

static ssize_t uring_pump(void *state, struct cursor *c)
{
	struct state *s = state;
	struct slot *slot;
	ssize_t bytes = 0;
	int ret;

	while ((slot = slot_take(&s->slots, c)))
		queue(s, slot);
	while (!bytes && slots_busy(&s->slots)) {
		ret = uring_await(&s->uring);
		if (ret) {
			errno = -ret;
			return failed("%s: io_uring_enter", s->slots.target->name);
		}
		bytes = reap(s);
	}
	return bytes;
}

static void uring_method_close(void *state)
{
	struct state *s = state;
	struct io_uring_cqe *cqe;
	unsigned head, seen;

	while (slots_busy(&s->slots) && !uring_await(&s->uring)) {
		seen = 0;
		io_uring_for_each_cqe(&s->uring.ring, head, cqe) seen++;
		s->slots.nidle += seen;
		io_uring_cq_advance(&s->uring.ring, seen);
	}
	/* What is in flight for ever writes into memory that is nobody else's. */
	if (slots_busy(&s->slots))
		s->slots.memory = NULL;
	uring_close(&s->uring);
	slots_close(&s->slots);
}

const struct method method_io_uring = {
	IO_URING_ROW,
	.state_bytes = sizeof(struct state),
	.open = uring_method_open,
	.pump = uring_pump,
	.close = uring_method_close,
};
