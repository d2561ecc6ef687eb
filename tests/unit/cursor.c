// SPDX-License-Identifier: GPL-2.0-or-later
/* cursor - tests of common/cursor.c: each block once, in the order that was asked for. */
#include "common/cursor.h"
#include "tests/check.h"

static const struct row {
	const char *name;
	uint64_t size_bytes, block_bytes, blocks, last_bytes;
} rows[] = {
	{ "one byte", 1, 4096, 1, 1 },
	{ "one block", 4096, 4096, 1, 4096 },
	{ "one and a byte", 4097, 4096, 2, 1 },
	{ "two", 8192, 4096, 2, 4096 },
	{ "blocks of a byte", 1000, 1, 1000, 1 },
	{ "odd blocks", 1000003, 997, 1004, 12 },
	{ "a power of two", 1 << 20, 1 << 10, 1024, 1024 },
	{ "one more", (1 << 20) + 1, 1 << 10, 1025, 1 },
	{ "one less", (1 << 20) - 1024, 1 << 10, 1023, 1024 },
	{ "a block larger than the file", 5, UINT64_MAX, 1, 5 },
};

static void check_pass(const struct row *r, enum order order, uint64_t seed)
{
	struct cursor c = cursor_begin(r->size_bytes, r->block_bytes, order, seed);
	unsigned char *seen = calloc(r->blocks, 1);
	uint64_t bytes = 0, n = 0, wrong = 0;
	struct span b;

	for (; cursor_next(&c, &b); n++) {
		uint64_t i = b.at / r->block_bytes;

		if (b.at % r->block_bytes || i >= r->blocks || seen[i]++) {
			wrong++;
			break;
		}
		wrong += b.len != (i + 1 < r->blocks ? r->block_bytes : r->last_bytes);
		wrong += order == ORDER_SEQ && i != n;
		wrong += order == ORDER_REVERSE && i != r->blocks - 1 - n;
		bytes += b.len;
	}
	CHECK_U64(r->name, wrong, 0);
	CHECK_U64(r->name, n, r->blocks);
	CHECK_U64(r->name, bytes, r->size_bytes);
	CHECK(!cursor_next(&c, &b)); /* and stays at the end */
	free(seen);
}

static void check_passes(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		check_pass(&rows[i], ORDER_SEQ, 0);
		check_pass(&rows[i], ORDER_REVERSE, 0);
		for (uint64_t seed = 0; seed < 20; seed++)
			check_pass(&rows[i], ORDER_RANDOM, seed);
	}
}

/* Every number of blocks, as the mask and the shift of the random order follow from it. */
static void check_counts(void)
{
	for (uint64_t blocks = 1; blocks <= 600; blocks++) {
		struct row r = { "blocks from 1 to 600", blocks * 8, 8, blocks, 8 };

		check_pass(&r, ORDER_RANDOM, blocks);
	}
}

/* The numbers of the blocks in the order of SEED. */
static void deal(uint64_t *places, uint64_t blocks, uint64_t seed)
{
	struct cursor c = cursor_begin(blocks, 1, ORDER_RANDOM, seed);
	struct span b;

	while (cursor_next(&c, &b))
		*places++ = b.at;
}

static void check_seeds(void)
{
	enum { BLOCKS = 4096 };
	static uint64_t first[BLOCKS], again[BLOCKS], other[BLOCKS];
	uint64_t same = 0, next = 0;

	deal(first, BLOCKS, 1);
	deal(again, BLOCKS, 1);
	deal(other, BLOCKS, 2);
	CHECK(!memcmp(first, again, sizeof(first)));
	for (size_t i = 0; i < BLOCKS; i++) {
		same += first[i] == other[i];
		next += i && first[i] == first[i - 1] + 1;
	}
	/* One of each is to be expected; 16 is as good as impossible. */
	CHECK(same < 16);
	CHECK(next < 16);
}

