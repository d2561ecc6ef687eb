// SPDX-License-Identifier: GPL-2.0-or-later
/* touch - tests of usemem/touch.c and pass.c, against loops that do one thing at a time. */
#include "usemem/touch.h"
#include "common/clock.h"
#include "common/region.h"
#include "tests/check.h"
#include "usemem/pass.h"

#include <sys/mman.h>

#define GUARD_WORD UINT64_C(0x5afe5afe5afe5afe)
enum { GUARDS = 16, NO_PIECES = 1 << 30 };

/* A unit, before it words that nobody may write, behind it a page that nobody may touch. */
struct unit {
	uint64_t *words, count;
	char *pages;
	size_t bytes;
};

static uint64_t scramble(uint64_t i)
{
	return rng_hash(i + 12345);
}

static struct unit unit_new(uint64_t count)
{
	size_t page = base_page_bytes(), room = (count + GUARDS) * sizeof(uint64_t);
	struct unit u = { .count = count };

	room = (room + page - 1) / page * page;
	u.bytes = room + page;
	u.pages = mmap(NULL, u.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	if (u.pages == MAP_FAILED || mprotect(u.pages + room, page, PROT_NONE))
		abort();
	u.words = (uint64_t *)(u.pages + room) - count;
	for (unsigned i = 1; i <= GUARDS; i++)
		u.words[-(int)i] = GUARD_WORD;
	for (uint64_t i = 0; i < count; i++)
		u.words[i] = scramble(i);
	return u;
}

static void unit_free(struct unit *u, const char *row)
{
	uint64_t spoiled = 0;

	for (unsigned i = 1; i <= GUARDS; i++)
		spoiled += u->words[-(int)i] != GUARD_WORD;
	CHECK_U64(row, spoiled, 0);
	munmap(u->pages, u->bytes);
}

/* What a write stores. */
static uint64_t stored(const struct touch *t, uint64_t i)
{
	const struct pattern *p = &t->pattern;

	if (p->hashed)
		return i % p->page_words < p->random_words
			       ? rng_hash(p->base + i * RNG_STEP)
			       : 0;
	return (i & p->index_mask) + p->data;
}

static const struct fill {
	const char *name;
	struct pattern pattern;
} fills[] = {
	{ "index", { UINT64_MAX, 0, false, 0, 0, 0 } },
	{ "constant", { 0, UINT64_C(0xdeadbeefcafef00d), false, 0, 0, 0 } },
	{ "zero", { 0, 0, false, 0, 0, 0 } },
	{ "index and data", { UINT64_MAX, UINT64_MAX - 3, false, 0, 0, 0 } },
	{ "low bits", { 0xff, 7, false, 0, 0, 0 } },
	{ "random", { 0, 0, true, 11, 512, 512 } },
	{ "a quarter of each page random", { 0, 0, true, 22, 512, 128 } },
	{ "hashed, nothing random", { 0, 0, true, 33, 64, 0 } },
};

static const uint64_t counts[] = { 0, 1, 7, 8, 127, 128, 129, 1000 };
static const uint64_t steps[] = { 1, 2, 8, 512, 513 };
static const uint64_t pieces[] = { NO_PIECES, 1, 3, 7, 64, 100, 128, 129, 511 };

/* One walk of the tests. */
struct walk {
	bool writes, random, checks;
	uint64_t count, step, piece;
	const struct fill *fill;
};

static const char *name_of(const struct walk *w, char buf[static 128])
{
	snprintf(buf, 128, "%s%s%s, %ju words, step %ju, pieces of %ju, %s",
		 w->writes ? "write" : "read", w->random ? ", random" : "",
		 w->checks ? ", checked" : "", (uintmax_t)w->count, (uintmax_t)w->step,
		 (uintmax_t)w->piece, w->fill->name);
	return buf;
}

static struct touch touch_of(const struct walk *w, const struct unit *u)
{
	return (struct touch){ .words = u->words,
			       .count = u->count,
			       .step = w->step,
			       .pattern = w->fill->pattern,
			       .rng = rng_stream(99, w->count),
			       .sum = 1000 };
}

static unsigned rows_seen;

static const struct touch_kind *kind_of(const struct walk *w)
{
	const struct touch t = { .step = w->step, .pattern = w->fill->pattern };
	const struct touch_kind *k = touch_find(&t, w->writes, w->random, w->checks);

	rows_seen |= 1U << (k - touch_kinds);
	return k;
}

/* The pass in pieces: how many accesses were made. */
static uint64_t make_pass(const struct walk *w, struct touch *t, uint64_t accesses)
{
	const struct touch_kind *k = kind_of(w);
	uint64_t done = 0, made, asked;

	while (done < accesses) {
		asked = MIN(w->piece, accesses - done);
		made = k->touch(t, done, asked);
		if (made > asked)
			return UINT64_MAX;
		done += made;
		if (made != asked)
			break;
	}
	return done;
}

static void fill_by_hand(const struct touch *t)
{
	for (uint64_t i = 0; i < t->count; i += t->step)
		t->words[i] = stored(t, i);
}

/* Words that are not as they ought to be once the pass is over: each STEP-th written, or none. */
static uint64_t wrong_words(const struct touch *t, bool written)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < t->count; i++)
		wrong += t->words[i] !=
			 (written && i % t->step == 0 ? stored(t, i) : scramble(i));
	return wrong;
}

