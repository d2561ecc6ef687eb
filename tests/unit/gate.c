// SPDX-License-Identifier: GPL-2.0-or-later
/* gate - tests of readtwice/gate.c: how far a reader may go, and what is remembered of the gap. */
#include "common/clock.h"
#include "readtwice/readtwice.h"
#include "tests/check.h"

enum { BLOCK = 4096, READERS = 3, MANY = 1000 };

/* One of three readers of the second file: a worker that was stopped, so that nothing waits. */
static struct tally tally;
static struct worker worker = { .total = 2 * READERS, .tally = &tally };

static void begin(unsigned reader, uint64_t gap_blocks)
{
	cfg.readers = READERS;
	cfg.block_bytes = BLOCK;
	cfg.gap_bytes = gap_blocks * BLOCK;
	cfg.gap_ns = 0;
	cfg.run.workers = worker.total;
	worker.id = READERS + reader;
	tally = (struct tally){ .limit = 0 };
	CHECK_U64("places", places_open(), 0);
	places_reset();
}

static void stand(unsigned reader, uint64_t blocks, bool ended)
{
	atomic_store(&places[READERS + reader].blocks, blocks);
	atomic_store(&places[READERS + reader].ended, ended);
}

/* With a gap of 32 blocks a reader stays 28 behind the one before it. */
static const struct {
	const char *name;
	unsigned reader;
	uint64_t gap, before, behind; /* where the others stand */
	bool before_ended, behind_ended;
	uint64_t passed, next, all, want;
} rows[] = {
	{ .name = "no gap", .next = 3, .all = 100, .want = 100 },
	/* the first has only one behind it */
	{ .name = "first, at the start", .gap = 32, .all = MANY, .want = 32 },
	{ .name = "first, near", .gap = 32, .next = 31, .all = MANY, .want = 32 },
	{ .name = "first, at the gap", .gap = 32, .next = 32, .all = MANY, .want = 32 },
	{ .name = "first, beyond it", .gap = 32, .next = 40, .all = MANY, .want = 40 },
	{ .name = "first, one goes on",
	  .gap = 32,
	  .behind = 8,
	  .next = 32,
	  .all = MANY,
	  .want = 40 },
	{ .name = "first, short file", .gap = 32, .next = 2, .all = 10, .want = 10 },
	{ .name = "first, the other ended",
	  .gap = 32,
	  .behind_ended = true,
	  .next = 32,
	  .all = MANY,
	  .want = MANY },
	{ .name = "smallest gap", .gap = 4, .all = MANY, .want = 4 },
	/* the last has only one before it */
	{ .name = "last, none has begun", .reader = 2, .gap = 32, .all = MANY },
	{ .name = "last, not yet", .reader = 2, .gap = 32, .before = 28, .all = MANY },
	{ .name = "last, one block",
	  .reader = 2,
	  .gap = 32,
	  .before = 29,
	  .all = MANY,
	  .want = 1 },
	{ .name = "last, far behind",
	  .reader = 2,
	  .gap = 32,
	  .before = 500,
	  .next = 7,
	  .all = MANY,
	  .want = 472 },
	{ .name = "last, too near",
	  .reader = 2,
	  .gap = 32,
	  .before = 50,
	  .next = 40,
	  .all = MANY,
	  .want = 40 },
	{ .name = "last, the other ended",
	  .reader = 2,
	  .gap = 32,
	  .before = 5,
	  .before_ended = true,
	  .all = MANY,
	  .want = MANY },
	{ .name = "last, smallest gap",
	  .reader = 2,
	  .gap = 4,
	  .before = 3,
	  .all = MANY,
	  .want = 1 },
	{ .name = "last, no file is so long",
	  .reader = 2,
	  .gap = UINT64_MAX / BLOCK,
	  .before = MANY,
	  .all = MANY },
	/* the middle one has both, and the nearer counts */
	{ .name = "middle, by the one before",
	  .reader = 1,
	  .gap = 32,
	  .before = 100,
	  .behind = 60,
	  .next = 70,
	  .all = MANY,
	  .want = 72 },
	{ .name = "middle, by the one behind",
	  .reader = 1,
	  .gap = 32,
	  .before = 200,
	  .behind = 60,
	  .next = 70,
	  .all = MANY,
	  .want = 92 },
	{ .name = "middle, alone",
	  .reader = 1,
	  .gap = 32,
	  .before_ended = true,
	  .behind_ended = true,
	  .all = MANY,
	  .want = MANY },
	/* passes count on */
	{ .name = "second pass",
	  .gap = 32,
	  .behind = 80,
	  .passed = 100,
	  .next = 3,
	  .all = 100,
	  .want = 12 },
	{ .name = "second pass, its end",
	  .gap = 32,
	  .behind = 180,
	  .passed = 100,
	  .next = 90,
	  .all = 100,
	  .want = 100 },
	{ .name = "second pass, the first not over",
	  .reader = 2,
	  .gap = 32,
	  .before = 110,
	  .passed = 100,
	  .all = 100 },
};

