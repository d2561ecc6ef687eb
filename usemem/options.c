// SPDX-License-Identifier: GPL-2.0-or-later
/* options - usemem's command line, and what follows from it. */
#include "common/parse.h"
#include "usemem/usemem.h"

#include <string.h>
#include <sys/mman.h>

struct config cfg = {
	.step_bytes = sizeof(uint64_t),
	.passes = 1,
	.signal_times = 1,
	.fill = "index",
	.run = { .has = RUN_TASKS | RUN_FS,
		 .longer = "walk more (a larger SIZE, or --repeat)",
		 .processes = 1,
		 .threads = 1 },
};

/* In the order of the phases that they concern. */
const struct opt usemem_options[] = {
	/* memory */
	OPT_FLAG('a', "malloc", &cfg.heap, "memory from malloc(), not cleared"),
	OPT_FLAG('O', "anonymous", &cfg.anonymous, "MAP_ANONYMOUS, not /dev/zero"),
	OPT_GIVEN(MAYBE_SIZE, 'U', "hugetlb", size, &cfg.huge_bytes, &cfg.huge,
		  "huge pages of SIZE, or of the system's default"),
	OPT_FLAG(0, "memfd", &cfg.memfd, "a memfd; -f names it, and maps it shared"),
	OPT_TEXT('f', "file", &cfg.file, "shared mapping of FILE, made if missing"),
	OPT_SIZE('B', "offset", &cfg.backing.offset,
		 "map FILE from here on, whole pages"),
	OPT_FLAG('w', "open-rw", &cfg.open_rw, "open and map read-write although -o"),
	OPT_FLAG('F', "prefault", &cfg.prefault, "MAP_POPULATE"),
	OPT_FLAG(0, "madv-thp", &cfg.madv_thp, "madvise(MADV_HUGEPAGE) after mapping"),
	OPT_FLAG(0, "touch-alloc", &cfg.touch_alloc,
		 "write every word right after allocating, with -o too"),
	OPT_FLAG(0, "show-addr", &cfg.show_addr,
		 "print PID 0xSTART-0xEND for each allocation"),
	OPT_GIVEN(COUNT, 0, "numa-cpu", number, &cfg.numa_cpu, &cfg.numa_cpu_given,
		  "run on the CPUs of node N"),
	OPT_GIVEN(COUNT, 0, "numa-memory", number, &cfg.numa_memory,
		  &cfg.numa_memory_given, "take memory from node N only"),
	/* set-up and start */
	OPT_FLAG('P', "prealloc", &cfg.prealloc,
		 "allocate before the fan-out, for all tasks"),
	OPT_FLAG('E', "remap", &cfg.remap,
		 "mremap() that memory to ten times its size; implies -P"),
	OPT_FLAG('L', "lock", &cfg.lock_segment,
		 "System V segment of SIZE: touch, lock, unlock, remove; go on"),
	OPT_ALIAS("Lock"),
	{ OPT_ROW(NEXT, 'D', "advise", text, &cfg.advise,
		  "posix_fadvise() over FILE, else -f's: WILLNEED, DONTNEED; go on") },
	OPT_ALIAS("advice"),
	OPT_FLAG('N', "mincore", &cfg.mincore,
		 "print how much of the memory is resident, end; implies -P"),
	OPT_FLAG('H', "mincore-hgpg", &cfg.mincore_huge,
		 "the same for a System V segment of huge pages"),
	OPT_ALIAS("mncr_hgpgs"),
	OPT_FLAG(0, "init-time", &cfg.init_time, "report the set-up time apart"),
	OPT_FLAG(0, "signal-fork", &cfg.signal_fork,
		 "wait for SIGUSR1 before the fan-out"),
	OPT_FLAG('y', "sync-rw", &cfg.sync_rw, "start line after the allocation"),
	/* walk */
	OPT_SIZE('u', "unit", &cfg.unit_bytes, "allocate and walk in pieces of SIZE"),
	OPT_SIZE('j', "step", &cfg.step_bytes, "one access every SIZE"),
	OPT_COUNT('r', "repeat", &cfg.passes, "passes over each unit; 0: allocate only"),
	OPT_FLAG('o', "readonly", &cfg.readonly, "read instead of write"),
	OPT_FLAG('R', "random", &cfg.random, "random order"),
	OPT_COUNT(0, "random-seed", &cfg.seed, "seed of the random order"),
	OPT_GIVEN(NUMBER, 0, "main-write-data", number, &cfg.main_data,
		  &cfg.main_data_given, "store this word, whatever --fill says"),
	OPT_LATER(WORD, 0, "fill", text, &cfg.fill,
		  "store zero, index, random, or what compresses to N %: compress=N%"),
	OPT_LATER(FLAG, 0, "no-check", flag, &cfg.no_check,
		  "do not check what the pass before stored"),
	{ OPT_ROW(DELAY, 'e', "delay", time, &cfg.hold_ns,
		  "stay on each page so long: ns; u, m, s") },
	OPT_SET('S', "msync", &cfg.msync_flags, MS_SYNC,
		"msync(MS_SYNC) after each pass"),
	OPT_SET('A', "msync-async", &cfg.msync_flags, MS_ASYNC,
		"msync(MS_ASYNC) after each pass"),
	OPT_FLAG('g', "getchar", &cfg.menu, "a menu after each unit, keys from stdin"),
	OPT_FLAG(0, "first-access-speed", &cfg.first_access_speed,
		 "clock the walk without set-up, print it in any case"),
	/* afterwards */
	OPT_FLAG('Z', "read-again", &cfg.read_again, "read everything once more"),
	OPT_FLAG('d', "detach", &cfg.detach, "end; the tasks go on holding their memory"),
	OPT_TEXT('p', "pid-file", &cfg.pid_file, "append the pid of each that detached"),
	OPT_FLAG('M', "mlock", &cfg.mlock, "mlock() after the walk"),
	OPT_FLAG(0, "punch-holes", &cfg.punch_holes, "free every other page"),
	OPT_FLAG(0, "signal-punch-holes", &cfg.signal_punch_holes,
		 "wait for SIGUSR1 before that"),
	OPT_FLAG(0, "fallocate-punch-holes", &cfg.fallocate_punch_holes,
		 "free them in the file, not in the mapping"),
	OPT_FLAG(0, "madv-pageout", &cfg.madv_pageout, "MADV_COLD, then MADV_PAGEOUT"),
	OPT_FLAG('W', "write-signal-read", &cfg.signal_read, "wait for SIGUSR1, read"),
	OPT_FLAG(0, "write-signal-write", &cfg.signal_write, "wait for SIGUSR1, write"),
	OPT_FLAG(0, "write-signal-madv-thp", &cfg.signal_madvise,
		 "wait for SIGUSR1, madvise(MADV_HUGEPAGE)"),
	OPT_COUNT(0, "signal-read-count", &cfg.signal_count,
		  "accesses of that read, and of each pass of that write"),
	OPT_FLAG(0, "signal-read-random", &cfg.signal_random, "both in random order"),
	OPT_GIVEN(NUMBER, 0, "signal-write-data", number, &cfg.signal_data,
		  &cfg.signal_data_given, "that write stores this word"),
	OPT_GIVEN(COUNT, 0, "signal-write-times", number, &cfg.signal_times,
		  &cfg.signal_times_given, "passes of that write"),
	OPT_FLAG(0, "signal-verify", &cfg.signal_verify, "both check what is there"),
	OPT_FLAG(0, "signal-loop", &cfg.signal_loop, "wait and work for ever"),
	{ OPT_ROW(SLEEP, 's', "sleep", time, &cfg.sleep_ns,
		  "sleep when done; -1: for ever") },
	OPT_FLAG('x', "sync-free", &cfg.sync_free, "a line before freeing"),
	/* the rest */
	OPT_GIVEN(COUNT, 'm', NULL, number, &cfg.size_mib, &cfg.size_mib_given,
		  "SIZE in MiB, the old way"),
	OPT_LATER(FLAG, 0, "summary", flag, &cfg.summary,
		  "after the lines: sums, spreads, faults, swap and cgroup events"),
	OPT_FLAG('q', "quiet", &cfg.run.quiet, "no live line on a terminal"),
	OPT_END
};

