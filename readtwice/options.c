// SPDX-License-Identifier: GPL-2.0-or-later
/* options - readtwice's command line, and what follows from it. */
#include "common/parse.h"
#include "readtwice/methods.h"
#include "readtwice/readtwice.h"

#include <errno.h>
#include <string.h>

/* Of the memory that this process may use: so much is read if no size is given. */
enum { DATA_PER_MEMORY = 4 };

#define USUAL_RUNTIME_NS (60 * ns_per_s)
/* io_uring has no larger rings. */
#define MOST_DEPTH       32768
#define MOST_BLOCK       GiB
#define LEAST_GAP        16 /* blocks: less would be a handshake for each */

struct config cfg = {
	.readers = 2,
	.method_name = "read",
	.depth = 32,
	.block_bytes = 4 * KiB,
	.passes = 1,
	.run = { .has = RUN_OPS | RUN_FS | RUN_FILES,
		 .longer = "read more (a larger --size, or --passes)" },
};

static const char *const fill_names[] = {
	[FILL_HOLE] = "hole", [FILL_WRITTEN] = "written", NULL
};
const char *const then_names[] = { [THEN_NOTHING] = "nothing",
				   [THEN_UNLINK] = "unlink",
				   [THEN_TRUNCATE] = "truncate",
				   [THEN_DONTNEED] = "dontneed",
				   NULL };

const struct opt readtwice_options[] = {
	/* what is read */
	OPT_TASKS('n', "files", &cfg.files, "files to make; else one for each CPU"),
	OPT_ALIAS("nproc"),
	OPT_SIZE('s', "size", &cfg.size_bytes,
		 "bytes of each; else all are four times the memory"),
	OPT_CHOICE(0, "fill", &cfg.fill, fill_names, "what they are"),
	OPT_FLAG(0, "cold", &cfg.cold,
		 "push the files out of the page cache first, and look"),
	/* how */
	OPT_COUNT('r', "readers", &cfg.readers, "of each file"),
	{ OPT_ROW(WORD, 'm', "method", text, &cfg.method_name,
		  "how to read; list: print all") },
	OPT_SIZE(0, "block", &cfg.block_bytes, "bytes of one read"),
	OPT_CHOICE(0, "order", &cfg.order, order_names, "of the blocks"),
	OPT_FLAG(0, "direct", &cfg.direct, "O_DIRECT"),
	OPT_FLAG(0, "uncached", &cfg.uncached,
		 "RWF_DONTCACHE: drop each page once it is read"),
	OPT_COUNT(0, "depth", &cfg.depth, "requests in flight, of io_uring and libaio"),
	{ OPT_ROW(WORD, 0, "gap", text, &cfg.gap,
		  "each reader stays SIZE behind the one before it (m: MiB), or "
		  "starts a time with ms or s later") },
	OPT_GIVEN(COUNT, 0, "passes", number, &cfg.passes, &cfg.passes_given,
		  "over each file; 0: until the run time is over"),
	OPT_FLAG(0, "verify", &cfg.verify, "check every byte of the files made"),
	/* afterwards */
	OPT_CHOICE(0, "then", &cfg.then, then_names, "do with all files at once, timed"),
	OPT_FLAG(0, "residency", &cfg.residency,
		 "say how much of each file is cached at the end"),
	OPT_FLAG('q', "quiet", &cfg.run.quiet, "no plan, and no live line on a terminal"),
	OPT_END
};

static const struct usage usage = {
	.operands = "[FILE...]",
	.purpose = "Read each of many sparse files from start to end by two readers at "
		   "once, "
		   "or the FILEs",
};

/* Sizes come first: 2m is 2 MiB. */
static int read_gap(void)
{
	if (!cfg.gap || !parse_size(cfg.gap, &cfg.gap_bytes))
		return 0;
	if (parse_time(cfg.gap, &cfg.gap_ns))
		return refused("--gap '%s': expected a size such as 64m, or a time such "
			       "as 500ms or 2s",
			       cfg.gap);
	return 0;
}

