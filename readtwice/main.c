// SPDX-License-Identifier: GPL-2.0-or-later
/* readtwice - read each of many sparse files by two readers at once, and say how fast that was. */
#include "common/parse.h"
#include "readtwice/readtwice.h"

#include <stdio.h>

/* On standard output, unless that is for JSON, of which a dry run has none. */
static int say_dry_plan(void)
{
	char each[FORMAT_LEN], total[FORMAT_LEN], block[FORMAT_LEN], room[FORMAT_LEN],
		plan[512];

	if (cfg.paths)
		snprintf(plan, sizeof(plan), "%u existing files", cfg.file_count);
	else
		snprintf(plan, sizeof(plan), "%u files of %s (%s in all) in %s%s%s",
			 cfg.file_count, format_size(each, cfg.size_bytes),
			 format_bytes(total, (double)cfg.size_bytes * cfg.file_count),
			 cfg.run.dirs.at[0], cfg.run.fs.type ? ", on a new " : "",
			 cfg.run.fs.type ?: "");
	return print_line(
		"%s, %ju readers of each, method %s, blocks of %s; this process "
		"may use %s",
		plan, (uintmax_t)cfg.readers, cfg.method->name,
		format_size(block, cfg.block_bytes),
		format_bytes(room, (double)limits_memory(&cfg.run.limits)));
}

int main(int argc, char **argv)
{
	struct crew crew = {
		.setup = reader_setup,
		.work = reader_work,
		.teardown = reader_teardown,
	};
	const struct run_hooks hooks = {
		.describe = files_describe,
		.set_up = files_open,
		.collect = collect_figures,
	};
	int ret;

	base_init();
	ret = read_command_line(argc, argv);
	if (ret == RUN_DONE)
		return 0;
	if (ret)
		return exit_status(ret);
	if (cfg.run.dry_run)
		return exit_status(say_dry_plan());
	ret = run_repeat(&cfg.run, &crew, &hooks);
	files_close();
	return ret;
}
