// SPDX-License-Identifier: GPL-2.0-or-later
/* check - tests of readtwice/check.c: what was planted is found, and named. */
#include "tests/check.h"
#include "common/scratch.h"
#include "readtwice/readtwice.h"
#include "tests/unit/hear.h"

#include <errno.h>

enum { MOST = 1000 };

static uint8_t data[MOST];

/* What scratch_word() has, as it lies in memory. */
static void fill(void)
{
	for (size_t i = 0; i < MOST; i++) {
		uint64_t word = scratch_word(i / 8);

		data[i] = ((uint8_t *)&word)[i % 8];
	}
}

static struct check *begin(struct file *f, uint64_t size, uint64_t block, enum fill what)
{
	struct check *c = NULL;

	*f = (struct file){ .name = "F", .size_bytes = size };
	cfg.block_bytes = block;
	cfg.fill = what;
	CHECK_U64("open", check_open(f, &c), 0);
	check_begin(c);
	return c;
}

/* What CALL returned, and what was said meanwhile. */
#define HEAR(want, said, call)                       \
	do {                                         \
		static struct heard heard;           \
		int ret_;                            \
		hear_begin(&heard, STDERR_FILENO);   \
		ret_ = (call);                       \
		hear_end(&heard);                    \
		CHECK_U64(#call, ret_, want);        \
		CHECK_TEXT(#call, heard.text, said); \
	} while (0)

static int pass_block(struct check *c, uint64_t at, uint64_t len)
{
	return check_block(c, &(struct span){ .at = at, .len = len }, data + at);
}

static const struct {
	uint64_t size, block;
} shapes[] = {
	{ 1, 1 },    { 1, 4096 }, { 8, 8 },    { 999, 8 },  { 999, 7 },
	{ 1000, 1 }, { 640, 10 }, { 641, 10 }, { 999, 64 }, { 1000, 1000 },
};

/* Backwards, so that no order is taken for granted; two passes. */
static void whole_files_are_right(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		uint64_t size = shapes[i].size, block = shapes[i].block;
		struct file f;
		struct check *c = begin(&f, size, block, FILL_WRITTEN);

		for (int pass = 0; pass < 2; pass++) {
			check_begin(c);
			for (uint64_t n = (size - 1) / block + 1; n--;)
				CHECK_U64("block",
					  pass_block(c, n * block,
						     MIN(block, size - n * block)),
					  0);
			CHECK_U64("end", check_end(c), 0);
		}
		check_close(c);
	}
}

/* A bit in any byte of a word, in blocks that do and do not begin with one. */
static void a_wrong_byte_is_found(void)
{
	static const uint64_t blocks[] = { 8, 16, 7, 100 };
	char text[128];

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		for (uint64_t at = 200; at < 217; at++) {
			uint64_t from = at / blocks[i] * blocks[i];
			unsigned right = data[at];
			struct file f;
			struct check *c = begin(&f, 999, blocks[i], FILL_WRITTEN);

			data[at] ^= 0x10;
			snprintf(text, sizeof(text),
				 "prog: F: wrong data at offset %ju: expected 0x%02x, "
				 "found 0x%02x\n",
				 (uintmax_t)at, right, data[at]);
			HEAR(-EIO, text, pass_block(c, from, blocks[i]));
			data[at] ^= 0x10;
			check_close(c);
		}
}

static void holes_are_zero(void)
{
	uint8_t zeros[64] = { 0 };
	struct file f;
	struct check *c = begin(&f, 128, 64, FILL_HOLE);

	CHECK_U64("zeros", check_block(c, &(struct span){ .len = 64 }, zeros), 0);
	zeros[63] = 1;
	HEAR(-EIO, "prog: F: wrong data at offset 127: expected 0x00, found 0x01\n",
	     check_block(c, &(struct span){ .at = 64, .len = 64 }, zeros));
	check_close(c);
}

static void each_block_comes_once(void)
{
	struct file f;
	struct check *c = begin(&f, 999, 10, FILL_WRITTEN);

	CHECK_U64("the first", pass_block(c, 0, 10), 0);
	CHECK_U64("another word of bits", pass_block(c, 640, 10), 0);
	CHECK_U64("the last", pass_block(c, 990, 9), 0);
	HEAR(-EIO, "prog: F: the block at offset 0 was read twice in a pass\n",
	     pass_block(c, 0, 10));
	HEAR(-EIO, "prog: F: the block at offset 990 was read twice in a pass\n",
	     pass_block(c, 990, 9));
	HEAR(-EIO, "prog: F: 3 of 100 blocks came\n", check_end(c));
	check_begin(c);
	CHECK_U64("again in the next pass", pass_block(c, 0, 10), 0);
	for (uint64_t at = 20; at < 990; at += 10)
		CHECK_U64("block", pass_block(c, at, 10), 0);
	CHECK_U64("block", pass_block(c, 990, 9), 0);
	HEAR(-EIO, "prog: F: 99 of 100 blocks came\n", check_end(c));
	check_close(c);
}

static const struct {
	uint64_t at, len;
} no_blocks[] = {
	{ 1, 10 }, { 5, 5 },    { 10, 9 },   { 10, 11 },
	{ 10, 0 }, { 990, 10 }, { 1000, 0 }, { 1000, 10 },
};

static void what_is_no_block_is_found(void)
{
	struct file f;
	struct check *c = begin(&f, 999, 10, FILL_WRITTEN);
	char text[128];

	for (size_t i = 0; i < ARRAY_SIZE(no_blocks); i++) {
		snprintf(text, sizeof(text),
			 "prog: F: %ju bytes at offset %ju are no block of it\n",
			 (uintmax_t)no_blocks[i].len, (uintmax_t)no_blocks[i].at);
		HEAR(-EIO, text, pass_block(c, no_blocks[i].at, no_blocks[i].len));
	}
	check_close(c);
}

int main(void)
{
	static char prog[] = "prog";

	program_invocation_short_name = prog;
	fill();
	whole_files_are_right();
	a_wrong_byte_is_found();
	holes_are_zero();
	each_block_comes_once();
	what_is_no_block_is_found();
	return check_result();
}