static int check_options(void)
{
	bool given = cfg.paths != NULL;
	const struct {
		bool refused;
		const char *why;
	} rules[] = {
		{ !cfg.readers, "--readers: expected at least 1" },
		{ !cfg.block_bytes || cfg.block_bytes > MOST_BLOCK,
		  "--block: expected 1 byte to 1g" },
		{ !cfg.depth || cfg.depth > MOST_DEPTH, "--depth: expected 1 to 32768" },
		{ cfg.gap_bytes && cfg.gap_bytes / LEAST_GAP < cfg.block_bytes,
		  "--gap: expected 0, or at least 16 blocks" },
		{ cfg.block_bytes && cfg.gap_bytes % cfg.block_bytes,
		  "--gap: expected whole blocks" },
		{ cfg.size_bytes > INT64_MAX, "--size: expected less than 8388608t" },
		{ given && cfg.files, "--files: expected no FILE beside it" },
		{ given && cfg.fill == FILL_WRITTEN,
		  "--fill written: expected no FILE, which is never written to" },
		{ given && (cfg.then == THEN_UNLINK || cfg.then == THEN_TRUNCATE),
		  "--then: expected nothing or dontneed with FILEs, which stay" },
		{ given && cfg.verify, "--verify: expected no FILE, whose data nobody "
				       "knows" },
		{ given && (cfg.run.keep || cfg.run.fs.type),
		  "--keep, --fs: expected no FILE beside them" },
		{ cfg.verify && cfg.method->no_data,
		  "--verify: expected a --method that reads data" },
		{ cfg.run.keep && (cfg.then == THEN_UNLINK || cfg.then == THEN_TRUNCATE),
		  "--keep: expected no --then unlink or truncate" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].refused)
			return refused("%s", rules[i].why);
	return method_check(cfg.method, &(struct target){ .direct = cfg.direct,
							  .uncached = cfg.uncached });
}

/* Four times the memory, in MiB for the eye, and a block at least. */
static void choose_size(void)
{
	uint64_t memory = limits_memory(&cfg.run.limits), each;

	if (__builtin_mul_overflow(memory, DATA_PER_MEMORY, &each))
		each = INT64_MAX;
	each = MIN(each / cfg.file_count, (uint64_t)INT64_MAX);
	cfg.size_bytes = MAX(each / MiB * MiB, cfg.block_bytes);
}

/* The results tell what was chosen. */
static int apply_defaults(void)
{
	struct run *run = &cfg.run;
	uint64_t readers;

	if (!cfg.paths)
		cfg.file_count = cfg.files = cfg.files ?: run->topo.allowed.count;
	if (!cfg.paths && run->dirs.count > cfg.file_count)
		return refused("--dir: expected no more than the %u files",
			       cfg.file_count);
	cfg.size_chosen = !cfg.paths && !cfg.size_bytes;
	if (cfg.size_chosen)
		choose_size();
	if (!cfg.passes_given && (run->runtime_ns || run->max_ops))
		cfg.passes = 0;
	else if (!cfg.passes_given)
		run->runtime_ns = USUAL_RUNTIME_NS;
	cfg.passes_given = true;
	if (!cfg.passes && !run->runtime_ns && !run->max_ops)
		return refused("--passes 0: expected --runtime or --ops with it");
	if (cfg.order == ORDER_RANDOM && !run->seed_given) {
		note("random seed %ju", (uintmax_t)run->seed);
		run->seed_given = true;
	}
	if (__builtin_mul_overflow(cfg.readers, cfg.file_count, &readers))
		readers = UINT64_MAX;
	return run_set_workers(run, "files x readers", readers);
}

int read_command_line(int argc, char **argv)
{
	int operand = run_parse(&cfg.run, &usage, readtwice_options, argc, argv), ret;

	if (!strcmp(cfg.method_name, "list"))
		return method_list(read_methods) ?: RUN_DONE;
	cfg.method = method_find(read_methods, cfg.method_name);
	if (!cfg.method)
		return refused("--method '%s': expected one that --method=list prints",
			       cfg.method_name);
	cfg.direct |= cfg.method->direct == ALWAYS;
	if (operand < argc) {
		cfg.paths = argv + operand;
		cfg.file_count = (unsigned)(argc - operand);
	}
	ret = read_gap();
	if (!ret)
		ret = check_options();
	if (!ret)
		ret = apply_defaults();
	return ret;
}
