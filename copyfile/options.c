// SPDX-License-Identifier: GPL-2.0-or-later
/* options - copyfile's command line, and what follows from it. */
#include "copyfile/copyfile.h"
#include "copyfile/methods.h"

#include <string.h>

#define USUAL_RUNTIME_NS (10 * ns_per_s)
#define USUAL_DEPTH      32
/* io_uring has no larger rings. */
#define MOST_DEPTH       32768

struct config cfg = {
	.method_name = "copy_file_range",
	.refill = 1,
	.flush = FLUSH_FSYNC,
	.flush_at = FLUSH_AT_OP,
	.source_written = 1,
	.size_bytes = 256 * MiB,
	.block_bytes = 128 * KiB,
	.run = { .has = RUN_TASKS | RUN_OPS | RUN_FS | RUN_FILES,
		 .longer = "a longer --runtime, a larger --size, or more --passes or "
			   "--ops",
		 .processes = 1,
		 .threads = 1 },
};

static const char *const pattern_names[] = {
	[PATTERN_RANDOM] = "random", [PATTERN_SEQ] = "seq", NULL
};
static const char *const flush_names[] = {
	[FLUSH_NONE] = "none",           [FLUSH_FSYNC] = "fsync",
	[FLUSH_FDATASYNC] = "fdatasync", [FLUSH_RANGE] = "range",
	[FLUSH_SYNCFS] = "syncfs",       NULL
};
static const char *const flush_at_names[] = {
	[FLUSH_AT_OP] = "op", [FLUSH_AT_END] = "end", NULL
};
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const hole_written[] = { "hole", "written", NULL };

/* What was on the command line: its value may be the default's too. */
static struct {
	bool size, align, source, refill, flush, flush_at, passes, depth;
} given;

/* The files, what an operation is, how it copies. */
const struct opt copyfile_options[] = {
	OPT_GIVEN(SIZE, 's', "size", size, &cfg.size_bytes, &given.size,
		  "of each worker's source, and of its target"),
	{ OPT_ROW(CHOICE, 0, "source", count, &cfg.source_written,
		  "what the sources are"),
	  .choices = hole_written, .given = &given.source },
	{ OPT_ROW(LIST, 0, "from", words, &cfg.from,
		  "copy that file, which is only read; again: dealt over the workers") },
	OPT_TEXT(0, "to", &cfg.to,
		 "the targets' directory, else --dir; they alone are what --keep keeps"),
	{ OPT_ROW(WORD, 'm', "method", text, &cfg.method_name,
		  "how to copy; list: print all") },
	OPT_FLAG(0, "fallback", &cfg.fallback,
		 "where a method is refused, the next one that is like it"),
	OPT_CHOICE(0, "pattern", &cfg.pattern, pattern_names,
		   "blocks from and to anywhere, or whole files"),
	OPT_SIZE(0, "block", &cfg.block_bytes, "bytes of one operation"),
	OPT_GIVEN(SIZE, 0, "align", size, &cfg.align_bytes, &given.align,
		  "random offsets are multiples of it; else of the block"),
	{ OPT_ROW(CHOICE, 0, "refill", count, &cfg.refill,
		  "rewrite a block of the source before it is copied; with seq no"),
	  .choices = no_yes, .given = &given.refill },
	{ OPT_ROW(CHOICE, 0, "flush", count, &cfg.flush,
		  "the target by that call; with seq none"),
	  .choices = flush_names, .given = &given.flush },
	{ OPT_ROW(CHOICE, 0, "flush-at", count, &cfg.flush_at,
		  "each operation, or the end (of each pass); with seq end"),
	  .choices = flush_at_names, .given = &given.flush_at },
	OPT_GIVEN(COUNT, 0, "passes", number, &cfg.passes, &given.passes,
		  "of seq, each to an empty target; else 1, or with --runtime or --ops "
		  "until that ends"),
	OPT_FLAG(0, "no-clone", &cfg.no_clone,
		 "copy_file_range shares no extents: offsets are one byte off"),
	OPT_FLAG(0, "direct", &cfg.direct, "O_DIRECT, also to refill"),
	OPT_FLAG(0, "uncached", &cfg.uncached,
		 "RWF_DONTCACHE: drop each page once it is copied"),
	OPT_GIVEN(COUNT, 0, "depth", number, &cfg.depth, &given.depth,
		  "requests in flight, of io_uring and libaio; else 32 where they may "
		  "overlap"),
	OPT_FLAG(0, "verify", &cfg.verify, "read back what was copied and compare it"),
	OPT_FLAG(0, "metrics", &cfg.metrics,
		 "print the operations table of stress-ng in place of the lines"),
	OPT_FLAG('q', "quiet", &cfg.run.quiet,
		 "neither the line before the start nor a live line"),
	OPT_END
};

static const struct usage usage = {
	.operands = "",
	.purpose = "Copy blocks from a file to another by copy_file_range(2) or another "
		   "way, and print how fast that was",
};

static bool is_random(void)
{
	return cfg.pattern == PATTERN_RANDOM;
}

/* What was not given, by the pattern. */
static void apply_pattern(void)
{
	if (!given.refill)
		cfg.refill = is_random() && !cfg.from.count;
	if (!given.flush && !is_random())
		cfg.flush = FLUSH_NONE;
	if (!given.flush_at && !is_random())
		cfg.flush_at = FLUSH_AT_END;
	if (!given.align)
		cfg.align_bytes = cfg.block_bytes;
}

bool one_by_one(void)
{
	return cfg.refill || (cfg.flush != FLUSH_NONE && cfg.flush_at == FLUSH_AT_OP) ||
	       (cfg.verify && is_random());
}