static const struct usage usage = {
	.operands = "SIZE",
	.purpose = "Allocate SIZE bytes in each task, walk over them, and print how fast "
		   "that was",
};

/* SIZE, from the one operand or from -m; 0 options are as if not given. */
static int read_size(int argc, char **argv, int operand)
{
	if (argc - operand > 1)
		return refused("'%s': expected one SIZE only", argv[operand + 1]);
	if (operand < argc)
		return run_size(&cfg.run, "SIZE", argv[operand], &cfg.size_bytes);
	if (cfg.advise && cfg.advise[0] && !cfg.size_mib_given)
		return 0;
	if (!cfg.size_mib_given)
		return refused("expected a SIZE, such as 64m; --help lists the options");
	if (__builtin_mul_overflow(cfg.size_mib, MiB, &cfg.size_bytes))
		return refused("-m '%ju': too large", (uintmax_t)cfg.size_mib);
	return 0;
}

/* What somebody who repeats or reads the run has to know. */
static void note_choices(void)
{
	if (cfg.seed_taken)
		note("random seed %ju", (uintmax_t)cfg.seed);
	if (cfg.mlock && cfg.madv_pageout)
		note("--mlock: locked memory is not paged out, --madv-pageout is "
		     "ignored");
	if (cfg.heap_off)
		note("--punch-holes: --malloc is ignored");
	else if (cfg.heap &&
		 (cfg.file || cfg.prefault || cfg.anonymous || cfg.memfd || cfg.huge))
		note("--malloc: --file, --prefault, --anonymous, --hugetlb and --memfd "
		     "are ignored");
}

