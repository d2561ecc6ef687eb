// SPDX-License-Identifier: GPL-2.0-or-later
/* stamp - tests of copyfile/stamp.c: what a block carries, of whatever length. */
#include "copyfile/copyfile.h"
#include "tests/check.h"

enum { MOST = 3 * STAMP_STEP + 100 };

static char block[MOST], guarded[MOST + 1];

static const size_t lengths[] = {
	1,
	7,
	8,
	31,
	32,
	33,
	512,
	STAMP_STEP - 1,
	STAMP_STEP,
	STAMP_STEP + 1,
	STAMP_STEP + 32,
	STAMP_STEP + STAMP_STEP,
	MOST,
};

static void check_length(size_t bytes)
{
	char row[32];

	snprintf(row, sizeof(row), "%zu bytes", bytes);
	memset(guarded, 0, sizeof(guarded));
	block_prepare(guarded, bytes);
	CHECK_U64(row, strnlen(guarded, sizeof(guarded)), bytes);
	block_stamp(guarded, bytes, 3, 7, 8192);
	CHECK_U64(row, guarded[bytes], 0);
	for (size_t at = 0; at + sizeof(struct stamp) <= bytes; at += STAMP_STEP) {
		struct stamp s;

		memcpy(&s, guarded + at, sizeof(s));
		CHECK(stamp_is_one(&s));
		CHECK_U64(row, s.worker, 3);
		CHECK_U64(row, s.op, 7);
		CHECK_U64(row, s.offset, 8192 + at);
	}
}

/* Only the stamps change: what is between them stays. */
static void check_again(void)
{
	static char first[MOST];

	block_prepare(block, MOST);
	block_stamp(block, MOST, 1, 2, 3);
	memcpy(first, block, MOST);
	block_stamp(block, MOST, 1, 3, 3);
	for (size_t i = 0; i < MOST; i++)
		if (first[i] != block[i])
			CHECK(i % STAMP_STEP < sizeof(struct stamp));
	CHECK(memcmp(first, block, sizeof(struct stamp)) != 0);
	block_stamp(block, MOST, 1, 2, 3);
	CHECK(!memcmp(first, block, MOST));
}

/* Each of its bytes counts. */
static void check_flipped(void)
{
	struct stamp s = stamp_make(1, 2, 3);

	CHECK(stamp_is_one(&s));
	for (size_t i = 0; i < 8 * sizeof(s); i++) {
		struct stamp flipped = s;

		((unsigned char *)&flipped)[i / 8] ^= (unsigned char)(1 << i % 8);
		CHECK(!stamp_is_one(&flipped));
	}
	s = (struct stamp){ 0 };
	CHECK(!stamp_is_one(&s));
}

int main(void)
{
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		check_length(lengths[i]);
	check_again();
	check_flipped();
	return check_result();
}