static void check_sequential(const struct walk *w)
{
	struct unit u = unit_new(w->count);
	struct touch t = touch_of(w, &u);
	struct rng rng = t.rng;
	uint64_t accesses = 0, sum = t.sum;
	char row[128];

	name_of(w, row);
	if (w->checks)
		fill_by_hand(&t);
	for (uint64_t i = 0; i < w->count; i += w->step, accesses++)
		sum += w->writes ? 0 : u.words[i];
	CHECK_U64(row, touch_accesses(&t), accesses);
	CHECK_U64(row, make_pass(w, &t, accesses), accesses);
	CHECK_U64(row, wrong_words(&t, w->writes), 0);
	CHECK_U64(row, t.sum, sum);
	CHECK_U64(row, t.rng.counter, rng.counter);
	unit_free(&u, row);
}

static void check_random(const struct walk *w)
{
	struct unit u = unit_new(w->count), by_hand = unit_new(w->count);
	struct touch t = touch_of(w, &u);
	uint64_t accesses = 20 * w->count + 100, sum = t.sum, differ = 0;
	struct rng rng = t.rng;
	char row[128];

	name_of(w, row);
	for (uint64_t k = 0; k < accesses; k++) {
		uint64_t i = rng_scale(rng_next(&rng), w->count);

		if (w->writes)
			by_hand.words[i] = stored(&t, i);
		else
			sum += u.words[i];
	}
	CHECK_U64(row, make_pass(w, &t, accesses), accesses);
	for (uint64_t i = 0; i < w->count; i++)
		differ += u.words[i] != by_hand.words[i];
	CHECK_U64(row, differ, 0);
	CHECK_U64(row, t.sum, sum);
	CHECK_U64(row, t.rng.counter, rng.counter);
	unit_free(&u, row);
	unit_free(&by_hand, row);
}

static void check_walks(void (*check)(const struct walk *), struct walk w)
{
	for (size_t c = 0; c < ARRAY_SIZE(counts); c++)
		for (size_t s = 0; s < ARRAY_SIZE(steps); s++)
			for (size_t p = 0; p < ARRAY_SIZE(pieces); p++)
				for (size_t f = 0; f < ARRAY_SIZE(fills); f++) {
					w.count = counts[c];
					w.step = steps[s];
					w.piece = pieces[p];
					w.fill = &fills[f];
					if (w.count || !w.random)
						check(&w);
				}
}

/* Random writes come to the first word and to the last. */
static void check_ends(void)
{
	static const uint64_t small[] = { 1, 2, 3, 7, 127, 128, 129 };

	for (size_t i = 0; i < ARRAY_SIZE(small); i++) {
		struct walk w = { .writes = true,
				  .random = true,
				  .count = small[i],
				  .step = 8,
				  .piece = NO_PIECES,
				  .fill = &fills[1] };
		struct unit u = unit_new(w.count);
		struct touch t = touch_of(&w, &u);

		CHECK_U64("made", make_pass(&w, &t, 20 * w.count), 20 * w.count);
		CHECK_U64("first", u.words[0], fills[1].pattern.data);
		CHECK_U64("last", u.words[w.count - 1], fills[1].pattern.data);
		unit_free(&u, "ends");
	}
}

