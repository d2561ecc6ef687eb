/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vectors - a buffer in segments, for the calls that take an iovec. */
#ifndef COMMON_VECTORS_H
#define COMMON_VECTORS_H

#include "common/method.h"

#include <sys/uio.h>

enum { SEGMENTS = 16 };

/* Zeroed at first. */
struct vectors {
	size_t segment_bytes;
	/* LEN bytes from TO on, in COUNT segments. */
	char *to;
	size_t len;
	int count;
	struct iovec iov[SEGMENTS];
};

/* Segments of pages, as many in each as it takes for SEGMENTS of them to hold a block of T. */
void vectors_fit(struct vectors *v, const struct target *t);

/* Make them LEN bytes from TO on. */
void vectors_lay(struct vectors *v, char *to, size_t len);

/* The same, mostly for what they are already. */
static inline void vectors_at(struct vectors *v, char *to, size_t len)
{
	if (unlikely(v->len != len || v->to != to))
		vectors_lay(v, to, len);
}

#endif
