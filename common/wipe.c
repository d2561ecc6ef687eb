// SPDX-License-Identifier: GPL-2.0-or-later
/* wipe - may a block device be overwritten? */
#include "common/wipe.h"

#include "common/foreign.h"
#include "common/fstypes.h"
#include "common/mountinfo.h"
#include "common/parse.h"
#include "common/procfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int refuse_mounted(const char *path, dev_t dev)
{
	char *mounts = procfile_read("", "/proc/self/mountinfo"), *rest = mounts;
	struct mountinfo m;
	int ret = 0;

	while (!ret && mountinfo_next(&rest, &m))
		if (m.major == major(dev) && m.minor == minor(dev))
			ret = refused("%s is mounted on %s", path, m.point);
	free(mounts);
	return ret;
}

static int refuse_partitions(const char *path, dev_t dev)
{
	glob_t found;
	char pattern[128];
	int none;

	snprintf(pattern, sizeof(pattern), "/sys/dev/block/%u:%u/*/partition", major(dev),
		 minor(dev));
	none = glob(pattern, GLOB_NOSORT, NULL, &found);
	if (none)
		return 0;
	globfree(&found);
	return refused("%s has partitions", path);
}

static bool all_zeros(const unsigned char *data, size_t len)
{
	return !len || (!data[0] && !memcmp(data, data + 1, len - 1));
}

/* A boot sector's four entries, of which an unused one is all zeros, or the head of a GPT, behind
 * a logical block of any size. */
static int refuse_table(const struct ends *e)
{
	static const unsigned blocks[] = { 512, 1024, 2048, 4096 };
	const unsigned char *sector = e->first;

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		if (!memcmp(sector + blocks[i], "EFI PART", 8))
			return refused("%s holds a partition table", e->path);
	if (sector[510] == 0x55 && sector[511] == 0xaa && !all_zeros(sector + 446, 64))
		return refused("%s holds a partition table", e->path);
	return 0;
}

/* The label is ended by a zero or by its length. */
static bool is_labelled(const unsigned char *at, const struct signature *s)
{
	const size_t len = sizeof(FS_LABEL); /* the zero as well */

	for (size_t i = 0; i < len && i * s->label_step < s->label_len; i++)
		for (size_t byte = 0; byte < s->label_step; byte++)
			if (at[i * s->label_step + byte] != (byte ? 0 : FS_LABEL[i]))
				return false;
	return true;
}

static int refuse_foreign(const struct ends *e)
{
	const char *what = foreign_find(e);

	return what ? refused("%s holds %s", e->path, what) : 0;
}

/* The rest of an older filesystem may lie beside a newer one: each must be ours. Who came later
 * than any of them may have left our mark as it was, but not the room before the first. */
static int refuse_strangers(const struct ends *e)
{
	uint64_t begins_at = UINT64_MAX; /* none of ours yet */

	for (size_t i = 0; i < FSTYPE_COUNT; i++) {
		const struct signature *s = &fstypes[i].signature;

		if (!s->mark_len ||
		    memcmp(e->first + s->mark_at, s->mark, s->mark_len) != 0)
			continue;
		if (!is_labelled(e->first + s->label_at, s))
			return refused("%s holds a filesystem (%s) that is not labelled "
				       "'%s': no earlier run made it",
				       e->path, fstypes[i].name, FS_LABEL);
		begins_at = MIN(begins_at, s->begins_at);
	}
	if (all_zeros(e->first, MIN(begins_at, END_BYTES)) &&
	    (begins_at != UINT64_MAX || all_zeros(e->last, END_BYTES)))
		return 0;
	return refused(
		"%s holds something that no earlier run made: zero its first and last "
		"MiB if it may go",
		e->path);
}

static int read_end(int fd, const char *path, unsigned char *data, uint64_t at)
{
	ssize_t n = pread(fd, data, END_BYTES, (off_t)at);

	if (n == END_BYTES)
		return 0;
	if (n >= 0)
		errno = EIO;
	return failed("read %s at %ju", path, (uintmax_t)at);
}

/* No row needs less than both ends. */
static int check_size(int fd, struct ends *e, const struct fstype *type)
{
	char has[FORMAT_LEN], min[FORMAT_LEN];

	assert(type->min_bytes >= 2 * (uint64_t)END_BYTES);
	if (ioctl(fd, BLKGETSIZE64, &e->size))
		return failed("find the size of %s", e->path);
	if (e->size >= type->min_bytes)
		return 0;
	return refused("--fs-on %s, of %s: %s needs at least %s", e->path,
		       format_size(has, e->size), type->name,
		       format_size(min, type->min_bytes));
}

static int check_contents(int fd, struct ends *e)
{
	return read_end(fd, e->path, e->first, 0)
		       ?: read_end(fd, e->path, e->last, e->size - END_BYTES)
		       ?: refuse_table(e)
		       ?: refuse_foreign(e)
		       ?: refuse_strangers(e);
}

/* O_EXCL fails on a block device that is mounted in any namespace, swapped to, or part of a
 * RAID or a volume. */
static int check_device(const char *path, const struct fstype *type, struct ends *e)
{
	int fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC), ret;

	if (fd < 0 && errno == EBUSY)
		return refused("%s is in use", path);
	if (fd < 0)
		return failed("open %s", path);
	e->path = path;
	ret = check_size(fd, e, type) ?: check_contents(fd, e);
	close(fd);
	return ret;
}

int wipe_check(const char *path, const struct fstype *type)
{
	struct ends *e;
	struct stat st;
	int ret;

	if (stat(path, &st))
		return failed("look at %s", path);
	if (!S_ISBLK(st.st_mode))
		return refused("%s is no block device", path);
	ret = refuse_mounted(path, st.st_rdev) ?: refuse_partitions(path, st.st_rdev);
	if (ret)
		return ret;
	e = malloc(sizeof(*e));
	if (!e)
		return failed("memory to look at %s", path);
	ret = check_device(path, type, e);
	free(e);
	return ret;
}
