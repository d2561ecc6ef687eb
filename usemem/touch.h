/* SPDX-License-Identifier: GPL-2.0-or-later */
/* touch - the loops that access memory, and nothing else. */
#ifndef USEMEM_TOUCH_H
#define USEMEM_TOUCH_H

#include "common/rng.h"

#include <stdbool.h>
#include <stdint.h>

/* A word of the memory; units of odd sizes may put it anywhere. */
typedef uint64_t __attribute__((__aligned__(1))) word;

/* What writes store at word i: (i & index_mask) + data; or, hashed, random words at the head of
 * each page and zeros after them, which is what compression will see. */
struct pattern {
	uint64_t index_mask, data;
	bool hashed;
	uint64_t base;         /* other random words for another base */
	uint64_t page_words;   /* a power of two */
	uint64_t random_words; /* of each page */
};

/* A walk over one unit. */
struct touch {
	word *words;
	uint64_t count; /* words in the unit */
	uint64_t step;  /* words from one access to the next */
	struct pattern pattern;
	struct rng rng; /* where the random accesses go */
	uint64_t sum;   /* of what was read: keeps the reads alive */
	bool fresh;     /* nothing has touched these words before */
};

/* Make ACCESSES of the pass, from its access number FROM on (from + accesses at most
 * touch_accesses()). Returns how many were made: fewer only where a check finds a word that does
 * not hold what the pass before stored; that is the next one, and it is still as it was found. */
typedef uint64_t touch_fn(struct touch *t, uint64_t from, uint64_t accesses);

/* Kinds of walk, each a complete row. */
struct touch_kind {
	bool writes, random, checks, hashed;
	bool every_word; /* only for a step of one word */
	touch_fn *touch;
};

extern const struct touch_kind touch_kinds[];

/* The row for a walk with the step and the pattern of T. CHECKS holds only for writes that are
 * not random. */
const struct touch_kind *touch_find(const struct touch *t, bool writes, bool random,
				    bool checks);
/* Accesses of one pass: one for each step that begins inside. */
uint64_t touch_accesses(const struct touch *t);
/* Accesses to make between two looks at the deadline: well below 100 us. FRESH: each page will
 * have to be faulted in, which takes a thousand times as long as an access. */
uint64_t touch_piece(const struct touch_kind *kind, uint64_t step, uint64_t page_bytes,
		     bool fresh);
/* What a write of the pattern stores at word I. */
static inline uint64_t pattern_word(const struct pattern *p, uint64_t i)
{
	if (!p->hashed)
		return (i & p->index_mask) + p->data;
	return (i & (p->page_words - 1)) < p->random_words
		       ? rng_hash(p->base + i * RNG_STEP)
		       : 0;
}

#endif
