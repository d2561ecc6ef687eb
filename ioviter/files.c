// SPDX-License-Identifier: GPL-2.0-or-later
/* files - what is read and written: a file in the page cache, /dev/zero, /dev/null. */
#include "common/scratch.h"
#include "ioviter/ioviter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int files[TARGETS];
static bool opened;
static const char *const names[] = { [TARGET_PAGECACHE] = "the file",
				     [TARGET_ZERO] = "/dev/zero",
				     [TARGET_NULL] = "/dev/null" };

int file_of(enum target_sort sort)
{
	return files[sort];
}

const char *file_name(enum target_sort sort)
{
	return names[sort];
}

static int fill_memfd(int fd)
{
	uint64_t *words = malloc(MiB), len;
	int ret = 0;

	if (!words)
		return failed("memory to fill a file");
	for (uint64_t at = 0; at < cfg.size_bytes && !ret; at += len) {
		len = MIN(cfg.size_bytes - at, MiB);
		for (uint64_t i = 0; i < (len + 7) / 8; i++)
			words[i] = scratch_word(at / 8 + i);
		ret = stop_is_pending() ? -EINTR : write_all(fd, words, len);
		errno = -ret;
		if (ret && ret != -EINTR)
			ret = failed("fill a memfd of %ju bytes",
				     (uintmax_t)cfg.size_bytes);
	}
	free(words);
	return ret;
}

/* Every byte is there before the start: no hole is read, and no block allocated. */
static int open_pagecache(void)
{
	int fd;

	if (cfg.file)
		return scratch_file(run_dir(&cfg.run, 0), cfg.size_bytes,
				    SCRATCH_WRITTEN);
	fd = memfd_create("ioviter", MFD_CLOEXEC);
	if (fd < 0)
		return failed("memfd_create");
	return fill_memfd(fd) ?: fd;
}

int files_open(void)
{
	int ret = 0;

	if (opened)
		return 0;
	opened = true;
	for (unsigned i = 0; i < cfg.targets.count && ret >= 0; i++) {
		enum target_sort sort = (enum target_sort)cfg.targets.at[i];

		if (sort == TARGET_PAGECACHE)
			ret = open_pagecache();
		else
			ret = open(names[sort], O_RDWR | O_CLOEXEC);
		if (ret < 0 && sort != TARGET_PAGECACHE)
			ret = failed("open %s", names[sort]);
		files[sort] = ret;
	}
	/* What is dirty is written out now, not beside the first samples. */
	if (ret >= 0 && cfg.file && files[TARGET_PAGECACHE] > 0 &&
	    fdatasync(files[TARGET_PAGECACHE]))
		return failed("write out the file in %s", run_dir(&cfg.run, 0));
	return MIN(ret, 0);
}