/* A check with word AT spoiled by FLIP, in pieces: it ends before that word's access, and leaves
 * it, as all the others, as it was. */
static void check_spoiled(const struct walk *w, uint64_t access, uint64_t flip)
{
	struct unit u = unit_new(w->count);
	struct touch t = touch_of(w, &u);
	uint64_t at = access * w->step, found;
	char row[128];

	name_of(w, row);
	fill_by_hand(&t);
	found = u.words[at] ^= flip;
	CHECK_U64(row, make_pass(w, &t, touch_accesses(&t)), access);
	CHECK_U64(row, u.words[at], found);
	u.words[at] ^= flip;
	CHECK_U64(row, wrong_words(&t, true), 0);
	unit_free(&u, row);
}

static void check_spoiled_places(const struct walk *w)
{
	uint64_t accesses = w->count / w->step + (w->count % w->step != 0);
	const uint64_t places[] = { 0, accesses / 2, accesses - 1 };

	if (!w->count)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		check_spoiled(w, places[i], 1);
		check_spoiled(w, places[i], UINT64_C(1) << 63);
	}
}

/* A word that no step comes to is nobody's business. */
static void check_beside_the_step(void)
{
	struct walk w = { .writes = true,
			  .checks = true,
			  .count = 100,
			  .step = 8,
			  .piece = NO_PIECES,
			  .fill = &fills[0] };
	struct unit u = unit_new(w.count);
	struct touch t = touch_of(&w, &u);

	fill_by_hand(&t);
	CHECK_U64("beside", make_pass(&w, &t, 13), 13);
	unit_free(&u, "beside");
}

static const struct {
	const char *name;
	uint64_t count, step, accesses;
} passes[] = {
	{ "nothing", 0, 1, 0 },
	{ "nothing", 0, 512, 0 },
	{ "one", 1, 1, 1 },
	{ "one, a long step", 1, 512, 1 },
	{ "just below a step", 7, 8, 1 },
	{ "a step", 8, 8, 1 },
	{ "just above a step", 9, 8, 2 },
	{ "513", 1000, 513, 2 },
	{ "all that 64 bits count", UINT64_MAX, 1, UINT64_MAX },
	{ "all that 64 bits count", UINT64_MAX, 2, UINT64_C(1) << 63 },
	{ "the longest step", 5, UINT64_MAX, 1 },
};

static void check_accesses(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(passes); i++) {
		struct touch t = { .count = passes[i].count, .step = passes[i].step };

		CHECK_U64(passes[i].name, touch_accesses(&t), passes[i].accesses);
	}
}

/* Every question has its row: writes, random and checks as asked (a check only where a pass knows
 * what the one before it stored), and a row for every word only then. */
static void check_finding(void)
{
	for (unsigned q = 0; q < 16; q++)
		for (size_t s = 0; s < ARRAY_SIZE(steps); s++) {
			bool writes = q & 1, random = q & 2, checks = q & 4;
			bool hashed = q & 8;
			const struct touch t = { .step = steps[s],
						 .pattern.hashed = hashed };
			const struct touch_kind *k = touch_find(&t, writes, random,
								checks);

			CHECK_U64("writes", k->writes, writes);
			CHECK_U64("random", k->random, random);
			CHECK_U64("checks", k->checks, checks && writes && !random);
			CHECK_U64("hashed", k->hashed, hashed && writes);
			CHECK_U64("every word", k->every_word,
				  !random && steps[s] == 1 && !(hashed && writes));
			CHECK(k->touch);
		}
}

