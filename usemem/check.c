// SPDX-License-Identifier: GPL-2.0-or-later
/* check - which command lines are refused before anything is started. */
#include "common/parse.h"
#include "usemem/usemem.h"

int check_options(void)
{
	bool paged = !cfg.heap && !cfg.anonymous && (cfg.memfd || cfg.file);
	const struct {
		bool refused;
		const char *why;
	} rules[] = {
		{ cfg.step_bytes && cfg.step_bytes < sizeof(uint64_t),
		  "--step: expected at least 8 bytes" },
		{ cfg.sync_rw && cfg.unit_bytes && cfg.unit_bytes != cfg.size_bytes,
		  "--sync-rw: expected no --unit, or one of SIZE" },
		{ paged && cfg.unit_bytes % base_page_bytes(),
		  "--unit: expected whole pages, since a file or memfd is mapped" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].refused)
			return refused("%s", rules[i].why);
	return 0;
}

/* Bytes of COUNT times BYTES, at most UINT64_MAX: enough to be refused. */
static uint64_t times(uint64_t bytes, uint64_t count)
{
	uint64_t product;

	return __builtin_mul_overflow(bytes, count, &product) ? UINT64_MAX : product;
}

/* The memory that one task's writes take: the pages that a sparse walk comes to. */
static uint64_t written_bytes(void)
{
	uint64_t page = base_page_bytes(), accesses;

	if (cfg.backing.writable && cfg.prefault && !cfg.heap)
		return cfg.size_bytes;
	if (cfg.readonly || !cfg.passes)
		return 0;
	if (cfg.step_bytes <= page && !cfg.random)
		return cfg.size_bytes;
	accesses = cfg.size_bytes / cfg.step_bytes + 1;
	accesses = cfg.random ? times(accesses, cfg.passes) : accesses;
	return MIN(times(accesses, page), cfg.size_bytes);
}

int check_memory(void)
{
	const struct backing *b = &cfg.backing;
	uint64_t room = limits_memory_and_swap(&cfg.run.limits), tasks = cfg.run.workers,
		 need;
	char need_text[FORMAT_LEN], room_text[FORMAT_LEN];

	if (cfg.run.force || (b->source->is_file && !cfg.memfd))
		return 0;
	/* Shared by all: what is one file, and what --prealloc maps shared; private memory of
	 * --prealloc is copied once by each process that writes. */
	if (b->shared && (b->source->is_file || cfg.prealloc))
		tasks = 1;
	else if (cfg.prealloc)
		tasks = cfg.run.processes + (cfg.prefault ? 1 : 0);
	need = times(written_bytes(), tasks);
	if (need <= room)
		return 0;
	return refused("%s is to be written, and memory and swap have room for %s; "
		       "--force starts "
		       "all the same",
		       format_bytes(need_text, (double)need),
		       format_bytes(room_text, (double)room));
}
