// SPDX-License-Identifier: GPL-2.0-or-later
/* plan - what will be done, said before it is. */
#include "common/parse.h"
#include "readtwice/readtwice.h"

#include <stdio.h>
#include <stdlib.h>

static const char *many(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* What a dry run would make; NULL: what the files lie on is there. */
static char *new_filesystem;

static void write_files(FILE *out)
{
	char each[FORMAT_LEN], total[FORMAT_LEN];

	fprintf(out, "%u %sfile%s", cfg.file_count, cfg.paths ? "existing " : "",
		many(cfg.file_count));
	if (!cfg.paths)
		fprintf(out, " of %s, %s", format_size(each, cfg.size_bytes),
			cfg.fill == FILL_HOLE ? "sparse" : "written");
	fprintf(out, " (%s in all)", format_bytes(total, (double)files_bytes()));
	for (unsigned i = 0; i < cfg.run.dirs.count && !cfg.paths; i++)
		fprintf(out, "%s%s", i ? ", " : " in ", cfg.run.dirs.at[i]);
	fprintf(out, ", on ");
	if (new_filesystem)
		fprintf(out, "%s", new_filesystem);
	else
		media_write(out);
}

static void write_reading(FILE *out)
{
	char block[FORMAT_LEN], runtime[FORMAT_LEN];

	fprintf(out, "; %ju reader%s of each by %s%s%s, blocks of %s in %s order",
		(uintmax_t)cfg.readers, many(cfg.readers), cfg.method->name,
		cfg.direct ? ", O_DIRECT" : "", cfg.uncached ? ", uncached" : "",
		format_size(block, cfg.block_bytes), order_names[cfg.order]);
	if (cfg.passes)
		fprintf(out, "; %ju pass%s", (uintmax_t)cfg.passes,
			cfg.passes == 1 ? "" : "es");
	if (cfg.run.runtime_ns)
		fprintf(out, "%s%s at most", cfg.passes ? ", " : "; ",
			format_time(runtime, cfg.run.runtime_ns));
	if (cfg.gap)
		fprintf(out, ", %s apart", cfg.gap);
	fprintf(out, "%s%s", cfg.cold ? ", cold" : "", cfg.verify ? ", verified" : "");
	if (cfg.then != THEN_NOTHING)
		fprintf(out, "; then %s", then_names[cfg.then]);
}

bool files_fit(void)
{
	return files_bytes() <= limits_memory(&cfg.run.limits);
}

bool reads_through_cache(void)
{
	return !cfg.direct && !cfg.uncached && !cfg.method->no_data;
}

/* What WRITE writes; malloc'ed. NULL: no memory. */
static char *text_of(void (*write)(FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	write(out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void write_plan(FILE *out)
{
	const struct limits *limits = &cfg.run.limits;
	char room[FORMAT_LEN];

	write_files(out);
	write_reading(out);
	fprintf(out, "; this process may use %s of memory",
		format_bytes(room, (double)limits_memory(limits)));
	if (reads_through_cache() && !files_fit())
		fprintf(out, ": enough to turn over the page cache of this %s",
			limits->cgroup_room_bytes < limits->memory_available_bytes
				? "memory cgroup"
				: "machine");
}

int plan_text(char **text)
{
	int ret = 0;

	if (cfg.run.fs.type && cfg.run.dry_run)
		ret = fs_plan(&cfg.run.fs, cfg.run.dirs.at[0], &new_filesystem);
	if (ret)
		return ret;
	*text = text_of(write_plan);
	return *text ? 0 : failed("memory for the plan");
}

char *media_text(void)
{
	return text_of(media_write);
}