static void apply_limits(void)
{
	bool limited = cfg.run.runtime_ns || cfg.run.max_ops;

	if (!limited && is_random())
		cfg.run.runtime_ns = USUAL_RUNTIME_NS;
	if (!limited && !is_random() && !given.passes)
		cfg.passes = 1;
	if (!given.depth)
		cfg.depth = one_by_one() ? 1 : USUAL_DEPTH;
	cfg.base_bytes = cfg.no_clone;
	cfg.direct_asked = cfg.direct;
	cfg.direct |= cfg.method->direct == ALWAYS;
}

/* The results tell what was chosen, where it means anything. */
static void tell_defaults(void)
{
	given.size = cfg.from.count <= 1;
	given.source = !cfg.from.count;
	given.align = cfg.run.seed_given = is_random();
	given.refill = given.flush = given.depth = true;
	given.flush_at = cfg.flush != FLUSH_NONE;
	given.passes = !is_random();
}

static int check_files(void)
{
	bool from = cfg.from.count;
	const struct {
		bool refused;
		const char *why;
	} rules[] = {
		{ from && given.size, "--size: expected no --from beside it, whose size "
				      "is what is copied" },
		{ from && given.source, "--source: expected no --from beside it" },
		{ from && cfg.refill, "--refill yes: expected no --from beside it, which "
				      "is never written to" },
		{ cfg.from.count > cfg.run.workers,
		  "--from: expected no more files than workers (--nproc)" },
		{ cfg.size_bytes > INT64_MAX, "--size: expected less than 8388608t" },
		{ !cfg.block_bytes, "--block: expected at least 1 byte" },
		{ cfg.block_bytes > INT64_MAX, "--block: expected less than 8388608t" },
		{ given.align && !is_random(),
		  "--align: expected --pattern random, whose offsets it is for" },
		{ !cfg.align_bytes, "--align: expected at least 1 byte" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].refused)
			return refused("%s", rules[i].why);
	return 0;
}

static int check_operations(void)
{
	bool limited = cfg.run.runtime_ns || cfg.run.max_ops;
	const struct {
		bool refused;
		const char *why;
	} rules[] = {
		{ given.passes && is_random(),
		  "--passes: expected --pattern seq; blocks at random have --runtime "
		  "and --ops" },
		{ given.passes && !cfg.passes && !limited,
		  "--passes 0: expected --runtime or --ops with it" },
		{ given.flush_at && cfg.flush == FLUSH_NONE,
		  "--flush-at: expected a --flush with it, other than none" },
		{ given.depth && (!cfg.depth || cfg.depth > MOST_DEPTH),
		  "--depth: expected 1 to 32768" },
		{ given.depth && cfg.depth > 1 && one_by_one(),
		  "--depth: expected 1 where an operation ends before the next begins: "
		  "with --refill yes, --flush-at op, or --verify of random blocks" },
		{ cfg.verify && cfg.method->no_data,
		  "--verify: expected a --method that copies data" },
		{ cfg.no_clone && cfg.method->clones,
		  "--no-clone: expected a --method that can copy" },
		{ cfg.no_clone && (cfg.direct || cfg.method->direct == ALWAYS),
		  "--no-clone: expected no O_DIRECT, whose offsets are on the grid" },
		{ cfg.no_clone && (is_random() ? cfg.align_bytes : cfg.block_bytes) % 2,
		  "--no-clone: expected an even --block and --align, so that no offset "
		  "comes to be on the grid" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].refused)
			return refused("%s", rules[i].why);
	return 0;
}

/* What a source that is smaller is too small for; NULL: it is not. */
static const char *too_small_for(uint64_t bytes)
{
	if (is_random() && bytes < cfg.block_bytes + cfg.base_bytes)
		return cfg.no_clone ? "a --block and, with --no-clone, one byte"
				    : "a --block";
	if (is_random())
		return bytes < cfg.align_bytes ? "--align" : NULL;
	if (cfg.no_clone && bytes < 2)
		return "2 bytes, with --no-clone";
	/* Or the passes would be without end. */
	return !cfg.passes && !bytes ? "1 byte" : NULL;
}

/* With the sources' sizes known. */
static int check_sizes(void)
{
	for (unsigned i = 0; i < cfg.run.workers; i++) {
		const char *least = too_small_for(source_bytes(i));

		if (least)
			return refused("%s: expected at least %s, %ju bytes are there",
				       cfg.from.count ? "--from" : "--size", least,
				       (uintmax_t)source_bytes(i));
	}
	return 0;
}

static int find_method(void)
{
	cfg.method = cfg.asked = method_find(copy_methods, cfg.method_name);
	if (!cfg.method)
		return refused("--method '%s': expected one that --method=list prints",
			       cfg.method_name);
	return 0;
}

int read_command_line(int argc, char **argv)
{
	int operand = run_parse(&cfg.run, &usage, copyfile_options, argc, argv), ret;

	if (operand < argc)
		return refused("'%s': expected options only; --help lists them",
			       argv[operand]);
	if (!strcmp(cfg.method_name, "list"))
		return method_list(copy_methods) ?: RUN_DONE;
	ret = find_method();
	if (ret)
		return ret;
	apply_pattern();
	ret = check_files();
	if (!ret)
		ret = check_operations();
	if (ret)
		return ret;
	apply_limits();
	ret = method_check(cfg.method, &(struct target){ .direct = cfg.direct,
							 .uncached = cfg.uncached });
	if (!ret)
		ret = sources_look();
	if (!ret)
		ret = check_sizes();
	tell_defaults();
	return ret;
}
