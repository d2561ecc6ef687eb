// SPDX-License-Identifier: GPL-2.0-or-later
/* usemem - allocate memory, walk it, and say how fast that was. */
#include "common/clock.h"
#include "common/parse.h"
#include "usemem/usemem.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

struct config cfg = {
	.step_bytes = sizeof(uint64_t),
	.passes = 1,
	.run = { .processes = 1, .threads = 1 },
	.index_mask = UINT64_MAX,
};

/* In the order of the phases that they concern. */
/* clang-format off: a table is read by its columns */
static const struct opt options[] = {
	/* memory */
	OPT_FLAG('a', "malloc", &cfg.heap, "memory from malloc(), not cleared"),
	OPT_FLAG('O', "anonymous", &cfg.anonymous, "MAP_ANONYMOUS, not /dev/zero"),
	OPT_FLAG(0, "memfd", &cfg.memfd, "a memfd; -f names it, and maps it shared"),
	OPT_TEXT('f', "file", &cfg.file, "shared mapping of FILE, made if missing"),
	OPT_FLAG('w', "open-rw", &cfg.open_rw, "open and map read-write although -o"),
	OPT_FLAG('F', "prefault", &cfg.prefault, "MAP_POPULATE"),
	/* set-up and start */
	OPT_FLAG('P', "prealloc", &cfg.prealloc,
		 "allocate before the fan-out, for all tasks"),
	OPT_FLAG(0, "init-time", &cfg.init_time, "report the set-up time apart"),
	OPT_FLAG('y', "sync-rw", &cfg.sync_rw, "start line after the allocation"),
	/* walk */
	OPT_SIZE('u', "unit", &cfg.unit_bytes, "allocate and walk in pieces of SIZE"),
	OPT_SIZE('j', "step", &cfg.step_bytes, "one access every SIZE"),
	OPT_COUNT('r', "repeat", &cfg.passes, "passes over each unit; 0: allocate only"),
	OPT_FLAG('o', "readonly", &cfg.readonly, "read instead of write"),
	OPT_FLAG('R', "random", &cfg.random, "random order"),
	OPT_COUNT(0, "random-seed", &cfg.seed, "seed of the random order"),
	OPT_SET('S', "msync", &cfg.msync_flags, MS_SYNC,
		"msync(MS_SYNC) after each pass"),
	OPT_SET('A', "msync-async", &cfg.msync_flags, MS_ASYNC,
		"msync(MS_ASYNC) after each pass"),
	/* afterwards */
	OPT_FLAG('Z', "read-again", &cfg.read_again, "read everything once more"),
	/* the rest */
	OPT_COUNT('m', NULL, &cfg.size_mib, "SIZE in MiB, the old way"),
	OPT_FLAG('q', "quiet", &cfg.run.quiet, "no live line on a terminal"), OPT_END
};
/* clang-format on */

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
	if (!cfg.size_mib)
		return refused("expected a SIZE, such as 64m; --help lists the options");
	if (__builtin_mul_overflow(cfg.size_mib, MiB, &cfg.size_bytes))
		return refused("-m '%ju': too large", (uintmax_t)cfg.size_mib);
	return 0;
}

static void apply_defaults(void)
{
	cfg.step_bytes = cfg.step_bytes / sizeof(uint64_t) * sizeof(uint64_t)
				 ?: sizeof(uint64_t);
	if (!cfg.unit_bytes || cfg.unit_bytes > cfg.size_bytes)
		cfg.unit_bytes = MAX(cfg.size_bytes, 1);
	cfg.seed_taken = cfg.random && !cfg.seed;
	if (cfg.seed_taken) {
		if (getrandom(&cfg.seed, sizeof(cfg.seed), 0) != sizeof(cfg.seed))
			cfg.seed = now_ns();
		cfg.seed = (cfg.seed & UINT32_MAX) ?: 1;
	}
}

