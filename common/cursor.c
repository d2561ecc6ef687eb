// SPDX-License-Identifier: GPL-2.0-or-later
/* cursor - hands out the blocks of a file, each once a pass, in a chosen order. */
#include "common/cursor.h"

#include "common/rng.h"

const char *const order_names[] = {
	[ORDER_SEQ] = "seq", [ORDER_RANDOM] = "random", [ORDER_REVERSE] = "reverse", NULL
};

static uint64_t place_reverse(const struct cursor *c, uint64_t i)
{
	return c->blocks - 1 - i;
}

/* A permutation of the numbers up to the next power of two, each of whose steps can be undone.
 * What falls outside the file is sent through again until it falls inside: twice at most on
 * average, and the result is a permutation of the blocks. */
static uint64_t place_random(const struct cursor *c, uint64_t i)
{
	do {
		i = (i + c->key) * UINT64_C(0x9e3779b97f4a7c15) & c->mask;
		i ^= i >> c->shift;
		i = (i ^ (c->key >> 32)) * UINT64_C(0xbf58476d1ce4e5b9) & c->mask;
		i ^= i >> c->shift;
		i = i * UINT64_C(0x94d049bb133111eb) & c->mask;
	} while (i >= c->blocks);
	return i;
}

struct cursor cursor_begin(uint64_t size_bytes, uint64_t block_bytes, enum order order,
			   uint64_t seed)
{
	struct cursor c = {
		.block_bytes = block_bytes,
		.size_bytes = size_bytes,
		.blocks = (size_bytes - 1) / block_bytes + 1,
		.key = rng_hash(seed),
	};
	unsigned bits = c.blocks > 1 ? 64 - (unsigned)__builtin_clzll(c.blocks - 1) : 1;

	c.end = c.blocks;
	c.mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
	c.shift = bits / 2 + 1;
	c.place = order == ORDER_RANDOM    ? place_random
		  : order == ORDER_REVERSE ? place_reverse
					   : NULL;
	return c;
}

static void lay_pair(const struct cursor *c, uint64_t i, struct span *block)
{
	uint64_t from = rng_hash(c->key + 2 * i * RNG_STEP),
		 to = rng_hash(c->key + (2 * i + 1) * RNG_STEP);

	block->at = c->base + rng_scale(from, c->blocks) * c->step_bytes;
	block->to = c->base + rng_scale(to, c->blocks) * c->step_bytes;
	block->len = c->block_bytes;
}

struct cursor cursor_pairs(uint64_t size_bytes, uint64_t block_bytes, uint64_t step_bytes,
			   uint64_t seed)
{
	return (struct cursor){
		.end = UINT64_MAX,
		.block_bytes = block_bytes,
		.size_bytes = size_bytes,
		.blocks = (size_bytes - block_bytes) / step_bytes + 1,
		.step_bytes = step_bytes,
		.lay = lay_pair,
		.key = rng_hash(seed),
	};
}
