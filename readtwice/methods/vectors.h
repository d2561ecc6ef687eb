/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vectors - a buffer in segments, for the calls that take an iovec. */
#ifndef READTWICE_METHODS_VECTORS_H
#define READTWICE_METHODS_VECTORS_H

#include "readtwice/methods/buffer.h"

#include <sys/uio.h>

enum { SEGMENTS = 16 };

struct vectors {
	struct buffer buffer; /* the first: a row's state */
	size_t segment_bytes;
	/* LEN bytes from TO on, in COUNT segments. */
	char *to;
	size_t len;
	int count;
	struct iovec iov[SEGMENTS];
};

/* The hook of a row. */
must_check int vectors_open(void *state, const struct target *t);

/* Make them LEN bytes from TO on. */
void vectors_lay(struct vectors *v, char *to, size_t len);

/* The same, mostly for what they are already. */
static inline void vectors_at(struct vectors *v, char *to, size_t len)
{
	if (unlikely(v->len != len || v->to != to))
		vectors_lay(v, to, len);
}

#endif