static const struct {
	bool random, fresh;
	uint64_t step, page_bytes;
	unsigned accesses;
} piece_sizes[] = {
	{ false, false, 1, 4096, 16 * 512 },    { false, false, 2, 4096, 16 * 256 },
	{ false, false, 8, 4096, 16 * 64 },     { false, false, 511, 4096, 16 },
	{ false, false, 512, 4096, 16 },        { false, false, 513, 4096, 16 },
	{ false, false, UINT64_MAX, 4096, 16 }, { false, false, 1, 65536, 16 * 8192 },
	{ false, false, 8191, 65536, 16 },      { false, false, 8192, 65536, 16 },
	{ false, true, 1, 4096, 512 },          { false, true, 2, 4096, 256 },
	{ false, true, 511, 4096, 1 },          { false, true, 512, 4096, 1 },
	{ false, true, UINT64_MAX, 4096, 1 },   { false, true, 1, 65536, 8192 },
	{ true, false, 1, 4096, 64 },           { true, false, 512, 4096, 64 },
	{ true, false, 1, 65536, 64 },          { true, true, 1, 4096, 1 },
	{ true, true, 512, 65536, 1 },
};

static void check_piece_sizes(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(piece_sizes); i++) {
		struct touch_kind kind = { .random = piece_sizes[i].random };

		CHECK_U64("piece",
			  touch_piece(&kind, piece_sizes[i].step,
				      piece_sizes[i].page_bytes, piece_sizes[i].fresh),
			  piece_sizes[i].accesses);
	}
}

/* A pass by a worker whose operations have this limit. */
static const struct pass_row {
	const char *name;
	bool writes, random, checks, fresh;
	uint64_t count, step;
	uint64_t before, limit; /* operations */
	uint64_t piece_count;   /* of pieces made; 0: the whole pass */
} pass_rows[] = {
	{ "whole", true, false, false, false, 20000, 1, 0, UINT64_MAX, 0 },
	{ "whole, read", false, false, false, false, 20000, 1, 0, UINT64_MAX, 0 },
	{ "whole, checked", true, false, true, false, 20000, 1, 0, UINT64_MAX, 0 },
	{ "whole, random", true, true, false, false, 20000, 1, 0, UINT64_MAX, 0 },
	{ "whole, random read", false, true, false, false, 20000, 8, 0, UINT64_MAX, 0 },
	{ "whole, stride", true, false, false, false, 20000, 2, 0, UINT64_MAX, 0 },
	{ "whole, long stride", true, false, false, false, 20000, 513, 0, UINT64_MAX, 0 },
	{ "one access", true, false, false, false, 1, 1, 0, UINT64_MAX, 0 },
	{ "nothing", true, false, false, false, 0, 1, 0, UINT64_MAX, 0 },
	{ "nothing, stopped", true, false, false, false, 0, 1, 0, 0, 0 },
	{ "stopped", true, false, false, false, 200000, 1, 0, 0, 1 },
	{ "stopped, read", false, false, false, false, 200000, 1, 0, 0, 1 },
	{ "stopped, checked", true, false, true, false, 200000, 1, 0, 0, 1 },
	{ "stopped, random", true, true, false, false, 200000, 1, 0, 0, 1 },
	{ "stopped, stride", true, false, false, false, 200000, 8, 0, 0, 1 },
	{ "stopped, long stride", true, false, false, false, 200000, 513, 0, 0, 1 },
	{ "stopped, less than a piece", true, false, false, false, 100, 1, 0, 0, 0 },
	{ "stopped by one operation", true, false, false, false, 200000, 1, 0, 1, 1 },
	{ "limit beyond the first piece", true, true, false, false, 20000, 1, 0, 65, 2 },
	{ "limit at the first piece", true, true, false, false, 20000, 1, 0, 64, 1 },
	{ "counted on", true, true, false, false, 20000, 1, 1000, 1065, 2 },
	{ "counted on, to the end", true, false, false, false, 100, 1, 1000, UINT64_MAX,
	  0 },
	{ "stopped, fresh", true, false, false, true, 200000, 1, 0, 0, 1 },
	{ "stopped, fresh, random", true, true, false, true, 200000, 1, 0, 0, 1 },
	{ "stopped, fresh, a long stride", true, false, false, true, 200000, 513, 0, 0,
	  1 },
	{ "fresh", true, false, false, true, 20000, 1, 0, UINT64_MAX, 0 },
};

