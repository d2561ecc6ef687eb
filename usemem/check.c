// SPDX-License-Identifier: GPL-2.0-or-later
/* check - which command lines are refused before anything is started. */
#include "common/numa.h"
#include "common/parse.h"
#include "usemem/task.h"

int check_options(void)
{
	const struct {
		bool refused;
		const char *why;
	} rules[] = {
		{ cfg.step_bytes && cfg.step_bytes < sizeof(uint64_t),
		  "--step: expected at least 8 bytes" },
		{ cfg.sync_rw && cfg.unit_asked && cfg.unit_asked != cfg.size_bytes,
		  "--sync-rw: expected no --unit, or one of SIZE" },
		{ cfg.huge_bytes & (cfg.huge_bytes - 1),
		  "--hugetlb: expected a power of two, such as 2m or 1g" },
		{ cfg.remap && cfg.heap, "--remap: expected no --malloc" },
		{ !cfg.size_bytes && (cfg.remap || cfg.lock_segment || cfg.mincore ||
				      cfg.mincore_huge),
		  "--remap, --lock, --mincore, --mincore-hgpg: expected a SIZE above 0" },
		{ cfg.advise && !cfg.advise[0] && !cfg.file,
		  "--advise: expected a FILE after it, or --file" },
		{ cfg.run.fs.type && !cfg.file && !(cfg.advise && cfg.advise[0]),
		  "--fs: expected --file or --advise FILE, which is made on it" },
		{ cfg.run.fs.type && ((cfg.file && cfg.file[0] == '/') ||
				      (cfg.advise && cfg.advise[0] == '/')),
		  "--fs: expected a FILE on it, not one from / on" },
		{ cfg.run.fs.type && (cfg.huge || cfg.heap || cfg.memfd),
		  "--fs: expected no --hugetlb, --malloc or --memfd" },
		{ cfg.signal_punch_holes && !cfg.punch_holes,
		  "--signal-punch-holes: expected --punch-holes with it" },
		{ cfg.fallocate_punch_holes && !cfg.punch_holes,
		  "--fallocate-punch-holes: expected --punch-holes with it" },
		{ cfg.signal_count && !cfg.signal_read,
		  "--signal-read-count: expected --write-signal-read with it" },
		{ (cfg.signal_data_given || cfg.signal_times_given) && !cfg.signal_write,
		  "--signal-write-data, --signal-write-times: expected "
		  "--write-signal-write with it" },
		{ (cfg.signal_random || cfg.signal_verify) && !cfg.signal_accesses,
		  "--signal-read-random, --signal-verify: expected --write-signal-read "
		  "or --write-signal-write with it" },
		{ cfg.signal_loop && !cfg.signal_accesses && !cfg.signal_madvise,
		  "--signal-loop: expected --write-signal-read, --write-signal-write or "
		  "--write-signal-madv-thp with it" },
	};
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].refused)
			return refused("%s", rules[i].why);
	if (cfg.numa_cpu_given)
		ret = numa_check(&cfg.run.topo, "--numa-cpu", cfg.numa_cpu);
	if (!ret && cfg.numa_memory_given)
		ret = numa_check(&cfg.run.topo, "--numa-memory", cfg.numa_memory);
	return ret;
}

int check_pages(void)
{
	uint64_t page = region_page_bytes(&cfg.backing);
	char size[FORMAT_LEN];

	if (cfg.fallocate_punch_holes && !cfg.backing.source->is_file)
		return refused(
			"--fallocate-punch-holes: expected a file or memfd behind the "
			"memory");
	if (cfg.backing.offset % page)
		return refused("--offset: expected whole pages of %s",
			       format_size(size, page));
	if (cfg.backing.source->is_file && cfg.unit_asked % page)
		return refused(
			"--unit: expected whole pages of %s, since a file or memfd is "
			"mapped",
			format_size(size, page));
	return 0;
}

/* Bytes of COUNT times BYTES, at most UINT64_MAX: enough to be refused. */
static uint64_t times(uint64_t bytes, uint64_t count)
{
	uint64_t product;

	return __builtin_mul_overflow(bytes, count, &product) ? UINT64_MAX : product;
}

/* Are there to be any tasks, or is what set-up says all? */
static bool has_tasks(void)
{
	return !cfg.mincore && !cfg.mincore_huge;
}

/* Accesses of one task's walk that may each come to another page: one at least in each unit. */
static uint64_t walk_accesses(void)
{
	uint64_t accesses = times(units_wanted(),
				  (cfg.unit_bytes - 1) / cfg.step_bytes + 1);

	return cfg.random ? times(accesses, cfg.passes) : accesses;
}