/* What somebody who repeats or reads the run has to know. */
static void note_choices(void)
{
	if (cfg.seed_taken)
		note("random seed %ju", (uintmax_t)cfg.seed);
	if (cfg.heap && (cfg.file || cfg.prefault || cfg.anonymous || cfg.memfd))
		note("--malloc: --file, --prefault, --anonymous and --memfd are ignored");
}

/* The backing: the first that applies. */
static void choose_backing(void)
{
	struct backing *b = &cfg.backing;

	*b = (struct backing){
		.source = &source_zero,
		.fd = -1,
		.writable = !cfg.readonly || cfg.open_rw,
		.shared = cfg.file && !cfg.heap,
		.populate = cfg.prefault && !cfg.heap,
	};
	if (cfg.heap)
		b->source = &source_malloc;
	else if (cfg.anonymous)
		b->source = &source_anonymous;
	else if (cfg.memfd)
		b->source = &source_memfd;
	else if (cfg.file && strcmp(cfg.file, "/dev/zero") != 0)
		b->source = &source_file;
	if (b->source->is_file)
		b->path = cfg.file;
}

/* Once a repetition, in usemem itself. */
static int set_up(void)
{
	int ret;

	cfg.setup_began_ns = now_ns();
	explain_sigbus(&cfg.backing);
	ret = backing_open(&cfg.backing, cfg.size_bytes);
	if (!ret && cfg.prealloc && cfg.size_bytes)
		ret = region_map(&cfg.backing, 0, cfg.size_bytes, &cfg.shared);
	cfg.setup_ns = now_ns() - cfg.setup_began_ns;
	if (!ret && cfg.init_time && run_prints_lines(&cfg.run))
		ret = print_line("the initialization time is %ju secs %ju usecs",
				 (uintmax_t)(cfg.setup_ns / ns_per_s),
				 (uintmax_t)(cfg.setup_ns % ns_per_s / ns_per_us));
	return ret;
}

static void tear_down(void)
{
	if (cfg.shared && region_unmap(&cfg.backing, cfg.shared, cfg.size_bytes))
		note("the memory of --prealloc stays until the end");
	cfg.shared = NULL;
	backing_close(&cfg.backing);
}

static void describe(struct report *r)
{
	report_option(r, "size_bytes", cfg.size_bytes);
}

/* On standard output, unless that is for JSON, of which a dry run has none. */
static int say_plan(void)
{
	char size[FORMAT_LEN], unit[FORMAT_LEN], step[FORMAT_LEN], room[FORMAT_LEN],
		plan[512];

	snprintf(plan, sizeof(plan),
		 "%u tasks, each %s %s of %s memory in units of %s, one access every %s, "
		 "%ju times; "
		 "this process may use %s",
		 cfg.run.workers, cfg.readonly ? "reads" : "writes",
		 format_size(size, cfg.size_bytes),
		 cfg.backing.path ?: cfg.backing.source->name,
		 format_size(unit, cfg.unit_bytes), format_size(step, cfg.step_bytes),
		 (uintmax_t)cfg.passes,
		 format_bytes(room, (double)limits_memory(&cfg.run.limits)));
	if (run_prints_lines(&cfg.run))
		return print_line("%s", plan);
	note("%s", plan);
	return 0;
}

int main(int argc, char **argv)
{
	const struct crew crew = {
		.record_bytes = sizeof(struct task_record),
		.setup = task_setup,
		.work = task_walk,
		.finish = task_finish,
		.teardown = task_teardown,
	};
	const struct run_hooks hooks = {
		.describe = describe,
		.set_up = set_up,
		.collect = collect_figures,
		.tear_down = tear_down,
	};
	int operand, ret;

	base_init();
	operand = run_parse(&cfg.run, &usage, options, argc, argv);
	ret = read_size(argc, argv, operand);
	if (!ret)
		ret = check_options();
	if (ret)
		return exit_status(ret);
	apply_defaults();
	choose_backing();
	ret = check_memory();
	if (!ret)
		ret = check_mappings();
	if (ret)
		return exit_status(ret);
	note_choices();
	if (cfg.run.dry_run)
		return exit_status(say_plan());
	return run_repeat(&cfg.run, &crew, &hooks);
}
