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

/* The memory that one task's walk takes: the pages that it comes to, if it writes. */
static uint64_t walked_bytes(void)
{
	uint64_t page = base_page_bytes(), accesses;

	if (cfg.readonly || !cfg.passes)
		return 0;
	if (cfg.step_bytes <= page && !cfg.random)
		return cfg.size_bytes;
	accesses = cfg.size_bytes / cfg.step_bytes + 1;
	accesses = cfg.random ? times(accesses, cfg.passes) : accesses;
	return MIN(times(accesses, page), cfg.size_bytes);
}

/* The memory that all tasks together will take for what they write. */
static uint64_t written_bytes(void)
{
	const struct backing *b = &cfg.backing;
	uint64_t walked = walked_bytes(), processes = cfg.run.processes;
	uint64_t populated = b->populate && b->writable ? cfg.size_bytes : 0, total;

	/* One memory for all: one file, or what --prealloc maps shared. */
	if (b->shared && (b->source->is_file || cfg.prealloc))
		return MAX(walked, populated);
	if (!cfg.prealloc)
		return times(MAX(walked, populated), cfg.run.workers);
	/* Private memory of --prealloc: each process that writes copies what it writes. */
	return __builtin_add_overflow(populated, times(walked, processes), &total)
		       ? UINT64_MAX
		       : total;
}

int check_memory(void)
{
	uint64_t room = limits_memory_and_swap(&cfg.run.limits);
	char need_text[FORMAT_LEN], room_text[FORMAT_LEN];

	if (cfg.run.force || (cfg.backing.source->is_file && !cfg.memfd) ||
	    written_bytes() <= room)
		return 0;
	format_bytes(need_text, (double)written_bytes());
	format_bytes(room_text, (double)room);
	return refused(
		"%s to be written, %s of memory and swap; --force starts all the same",
		need_text, room_text);
}

/* Each unit of these stays a mapping of its own, and a process may have only so many. */
int check_mappings(void)
{
	uint64_t units = times(cfg.size_bytes / cfg.unit_bytes, cfg.run.threads);

	if (cfg.run.force || cfg.prealloc || cfg.heap || cfg.anonymous ||
	    units < cfg.run.limits.max_map_count)
		return 0;
	return refused("--unit: %ju mappings in a process, but vm.max_map_count is %ju",
		       (uintmax_t)units, (uintmax_t)cfg.run.limits.max_map_count);
}
