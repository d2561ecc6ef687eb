// SPDX-License-Identifier: GPL-2.0-or-later
/* touch - usemem's passes against bare loops, in one process, on the same pages. */
#include "common/region.h"
#include "tests/bench/bare.h"
#include "tests/bench/pairs.h"
#include "usemem/pass.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t bytes = GiB;

static const struct row {
	const char *name;
	bool writes, random, checks;
	uint64_t step_bytes;
	bool fresh; /* memory that was never touched */
	double wanted;
} rows[] = {
	{ "write sequential", true, false, false, 8, false, 0.90 },
	{ "write stride 64", true, false, false, 64, false, 0.90 },
	{ "write stride 4096", true, false, false, 4096, false, 0.90 },
	{ "write random", true, true, false, 64, false, 0.90 },
	{ "read sequential", false, false, false, 8, false, 0.90 },
	{ "read stride 64", false, false, false, 64, false, 0.90 },
	{ "read stride 4096", false, false, false, 4096, false, 0.90 },
	{ "read random", false, true, false, 64, false, 0.90 },
	{ "check and write", true, false, true, 8, false, 0.90 },
	{ "check, stride 64", true, false, true, 64, false, 0.90 },
	{ "first touch", true, false, false, 8, true, 0.95 },
};

static volatile uint64_t sink;

/* Base pages, whatever the machine's THP setting. */
static uint64_t *take_memory(void)
{
	uint64_t *words = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (words == MAP_FAILED || madvise(words, bytes, MADV_NOHUGEPAGE)) {
		perror("memory");
		exit(1);
	}
	return words;
}

static void walk_bare(const struct row *row, uint64_t *words, uint64_t counter)
{
	uint64_t count = bytes / 8, step = row->step_bytes / 8;

	if (row->checks)
		sink += bare_check(words, count, step);
	else if (row->random && row->writes)
		bare_write_random(words, count, count / step, counter);
	else if (row->random)
		sink += bare_read_random(words, count, count / step, counter);
	else if (row->writes)
		bare_write(words, count, step);
	else
		sink += bare_read(words, count, step);
}

static void walk_ours(const struct row *row, uint64_t *words, uint64_t counter)
{
	struct touch t = {
		.words = words,
		.count = bytes / 8,
		.step = row->step_bytes / 8,
		.pattern = { .index_mask = UINT64_MAX },
		.rng = { counter },
		.fresh = row->fresh,
	};
	struct tally tally = { .limit = UINT64_MAX };
	struct worker w = { .tally = &tally };
	struct pass pass = { .kind = touch_find(&t, row->writes, row->random,
						row->checks),
			     .at_most = UINT64_MAX,
			     .page_bytes = base_page_bytes() };

	if (pass_over(&w, &t, &pass) != UINT64_MAX) {
		printf("%s: wrong data\n", row->name);
		exit(1);
	}
	sink += t.sum;
}

static uint64_t time_of(void (*walk)(const struct row *, uint64_t *, uint64_t),
			const struct row *row, uint64_t *words)
{
	uint64_t *memory = row->fresh ? take_memory() : words;
	uint64_t began = now_ns(), took;

	walk(row, memory, 42);
	took = now_ns() - began;
	if (row->fresh)
		munmap(memory, bytes);
	return took;
}

static void measure(const struct row *row, uint64_t *words)
{
	uint64_t accesses = bytes / row->step_bytes;
	struct pairs pairs = { .count = 0 };

	time_of(walk_bare, row, words);
	while (pairs.count < PAIRS) {
		uint64_t bare, ours, again;

		bare = time_of(walk_bare, row, words);
		ours = time_of(walk_ours, row, words);
		again = time_of(walk_bare, row, words);
		pairs_add(&pairs, ours, bare, again);
	}
	pairs_print(&pairs, row->name, row->wanted, (double)(accesses * 8),
		    "GB/s accessed");
}

int main(int argc, char **argv)
{
	uint64_t *words;

	if (argc > 1)
		bytes = strtoull(argv[1], NULL, 10) * MiB;
	words = take_memory();
	bare_write(words, bytes / 8, 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		/* The words hold their index before and after each row. */
		if (argc > 2 && !strstr(rows[i].name, argv[2]))
			continue;
		measure(&rows[i], words);
	}
	return 0;
}
