// SPDX-License-Identifier: GPL-2.0-or-later
/* stamp - what a block carries: by whom it was written, as which operation, and where. */
#include "common/rng.h"
#include "common/scratch.h"
#include "copyfile/copyfile.h"

#include <string.h>

/* What the checks of all stamps of an operation have in common. */
static uint64_t key_of(uint64_t worker, uint64_t op)
{
	return rng_hash(rng_hash(worker + RNG_STEP) + op);
}

struct stamp stamp_make(uint64_t worker, uint64_t op, uint64_t offset)
{
	return (struct stamp){ worker, op, offset,
			       rng_hash(key_of(worker, op) + offset) };
}

bool stamp_is_one(const struct stamp *s)
{
	return s->check == stamp_make(s->worker, s->op, s->offset).check;
}

void block_prepare(void *block, uint64_t bytes)
{
	char *at = block;

	for (uint64_t i = 0; i < bytes; i += sizeof(uint64_t)) {
		uint64_t word = scratch_word(i / sizeof(word));

		memcpy(at + i, &word, MIN(sizeof(word), bytes - i));
	}
}

void block_stamp(void *block, uint64_t bytes, uint64_t worker, uint64_t op,
		 uint64_t offset)
{
	uint64_t key = key_of(worker, op);
	char *at = block;

	for (uint64_t i = 0; i < bytes; i += STAMP_STEP) {
		struct stamp s = { worker, op, offset + i, rng_hash(key + offset + i) };

		memcpy(at + i, &s, MIN(sizeof(s), bytes - i));
	}
}
