// SPDX-License-Identifier: GPL-2.0-or-later
/* hist - a log-linear histogram of times: every value within 1/64 of what is told. */
#include "common/hist.h"

#include <math.h>

#define SPLIT (1U << HIST_SPLIT_BITS)

/* Where the buckets are wider than 1: how many bits of VALUE its bucket leaves open. */
static unsigned open_bits(uint64_t value)
{
	unsigned top = 63 - (unsigned)__builtin_clzll(value | 1);

	return top < HIST_SPLIT_BITS ? 0 : top - HIST_SPLIT_BITS;
}

/* Values below SPLIT have a bucket each; each power of two from there on has SPLIT of them. */
static unsigned bucket_of(uint64_t value)
{
	unsigned open = open_bits(value);

	return value < SPLIT ? (unsigned)value : open * SPLIT + (unsigned)(value >> open);
}

static uint64_t middle_of(unsigned bucket)
{
	unsigned open = bucket < SPLIT ? 0 : bucket / SPLIT - 1;
	uint64_t first = (uint64_t)(bucket - open * SPLIT) << open;

	return first + ((UINT64_C(1) << open) - 1) / 2;
}

void hist_add(struct hist *h, uint64_t value)
{
	h->min = h->count ? MIN(h->min, value) : value;
	h->max = MAX(h->max, value);
	h->count++;
	h->buckets[bucket_of(value)]++;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (!from->count)
		return;
	into->min = into->count ? MIN(into->min, from->min) : from->min;
	into->max = MAX(into->max, from->max);
	into->count += from->count;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

/* How many values are to be not above: 9 of 10 for 0.9, although 0.9 in binary, times 10, may be
 * a little more than that. */
static uint64_t rank_of(const struct hist *h, double share)
{
	double rank = ceil(share * (double)h->count * (1 - 1e-12));

	return rank < 1 ? 1 : rank < (double)h->count ? (uint64_t)rank : h->count;
}

uint64_t hist_quantile(const struct hist *h, double share)
{
	uint64_t rank = rank_of(h, share), seen = 0;
	unsigned bucket = 0;

	if (!h->count)
		return 0;
	if (rank == 1)
		return h->min;
	if (rank == h->count)
		return h->max;
	while (bucket < HIST_BUCKETS - 1 && (seen += h->buckets[bucket]) < rank)
		bucket++;
	return MIN(MAX(middle_of(bucket), h->min), h->max);
}
