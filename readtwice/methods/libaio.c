// SPDX-License-Identifier: GPL-2.0-or-later
/* libaio - io_submit(2) and io_getevents(2): many requests in flight, as databases have it. */
#include "common/procfile.h"
#include "common/slots.h"
#include "readtwice/methods.h"

#include <errno.h>
#include <libaio.h>
#include <stdlib.h>

struct state {
	struct slots slots;
	io_context_t context;
	/* One of each for a slot; queued are those that the kernel has yet to be told of. */
	struct iocb *iocb, **queued;
	unsigned nqueued;
	struct io_event *events;
};

static int refused_eagain(const struct target *t)
{
	char *most = procfile_read("", "/proc/sys/fs/aio-max-nr");
	char *taken = procfile_read("", "/proc/sys/fs/aio-nr");
	int ret = method_refused(
		t, "io_setup", EAGAIN,
		"%u requests wanted, fs.aio-max-nr is %lld, of which %lld "
		"are taken: raise it, or have fewer in flight",
		t->depth, most ? atoll(most) : 0, taken ? atoll(taken) : 0);

	free(most);
	free(taken);
	return ret;
}

static int set_up(struct state *s)
{
	const struct target *t = s->slots.target;
	int ret = io_setup((int)t->depth, &s->context);

	if (ret == -EAGAIN)
		return refused_eagain(t);
	if (ret == -ENOSYS || ret == -EPERM)
		return method_refused(t, "io_setup", -ret,
				      "the kernel is built without it, or a seccomp "
				      "filter forbids it: let it pass");
	errno = -ret;
	return ret ? failed("%s: io_setup for %u requests", t->name, t->depth) : 0;
}

static void free_all(struct state *s)
{
	slots_close(&s->slots);
	free(s->iocb);
	free((void *)s->queued);
	free(s->events);
}

static int aio_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ret = slots_open(&s->slots, t);

	if (ret)
		return ret;
	s->iocb = calloc(t->depth, sizeof(*s->iocb));
	s->queued = calloc(t->depth, sizeof(struct iocb *));
	s->events = calloc(t->depth, sizeof(*s->events));
	ret = s->iocb && s->queued && s->events
		      ? set_up(s)
		      : failed("memory for %u requests", t->depth);
	if (ret)
		free_all(s);
	return ret;
}

static void queue(struct state *s, struct slot *slot)
{
	struct request r = slot_request(&s->slots, slot);
	struct iocb *iocb = &s->iocb[slot - s->slots.slot];

	io_prep_pread(iocb, s->slots.target->fd, r.to, r.len, (long long)r.at);
	iocb->data = slot;
	s->queued[s->nqueued++] = iocb;
}

/* 0, or -errno after saying so. */
static int submit(struct state *s)
{
	unsigned sent = 0;

	while (sent < s->nqueued) {
		int n = io_submit(s->context, s->nqueued - sent, s->queued + sent);

		if (n == -EINTR)
			continue;
		if (n < 0) {
			errno = -n;
			return method_failed(s->slots.target, "io_submit",
					     (uint64_t)s->queued[sent]->u.c.offset);
		}
		sent += (unsigned)n;
	}
	s->nqueued = 0;
	return 0;
}

/* All that has come, one at least. Bytes of blocks that are whole, or -errno after saying so; of
 * others the rest is queued. */
static ssize_t reap(struct state *s)
{
	ssize_t bytes = 0, came;
	int n;

	do {
		n = io_getevents(s->context, 1, s->slots.target->depth, s->events, NULL);
	} while (n == -EINTR);
	if (n < 0) {
		errno = -n;
		return failed("%s: io_getevents", s->slots.target->name);
	}
	for (int i = 0; i < n; i++) {
		struct slot *slot = s->events[i].data;

		came = slot_came(&s->slots, slot, (int64_t)s->events[i].res,
				 "read by libaio");
		if (unlikely(came < 0))
			return came;
		if (unlikely(!came))
			queue(s, slot);
		bytes += came;
	}
	return bytes;
}

static ssize_t aio_pump(void *state, struct cursor *c)
{
	struct state *s = state;
	struct slot *slot;
	ssize_t bytes = 0;
	int ret;

	while ((slot = slot_take(&s->slots, c)))
		queue(s, slot);
	while (!bytes && slots_busy(&s->slots)) {
		ret = submit(s);
		if (ret)
			return ret;
		bytes = reap(s);
	}
	return bytes;
}

/* io_destroy(2) waits for what is in flight. */
static void aio_close(void *state)
{
	struct state *s = state;

	io_destroy(s->context);
	free_all(s);
}

const struct method method_libaio = {
	LIBAIO_ROW,         .state_bytes = sizeof(struct state),
	.open = aio_open,   .pump = aio_pump,
	.close = aio_close,
};
