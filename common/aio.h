/* SPDX-License-Identifier: GPL-2.0-or-later */
/* aio - requests by io_submit(2) and io_getevents(2). Only where libaio is. */
#ifndef COMMON_AIO_H
#define COMMON_AIO_H

#include "common/method.h"

#include <libaio.h>

struct aio {
	const struct target *target;
	io_context_t context;
	/* target->depth of each; queued are those that the kernel has yet to be told of. */
	struct iocb *iocb, **queued;
	unsigned nqueued;
	struct io_event *events;
};

/* Room for the requests of T. 0, or -errno after saying so: unsupported() where it is forbidden, or
 * where the machine has no more of them. */
must_check int aio_open(struct aio *a, const struct target *t);
/* Waits for what is in flight. */
void aio_close(struct aio *a);
/* The I-th request, prepared by the caller, goes with the next aio_submit(). */
static inline void aio_queue(struct aio *a, unsigned i, void *data)
{
	a->iocb[i].data = data;
	a->queued[a->nqueued++] = &a->iocb[i];
}
/* Hand over what is queued. 0, or -errno in silence, and the data of the request that was not taken is
 * in *REFUSED. A signal is no error. */
must_check int aio_submit(struct aio *a, void **refused);
/* Wait for one at least: how many are in a->events, or -errno in silence. The same. */
must_check int aio_await(struct aio *a);

#endif