/* What follows from the options as they were given. */
static void derive(void)
{
	cfg.unit_asked = cfg.unit_bytes;
	cfg.prealloc |= cfg.remap || cfg.mincore;
	cfg.frees = !cfg.prealloc;
	cfg.signal_accesses = cfg.signal_read || cfg.signal_write;
	cfg.rounds = cfg.signal_accesses || cfg.signal_madvise || cfg.madv_pageout;
	cfg.heap_off = cfg.heap && cfg.punch_holes;
	cfg.heap &= !cfg.heap_off;
}

static void apply_defaults(void)
{
	cfg.step_bytes = cfg.step_bytes / sizeof(uint64_t) * sizeof(uint64_t)
				 ?: sizeof(uint64_t);
	cfg.unit_bytes = MAX(MIN(cfg.unit_asked ?: UINT64_MAX, cfg.size_bytes), 1);
	cfg.seed_taken = (cfg.random || cfg.signal_random) && !cfg.seed;
	if (cfg.seed_taken)
		cfg.seed = run_take_seed();
}

/* A file has the huge pages of its filesystem, and those are no others than was asked for. */
static int choose_huge_pages(struct backing *b)
{
	char there[FORMAT_LEN];
	int ret = 0;

	b->page_bytes = cfg.huge_bytes ?: cfg.run.limits.hugepage_bytes;
	if (b->source == &source_file)
		ret = huge_file_page_bytes(b->path, &b->page_bytes);
	else
		ret = huge_pages_check(b->page_bytes);
	if (!ret && cfg.huge_bytes && cfg.huge_bytes != b->page_bytes)
		ret = refused("--hugetlb: expected %s, the pages of %s",
			      format_size(there, b->page_bytes), b->path);
	cfg.huge_bytes = b->page_bytes;
	return ret;
}

/* The backing: the first that applies. */
static int choose_backing(void)
{
	struct backing *b = &cfg.backing;
	bool zero_file = cfg.file && !strcmp(cfg.file, "/dev/zero");

	b->source = &source_zero;
	b->fd = -1;
	b->writable = !cfg.readonly || cfg.open_rw || cfg.touch_alloc ||
		      cfg.signal_write || cfg.fallocate_punch_holes;
	b->shared = cfg.file && !cfg.heap;
	b->populate = cfg.prefault && !cfg.heap;
	b->huge = cfg.huge && !cfg.heap;
	if (cfg.heap)
		b->source = &source_malloc;
	else if (cfg.anonymous || (b->huge && !cfg.memfd && (!cfg.file || zero_file)))
		b->source = &source_anonymous;
	else if (cfg.memfd)
		b->source = &source_memfd;
	else if (cfg.file && !zero_file)
		b->source = &source_file;
	if (b->source->is_file)
		b->path = cfg.file;
	if (!b->huge)
		return 0;
	return choose_huge_pages(b);
}

bool walk_has_line(void)
{
	return cfg.first_access_speed || !(cfg.signal_accesses || cfg.signal_madvise);
}

int read_command_line(int argc, char **argv)
{
	int operand = run_parse(&cfg.run, &usage, usemem_options, argc, argv);
	int ret = read_size(argc, argv, operand);

	derive();
	if (!ret)
		ret = read_patterns();
	if (!ret)
		ret = check_options();
	if (ret)
		return ret;
	apply_defaults();
	ret = choose_backing();
	if (!ret)
		ret = check_pages();
	if (!ret)
		ret = check_room();
	if (!ret)
		note_choices();
	return ret;
}