static void check_rooms(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned reader = rows[i].reader;

		begin(reader, rows[i].gap);
		if (reader)
			stand(reader - 1, rows[i].before, rows[i].before_ended);
		if (reader + 1 < READERS)
			stand(reader + 1, rows[i].behind, rows[i].behind_ended);
		CHECK_U64(rows[i].name,
			  gate_open(&worker, rows[i].passed, rows[i].next, rows[i].all),
			  rows[i].want);
		places_close();
	}
}

/* The neighbours in memory are readers of other files. */
static void others_do_not_count(void)
{
	begin(0, 32);
	atomic_store(&places[READERS - 1].blocks, 1);
	CHECK_U64("the last of another file", gate_open(&worker, 0, 0, MANY), 32);
	places_close();
	begin(2, 32);
	stand(1, 500, false);
	CHECK_U64("the last of all", gate_open(&worker, 0, 0, MANY), 472);
	places_close();
}

static void look(uint64_t before, uint64_t next)
{
	stand(1, before, false);
	CHECK(gate_open(&worker, 0, next, MANY) >= next);
}

/* From its first block on, and while there is one before it. */
static void distances_are_kept(void)
{
	struct place *mine;

	begin(2, 32);
	mine = &places[READERS + 2];
	look(300, 0);
	CHECK_U64("at the start", mine->nearest, UINT64_MAX);
	look(50, 20);
	look(60, 22);
	look(61, 35);
	CHECK_U64("nearest", mine->nearest, 26);
	CHECK_U64("furthest", mine->furthest, 38);
	CHECK_U64("where it stands", mine->blocks, 35);
	stand(1, 61, true);
	CHECK_U64("alone", gate_open(&worker, 0, 60, MANY), MANY);
	CHECK_U64("nearest, alone", mine->nearest, 26);
	places_close();
}

static void who_goes_is_seen(void)
{
	uint32_t bell;

	begin(1, 32);
	bell = atomic_load(&places[READERS].bell);
	gate_leave(&worker);
	CHECK(atomic_load(&places[READERS + 1].ended));
	CHECK(atomic_load(&places[READERS].bell) != bell);
	places_close();
}

/* A reader that was stopped waits for no time either. */
static void times_begin_late(void)
{
	static const uint64_t gaps[] = { 0, 1, ns_per_s, UINT64_MAX / 2, UINT64_MAX };
	uint64_t before = now_ns();

	for (size_t i = 0; i < ARRAY_SIZE(gaps); i++) {
		begin(2, 0);
		cfg.gap_ns = gaps[i];
		tally.began_ns = 1;
		gate_begin(&worker);
		CHECK(gaps[i] ? tally.began_ns >= before : tally.began_ns == 1);
		places_close();
	}
	/* The first of a file waits for nobody, stopped or not: it has begun at the start line. */
	begin(0, 0);
	cfg.gap_ns = UINT64_MAX;
	tally.began_ns = 1;
	atomic_store(&tally.limit, UINT64_MAX);
	gate_begin(&worker);
	CHECK_U64("the first", tally.began_ns, 1);
	places_close();
}

int main(void)
{
	check_rooms();
	others_do_not_count();
	distances_are_kept();
	who_goes_is_seen();
	times_begin_late();
	return check_result();
}
