// SPDX-License-Identifier: GPL-2.0-or-later
/* mount - a mount namespace of our own, and a filesystem mounted in it. */
#include "common/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char needs_root[] = "mounting needs root (CAP_SYS_ADMIN)";

static int write_proc(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return failed("open %s", path);
	ret = write_all(fd, text, strlen(text));
	close(fd);
	errno = -ret;
	return ret ? failed("write '%s' to %s", text, path) : 0;
}

/* We stay who we are. The kernel wants setgroups(2) to be given up before it lets us map a
 * group. */
static int map_self(uid_t uid, gid_t gid)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof(uids), "%u %u 1", uid, uid);
	snprintf(gids, sizeof(gids), "%u %u 1", gid, gid);
	return write_proc("/proc/self/setgroups", "deny")
		       ?: write_proc("/proc/self/uid_map", uids)
		       ?: write_proc("/proc/self/gid_map", gids);
}

static int enter_user_namespace(void)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return unsupported("%s, or a user namespace, which cannot be had: %s",
				   needs_root, strerror(errno));
	return map_self(uid, gid);
}

/* A root of a user namespace may make a mount namespace and mount a tmpfs, but no filesystem of a
 * device. The first user namespace has always had this inode. Without /proc, mkfs or mount(2) will
 * tell. */
static bool is_real_root(void)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) || st.st_ino == 0xEFFFFFFD;
}

static int enter_namespace(bool user_namespace)
{
	if (!user_namespace && !is_real_root())
		return unsupported("%s, not that of a user namespace", needs_root);
	if (!unshare(CLONE_NEWNS))
		return 0;
	if (errno != EPERM)
		return failed("make a mount namespace");
	return user_namespace ? enter_user_namespace() : unsupported("%s", needs_root);
}

/* A slave of the mounts outside: a private one would keep busy what the host wants to unmount,
 * and a shared one would show the host ours. */
int mount_namespace(bool user_namespace)
{
	int ret = enter_namespace(user_namespace);

	if (ret || !mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		return ret;
	if (errno == EINVAL)
		return unsupported(
			"the root directory is no mount point (chroot), so that a "
			"mount would be seen outside");
	return failed("keep mounts to ourselves");
}

/* fsopen(2) (Linux 5.2) loads the module as mount(2) would. Where it is not there or not
 * allowed, mount(2) will tell. */
int mount_require(const char *type)
{
	int fd = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);

	if (fd >= 0)
		close(fd);
	else if (errno == ENODEV)
		return unsupported("this kernel has no %s", type);
	return 0;
}

#define ATIMES (MS_NOATIME | MS_RELATIME | MS_STRICTATIME)

/* Options for any filesystem: the flags they clear and those they set. */
static const struct {
	const char *name;
	unsigned long clear, set;
} generic[] = {
	{ "defaults", 0, 0 },
	{ "ro", 0, MS_RDONLY },
	{ "rw", MS_RDONLY, 0 },
	{ "noatime", ATIMES, MS_NOATIME },
	{ "atime", MS_NOATIME, 0 },
	{ "relatime", ATIMES, MS_RELATIME },
	{ "norelatime", MS_RELATIME, 0 },
	{ "strictatime", ATIMES, MS_STRICTATIME },
	{ "nostrictatime", MS_STRICTATIME, 0 },
	{ "nodiratime", 0, MS_NODIRATIME },
	{ "diratime", MS_NODIRATIME, 0 },
	{ "lazytime", 0, MS_LAZYTIME },
	{ "nolazytime", MS_LAZYTIME, 0 },
	{ "sync", 0, MS_SYNCHRONOUS },
	{ "async", MS_SYNCHRONOUS, 0 },
	{ "dirsync", 0, MS_DIRSYNC },
	{ "nosuid", 0, MS_NOSUID },
	{ "suid", MS_NOSUID, 0 },
	{ "nodev", 0, MS_NODEV },
	{ "dev", MS_NODEV, 0 },
	{ "noexec", 0, MS_NOEXEC },
	{ "exec", MS_NOEXEC, 0 },
};

static bool take_generic(const char *name, size_t len, unsigned long *flags)
{
	for (size_t i = 0; i < ARRAY_SIZE(generic); i++) {
		if (strlen(generic[i].name) != len ||
		    strncmp(generic[i].name, name, len) != 0)
			continue;
		*flags = (*flags & ~generic[i].clear) | generic[i].set;
		return true;
	}
	return false;
}

unsigned long mount_flags(const char *options, char *data)
{
	unsigned long flags = 0;
	char *to = data;
	size_t len;

	for (; *options; options += len + (options[len] == ',')) {
		len = strcspn(options, ",");
		if (!len || take_generic(options, len, &flags))
			continue;
		if (to != data)
			*to++ = ',';
		to = mempcpy(to, options, len);
	}
	*to = '\0';
	return flags;
}

static int mount_failed(const char *type, const char *dir, const char *options)
{
	switch (errno) {
	case ENODEV:
		return unsupported("this kernel has no %s", type);
	case EPERM:
		return unsupported(
			"mounting %s is not allowed here, to root (CAP_SYS_ADMIN) in "
			"a user namespace either",
			type);
	default:
		return failed("mount %s over %s with options '%s'", type, dir, options);
	}
}

int mount_over(const char *type, const char *source, const char *dir, const char *options)
{
	char *data = malloc(strlen(options) + 1);
	unsigned long flags;
	int ret = 0;

	if (!data)
		return failed("memory for mount options");
	flags = mount_flags(options, data);
	if (mount(source, dir, type, flags, data))
		ret = mount_failed(type, dir, data);
	free(data);
	return ret;
}
