// SPDX-License-Identifier: GPL-2.0-or-later
/* readtwice - read each of many sparse files by two readers at once, and say how fast that was. */
#include "readtwice/readtwice.h"

#include <stdlib.h>

static int say_plan(void)
{
	char *plan = NULL;
	int ret = files_look();

	if (!ret)
		ret = plan_text(&plan);
	if (!ret)
		ret = print_line("%s", plan);
	free(plan);
	return ret;
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
		.tear_down = then_in_warm_up,
	};
	int ret;

	base_init();
	ret = read_command_line(argc, argv);
	if (ret == RUN_DONE)
		return 0;
	if (ret)
		return exit_status(ret);
	if (cfg.run.dry_run)
		return exit_status(say_plan());
	ret = run_repeat(&cfg.run, &crew, &hooks);
	/* Also of a run that failed: what is wrong may be in them. */
	if (cfg.run.keep && files_keep() && !ret)
		ret = 1;
	files_close();
	return ret;
}
