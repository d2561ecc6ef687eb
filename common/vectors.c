// SPDX-License-Identifier: GPL-2.0-or-later
/* vectors - a buffer in segments, for the calls that take an iovec. */
#include "common/vectors.h"

#include "common/region.h"

void vectors_fit(struct vectors *v, const struct target *t)
{
	uint64_t unit = MAX(base_page_bytes(), t->align_bytes);

	v->segment_bytes = ((t->block_bytes - 1) / (SEGMENTS * unit) + 1) * unit;
}

void vectors_lay(struct vectors *v, char *to, size_t len)
{
	v->to = to;
	v->len = len;
	for (v->count = 0; len; v->count++) {
		size_t bytes = MIN(len, v->segment_bytes);

		v->iov[v->count] = (struct iovec){ to, bytes };
		to += bytes;
		len -= bytes;
	}
}
