/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uring - rings of io_uring(7): set up, and what is refused explained. Only where liburing is. */
#ifndef COMMON_URING_H
#define COMMON_URING_H

#include "common/method.h"
#include "common/slots.h"

#include <liburing.h>

/* How many buffers can be registered, and how large one may be (io_uring_register(2)). */
enum { URING_MOST_BUFFERS = 16384 };
#define URING_MOST_BYTES GiB

/* A ring for T, which messages name. */
struct uring {
	struct io_uring ring;
	const struct target *target;
	unsigned entries;
};

/* One of ENTRIES, with the best flags that the kernel takes, that will have BUFFERS_BYTES
 * registered. 0, or -errno after saying so: unsupported() where it is forbidden, or where the memlock
 * limit is in the way. */
must_check int uring_open(struct uring *u, const struct target *t, unsigned entries,
			  uint64_t buffers_bytes);
/* Also with requests in flight, whose memory must then stay: who can waits for them before. */
void uring_close(struct uring *u);
/* Register COUNT buffers. As uring_open(). */
must_check int uring_buffers(struct uring *u, const struct iovec *iov, unsigned count);
/* Register COUNT files. The same. */
must_check int uring_files(struct uring *u, const int *fds, unsigned count);
/* A ring for the requests of T, REQUESTS at once for each slot: slots opened, their memory and the COUNT
 * files registered. As uring_open(), also refused() where rings are not that large. */
must_check int uring_open_slots(struct uring *u, struct slots *s, const struct target *t,
				unsigned requests, const int *fds, unsigned count);
/* Wait for the FLYING requests that have not come yet, and close both. */
void uring_close_slots(struct uring *u, struct slots *s, unsigned flying);
/* Hand over what is queued, and wait until something has come. 0, or -errno in silence; a signal is no
 * error. */
must_check int uring_await(struct uring *u);

#endif
