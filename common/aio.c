// SPDX-License-Identifier: GPL-2.0-or-later
/* aio - requests by io_submit(2) and io_getevents(2). */
#include "common/aio.h"

#include "common/procfile.h"

#include <errno.h>
#include <stdlib.h>

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

static int set_up(struct aio *a)
{
	const struct target *t = a->target;
	int ret = io_setup((int)t->depth, &a->context);

	if (ret == -EAGAIN)
		return refused_eagain(t);
	if (ret == -ENOSYS || ret == -EPERM)
		return method_refused(t, "io_setup", -ret,
				      "the kernel is built without it, or a seccomp "
				      "filter forbids it: let it pass");
	errno = -ret;
	return ret ? failed("%s: io_setup for %u requests", t->name, t->depth) : 0;
}

static void free_all(struct aio *a)
{
	free(a->iocb);
	free((void *)a->queued);
	free(a->events);
}

int aio_open(struct aio *a, const struct target *t)
{
	int ret;

	*a = (struct aio){ .target = t };
	a->iocb = calloc(t->depth, sizeof(*a->iocb));
	a->queued = calloc(t->depth, sizeof(struct iocb *));
	a->events = calloc(t->depth, sizeof(*a->events));
	ret = a->iocb && a->queued && a->events
		      ? set_up(a)
		      : failed("memory for %u requests", t->depth);
	if (ret)
		free_all(a);
	return ret;
}

/* io_destroy(2) waits for what is in flight. */
void aio_close(struct aio *a)
{
	io_destroy(a->context);
	free_all(a);
}

int aio_submit(struct aio *a, void **refused)
{
	unsigned sent = 0;

	while (sent < a->nqueued) {
		int n = io_submit(a->context, a->nqueued - sent, a->queued + sent);

		if (n == -EINTR)
			continue;
		if (n < 0) {
			*refused = a->queued[sent]->data;
			return n;
		}
		sent += (unsigned)n;
	}
	a->nqueued = 0;
	return 0;
}

int aio_await(struct aio *a)
{
	int n;

	do {
		n = io_getevents(a->context, 1, a->target->depth, a->events, NULL);
	} while (n == -EINTR);
	return n;
}
