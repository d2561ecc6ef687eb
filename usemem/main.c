// SPDX-License-Identifier: GPL-2.0-or-later
/* usemem - allocate memory, walk it, and say how fast that was. */
#include "common/parse.h"
#include "usemem/usemem.h"

#include <signal.h>
#include <stdio.h>

/* A FILE lies on the scratch filesystem, if there is one. */
static int place_on_fs(const char **name)
{
	char *path;

	if (!*name || !(*name)[0])
		return 0;
	if (asprintf(&path, "%s/%s", run_dir(&cfg.run, 0), *name) < 0)
		return failed("memory for a name");
	*name = path;
	return 0;
}

static int describe(struct report *r)
{
	int ret = 0;

	report_option(r, "size_bytes", cfg.size_bytes);
	if (cfg.run.fs.type)
		ret = place_on_fs(&cfg.file) ?: place_on_fs(&cfg.advise);
	if (cfg.backing.source->is_file)
		cfg.backing.path = cfg.file;
	return ret;
}

/* On standard output, unless that is for JSON, of which a dry run has none. */
static int say_plan(void)
{
	char size[FORMAT_LEN], total[FORMAT_LEN], unit[FORMAT_LEN], step[FORMAT_LEN],
		room[FORMAT_LEN], plan[512];

	snprintf(plan, sizeof(plan),
		 "%u task%s, each %s %s (%s in all) of %s memory in units of %s, one "
		 "access every %s, %ju times; this process may use %s",
		 cfg.run.workers, cfg.run.workers == 1 ? "" : "s",
		 cfg.readonly ? "reads" : "writes", format_size(size, cfg.size_bytes),
		 format_bytes(total, (double)cfg.size_bytes * cfg.run.workers),
		 cfg.backing.path ?: cfg.backing.source->name,
		 format_size(unit, cfg.unit_bytes), format_size(step, cfg.step_bytes),
		 (uintmax_t)cfg.passes,
		 format_bytes(room, (double)limits_memory(&cfg.run.limits)));
	if (run_prints_lines(&cfg.run))
		return print_line("%s", plan);
	note("%s", plan);
	return 0;
}

/* SIGUSR1 is for the tasks, and for the wait of --signal-fork: anywhere else it changes nothing. */
static void hold_user_signal(void)
{
	sigset_t user;

	sigemptyset(&user);
	sigaddset(&user, SIGUSR1);
	sigprocmask(SIG_BLOCK, &user, NULL);
}

int main(int argc, char **argv)
{
	struct crew crew = {
		.record_bytes = sizeof(struct task_record),
		.setup = task_setup,
		.work = task_walk,
		.finish = task_finish,
		.teardown = task_teardown,
	};
	struct run_hooks hooks = {
		.describe = describe,
		.set_up = set_up,
		.collect = collect_figures,
		.tear_down = tear_down,
	};
	int ret;

	base_init();
	hold_user_signal();
	ret = read_command_line(argc, argv);
	if (ret)
		return exit_status(ret);
	if (cfg.run.dry_run)
		return exit_status(say_plan());
	ret = bind_to_nodes();
	/* The scratch filesystem is mounted over a directory that may hold the file of the pids. */
	if (!ret && cfg.run.fs.type)
		ret = holders_open();
	if (ret)
		return exit_status(ret);
	hooks.set_up_counts = time_begins_early();
	crew.leave = cfg.detach ? holders_leave : NULL;
	ret = run_repeat(&cfg.run, &crew, &hooks);
	if (ret)
		holders_end();
	return ret;
}
