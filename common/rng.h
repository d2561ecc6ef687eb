/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rng - seeded random numbers, one stream a worker.
 *
 * A counter hashed by the finalizer known as splitmix64: every number depends on its place
 * alone, so that a loop over it neither waits for the number before nor resists vectors. */
#ifndef COMMON_RNG_H
#define COMMON_RNG_H

#include <stdint.h>

struct rng {
	uint64_t counter;
};

#define RNG_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t rng_hash(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* The stream of worker STREAM under SEED: unlike those of all other workers. */
static inline struct rng rng_stream(uint64_t seed, uint64_t stream)
{
	return (struct rng){ rng_hash(rng_hash(seed + RNG_STEP) + stream * RNG_STEP) };
}

static inline uint64_t rng_next(struct rng *r)
{
	r->counter += RNG_STEP;
	return rng_hash(r->counter);
}

/* X spread evenly over 0..N-1, whatever N: no modulo, no limit at 2^31. */
static inline uint64_t rng_scale(uint64_t x, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)x * n) >> 64);
}

#endif
