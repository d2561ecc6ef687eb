// SPDX-License-Identifier: GPL-2.0-or-later
/* slots - tests of common/slots.c: what is asked for next, whatever has come. */
#include "common/slots.h"
#include "tests/check.h"
#include "tests/unit/hear.h"

#include <errno.h>

enum { BLOCK = 8192, SIZE = 3 * BLOCK + 700 };

/* What comes for a block, step by step, and what the slot then asks for. */
static const struct row {
	const char *name;
	uint64_t align_bytes, block; /* its number */
	struct {
		int64_t result;
		int64_t from,
			len; /* of the request after it; len 0: the block is whole */
	} steps[4];
} rows[] = {
	{ "whole", 1, 0, { { BLOCK, 0, 0 } } },
	{ "more than whole", 1, 0, { { BLOCK + 1, 0, 0 } } },
	{ "a byte less", 1, 1, { { BLOCK - 1, BLOCK - 1, 1 }, { 1, 0, 0 } } },
	{ "in three",
	  1,
	  2,
	  { { 10, 10, BLOCK - 10 }, { 20, 30, BLOCK - 30 }, { BLOCK - 30, 0, 0 } } },
	{ "interrupted", 1, 0, { { -EINTR, 0, BLOCK }, { BLOCK, 0, 0 } } },
	{ "interrupted in the middle",
	  1,
	  0,
	  { { 5, 5, BLOCK - 5 }, { -EINTR, 5, BLOCK - 5 }, { BLOCK - 5, 0, 0 } } },
	{ "the tail", 1, 3, { { 700, 0, 0 } } },
	{ "the tail in two", 1, 3, { { 512, 512, 188 }, { 188, 0, 0 } } },
	{ "direct", 512, 0, { { 4096, 4096, 4096 }, { 4096, 0, 0 } } },
	{ "direct, within a unit", 512, 0, { { 1000, 512, 7680 }, { 7680, 0, 0 } } },
	{ "direct, the tail", 512, 3, { { 700, 0, 0 } } },
	{ "direct, the tail in two", 512, 3, { { 512, 512, 512 }, { 188, 0, 0 } } },
};

static struct target target_of(uint64_t align_bytes)
{
	return (struct target){ .fd = -1,
				.name = "FILE",
				.size_bytes = SIZE,
				.block_bytes = BLOCK,
				.depth = 3,
				.align_bytes = align_bytes };
}

static void check_row(const struct row *r)
{
	struct target t = target_of(r->align_bytes);
	struct cursor c = cursor_begin(SIZE, BLOCK, ORDER_SEQ, 0);
	struct request want;
	struct slots s = { 0 };
	struct slot *slot;
	bool whole = false;

	CHECK_U64(r->name, slots_open(&s, &t), 0);
	c.next = r->block;
	slot = slot_take(&s, &c);
	CHECK(slot);
	CHECK_U64(r->name, slots_busy(&s), 1);
	for (size_t i = 0; slot && i < ARRAY_SIZE(r->steps) && !whole; i++) {
		whole = !r->steps[i].len;
		CHECK_U64(r->name, slot_came(&s, slot, r->steps[i].result, "call"),
			  whole ? slot->block.len : 0);
		CHECK_U64(r->name, slots_busy(&s), !whole);
		if (whole)
			break;
		want = slot_request(&s, slot);
		CHECK_U64(r->name, want.at, r->block * BLOCK + r->steps[i].from);
		CHECK_U64(r->name, want.len, r->steps[i].len);
		CHECK_U64(r->name, want.to - slot->memory, r->steps[i].from);
	}
	slots_close(&s);
}

static const struct {
	uint64_t align_bytes;
	int64_t first, second; /* results */
	int ret;
	const char *said;
} failures[] = {
	{ 1, 4096, 0, -EIO, "slots: FILE: the file ended early, at offset 12288\n" },
	{ 512, 5000, 392, -EIO, "slots: FILE: the file ended early, at offset 13192\n" },
	{ 512, 4096, 0, -EIO, "slots: FILE: the file ended early, at offset 12288\n" },
	{ 1, 4096, -EIO, -EIO,
	  "slots: call at offset 12288 of FILE: Input/output error\n" },
	{ 512, 5000, -ENODEV, -ENODEV,
	  "slots: call at offset 12800 of FILE: No such device\n" },
};

/* In the second block: what is said names the place, and the slot is free again. */
static void check_bad_ends(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
		struct target t = target_of(failures[i].align_bytes);
		struct cursor c = cursor_begin(SIZE, BLOCK, ORDER_SEQ, 0);
		struct slots s = { 0 };
		struct heard h;
		struct slot *slot;

		CHECK_U64("open", slots_open(&s, &t), 0);
		c.next = 1;
		slot = slot_take(&s, &c);
		CHECK_U64("first", slot_came(&s, slot, failures[i].first, "call"), 0);
		hear_begin(&h, STDERR_FILENO);
		CHECK_U64("second", slot_came(&s, slot, failures[i].second, "call"),
			  failures[i].ret);
		hear_end(&h);
		CHECK_TEXT("said", strstr(h.text, "slots: "), failures[i].said);
		CHECK_U64("busy", slots_busy(&s), 0);
		slots_close(&s);
	}
}

/* As many as there are, each with memory of its own that is aligned; then none, then that which is
 * free again. */
static void check_taking(void)
{
	struct target t = target_of(512);
	struct cursor c = cursor_begin(SIZE, BLOCK, ORDER_SEQ, 0);
	struct slot *taken[3];
	struct slots s = { 0 };

	CHECK_U64("open", slots_open(&s, &t), 0);
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		taken[i] = slot_take(&s, &c);
		CHECK(taken[i] && taken[i]->block.at == i * BLOCK);
		CHECK_U64("aligned", (uintptr_t)taken[i]->memory % 4096, 0);
		CHECK(!i || taken[i]->memory - taken[i - 1]->memory >= BLOCK);
	}
	CHECK(!slot_take(&s, &c));
	CHECK_U64("not handed out", c.next, 3);
	CHECK_U64("came", slot_came(&s, taken[1], BLOCK, "call"), BLOCK);
	CHECK(slot_take(&s, &c) == taken[1]);
	CHECK_U64("the tail", taken[1]->block.len, 700);
	CHECK_U64("the tail", slot_request(&s, taken[1]).len, 1024);
	CHECK_U64("came", slot_came(&s, taken[0], BLOCK, "call"), BLOCK);
	CHECK(!slot_take(&s, &c));
	CHECK_U64("busy", slots_busy(&s), 2);
	slots_close(&s);
}

int main(void)
{
	base_init();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i]);
	check_bad_ends();
	check_taking();
	return check_result();
}
