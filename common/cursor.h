/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cursor - hands out the blocks of a file, each once a pass, in a chosen order. */
#ifndef COMMON_CURSOR_H
#define COMMON_CURSOR_H

#include "common/base.h"

#include <stdbool.h>

/* LEN bytes from AT on; where blocks are copied, TO is their place in the other file. */
struct span {
	uint64_t at;
	uint64_t len;
	uint64_t to;
};

enum order { ORDER_SEQ, ORDER_RANDOM, ORDER_REVERSE };
/* "seq", "random", "reverse", ended by NULL: for the option. */
extern const char *const order_names[];

/* One pass over a file. Who wants to end early sets end = next: nothing more is handed out, and
 * what is in flight ends. */
struct cursor {
	uint64_t next, end; /* blocks handed out so far; and to be handed out */
	uint64_t block_bytes, size_bytes;
	uint64_t base;   /* added to each offset; a caller may set it */
	uint64_t blocks; /* of the file: the last may be short */
	/* The place of block number I of the order; NULL: I itself. */
	uint64_t (*place)(const struct cursor *c, uint64_t i);
	/* Block number I in place of all that; NULL: not so. */
	void (*lay)(const struct cursor *c, uint64_t i, struct span *block);
	uint64_t step_bytes; /* of cursor_pairs() */
	uint64_t key, mask;  /* of the random orders */
	unsigned shift;      /* likewise */
};

/* A pass over SIZE_BYTES in blocks of BLOCK_BYTES, neither of them 0. In the random order, which
 * SEED settles, each block comes once, as in the others. */
struct cursor cursor_begin(uint64_t size_bytes, uint64_t block_bytes, enum order order,
			   uint64_t seed);

/* Blocks without end from anywhere in SIZE_BYTES to anywhere in as many bytes of another file, each
 * offset drawn anew, and then a multiple of STEP_BYTES. SIZE_BYTES is BLOCK_BYTES at least. */
struct cursor cursor_pairs(uint64_t size_bytes, uint64_t block_bytes, uint64_t step_bytes,
			   uint64_t seed);

/* The next block. False: there is none, or the end was drawn in. */
static inline bool cursor_next(struct cursor *c, struct span *block)
{
	uint64_t i = c->next;

	if (i >= c->end)
		return false;
	c->next = i + 1;
	if (c->lay) {
		c->lay(c, i, block);
		return true;
	}
	if (c->place)
		i = c->place(c, i);
	i *= c->block_bytes;
	block->len = MIN(c->block_bytes, c->size_bytes - i);
	block->at = block->to = c->base + i;
	return true;
}

#endif