/* Blocks beyond 2^32, and more than 2^32 of them: a few at either end. */
static void check_large(void)
{
	const uint64_t size = (UINT64_C(1) << 60) + 5,
		       blocks = (UINT64_C(1) << 60) / 4096 + 1;
	struct cursor c = cursor_begin(size, 4096, ORDER_SEQ, 0);
	struct span b = { 0 };

	c.next = c.end - 1;
	CHECK(cursor_next(&c, &b));
	CHECK_U64("last", b.at, (blocks - 1) * 4096);
	CHECK_U64("last", b.len, 5);
	c = cursor_begin(size, 4096, ORDER_REVERSE, 0);
	CHECK(cursor_next(&c, &b));
	CHECK_U64("reverse", b.at, (blocks - 1) * 4096);
	CHECK_U64("reverse", b.len, 5);
	c = cursor_begin(size, 4096, ORDER_RANDOM, 3);
	for (int i = 0; i < 1000; i++)
		CHECK(cursor_next(&c, &b) && b.at % 4096 == 0 && b.at < size);
	c = cursor_begin(UINT64_MAX, 1, ORDER_RANDOM, 3);
	for (int i = 0; i < 1000; i++)
		CHECK(cursor_next(&c, &b) && b.len == 1);
}

static void check_base(void)
{
	struct cursor c = cursor_begin(99, 10, ORDER_SEQ, 0);
	struct span b = { 0 };

	c.base = 1;
	for (unsigned i = 0; i < 10; i++) {
		CHECK(cursor_next(&c, &b));
		CHECK_U64("from", b.at, 1 + i * 10);
		CHECK_U64("to", b.to, b.at);
		CHECK_U64("bytes", b.len, i < 9 ? 10 : 9);
	}
	CHECK(!cursor_next(&c, &b));
}

/* Each offset is a multiple of the step behind the base, and all of them come on both sides. */
static void check_pairs(void)
{
	enum { STEP = 16, BLOCK = 64, PLACES = 30, BASE = 1 };
	struct cursor c = cursor_pairs((PLACES - 1) * STEP + BLOCK + STEP - 1, BLOCK,
				       STEP, 5);
	struct cursor again = c;
	unsigned from[PLACES] = { 0 }, to[PLACES] = { 0 }, alike = 0;
	struct span b = { 0 }, b_again = { 0 };

	c.base = BASE;
	for (unsigned i = 0; i < 1000; i++) {
		CHECK(cursor_next(&c, &b) && cursor_next(&again, &b_again));
		CHECK_U64("bytes", b.len, BLOCK);
		CHECK_U64("step", (b.at - BASE) % STEP + (b.to - BASE) % STEP, 0);
		CHECK((b.at - BASE) / STEP < PLACES && (b.to - BASE) / STEP < PLACES);
		CHECK(b.at == b_again.at + BASE && b.to == b_again.to + BASE);
		from[(b.at - BASE) / STEP]++;
		to[(b.to - BASE) / STEP]++;
		alike += b.at == b.to;
	}
	for (unsigned i = 0; i < PLACES; i++)
		CHECK(from[i] && to[i]);
	CHECK(alike < 100); /* 33 of 1000 are to be expected */
}

static void check_cut(void)
{
	struct cursor c = cursor_begin(100, 10, ORDER_SEQ, 0);
	struct span b = { 0 };

	CHECK(cursor_next(&c, &b) && cursor_next(&c, &b));
	c.end = c.next;
	CHECK(!cursor_next(&c, &b));
	CHECK_U64("handed out", c.next, 2);
}

int main(void)
{
	CHECK_TEXT("order", order_names[ORDER_SEQ], "seq");
	CHECK_TEXT("order", order_names[ORDER_RANDOM], "random");
	CHECK_TEXT("order", order_names[ORDER_REVERSE], "reverse");
	CHECK(!order_names[ORDER_REVERSE + 1]);
	check_passes();
	check_counts();
	check_seeds();
	check_large();
	check_base();
	check_pairs();
	check_cut();
	return check_result();
}