/* What one task maps: whole pages, for each unit that is a mapping of its own. */
static uint64_t mapped_by_task(void)
{
	uint64_t page = base_page_bytes();

	if (cfg.backing.source->heap || cfg.prealloc || !(cfg.unit_bytes % page))
		return cfg.size_bytes;
	return times(units_wanted(), cfg.unit_bytes / page * page + page);
}

/* The memory that one task's walk takes: the pages that it comes to, if it writes. */
static uint64_t walked_bytes(void)
{
	uint64_t page = base_page_bytes();

	if (!has_tasks() || ((cfg.readonly || !cfg.passes) && !cfg.signal_write))
		return 0;
	if (cfg.step_bytes <= page && !cfg.random)
		return mapped_by_task();
	return MIN(times(walk_accesses(), page), mapped_by_task());
}

/* The memory that all tasks together will take for what they write. */
static uint64_t written_bytes(void)
{
	const struct backing *b = &cfg.backing;
	uint64_t walked = walked_bytes(), processes = cfg.run.processes;
	/* When it is allocated. */
	bool filled = (b->populate && b->writable) || cfg.touch_alloc;
	uint64_t first = filled ? mapped_by_task() : 0, total;

	if (!cfg.size_bytes)
		return 0;
	/* One memory for all: one file, or what --prealloc maps shared. */
	if (b->shared && (b->source->is_file || cfg.prealloc))
		return MAX(walked, first);
	if (!cfg.prealloc)
		return times(MAX(walked, first), cfg.run.workers);
	/* Private memory of --prealloc: each process that writes copies what it writes. */
	return __builtin_add_overflow(first, times(walked, processes), &total)
		       ? UINT64_MAX
		       : total;
}

static int check_memory(void)
{
	uint64_t room = limits_memory_and_swap(&cfg.run.limits);
	uint64_t need = cfg.lock_segment ? cfg.size_bytes : 0;
	char need_text[FORMAT_LEN], room_text[FORMAT_LEN];

	/* Huge pages are not had from there, and a full pool is an error of mmap(2). */
	if ((!cfg.backing.source->is_file || cfg.memfd) && !cfg.backing.huge)
		need = MAX(need, written_bytes());
	if (need <= room)
		return 0;
	format_bytes(need_text, (double)need);
	format_bytes(room_text, (double)room);
	return refused(
		"%s to be written, %s of memory and swap; --force starts all the same",
		need_text, room_text);
}

/* Each unit of these stays a mapping of its own, and a process may have only so many. */
static int check_mappings(void)
{
	uint64_t units = times(units_wanted(), cfg.run.threads);

	/* Only plain anonymous ones merge. */
	if (cfg.prealloc || cfg.heap || (cfg.anonymous && !cfg.backing.huge) ||
	    units < cfg.run.limits.max_map_count)
		return 0;
	return refused("--unit: %ju mappings in a process, but vm.max_map_count is %ju",
		       (uintmax_t)units, (uintmax_t)cfg.run.limits.max_map_count);
}

/* Reclaim cannot free page tables. A page of them maps as many pages as it has entries, and there
 * is one for each such range that the walk comes to. */
static int check_page_tables(void)
{
	uint64_t page = base_page_bytes(), range = page / sizeof(uint64_t) * page;
	uint64_t ranges = cfg.size_bytes / range + (cfg.size_bytes % range != 0);
	uint64_t mappings = times(cfg.run.processes, cfg.prealloc ? 1 : cfg.run.threads);
	uint64_t available = limits_memory(&cfg.run.limits), each, all;
	char size[FORMAT_LEN], each_text[FORMAT_LEN], all_text[FORMAT_LEN],
		room[FORMAT_LEN];

	if (cfg.step_bytes > range || cfg.random)
		ranges = MIN(ranges, walk_accesses());
	if ((!has_tasks() || !cfg.passes) && !cfg.prefault && !cfg.touch_alloc)
		ranges = 0;
	each = times(ranges, page);
	all = times(each, mappings);
	if (cfg.backing.huge || all <= available / 2)
		return 0;
	return refused(
		"%s mapped %ju times takes %s of page tables each, %s in all: more "
		"than half of the %s available; --force starts all the same",
		format_size(size, cfg.size_bytes), (uintmax_t)mappings,
		format_bytes(each_text, (double)each),
		format_bytes(all_text, (double)all),
		format_bytes(room, (double)available));
}

int check_room(void)
{
	int ret;

	if (cfg.run.force)
		return 0;
	ret = check_memory();
	if (!ret)
		ret = check_mappings();
	if (!ret)
		ret = check_page_tables();
	return ret;
}
