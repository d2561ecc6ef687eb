// SPDX-License-Identifier: GPL-2.0-or-later
/* ioviter - move data through each kind of the kernel's iov_iter, and say what that took. */
#include "common/medium.h"
#include "common/parse.h"
#include "ioviter/ioviter.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void plan_text(char text[static 512])
{
	char size[FORMAT_LEN], volume[FORMAT_LEN];

	snprintf(
		text, 512,
		"%u series, each %u samples of %s after %u to warm up; the file is %s of "
		"%s in %s",
		cell_count, cfg.samples, format_size(volume, cfg.volume_bytes),
		cfg.warmup, cfg.file ? "a scratch file" : "a memfd",
		format_size(size, cfg.size_bytes),
		cfg.file ? run_dir(&cfg.run, 0) : "memory");
}

static int dry_run(void)
{
	char text[512];

	plan_text(text);
	if (run_prints_lines(&cfg.run))
		return print_line("%s", text);
	note("%s", text);
	return 0;
}

/* Once the filesystem is there. */
static int describe(struct report *r)
{
	static struct medium m;
	char text[512];
	int fd, ret = 0;

	plan_text(text);
	if (!cfg.run.quiet)
		note("%s", text);
	if (!cfg.file)
		return 0;
	fd = open(run_dir(&cfg.run, 0), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return failed("open directory %s", run_dir(&cfg.run, 0));
	ret = medium_of(fd, &m);
	close(fd);
	if (!ret)
		run_tell_medium(&cfg.run, r, run_dir(&cfg.run, 0), &m);
	return ret;
}

int main(int argc, char **argv)
{
	struct crew crew = {
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
		return ret == RUN_DONE ? 0 : exit_status(ret);
	if (cfg.run.dry_run)
		return exit_status(dry_run());
	crew.record_bytes = cell_record_bytes();
	ret = run_repeat(&cfg.run, &crew, &hooks);
	/* There is none if the run ended before. */
	if (cfg.run.keep && file_of(TARGET_PAGECACHE) > 0 &&
	    run_keep_file(&cfg.run, file_of(TARGET_PAGECACHE), 0) && !ret)
		ret = 1;
	return ret;
}
