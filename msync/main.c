// SPDX-License-Identifier: GPL-2.0-or-later
/* msync - dirty a mapped file, flush it, and say how fast that was. */
#include "msync/msync.h"

#include "common/parse.h"

#include <stdio.h>
#include <stdlib.h>

/* "for 10s", "3 passes", "at most 5 flushes each": what ends the run. */
static const char *end_text(char buf[static 128])
{
	char time[FORMAT_LEN] = "";
	int len = 0;

	buf[0] = '\0';
	if (cfg.passes)
		len += snprintf(buf, 128, ", %ju pass%s", (uintmax_t)cfg.passes,
				cfg.passes == 1 ? "" : "es");
	if (cfg.run.max_ops)
		len += snprintf(buf + len, 128 - len, ", at most %ju %s each",
				(uintmax_t)cfg.run.max_ops,
				cfg.pieces ? "flushes" : "passes");
	if (cfg.run.runtime_ns)
		snprintf(buf + len, 128 - len, ", for %s%s", len ? "at most " : "",
			 format_time(time, cfg.run.runtime_ns));
	return buf;
}

static const char *plan_text(char buf[static 1024])
{
	char size[FORMAT_LEN], range[FORMAT_LEN], seed[64] = "", end[128];
	const struct mode *mode = &modes[cfg.mode];

	if (cfg.random)
		snprintf(seed, sizeof(seed), ", seed %ju", (uintmax_t)cfg.run.seed);
	snprintf(buf, 1024,
		 "%u worker%s, %s of %s in %s%s%s%s; dirty %s of the pages (%s%s), then "
		 "%s "
		 "of %s%s%s",
		 cfg.run.workers, cfg.run.workers == 1 ? "" : "s",
		 cfg.shared             ? "one file, each a part"
		 : cfg.run.workers == 1 ? "a file"
					: "each a file",
		 format_size(size, cfg.size_bytes), cfg.run.dirs.at[0],
		 cfg.run.dirs.count > 1 ? " and others" : "",
		 cfg.run.fs.type ? ", on a new " : "", cfg.run.fs.type ?: "", cfg.dirty,
		 cfg.order, seed, mode->call,
		 cfg.pieces > 1 ? format_size(range, cfg.range_bytes) : "all",
		 end_text(end), cfg.verify ? ", verified" : "");
	return buf;
}

/* "/var/tmp has 10 GiB free", or what would be made there; malloc'ed. */
static int room_text(char **text)
{
	const char *dir = cfg.run.dirs.at[0];
	char room[FORMAT_LEN] = "?";
	uint64_t free_bytes;

	if (cfg.run.fs.type)
		return fs_plan(&cfg.run.fs, dir, text);
	if (!limits_free_space(dir, &free_bytes))
		format_bytes(room, (double)free_bytes);
	return asprintf(text, "%s has %s free", dir, room) < 0
		       ? failed("memory for the plan")
		       : 0;
}

/* On standard output, unless that is for JSON, of which a dry run has none. */
static int dry_run(void)
{
	char plan[1024], *room;
	int ret = room_text(&room);

	if (ret)
		return ret;
	if (run_prints_lines(&cfg.run))
		ret = print_line("%s; %s", plan_text(plan), room);
	else
		note("%s; %s", plan_text(plan), room);
	free(room);
	return ret;
}

/* Once the filesystem is there. */
static int describe(struct report *r)
{
	char plan[1024];
	int ret = media_check(r);

	report_option(r, "dirty_percent", cfg.dirty_percent);
	report_option(r, "step_bytes", cfg.step_bytes);
	if (!ret && !cfg.run.quiet)
		note("%s", plan_text(plan));
	return ret;
}

int main(int argc, char **argv)
{
	const struct crew crew = {
		.record_bytes = sizeof(struct flush_record),
		.setup = task_setup,
		.work = task_work,
		.teardown = task_teardown,
	};
	const struct run_hooks hooks = {
		.describe = describe,
		.set_up = files_open,
		.collect = collect_figures,
	};
	int ret;

	base_init();
	ret = read_command_line(argc, argv);
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