static void check_pass(const struct pass_row *row)
{
	struct walk walk = { row->writes, row->random, row->checks, row->count,
			     row->step,   0,           &fills[0] };
	struct unit u = unit_new(row->count);
	struct touch t = touch_of(&walk, &u);
	struct tally tally = { .ops = row->before,
			       .bytes = 5 * row->before,
			       .limit = row->limit };
	struct worker w = { .tally = &tally };
	const struct touch_kind *k = kind_of(&walk);
	struct pass pass = { .kind = k,
			     .at_most = UINT64_MAX,
			     .page_bytes = base_page_bytes() };
	uint64_t made = touch_accesses(&t);

	t.fresh = row->fresh;
	if (row->piece_count)
		made = row->piece_count *
		       touch_piece(k, row->step, base_page_bytes(), row->fresh);
	if (row->checks)
		fill_by_hand(&t);
	CHECK_U64(row->name, pass_over(&w, &t, &pass), UINT64_MAX);
	CHECK_U64(row->name, pass.made, made);
	CHECK_U64(row->name, tally.ops, row->before + made);
	CHECK_U64(row->name, tally.bytes, 5 * row->before + 8 * made);
	if (row->writes && !row->random && !row->checks) {
		u.count = t.count = MIN(row->count, made * row->step);
		CHECK_U64(row->name, wrong_words(&t, true), 0);
		if (u.count < row->count)
			CHECK_U64(row->name, u.words[u.count], scramble(u.count));
		u.count = row->count;
	}
	unit_free(&u, row->name);
}

/* Wrong data in a later piece: the word is counted from the start of the unit, and what was
 * right before it is in the tally. */
static void check_wrong_pass(uint64_t step, uint64_t access)
{
	struct walk walk = { .writes = true,
			     .checks = true,
			     .count = 50000,
			     .step = step,
			     .fill = &fills[0] };
	struct unit u = unit_new(walk.count);
	struct touch t = touch_of(&walk, &u);
	struct tally tally = { .limit = UINT64_MAX };
	struct worker w = { .tally = &tally };
	struct pass pass = { .kind = kind_of(&walk),
			     .at_most = UINT64_MAX,
			     .page_bytes = base_page_bytes() };

	fill_by_hand(&t);
	u.words[access * step] = 77777;
	CHECK_U64("wrong", pass_over(&w, &t, &pass), access * step);
	CHECK_U64("still there", u.words[access * step], 77777);
	CHECK_U64("operations", tally.ops, access);
	CHECK_U64("bytes", tally.bytes, 8 * access);
	unit_free(&u, "wrong");
}

static void check_wrong_passes(void)
{
	static const uint64_t whole[] = {
		0, 1, 127, 128, 8191, 8192, 8193, 16384, 49999
	};

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		check_wrong_pass(1, whole[i]);
	check_wrong_pass(8, 1023);
	check_wrong_pass(8, 1024);
	check_wrong_pass(8, 6249);
	check_wrong_pass(513, 16);
	check_wrong_pass(513, 97);
}

/* At most so many accesses, and of an answer for each word before it is accessed. */
struct asked {
	uint64_t times, wrong_at; /* wrong_at: that time is answered with no; 0: none */
	uint64_t last;            /* word asked for */
	bool good;                /* what was there was what unit_new() left */
};

static bool answer(const void *context, const struct touch *t, uint64_t i, uint64_t value)
{
	struct asked *asked = *(struct asked *const *)context;

	asked->times++;
	asked->last = i;
	asked->good &= value == t->words[i] && value == scramble(i);
	return asked->times != asked->wrong_at;
}

