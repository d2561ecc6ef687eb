// SPDX-License-Identifier: GPL-2.0-or-later
/* bare - the loops that usemem's are measured against: the same accesses and values, plain C. */
#include "tests/bench/bare.h"

#include "common/rng.h"

uint64_t bare_read(const uint64_t *words, uint64_t count, uint64_t step)
{
	uint64_t sum = 0;

	if (step == 1)
		for (uint64_t i = 0; i < count; i++)
			sum += words[i];
	else
		for (uint64_t i = 0; i < count; i += step)
			sum += words[i];
	return sum;
}

uint64_t bare_read_random(const uint64_t *words, uint64_t count, uint64_t accesses,
			  uint64_t counter)
{
	struct rng rng = { counter };
	uint64_t sum = 0;

	for (uint64_t i = 0; i < accesses; i++)
		sum += words[rng_scale(rng_next(&rng), count)];
	return sum;
}

void bare_write(uint64_t *words, uint64_t count, uint64_t step)
{
	if (step == 1)
		for (uint64_t i = 0; i < count; i++)
			words[i] = i;
	else
		for (uint64_t i = 0; i < count; i += step)
			words[i] = i;
}

void bare_write_random(uint64_t *words, uint64_t count, uint64_t accesses,
		       uint64_t counter)
{
	struct rng rng = { counter };

	for (uint64_t k = 0; k < accesses; k++) {
		uint64_t i = rng_scale(rng_next(&rng), count);

		words[i] = i;
	}
}

uint64_t bare_check(uint64_t *words, uint64_t count, uint64_t step)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < count; i += step) {
		wrong |= words[i] ^ i;
		words[i] = i;
	}
	return wrong;
}
