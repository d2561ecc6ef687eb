// SPDX-License-Identifier: GPL-2.0-or-later
/* medium - the filesystem that a file lies on, and how it is mounted. */
#include "common/medium.h"

#include "common/mountinfo.h"
#include "common/procfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

/* The mount that FD was opened on, in MOUNTS, which is cut up. By its id (Linux 3.15), since a
 * filesystem can be mounted twice with other options; else by the device, the last mount. */
static bool find_mount(int fd, dev_t dev, char *mounts, struct mountinfo *found)
{
	char *about = procfile_read("", "/proc/self/fdinfo/%d", fd);
	struct mountinfo m;
	bool exact = false, any = false;
	uint64_t id;

	if (!about || !procfile_number(about, "mnt_id", &id))
		id = UINT64_MAX;
	free(about);
	while (!exact && mountinfo_next(&mounts, &m)) {
		exact = m.id == id;
		if (!exact && makedev(m.major, m.minor) != dev)
			continue;
		*found = m;
		any = true;
	}
	return any;
}

/* btrfs gives its files device numbers of no device, but names the device it is mounted from.
 * Such numbers have the major 0. */
static dev_t block_device(dev_t dev, const char *source)
{
	struct stat st;

	if (major(dev))
		return dev;
	return source[0] == '/' && !stat(source, &st) && S_ISBLK(st.st_mode) ? st.st_rdev
									     : 0;
}

/* Both lists begin with rw or ro, and rarely differ there. */
static void join_options(struct medium *m, const struct mountinfo *mount)
{
	const char *super = mount->super;

	if (!strncmp(super, mount->options, 2))
		super += 2 + (super[2] == ',');
	snprintf(m->options, sizeof(m->options), "%s%s%s", mount->options,
		 *super ? "," : "", super);
}

/* An initramfs is a rootfs, and devtmpfs a tmpfs as well. */
static bool is_memory(const char *type)
{
	static const char *const types[] = { "tmpfs", "ramfs", "rootfs", "devtmpfs" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i], type))
			return true;
	return false;
}

static bool is_indirect(const char *type)
{
	static const char *const types[] = { "overlay", "nfs", "nfs4", "cifs",    "smb3",
					     "ceph",    "afs", "9p",   "virtiofs" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i], type))
			return true;
	/* "fuse", "fuse.sshfs", "fuseblk" */
	return !strncmp(type, "fuse", strlen("fuse"));
}

static void describe_mount(struct medium *m, const struct mountinfo *mount, dev_t dev)
{
	snprintf(m->type, sizeof(m->type), "%s", mount->type);
	snprintf(m->device, sizeof(m->device), "%s", mount->source);
	join_options(m, mount);
	m->dev = block_device(dev, mount->source);
	m->tmpfs = is_memory(m->type);
	m->indirect = is_indirect(m->type);
}

/* A block device lies on nothing but itself, wherever its node is. */
static void describe_device(struct medium *m, dev_t dev)
{
	char *about = procfile_read("", "/sys/dev/block/%u:%u/uevent", major(dev),
				    minor(dev));
	const char *name = about ? strstr(about, "DEVNAME=") : NULL;

	snprintf(m->type, sizeof(m->type), "block device");
	m->dev = m->st_dev = dev;
	if (name) {
		name += strlen("DEVNAME=");
		snprintf(m->device, sizeof(m->device), "/dev/%.*s",
			 (int)strcspn(name, "\n"), name);
	}
	free(about);
}

int medium_of(int fd, struct medium *m)
{
	struct mountinfo mount;
	struct statvfs fs;
	struct stat st;
	char *mounts;

	if (fstat(fd, &st) || fstatvfs(fd, &fs))
		return failed("find the filesystem of a file");
	*m = (struct medium){ .block_bytes = fs.f_bsize,
			      .dev = block_device(st.st_dev, ""),
			      .st_dev = st.st_dev };
	if (S_ISBLK(st.st_mode)) {
		describe_device(m, st.st_rdev);
		return 0;
	}
	mounts = procfile_read("", "/proc/self/mountinfo");
	if (mounts && find_mount(fd, st.st_dev, mounts, &mount))
		describe_mount(m, &mount, st.st_dev);
	free(mounts);
	return 0;
}
