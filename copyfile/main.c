// SPDX-License-Identifier: GPL-2.0-or-later
/* copyfile - copy blocks of files by one of many calls, and say how fast that was. */
#include "copyfile/copyfile.h"

#include <stdlib.h>

/* On standard output, unless that is for JSON, of which a dry run has none. */
static int dry_run(void)
{
	char *plan;
	int ret = plan_text(&plan);

	if (ret)
		return ret;
	if (run_prints_lines(&cfg.run))
		ret = print_line("%s", plan);
	else
		note("%s", plan);
	free(plan);
	return ret;
}

/* Once the filesystem is there. */
static int describe(struct report *r)
{
	char *plan;
	int ret = media_check(r);

	if (!ret)
		ret = room_check();
	if (ret || cfg.run.quiet)
		return ret;
	ret = plan_text(&plan);
	if (ret)
		return ret;
	note("%s", plan);
	free(plan);
	return 0;
}

static int set_up(void)
{
	static bool chosen;
	int ret = files_open();

	if (!ret && !chosen)
		ret = method_choose();
	chosen = true;
	return ret ?: sharing_begin();
}

int main(int argc, char **argv)
{
	const struct crew crew = {
		.record_bytes = sizeof(struct copy_record),
		.setup = task_setup,
		.work = task_work,
		.teardown = task_teardown,
	};
	const struct run_hooks hooks = {
		.describe = describe,
		.set_up = set_up,
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
		return exit_status(dry_run());
	ret = run_repeat(&cfg.run, &crew, &hooks);
	/* Also of a run that failed: what is wrong may be in them. */
	if (cfg.run.keep && files_keep() && !ret)
		ret = 1;
	return ret;
}
