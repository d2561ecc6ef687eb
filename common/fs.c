// SPDX-License-Identifier: GPL-2.0-or-later
/* fs - a scratch filesystem that vanishes with the last process that uses it. */
#include "common/fs.h"

#include "common/fscheck.h"
#include "common/fssize.h"
#include "common/fstypes.h"
#include "common/loop.h"
#include "common/mkfs.h"
#include "common/mount.h"
#include "common/scratch.h"
#include "common/wipe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Work in progress. */
struct making {
	const struct fs_config *c;
	const struct fstype *type;
	struct fs_made made;
	struct stat place;   /* the directory that is mounted over */
	int device;          /* open; -1: none */
	char name[PATH_MAX]; /* of the device */
};

static int image_in_memory(uint64_t size)
{
	int fd = memfd_create("pagemill", MFD_CLOEXEC);

	if (fd < 0)
		return failed("create the image of the scratch filesystem in memory");
	if (!ftruncate(fd, (off_t)size))
		return fd;
	close(fd);
	return failed("extend the image of the scratch filesystem in memory to %ju bytes",
		      (uintmax_t)size);
}

static int make_image(struct making *m)
{
	const char *dir = m->c->on ?: m->made.dir;
	bool memory = !strcmp(dir, fs_in_memory);
	uint64_t size;
	int ret;

	if (memory)
		snprintf(m->made.image_on, sizeof(m->made.image_on), "%s", fs_in_memory);
	else if (!realpath(dir, m->made.image_on))
		return failed("find %s", dir);
	ret = fs_size(m->c, m->type, memory ? NULL : dir, &size);
	if (ret)
		return ret;
	return memory ? image_in_memory(size)
		      : scratch_file_as("the image of the scratch filesystem", dir, size,
					SCRATCH_HOLE);
}

static int open_loop(struct making *m)
{
	int image = make_image(m);

	if (image < 0)
		return image;
	m->device = loop_attach(image, m->name);
	close(image);
	if (m->device < 0)
		return m->device;
	m->made.loop_direct_io = loop_is_direct(m->device);
	return 0;
}

/* Checked right before mkfs, and not held by O_EXCL until then: each of the four programs opens the
 * device with O_EXCL itself, and would call it busy. For the same reason none of them runs if
 * somebody has taken the device since. */
static int open_device(struct making *m)
{
	int ret = wipe_check(m->c->on, m->type);

	if (ret)
		return ret;
	snprintf(m->name, sizeof(m->name), "%s", m->c->on);
	m->device = open(m->name, O_RDONLY | O_CLOEXEC);
	return m->device < 0 ? failed("open %s", m->name) : 0;
}

static int make_filesystem(struct making *m)
{
	int ret = m->c->on && fs_is_device(m->c->on) ? open_device(m) : open_loop(m);

	if (!ret)
		ret = mkfs_run(m->type, m->c->mkfs_options, m->name);
	if (ret)
		return ret;
	if (ioctl(m->device, BLKGETSIZE64, &m->made.size_bytes))
		return failed("find the size of %s", m->name);
	if (m->type->allocation_groups)
		m->made.allocation_groups = m->type->allocation_groups(m->device);
	return 0;
}

/* The options of the row, those of --fs, those of --mount-options: the later count. */
static int mount_made(const struct making *m, const char *first)
{
	const char *typed = strchr(m->c->type, ',');
	char *options;
	int ret;

	if (asprintf(&options, "%s,%s,%s", first, typed ? typed + 1 : "",
		     m->c->mount_options ?: "") < 0)
		return failed("memory for mount options");
	ret = mount_over(m->type->name, m->name, m->made.dir, options);
	free(options);
	return ret;
}

static int mount_tmpfs(struct making *m)
{
	uint64_t size;
	char option[32];
	int ret = fs_size(m->c, m->type, NULL, &size);

	if (ret)
		return ret;
	snprintf(option, sizeof(option), "size=%ju", (uintmax_t)size);
	snprintf(m->name, sizeof(m->name), "%s", m->type->name);
	return mount_made(m, option);
}

static int mount_device(struct making *m)
{
	int ret = make_filesystem(m);

	if (!ret)
		ret = mount_made(m, m->type->mount_options ?: "");
	if (m->device >= 0)
		close(m->device);
	return ret;
}

/* Do two files in DIR share a block if told to? */
static int try_reflink(const char *dir)
{
	int from = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int to = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char block[4096] = "pagemill";
	int reflink = -1;

	if (from >= 0 && to >= 0 && write(from, block, sizeof(block)) == sizeof(block)) {
		if (!ioctl(to, FICLONE, from))
			reflink = 1;
		else if (errno == EOPNOTSUPP || errno == ENOTTY)
			reflink = 0;
	}
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return reflink;
}

/* Its root is as the directory below was. A user namespace knows few owners, and a filesystem
 * mounted read-only changes nothing: both are as they are. */
static void take_after(int root, const struct stat *place)
{
	if (fchown(root, place->st_uid, place->st_gid) && errno != EROFS)
		return;
	if (fchmod(root, place->st_mode & 07777))
		return;
}

/* Nothing that was there before the mount is ours to be changed. */
static int open_root(const struct making *m)
{
	int root = open(m->made.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (root < 0)
		return failed("open %s", m->made.dir);
	if (!fstat(root, &st) && st.st_dev != m->place.st_dev)
		return root;
	close(root);
	return broken("%s was mounted over %s, but is not what is found there",
		      m->type->name, m->made.dir);
}

static int look_at(struct making *m)
{
	int root = open_root(m);
	struct statvfs fs;

	if (root < 0)
		return root;
	take_after(root, &m->place);
	m->made.reflink = try_reflink(m->made.dir);
	if (!m->type->mkfs && !fstatvfs(root, &fs))
		m->made.size_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
	/* What mkfs and mount left to be written is not to be written during the run. */
	syncfs(root);
	close(root);
	return 0;
}

static int make(struct making *m, const char *dir)
{
	int ret = fs_check_dir(dir, m->made.dir);

	if (ret)
		return ret;
	if (stat(m->made.dir, &m->place))
		return failed("find %s", dir);
	ret = m->type->mkfs ? mkfs_require(m->type) : 0;
	if (!ret)
		ret = mount_namespace(!m->type->mkfs) ?: mount_require(m->type->name);
	if (ret)
		return ret;
	ret = m->type->mkfs ? mount_device(m) : mount_tmpfs(m);
	return ret ?: look_at(m);
}

int fs_open(const struct fs_config *c, const char *dir, struct fs_made *made)
{
	struct making m = { .c = c, .device = -1 };
	int ret = fs_check(c);

	if (ret)
		return ret;
	m.type = fstype_find(c->type);
	ret = make(&m, dir);
	if (!ret)
		*made = m.made;
	return ret;
}
