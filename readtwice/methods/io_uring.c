// SPDX-License-Identifier: GPL-2.0-or-later
/* io_uring - many requests in flight, for a file and buffers that the kernel knows already. */
#include "common/uapi.h"
#include "common/uring.h"
#include "readtwice/methods.h"

#include <assert.h>
#include <errno.h>

struct state {
	struct slots slots;
	struct uring uring;
	int rw_flags;
};

static int uring_method_open(void *state, const struct target *t)
{
	struct state *s = state;

	s->rw_flags = t->uncached ? UAPI_RWF_DONTCACHE : 0;
	return uring_open_slots(&s->uring, &s->slots, t, 1, &t->fd, 1);
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

	uring_close_slots(&s->uring, &s->slots, slots_busy(&s->slots));
}

const struct method method_io_uring = {
	IO_URING_ROW,
	.state_bytes = sizeof(struct state),
	.open = uring_method_open,
	.pump = uring_pump,
	.close = uring_method_close,
};
