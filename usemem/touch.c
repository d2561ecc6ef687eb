// SPDX-License-Identifier: GPL-2.0-or-later
/* touch - the loops that access memory, and nothing else. */
#include "usemem/touch.h"

#include "common/base.h"

/* One loop, compiled for the vectors of several machines; the loader picks (needs ifunc, which
 * sanitizers do not survive). */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif
#if defined(__x86_64__) && defined(__GLIBC__) && !SANITIZED
#define for_each_cpu __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define for_each_cpu
#endif

/* Words that are checked together, then stored: few enough for the compiler to keep them all in
 * vectors, so that each is loaded and stored once. */
enum { CHECK_WORDS = 32 };

for_each_cpu static uint64_t read_forward(struct touch *t, uint64_t from,
					  uint64_t accesses)
{
	const word *words = t->words + from;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < accesses; i++)
		sum += words[i];
	t->sum += sum;
	return accesses;
}

for_each_cpu static uint64_t read_strided(struct touch *t, uint64_t from,
					  uint64_t accesses)
{
	const word *words = t->words + from * t->step;
	uint64_t step = t->step, sum = 0;

	for (uint64_t i = 0; i < accesses; i++)
		sum += words[i * step];
	t->sum += sum;
	return accesses;
}

static uint64_t read_random(struct touch *t, uint64_t from, uint64_t accesses)
{
	const word *words = t->words;
	uint64_t count = t->count, sum = 0;
	struct rng rng = t->rng;

	(void)from;
	for (uint64_t i = 0; i < accesses; i++)
		sum += words[rng_scale(rng_next(&rng), count)];
	t->rng = rng;
	t->sum += sum;
	return accesses;
}

for_each_cpu static uint64_t write_forward(struct touch *t, uint64_t from,
					   uint64_t accesses)
{
	word *words = t->words;
	uint64_t end = from + accesses;
	uint64_t mask = t->pattern.index_mask, data = t->pattern.data;

	for (uint64_t i = from; i < end; i++)
		words[i] = (i & mask) + data;
	return accesses;
}

for_each_cpu static uint64_t write_strided(struct touch *t, uint64_t from,
					   uint64_t accesses)
{
	word *words = t->words;
	uint64_t step = t->step, end = (from + accesses) * step;
	uint64_t mask = t->pattern.index_mask, data = t->pattern.data;

	for (uint64_t i = from * step; i < end; i += step)
		words[i] = (i & mask) + data;
	return accesses;
}

static uint64_t write_random(struct touch *t, uint64_t from, uint64_t accesses)
{
	word *words = t->words;
	uint64_t count = t->count;
	uint64_t mask = t->pattern.index_mask, data = t->pattern.data;
	struct rng rng = t->rng;

	(void)from;
	for (uint64_t k = 0; k < accesses; k++) {
		uint64_t i = rng_scale(rng_next(&rng), count);

		words[i] = (i & mask) + data;
	}
	t->rng = rng;
	return accesses;
}

static uint64_t check_strided(struct touch *t, uint64_t from, uint64_t accesses)
{
	word *words = t->words;
	uint64_t step = t->step;
	uint64_t mask = t->pattern.index_mask, data = t->pattern.data;

	for (uint64_t k = 0, i = from * step; k < accesses; k++, i += step) {
		if (unlikely(words[i] != (i & mask) + data))
			return k;
		words[i] = (i & mask) + data;
	}
	return accesses;
}

/* A wrong word is still there when it is found: the stores to its group come after its check. */
for_each_cpu static uint64_t check_forward(struct touch *t, uint64_t from,
					   uint64_t accesses)
{
	uint64_t mask = t->pattern.index_mask, data = t->pattern.data, done = 0;

	for (; done + CHECK_WORDS <= accesses; done += CHECK_WORDS) {
		word *words = t->words + from + done;
		uint64_t i = from + done, differs = 0;

		for (int k = 0; k < CHECK_WORDS; k++)
			differs |= words[k] ^ (((i + k) & mask) + data);
		if (unlikely(differs))
			break;
		for (int k = 0; k < CHECK_WORDS; k++)
			words[k] = ((i + k) & mask) + data;
	}
	return done + check_strided(t, from + done, accesses - done);
}

static uint64_t write_hashed(struct touch *t, uint64_t from, uint64_t accesses)
{
	const struct pattern p = t->pattern;
	word *words = t->words;
	uint64_t step = t->step, end = (from + accesses) * step;

	for (uint64_t i = from * step; i < end; i += step)
		words[i] = pattern_word(&p, i);
	return accesses;
}

static uint64_t write_hashed_random(struct touch *t, uint64_t from, uint64_t accesses)
{
	const struct pattern p = t->pattern;
	word *words = t->words;
	struct rng rng = t->rng;

	(void)from;
	for (uint64_t k = 0; k < accesses; k++) {
		uint64_t i = rng_scale(rng_next(&rng), t->count);

		words[i] = pattern_word(&p, i);
	}
	t->rng = rng;
	return accesses;
}

static uint64_t check_hashed(struct touch *t, uint64_t from, uint64_t accesses)
{
	const struct pattern p = t->pattern;
	word *words = t->words;
	uint64_t step = t->step;

	for (uint64_t k = 0, i = from * step; k < accesses; k++, i += step) {
		if (unlikely(words[i] != pattern_word(&p, i)))
			return k;
		words[i] = pattern_word(&p, i);
	}
	return accesses;
}

const struct touch_kind touch_kinds[] = {
	{ .every_word = true, .touch = read_forward },
	{ .touch = read_strided },
	{ .random = true, .touch = read_random },
	{ .writes = true, .every_word = true, .touch = write_forward },
	{ .writes = true, .touch = write_strided },
	{ .writes = true, .random = true, .touch = write_random },
	{ .writes = true, .checks = true, .every_word = true, .touch = check_forward },
	{ .writes = true, .checks = true, .touch = check_strided },
	{ .writes = true, .hashed = true, .touch = write_hashed },
	{ .writes = true, .hashed = true, .random = true, .touch = write_hashed_random },
	{ .writes = true, .hashed = true, .checks = true, .touch = check_hashed },
};

const struct touch_kind *touch_find(const struct touch *t, bool writes, bool random,
				    bool checks)
{
	const struct touch_kind *k = touch_kinds;
	bool hashed = writes && t->pattern.hashed;

	checks = checks && writes && !random;
	while (k->writes != writes || k->random != random || k->checks != checks ||
	       k->hashed != hashed || (k->every_word && t->step != 1))
		k++;
	return k;
}

uint64_t touch_accesses(const struct touch *t)
{
	return t->count / t->step + (t->count % t->step != 0);
}

uint64_t touch_piece(const struct touch_kind *kind, uint64_t step, uint64_t page_bytes,
		     bool fresh)
{
	uint64_t pages = fresh ? 1 : 16, page_words = page_bytes / sizeof(uint64_t);

	/* Random accesses overlap, unless each is a fault. */
	if (kind->random)
		return fresh ? 1 : 64;
	return step >= page_words ? pages : pages * page_words / step;
}