static void check_answers(bool random)
{
	struct walk walk = { .writes = true,
			     .random = random,
			     .count = 30000,
			     .step = 3,
			     .fill = &fills[0] };
	struct unit u = unit_new(walk.count);
	struct tally tally = { .limit = UINT64_MAX };
	struct worker w = { .tally = &tally };
	struct asked asked = { .good = true }, *context = &asked;
	struct touch t = touch_of(&walk, &u);
	struct rng rng = t.rng;
	struct pass pass = { .kind = kind_of(&walk),
			     .at_most = 7000,
			     .page_bytes = base_page_bytes(),
			     .right = answer,
			     .context = &context };
	uint64_t wrong = 0;

	/* Random accesses may come to a word twice, so only the first of them is as it was. */
	CHECK_U64("all right", pass_over(&w, &t, &pass), UINT64_MAX);
	CHECK_U64("asked", asked.times, 7000);
	CHECK_U64("made", pass.made, 7000);
	CHECK_U64("bytes", tally.bytes, 8 * 7000);
	CHECK(random || asked.good);
	unit_free(&u, "answers");

	u = unit_new(walk.count);
	t = touch_of(&walk, &u);
	asked = (struct asked){ .wrong_at = 5000, .good = true };
	for (int k = 0; k < 5000; k++)
		wrong = random ? rng_scale(rng_next(&rng), walk.count) : (uint64_t)k * 3;
	CHECK_U64("wrong", pass_over(&w, &t, &pass), wrong);
	CHECK_U64("asked for", asked.last, wrong);
	CHECK(pass.made < 5000);
	CHECK(random || u.words[wrong] == scramble(wrong));
	unit_free(&u, "answers");
}

/* Each page is held at least so long, whatever the step; what is counted is one access each. */
static void check_holding(bool writes, bool random, uint64_t step, uint64_t holds)
{
	struct walk walk = { .writes = writes,
			     .random = random,
			     .count = 5 * base_page_bytes() / 8,
			     .step = step,
			     .fill = &fills[0] };
	struct unit u = unit_new(walk.count);
	struct tally tally = { .limit = UINT64_MAX };
	struct worker w = { .tally = &tally };
	struct touch t = touch_of(&walk, &u);
	uint64_t began = now_ns();
	struct pass pass = { .kind = kind_of(&walk),
			     .at_most = UINT64_MAX,
			     .page_bytes = base_page_bytes(),
			     .hold_ns = 100 * ns_per_us };

	CHECK_U64("held", pass_over(&w, &t, &pass), UINT64_MAX);
	CHECK(now_ns() - began >= holds * pass.hold_ns);
	CHECK_U64("made", pass.made, touch_accesses(&t));
	CHECK_U64("bytes", tally.bytes, 8 * touch_accesses(&t));
	if (writes && !random)
		CHECK_U64("stored", wrong_words(&t, true), 0);
	unit_free(&u, "held");
}

/* Staying ends with the phase, else this would not end for an hour. */
static void check_holding_is_cut(void)
{
	struct walk walk = { .count = 1000, .step = 1, .fill = &fills[0] };
	struct unit u = unit_new(walk.count);
	struct tally tally = { .limit = 0 };
	struct worker w = { .tally = &tally };
	struct touch t = touch_of(&walk, &u);
	struct pass pass = { .kind = kind_of(&walk),
			     .at_most = UINT64_MAX,
			     .page_bytes = base_page_bytes(),
			     .hold_ns = 3600 * ns_per_s };

	CHECK_U64("cut", pass_over(&w, &t, &pass), UINT64_MAX);
	CHECK_U64("made", pass.made, 1);
	unit_free(&u, "cut");
}

int main(void)
{
	check_walks(check_sequential, (struct walk){ .writes = false });
	check_walks(check_sequential, (struct walk){ .writes = true });
	check_walks(check_sequential, (struct walk){ .writes = true, .checks = true });
	check_walks(check_random, (struct walk){ .random = true });
	check_walks(check_random, (struct walk){ .writes = true, .random = true });
	check_walks(check_spoiled_places,
		    (struct walk){ .writes = true, .checks = true });
	CHECK_U64("rows of the table that were walked", rows_seen, 0x7ff);
	check_ends();
	check_beside_the_step();
	check_answers(false);
	check_answers(true);
	check_holding(true, false, 1, 5);
	check_holding(false, false, 64, 5);
	check_holding(true, false, 2 * base_page_bytes() / 8, 3);
	check_holding(true, true, base_page_bytes() / 8, 5);
	check_holding_is_cut();
	check_accesses();
	check_finding();
	check_piece_sizes();
	for (size_t i = 0; i < ARRAY_SIZE(pass_rows); i++)
		check_pass(&pass_rows[i]);
	check_wrong_passes();
	return check_result();
}
