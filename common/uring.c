// SPDX-License-Identifier: GPL-2.0-or-later
/* uring - rings of io_uring(7): set up, and what is refused explained. */
#include "common/uring.h"

#include "common/parse.h"
#include "common/procfile.h"
#include "common/uapi.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

/* The best that the kernel takes: completions are worked off when we wait for some, not whenever they
 * come. */
static const unsigned ring_flags[] = {
	UAPI_RING_COOP_TASKRUN | UAPI_RING_SINGLE_ISSUER | UAPI_RING_DEFER_TASKRUN,
	UAPI_RING_COOP_TASKRUN,
	0,
};

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
static uint64_t locked_bytes(const struct uring *u, uint64_t buffers_bytes)
{
	uint64_t entries = 1;

	while (entries < u->entries)
		entries *= 2;
	return buffers_bytes + entries * 96;
}

static int refused_memory(const struct uring *u, const char *call, uint64_t buffers_bytes)
{
	char limit_text[FORMAT_LEN] = "unlimited", needed_text[FORMAT_LEN];
	struct rlimit limit;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		format_size(limit_text, limit.rlim_cur);
	return method_refused(u->target, call, ENOMEM,
			      "memlock limit is %s, needed %s: raise it (ulimit -l), or "
			      "have fewer requests in flight, or smaller blocks",
			      limit_text,
			      format_size(needed_text, locked_bytes(u, buffers_bytes)));
}

static int setup_failed(const struct uring *u, int error, uint64_t buffers_bytes)
{
	if (error == EPERM)
		return refused_eperm(u->target);
	if (error == ENOSYS)
		return method_refused(u->target, "io_uring_setup", error,
				      "the kernel is built without it, or a seccomp "
				      "filter forbids it: let it pass");
	if (error == ENOMEM)
		return refused_memory(u, "io_uring_setup", buffers_bytes);
	errno = error;
	return failed("%s: io_uring_setup for %u requests", u->target->name, u->entries);
}

int uring_open(struct uring *u, const struct target *t, unsigned entries,
	       uint64_t buffers_bytes)
{
	int ret = -EINVAL;

	u->target = t;
	u->entries = entries;
	for (size_t i = 0; i < ARRAY_SIZE(ring_flags) && ret == -EINVAL; i++) {
		struct io_uring_params params = { .flags = ring_flags[i] };

		ret = io_uring_queue_init_params(entries, &u->ring, &params);
	}
	return ret < 0 ? setup_failed(u, -ret, buffers_bytes) : 0;
}

/* What was locked is given back now: the end of the ring itself comes a moment later. */
void uring_close(struct uring *u)
{
	io_uring_unregister_buffers(&u->ring);
	io_uring_unregister_files(&u->ring);
	io_uring_queue_exit(&u->ring);
}

int uring_buffers(struct uring *u, const struct iovec *iov, unsigned count)
{
	int ret = io_uring_register_buffers(&u->ring, iov, count);
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += iov[i].iov_len;
	if (ret == -ENOMEM)
		return refused_memory(u, "io_uring_register of buffers", bytes);
	errno = -ret;
	return ret < 0 ? failed("%s: io_uring_register of buffers", u->target->name) : 0;
}

int uring_files(struct uring *u, const int *fds, unsigned count)
{
	int ret = io_uring_register_files(&u->ring, fds, count);

	errno = -ret;
	return ret < 0 ? failed("%s: io_uring_register of files", u->target->name) : 0;
}

int uring_await(struct uring *u)
{
	int ret;

	do {
		ret = io_uring_submit_and_wait(&u->ring, 1);
	} while (ret == -EINTR);
	return MIN(ret, 0);
}

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

static int register_slots(struct uring *u, const struct slots *s)
{
	unsigned depth = s->target->depth;
	struct iovec *iov = calloc(depth, sizeof(*iov));
	int ret;

	if (!iov)
		return failed("memory for %u buffers", depth);
	for (unsigned i = 0; i < depth; i++)
		iov[i] = (struct iovec){ s->slot[i].memory, s->step_bytes };
	ret = uring_buffers(u, iov, depth);
	free(iov);
	return ret;
}

int uring_open_slots(struct uring *u, struct slots *s, const struct target *t,
		     unsigned requests, const int *fds, unsigned count)
{
	int ret = fits(t);

	if (!ret)
		ret = slots_open(s, t);
	if (ret)
		return ret;
	ret = uring_open(u, t, requests * t->depth, t->depth * s->step_bytes);
	if (ret) {
		slots_close(s);
		return ret;
	}
	ret = register_slots(u, s);
	if (!ret)
		ret = uring_files(u, fds, count);
	if (ret)
		uring_close_slots(u, s, 0);
	return ret;
}

void uring_close_slots(struct uring *u, struct slots *s, unsigned flying)
{
	struct io_uring_cqe *cqe;
	unsigned head, seen;

	while (flying && !uring_await(u)) {
		seen = 0;
		io_uring_for_each_cqe(&u->ring, head, cqe) seen++;
		flying -= seen;
		io_uring_cq_advance(&u->ring, seen);
	}
	/* What is in flight for ever writes into memory that is nobody else's. */
	if (flying)
		s->memory = NULL;
	uring_close(u);
	slots_close(s);
}
