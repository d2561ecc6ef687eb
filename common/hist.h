/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hist - a log-linear histogram of times: every value within 1/64 of what is told. */
#ifndef COMMON_HIST_H
#define COMMON_HIST_H

#include "common/base.h"

/* Each power of two is split into so many equal buckets. */
#define HIST_SPLIT_BITS 6
#define HIST_BUCKETS    ((64 - HIST_SPLIT_BITS + 1) << HIST_SPLIT_BITS)

/* All zeros is an empty one. Written by one thread; plain memory, so that a worker's can lie in
 * memory that it shares with the parent. */
struct hist {
	uint64_t count, min, max;
	uint64_t buckets[HIST_BUCKETS];
};

void hist_add(struct hist *h, uint64_t value);
/* Add all of FROM to INTO. */
void hist_merge(struct hist *into, const struct hist *from);
/* The smallest of the values that at least SHARE (0..1) of all are not above, as the middle of its
 * bucket and never outside min..max; the smallest and the largest of all exactly. 0 if there are
 * none. */
uint64_t hist_quantile(const struct hist *h, double share);

#endif
