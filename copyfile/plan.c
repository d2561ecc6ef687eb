// SPDX-License-Identifier: GPL-2.0-or-later
/* plan - what will be done, said before it is. */
#include "common/parse.h"
#include "copyfile/copyfile.h"

#include <stdio.h>
#include <stdlib.h>

static const char *others(unsigned count)
{
	return count > 1 ? " and others" : "";
}

static void write_files(FILE *out)
{
	char size[FORMAT_LEN];

	fprintf(out, "%u worker%s, ", cfg.run.workers, cfg.run.workers == 1 ? "" : "s");
	if (cfg.run.workers > 1)
		fprintf(out, "each ");
	if (cfg.from.count)
		fprintf(out, "%s%s (%s%s)", cfg.from.at[0], others(cfg.from.count),
			cfg.from.count > 1 ? "at most " : "",
			format_size(size, cfg.size_bytes));
	else
		fprintf(out, "%s of %s in %s%s",
			cfg.source_written ? "a written file" : "a hole",
			format_size(size, cfg.size_bytes), cfg.run.dirs.at[0],
			others(cfg.run.dirs.count));
	fprintf(out, " to a file in %s%s", cfg.to ?: cfg.run.dirs.at[0],
		cfg.to ? "" : others(cfg.run.dirs.count));
	if (cfg.run.fs.type)
		fprintf(out, ", with a new %s over %s", cfg.run.fs.type,
			cfg.run.dirs.at[0]);
}

static void write_operations(FILE *out)
{
	char block[FORMAT_LEN], align[FORMAT_LEN];

	fprintf(out, "; %s of %s, ", cfg.method->name,
		format_size(block, cfg.block_bytes));
	if (cfg.pattern == PATTERN_SEQ)
		fprintf(out, "from start to end");
	else
		fprintf(out, "at random (seed %ju)", (uintmax_t)cfg.run.seed);
	if (cfg.pattern == PATTERN_RANDOM && cfg.align_bytes != cfg.block_bytes)
		fprintf(out, ", at multiples of %s", format_size(align, cfg.align_bytes));
	fprintf(out, "%s%s%s%s", cfg.no_clone ? ", one byte off" : "",
		cfg.direct ? ", O_DIRECT" : "", cfg.uncached ? ", uncached" : "",
		cfg.refill ? ", refilled before" : "");
	if (cfg.flush != FLUSH_NONE)
		fprintf(out, ", %s after %s", flush_call(),
			cfg.flush_at == FLUSH_AT_OP     ? "each"
			: cfg.pattern == PATTERN_RANDOM ? "all"
							: "each pass");
	fprintf(out, "%s", cfg.verify ? ", verified" : "");
}

static void write_end(FILE *out)
{
	char time[FORMAT_LEN];

	if (cfg.passes)
		fprintf(out, "; %ju pass%s", (uintmax_t)cfg.passes,
			cfg.passes == 1 ? "" : "es");
	if (cfg.run.max_ops)
		fprintf(out, "; at most %ju operations each", (uintmax_t)cfg.run.max_ops);
	if (cfg.run.runtime_ns)
		fprintf(out, "; for %s%s",
			cfg.passes || cfg.run.max_ops ? "at most " : "",
			format_time(time, cfg.run.runtime_ns));
}

/* "/var/tmp has 10 GiB free", where the targets go; or what a dry run would make there. */
static void write_room(FILE *out, const char *made)
{
	const char *dir = target_dir(0);
	char room[FORMAT_LEN] = "?";
	uint64_t free_bytes;

	if (made)
		fprintf(out, "; %s", made);
	else if (!limits_free_space(dir, &free_bytes))
		fprintf(out, "; %s has %s free", dir,
			format_bytes(room, (double)free_bytes));
}

int plan_text(char **text)
{
	bool unmade = cfg.run.fs.type && cfg.run.dry_run;
	char *made = NULL, *written = NULL;
	size_t len;
	FILE *out;
	int ret = unmade ? fs_plan(&cfg.run.fs, cfg.run.dirs.at[0], &made) : 0;

	if (ret)
		return ret;
	out = open_memstream(&written, &len);
	if (out) {
		write_files(out);
		write_operations(out);
		write_end(out);
		write_room(out, made);
	}
	free(made);
	if (!out || fclose(out)) {
		free(written);
		return failed("memory for the plan");
	}
	*text = written;
	return 0;
}
