// SPDX-License-Identifier: GPL-2.0-or-later
/* options - msync's command line, and what follows from it. */
#include "common/parse.h"
#include "msync/msync.h"

#include <string.h>

#define USUAL_RUNTIME_NS (10 * ns_per_s)

struct config cfg = {
	.size_bytes = 64 * MiB,
	.populate = 1,
	.dirty = "100%",
	.order = "seq",
	.run = { .has = RUN_TASKS | RUN_OPS | RUN_FS | RUN_FILES,
		 .longer = "a longer --runtime, or more --passes or --ops",
		 .processes = 1,
		 .threads = 1 },
};

static const char *mode_names[MODES + 1]; /* of modes[], in that order */
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const hole_written[] = { "hole", "written", NULL };

/* The file, what is dirtied, how it is flushed. */
const struct opt msync_options[] = {
	OPT_SIZE('s', "size", &cfg.size_bytes, "of each worker's part of a file"),
	OPT_FLAG(0, "shared", &cfg.shared, "one file for all workers, not one for each"),
	OPT_CHOICE(0, "fill", &cfg.written, hole_written,
		   "what the file is before the run"),
	OPT_FLAG(0, "reserve", &cfg.reserve,
		 "allocate its blocks first: what is full is found before the start"),
	OPT_CHOICE(0, "populate", &cfg.populate, no_yes,
		   "fault all pages in before the start"),
	OPT_FLAG(0, "mlock", &cfg.lock, "lock the mapping in memory"),
	{ OPT_ROW(WORD, 0, "dirty", text, &cfg.dirty,
		  "N% of the pages are dirtied in each pass") },
	{ OPT_ROW(WORD, 'o', "order", text, &cfg.order,
		  "in the order seq or random, or stride:SIZE: a page every SIZE") },
	OPT_CHOICE('m', "mode", &cfg.mode, mode_names,
		   "flush by that; async starts no write-out"),
	OPT_SIZE('R', "range", &cfg.range_bytes,
		 "flush so much in a call; else all in one"),
	OPT_COUNT('r', "passes", &cfg.passes, "dirty and flush so often; else for 10 s"),
	OPT_FLAG(0, "verify", &cfg.verify, "read back what was flushed and compare it"),
	OPT_FLAG('q', "quiet", &cfg.run.quiet,
		 "neither the line before the start nor a live line"),
	OPT_END
};

static const struct usage usage = {
	.operands = "",
	.purpose = "Dirty a mapped file, flush it with msync(2) or another call, and "
		   "print how fast that was",
};

static int read_dirty(void)
{
	if (parse_share(cfg.dirty, 100, &cfg.dirty_percent))
		return refused("--dirty '%s': expected a share such as 25%%, at most "
			       "100%%",
			       cfg.dirty);
	return 0;
}

static int read_order(void)
{
	static const char stride[] = "stride:";
	int ret = 0;

	cfg.step_bytes = cfg.page_bytes;
	cfg.random = !strcmp(cfg.order, "random");
	if (cfg.random || !strcmp(cfg.order, "seq"))
		return 0;
	if (strncmp(cfg.order, stride, strlen(stride)) != 0 ||
	    parse_size(cfg.order + strlen(stride), &cfg.step_bytes))
		ret = refused("--order '%s': expected seq, random or stride:SIZE, such "
			      "as stride:64k",
			      cfg.order);
	else if (!cfg.step_bytes || cfg.step_bytes % cfg.page_bytes)
		ret = refused("--order '%s': expected whole pages of %ju bytes",
			      cfg.order, (uintmax_t)cfg.page_bytes);
	return ret;
}

static int check_sizes(void)
{
	uint64_t all;

	if (!cfg.size_bytes || cfg.size_bytes % cfg.page_bytes)
		return refused("--size '%ju': expected whole pages of %ju bytes",
			       (uintmax_t)cfg.size_bytes, (uintmax_t)cfg.page_bytes);
	if (cfg.range_bytes % cfg.page_bytes)
		return refused("--range '%ju': expected whole pages of %ju bytes",
			       (uintmax_t)cfg.range_bytes, (uintmax_t)cfg.page_bytes);
	if (__builtin_mul_overflow(cfg.size_bytes, cfg.shared ? cfg.run.workers : 1,
				   &all) ||
	    all > INT64_MAX)
		return refused("--size '%ju': expected less than 8388608t in a file",
			       (uintmax_t)cfg.size_bytes);
	return 0;
}

static int check_options(void)
{
	const struct mode *mode = &modes[cfg.mode];

	if (cfg.verify && !mode->writes_out)
		return refused(
			"--verify: expected another --mode than %s, which promises "
			"nothing of what is in the file",
			mode->name);
	if (cfg.shared && cfg.run.dirs.count > 1)
		return refused("--shared: expected one --dir, for the one file");
	return 0;
}

static void apply_defaults(void)
{
	const struct mode *mode = &modes[cfg.mode];

	if (cfg.range_bytes && (mode->whole_file || !mode->flush)) {
		note("--mode %s: --range is ignored: %s", mode->name,
		     mode->flush ? "the whole file is flushed" : "nothing is flushed");
		cfg.range_bytes = 0;
	}
	if (!cfg.range_bytes || cfg.range_bytes > cfg.size_bytes)
		cfg.range_bytes = cfg.size_bytes;
	cfg.pieces = mode->flush ? (cfg.size_bytes - 1) / cfg.range_bytes + 1 : 0;
	if (!cfg.run.runtime_ns && !cfg.run.max_ops && !cfg.passes)
		cfg.run.runtime_ns = USUAL_RUNTIME_NS;
}

int read_command_line(int argc, char **argv)
{
	int operand, ret;

	for (unsigned i = 0; i < MODES; i++)
		mode_names[i] = modes[i].name;
	operand = run_parse(&cfg.run, &usage, msync_options, argc, argv);
	if (operand < argc)
		return refused("'%s': expected options only; --help lists them",
			       argv[operand]);
	cfg.page_bytes = base_page_bytes();
	ret = read_dirty();
	if (!ret)
		ret = read_order();
	if (!ret)
		ret = check_sizes();
	if (!ret)
		ret = check_options();
	if (!ret)
		apply_defaults();
	return ret;
}
