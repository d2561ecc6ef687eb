// SPDX-License-Identifier: GPL-2.0-or-later
/* check - is what was read what is in the file, and did each block come once? */
#include "common/scratch.h"
#include "readtwice/readtwice.h"

#include <stdlib.h>
#include <string.h>

struct check {
	const struct file *file;
	uint64_t blocks, came;
	uint64_t *seen; /* a bit for each block of this pass */
};

int check_open(const struct file *f, struct check **check)
{
	struct check *c = calloc(1, sizeof(*c));

	if (c) {
		c->file = f;
		c->blocks = (f->size_bytes - 1) / cfg.block_bytes + 1;
		c->seen = calloc(c->blocks / 64 + 1, sizeof(*c->seen));
	}
	if (!c || !c->seen) {
		check_close(c);
		return failed("memory to check %s", f->name);
	}
	*check = c;
	return 0;
}

void check_close(struct check *c)
{
	if (c)
		free(c->seen);
	free(c);
}

void check_begin(struct check *c)
{
	memset(c->seen, 0, (c->blocks / 64 + 1) * sizeof(*c->seen));
	c->came = 0;
}

static uint64_t word_at(uint64_t at)
{
	return cfg.fill == FILL_WRITTEN ? scratch_word(at / 8) : 0;
}

static int compare(const struct check *c, const struct span *block, const uint8_t *data)
{
	uint64_t word = word_at(block->at);

	for (uint64_t i = 0, at = block->at; i < block->len; i++, at++) {
		uint8_t expected;

		if (at % 8 == 0)
			word = word_at(at);
		/* As it lies in memory, whatever the byte order. */
		expected = ((const uint8_t *)&word)[at % 8];
		if (unlikely(data[i] != expected))
			return broken("%s: wrong data at offset %ju: expected 0x%02x, "
				      "found 0x%02x",
				      c->file->name, (uintmax_t)at, expected, data[i]);
	}
	return 0;
}

int check_block(void *check, const struct span *block, const void *data)
{
	struct check *c = check;
	uint64_t i = block->at / cfg.block_bytes;

	if (block->at % cfg.block_bytes || i >= c->blocks ||
	    block->len != MIN(cfg.block_bytes, c->file->size_bytes - block->at))
		return broken("%s: %ju bytes at offset %ju are no block of it",
			      c->file->name, (uintmax_t)block->len, (uintmax_t)block->at);
	if (c->seen[i / 64] >> i % 64 & 1)
		return broken("%s: the block at offset %ju was read twice in a pass",
			      c->file->name, (uintmax_t)block->at);
	c->seen[i / 64] |= UINT64_C(1) << i % 64;
	c->came++;
	return compare(c, block, data);
}

int check_end(struct check *c)
{
	if (c->came == c->blocks)
		return 0;
	return broken("%s: %ju of %ju blocks came", c->file->name, (uintmax_t)c->came,
		      (uintmax_t)c->blocks);
}
