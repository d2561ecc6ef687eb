// SPDX-License-Identifier: GPL-2.0-or-later
/* room - is there the memory that the readers take, and the space for what is written? */
#include "common/parse.h"
#include "readtwice/readtwice.h"

/* Of one reader of F: its buffers, or the page tables of its mapping. Reclaim frees neither. */
static double memory_of_reader(const struct file *f)
{
	if (cfg.method->no_data)
		return 0;
	if (cfg.method->maps)
		return (double)f->size_bytes / (double)base_page_bytes() * sizeof(void *);
	return (double)block_of(f) * (cfg.method->many ? depth_of(f) : 1);
}

static int check_memory(void)
{
	double room = (double)limits_memory(&cfg.run.limits), need = 0;
	char need_text[FORMAT_LEN], room_text[FORMAT_LEN];

	for (unsigned i = 0; i < cfg.file_count; i++)
		need += memory_of_reader(&files[i]) * (double)cfg.readers;
	if (need <= room / 2)
		return 0;
	return refused("--method %s: the readers take %s of %s, more than half of the %s "
		       "available; --force starts all the same",
		       cfg.method->name, format_bytes(need_text, need),
		       cfg.method->maps ? "page tables" : "buffers",
		       format_bytes(room_text, room));
}

/* Files are dealt over the directories, so the first of these may have one more. */
static unsigned files_in(unsigned dir)
{
	return (cfg.file_count - dir - 1) / cfg.run.dirs.count + 1;
}

/* Is what is to be written in directory number DIR free there? */
static int check_space_in(unsigned dir)
{
	const char *path = run_dir(&cfg.run, dir);
	double need = (double)cfg.size_bytes * files_in(dir);
	char need_text[FORMAT_LEN], free_text[FORMAT_LEN];
	uint64_t free_bytes;

	if (limits_free_space(path, &free_bytes) || need <= (double)free_bytes)
		return 0;
	return refused("--fill written: %s of files in %s, where %s are free: a smaller "
		       "--size%s; --force starts all the same",
		       format_bytes(need_text, need), path,
		       format_bytes(free_text, (double)free_bytes),
		       cfg.run.fs.type ? ", or a larger --fs-size" : "");
}

/* What a dry run would make has as much space as it is given. */
static bool has_space_to_look_at(void)
{
	return !cfg.paths && !(cfg.run.fs.type && cfg.run.dry_run);
}

void fit_size(void)
{
	for (unsigned d = 0; d < cfg.run.dirs.count && has_space_to_look_at(); d++) {
		uint64_t free_bytes, most;

		if (limits_free_space(run_dir(&cfg.run, d), &free_bytes))
			continue;
		most = free_bytes / 10 * 9 / files_in(d) / MiB * MiB;
		cfg.size_bytes = MAX(MIN(cfg.size_bytes, most), cfg.block_bytes);
	}
}

int check_room(void)
{
	int ret;

	if (cfg.run.force)
		return 0;
	ret = check_memory();
	if (cfg.fill != FILL_WRITTEN || !has_space_to_look_at())
		return ret;
	for (unsigned d = 0; d < cfg.run.dirs.count && !ret; d++)
		ret = check_space_in(d);
	return ret;
}
