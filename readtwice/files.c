// SPDX-License-Identifier: GPL-2.0-or-later
/* files - the files that are read: made or opened, and what they lie on. */
#include "common/parse.h"
#include "common/scratch.h"
#include "readtwice/readtwice.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

struct file *files;

struct file *file_of(unsigned id)
{
	return &files[id / cfg.readers];
}

/* In whole MiB, which suit O_DIRECT. */
uint64_t block_of(const struct file *f)
{
	return MIN(cfg.block_bytes, (f->size_bytes - 1) / MiB * MiB + MiB);
}

unsigned depth_of(const struct file *f)
{
	return (unsigned)MIN(cfg.depth, (f->size_bytes - 1) / cfg.block_bytes + 1);
}

uint64_t files_bytes(void)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < cfg.file_count; i++)
		if (__builtin_add_overflow(bytes, files[i].size_bytes, &bytes))
			return UINT64_MAX;
	return bytes;
}

/* The bytes of what FD is, a file or a block device. */
static int size_of(int fd, const char *path, uint64_t *bytes)
{
	struct stat st;

	if (fstat(fd, &st))
		return failed("stat %s", path);
	if (S_ISREG(st.st_mode))
		*bytes = (uint64_t)st.st_size;
	else if (!S_ISBLK(st.st_mode))
		return refused("%s: expected a file or a block device", path);
	else if (ioctl(fd, BLKGETSIZE64, bytes))
		return failed("size of %s", path);
	return 0;
}

static int open_existing(struct file *f, const char *path)
{
	uint64_t bytes = 0;
	int ret;

	/* O_NONBLOCK: a pipe shall be found out, not waited for. */
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	f->name = path;
	if (f->fd < 0)
		return failed("open %s", path);
	ret = size_of(f->fd, path, &bytes);
	if (ret)
		return ret;
	if (!bytes)
		return refused("%s: expected a file with something in it", path);
	if (cfg.size_bytes > bytes)
		return refused("--size: expected at most the %ju bytes of %s",
			       (uintmax_t)bytes, path);
	f->size_bytes = cfg.size_bytes ?: bytes;
	return 0;
}

static int name_file(struct file *f, unsigned i)
{
	char *name;

	if (asprintf(&name, "file %u in %s", i, run_dir(&cfg.run, i)) < 0)
		return failed("memory for a name");
	f->name = name;
	return 0;
}

/* What the first file in directory I will lie on, unless a dry run would have to make it. */
static int look_at_dir(unsigned i)
{
	const char *dir = run_dir(&cfg.run, i);
	int fd, ret;

	if (cfg.run.fs.type && cfg.run.dry_run)
		return 0;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return failed("open directory %s", dir);
	ret = media_add(fd, files[i].name);
	close(fd);
	return ret;
}

static int look_at(struct file *f, unsigned i)
{
	int ret;

	if (cfg.paths)
		return open_existing(f, cfg.paths[i]) ?: media_add(f->fd, f->name);
	f->size_bytes = cfg.size_bytes;
	ret = name_file(f, i);
	return !ret && i < cfg.run.dirs.count ? look_at_dir(i) : ret;
}

static void warn_if_it_fits(struct report *r)
{
	uint64_t room = limits_memory(&cfg.run.limits);
	bool once = cfg.readers == 1 && cfg.passes == 1;
	char data_text[FORMAT_LEN], room_text[FORMAT_LEN];

	if (files_fit() && reads_through_cache() && !once)
		run_warning(r,
			    "%s of files fit into %s of memory: what is read again comes "
			    "from the page cache (a larger --size)",
			    format_bytes(data_text, (double)files_bytes()),
			    format_bytes(room_text, (double)room));
}

int files_look(void)
{
	int ret = 0;

	limits_raise_open_files();
	files = calloc(cfg.file_count, sizeof(*files));
	if (!files)
		return failed("memory for %u files", cfg.file_count);
	if (cfg.size_chosen && cfg.fill == FILL_WRITTEN)
		fit_size();
	for (unsigned i = 0; i < cfg.file_count; i++)
		files[i].fd = -1;
	for (unsigned i = 0; i < cfg.file_count && !ret; i++)
		ret = look_at(&files[i], i);
	if (!ret)
		ret = media_check();
	return ret ?: check_room();
}

int files_describe(struct report *r)
{
	char *plan = NULL;
	int ret = files_look();

	if (ret)
		return ret;
	media_report(r);
	/* It may have been cut to the space there is. */
	if (cfg.size_chosen)
		report_option(r, "size_bytes", cfg.size_bytes);
	if (!cfg.run.quiet)
		ret = plan_text(&plan);
	if (plan)
		note("%s", plan);
	free(plan);
	if (ret)
		return ret;
	warn_if_it_fits(r);
	return places_open();
}

int files_open(void)
{
	static const enum scratch_fill fills[] = {
		[FILL_HOLE] = SCRATCH_HOLE, [FILL_WRITTEN] = SCRATCH_WRITTEN
	};
	int ret;

	places_reset();
	for (unsigned i = 0; i < cfg.file_count; i++) {
		if (files[i].fd >= 0)
			continue;
		if (cfg.fill == FILL_WRITTEN)
			run_live_line(&cfg.run, "writing file %u of %u", i + 1,
				      cfg.file_count);
		files[i].fd = scratch_file(run_dir(&cfg.run, i), cfg.size_bytes,
					   fills[cfg.fill]);
		if (files[i].fd < 0)
			return files[i].fd;
	}
	ret = cfg.cold ? files_evict() : 0;
	run_live_line(&cfg.run, NULL);
	return ret;
}

int files_keep(void)
{
	int ret = 0;

	for (unsigned i = 0; i < cfg.file_count && files && !ret; i++)
		if (files[i].fd >= 0)
			ret = run_keep_file(&cfg.run, files[i].fd, i);
	return ret;
}

void files_close(void)
{
	for (unsigned i = 0; i < cfg.file_count && files; i++) {
		if (files[i].fd >= 0)
			close(files[i].fd);
		if (!cfg.paths)
			free((char *)files[i].name);
	}
	free(files);
	media_free();
	places_close();
}
