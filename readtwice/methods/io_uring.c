// SPDX-License-Identifier: GPL-2.0-or-later
/* io_uring - many requests in flight, for a file and buffers that the kernel knows already. */
#include "common/parse.h"
#include "common/procfile.h"
#include "common/uapi.h"
#include "readtwice/methods.h"
#include "readtwice/methods/slots.h"

#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/resource.h>

struct state {
	struct slots slots;
	struct io_uring ring;
	int rw_flags;
};

/* How many buffers can be registered, and how large one may be (io_uring_register(2)). */
enum { MOST_BUFFERS = 16384 };
static const uint64_t most_bytes = GiB;

/* The best that the kernel takes: completions are worked off when we wait for some, not whenever they
 * come. */
static const unsigned ring_flags[] = {
	UAPI_RING_COOP_TASKRUN | UAPI_RING_SINGLE_ISSUER | UAPI_RING_DEFER_TASKRUN,
	UAPI_RING_COOP_TASKRUN,
	0,
};

static int fits(const struct target *t)
{
	char size[FORMAT_LEN];

	if (t->depth > MOST_BUFFERS)
		return refused("method io_uring takes %d requests at most, not %u",
			       MOST_BUFFERS, t->depth);
	if (t->block_bytes > most_bytes)
		return refused("method io_uring takes blocks of 1g at most, not %s",
			       format_size(size, t->block_bytes));
	return 0;
}

static int refused_eperm(const struct target *t)
{
	char *text = procfile_read("", "/proc/sys/kernel/io_uring_disabled");
	long disabled = text ? strtol(text, NULL, 10) : 0;
	int ret;

	if (disabled)
		ret = method_refused(t, "io_uring_setup", EPERM,
				     "kernel.io_uring_disabled is %ld: set it to 0",
				     disabled);
	else
		ret = method_refused(t, "io_uring_setup", EPERM,
				     "kernel.io_uring_disabled is %s: a seccomp filter "
				     "or a security module forbids it: let it pass",
				     text ? "0" : "not there");
	free(text);
	return ret;
}

/* What is charged to the memlock limit: the buffers and, by some kernels (6.18 is one), the rings: a
 * power of two entries, 64 bytes each and 32 for its two completions. */
static uint64_t locked_bytes(const struct slots *s)
{
	uint64_t entries = 1;

	while (entries < s->target->depth)
		entries *= 2;
	return s->target->depth * s->step_bytes + entries * 96;
}

static int refused_memory(const struct slots *s, const char *call)
{
	char limit_text[FORMAT_LEN] = "unlimited", needed_text[FORMAT_LEN];
	struct rlimit limit;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		format_size(limit_text, limit.rlim_cur);
	return method_refused(s->target, call, ENOMEM,
			      "memlock limit is %s, needed %s: raise it (ulimit -l), or "
			      "have fewer requests in flight, or smaller blocks",
			      limit_text, format_size(needed_text, locked_bytes(s)));
}

static int setup_failed(const struct slots *s, int error)
{
	const struct target *t = s->target;

	if (error == EPERM)
		return refused_eperm(t);
	if (error == ENOSYS)
		return method_refused(t, "io_uring_setup", error,
				      "the kernel is built without it, or a seccomp "
				      "filter forbids it: let it pass");
	if (error == ENOMEM)
		return refused_memory(s, "io_uring_setup");
	errno = error;
	return failed("%s: io_uring_setup for %u requests", t->name, t->depth);
}

static int set_up(struct state *s)
{
	unsigned depth = s->slots.target->depth;
	int ret = -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(ring_flags) && ret == -EINVAL; i++) {
		struct io_uring_params params = { .flags = ring_flags[i] };

		ret = io_uring_queue_init_params(depth, &s->ring, &params);
	}
	return ret < 0 ? setup_failed(&s->slots, -ret) : 0;
}

static int register_slots(struct state *s)
{
	const struct target *t = s->slots.target;
	uint64_t step = s->slots.step_bytes;
	struct iovec *iov = calloc(t->depth, sizeof(*iov));
	int ret = iov ? 0 : -ENOMEM;

	for (unsigned i = 0; iov && i < t->depth; i++)
		iov[i] = (struct iovec){ s->slots.slot[i].memory, step };
	if (iov)
		ret = io_uring_register_buffers(&s->ring, iov, t->depth);
	free(iov);
	if (ret == -ENOMEM)
		return refused_memory(&s->slots, "io_uring_register of buffers");
	if (!ret)
		ret = io_uring_register_files(&s->ring, &t->fd, 1);
	errno = -ret;
	return ret < 0 ? failed("%s: io_uring_register", t->name) : 0;
}

static int uring_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ret = fits(t);

	if (ret)
		return ret;
	s->rw_flags = t->uncached ? UAPI_RWF_DONTCACHE : 0;
	ret = slots_open(&s->slots, t);
	if (ret)
		return ret;
	ret = set_up(s);
	if (ret) {
		slots_close(&s->slots);
		return ret;
	}
	ret = register_slots(s);
	if (ret) {
		io_uring_queue_exit(&s->ring);
		slots_close(&s->slots);
	}
	return ret;
}

static void queue(struct state *s, struct slot *slot)
{
	struct request r = slot_request(&s->slots, slot);
	struct io_uring_sqe *sqe = io_uring_get_sqe(&s->ring);

	assert(sqe); /* the ring has room for all slots */
	io_uring_prep_read_fixed(sqe, 0, r.to, (unsigned)r.len, r.at,
				 (int)(slot - s->slots.slot));
	io_uring_sqe_set_data(sqe, slot);
	sqe->flags |= IOSQE_FIXED_FILE;
	sqe->rw_flags = s->rw_flags;
}

/* Hand over what is queued, and wait until something has come, or a signal. 0 or -errno in silence. */
static int await(struct state *s)
{
	int ret;

	do {
		ret = io_uring_submit_and_wait(&s->ring, 1);
	} while (ret == -EINTR);
	return MIN(ret, 0);
}

/* All that has come. Bytes of blocks that are whole, or -errno after saying so; of others the rest
 * is queued. */
static ssize_t reap(struct state *s)
{
	struct io_uring_cqe *cqe;
	ssize_t bytes = 0, came = 0;
	unsigned head, seen = 0;

	io_uring_for_each_cqe(&s->ring, head, cqe)
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
	io_uring_cq_advance(&s->ring, seen);
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
		ret = await(s);
		if (ret) {
			errno = -ret;
			return failed("%s: io_uring_enter", s->slots.target->name);
		}
		bytes = reap(s);
	}
	return bytes;
}

static void uring_close(void *state)
{
	struct state *s = state;
	struct io_uring_cqe *cqe;
	unsigned head, seen;

	while (slots_busy(&s->slots) && !await(s)) {
		seen = 0;
		io_uring_for_each_cqe(&s->ring, head, cqe) seen++;
		s->slots.nidle += seen;
		io_uring_cq_advance(&s->ring, seen);
	}
	/* What is in flight for ever writes into memory that is nobody else's. */
	if (slots_busy(&s->slots))
		s->slots.memory = NULL;
	io_uring_queue_exit(&s->ring);
	slots_close(&s->slots);
}

const struct method method_io_uring = {
	IO_URING_ROW,         .state_bytes = sizeof(struct state),
	.open = uring_open,   .pump = uring_pump,
	.close = uring_close,
};
