// SPDX-License-Identifier: GPL-2.0-or-later
/* files - the scratch files of msync, who has which part of them, and what they lie on. */
#include "common/medium.h"
#include "common/parse.h"
#include "common/scratch.h"
#include "msync/msync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct slice *slices; /* of each worker; NULL: not yet opened */
static unsigned opened;      /* files that are there */

const struct slice *slice_of(unsigned worker)
{
	return &slices[worker];
}

static unsigned file_count(void)
{
	return cfg.shared ? 1 : cfg.run.workers;
}

/* One that cannot makes all read through the page cache, so that they are alike. */
static int try_direct(const struct slice *slice)
{
	int direct = cfg.verify && !cfg.buffered ? verify_direct(slice) : 1;

	if (direct < 0)
		return direct;
	if (!direct)
		note("--verify: %s cannot be read with O_DIRECT; it is read through the "
		     "page cache",
		     slice->name);
	cfg.buffered |= !direct;
	return 0;
}

/* Nobody shall flush what the fill or the repetition before has dirtied. In pieces: a signal ends
 * this between two of them. */
static int write_out(const struct slice *slice, uint64_t bytes)
{
	const uint64_t piece = 64 * MiB;
	int ret = 0;

	for (uint64_t at = 0; at < bytes && !ret; at += piece) {
		if (stop_is_pending())
			return -EINTR;
		ret = sync_file_range(slice->fd, (off_t)at, (off_t)piece,
				      SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
	}
	return ret || fdatasync(slice->fd) ? failed("write out %s", slice->name) : 0;
}

static int open_file(struct slice *slice, unsigned number, uint64_t bytes)
{
	enum scratch_fill fill = cfg.written   ? SCRATCH_WRITTEN
				 : cfg.reserve ? SCRATCH_RESERVED
					       : SCRATCH_HOLE;
	int ret;

	slice->dir = run_dir(&cfg.run, number);
	if (asprintf(&slice->name, "scratch file %u in %s", number, slice->dir) < 0)
		return failed("memory for the name of a file");
	slice->fd = scratch_file(slice->dir, bytes, fill);
	if (slice->fd < 0)
		return slice->fd;
	opened++;
	ret = cfg.written ? write_out(slice, bytes) : 0;
	return ret ?: try_direct(slice);
}

/* Where all workers and all repetitions see it. */
static int open_histories(void)
{
	uint64_t pages = cfg.verify ? cfg.size_bytes / cfg.page_bytes : 0, each, all;
	char *memory;

	each = (sizeof(struct history) + pages * sizeof(uint32_t) + CACHE_PAIR - 1) /
	       CACHE_PAIR * CACHE_PAIR;
	if (__builtin_mul_overflow(each, cfg.run.workers, &all))
		return refused("--verify: expected fewer pages");
	memory = mmap(NULL, all, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return failed("memory for what %ju pages hold", (uintmax_t)pages);
	for (unsigned i = 0; i < cfg.run.workers; i++)
		slices[i].history = (struct history *)(memory + i * each);
	return 0;
}

/* What each file holds. */
static uint64_t file_bytes(void)
{
	return cfg.size_bytes * (cfg.run.workers / file_count());
}

static int write_out_all(void)
{
	int ret = 0;

	for (unsigned i = 0; i < opened && !ret; i++)
		ret = write_out(&slices[i], file_bytes());
	return ret;
}

int files_open(void)
{
	int ret = 0;

	if (slices)
		return write_out_all();
	slices = calloc(cfg.run.workers, sizeof(*slices));
	if (!slices)
		return failed("memory for %u files", file_count());
	limits_raise_open_files();
	for (unsigned i = 0; i < cfg.run.workers && !ret; i++) {
		slices[i] = slices[0];
		if (i < file_count())
			ret = open_file(&slices[i], i, file_bytes());
		slices[i].at = cfg.shared ? i * cfg.size_bytes : 0;
	}
	return ret ?: open_histories();
}

int files_keep(void)
{
	int ret = 0;

	for (unsigned i = 0; i < opened && !ret; i++)
		ret = run_keep_file(&cfg.run, slices[i].fd, i);
	return ret;
}

/* How many directories have files. */
static unsigned dir_count(void)
{
	return MIN(cfg.run.dirs.count, file_count());
}

/* What is locked, or lies in memory, reclaim cannot free. */
static int check_memory(void)
{
	uint64_t pages = cfg.size_bytes / cfg.step_bytes;
	double picked = (double)pages * (double)cfg.page_bytes *
			(double)cfg.dirty_percent / 100;
	double each = cfg.lock || cfg.populate ? (double)cfg.size_bytes : picked;
	double need = each * cfg.run.workers;
	double room = (double)limits_memory_and_swap(&cfg.run.limits);
	char need_text[FORMAT_LEN], room_text[FORMAT_LEN];

	if (cfg.lock)
		room = (double)limits_memory(&cfg.run.limits);
	if (cfg.run.force || need <= room)
		return 0;
	return refused("%s to be held in memory, %s available; --force starts all the "
		       "same",
		       format_bytes(need_text, need), format_bytes(room_text, room));
}

static int check_medium(struct report *r, int fd, const char *dir)
{
	static struct medium m;
	int ret = medium_of(fd, &m);

	if (ret)
		return ret;
	if (m.tmpfs && !cfg.run.allow_tmpfs)
		run_warning(r,
			    "%s is in memory (%s): a flush does nothing there (another "
			    "--dir, or --allow-tmpfs to have it so)",
			    dir, m.type);
	run_tell_medium(&cfg.run, r, dir, &m);
	cfg.buffered |= m.tmpfs;
	return m.tmpfs || cfg.lock ? check_memory() : 0;
}

int media_check(struct report *r)
{
	int ret = 0;

	for (unsigned i = 0; i < dir_count() && !ret; i++) {
		const char *dir = run_dir(&cfg.run, i);
		int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			return failed("open directory %s", dir);
		ret = check_medium(r, fd, dir);
		close(fd);
	}
	return ret;
}

int media_print(void)
{
	char image[FS_IMAGE_TEXT_LEN];
	int ret = 0;

	fs_image_text(cfg.run.fs.type ? &cfg.run.fs_made : NULL, image);

	for (unsigned i = 0; i < dir_count() && !ret; i++) {
		static struct medium m;

		ret = medium_of(slices[i].fd, &m);
		if (!ret)
			ret = print_line(
				"medium: %s on %s (%s)%s%s", m.type[0] ? m.type : "?",
				m.device[0] ? m.device : "?", slices[i].dir, image,
				m.tmpfs ? ": a flush does nothing there" : "");
	}
	return ret;
}
