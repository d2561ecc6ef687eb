// SPDX-License-Identifier: GPL-2.0-or-later
/* medium - tests of common/medium.c: filesystems mounted where only this test sees them. */
#include "common/medium.h"
#include "tests/check.h"
#include "tests/unit/child.h"
#include "tests/unit/tempdir.h"

#include <errno.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

static struct medium look(const char *path)
{
	struct medium m = { .type = "untouched" };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_U64(path, medium_of(fd, &m), 0);
	close(fd);
	return m;
}

/* What is true on any machine. */
static void check_known(void)
{
	struct medium proc = look("/proc/self/status");
	struct medium here = look(tempdir);
	struct statfs fs;
	struct stat st;

	CHECK_TEXT("type", proc.type, "proc");
	CHECK(!strncmp(proc.options, "rw", 2) || !strncmp(proc.options, "ro", 2));
	CHECK_U64("device", proc.dev, 0);
	CHECK(!proc.tmpfs && !proc.indirect);
	CHECK(!statfs(tempdir, &fs));
	CHECK_U64("block", here.block_bytes, fs.f_bsize);
	CHECK(!stat(tempdir, &st));
	CHECK_U64("st_dev", here.st_dev, st.st_dev);
	CHECK(here.type[0] && here.device[0]);
}

/* By its number, whatever its name is. */
static bool lies_in_memory(const char *path)
{
	struct statfs fs;

	CHECK(!statfs(path, &fs));
	return fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
}

/* Of what is mounted there on most machines: a devtmpfs, a tmpfs, a disk or an initramfs. */
static void check_memory(void)
{
	static const char *const paths[] = { "/", "/dev", "/dev/shm", "/proc", "/sys" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!access(paths[i], R_OK))
			CHECK_U64(paths[i], look(paths[i]).tmpfs,
				  lies_in_memory(paths[i]));
}

static int look_at_closed(const void *arg)
{
	struct medium m = { .type = "untouched" };
	int ret = medium_of(-1, &m);

	(void)arg;
	return ret == -EBADF && !strcmp(m.type, "untouched") ? 0 : 1;
}

static void check_closed(void)
{
	struct child c;

	child_run(&c, look_at_closed, NULL);
	CHECK_U64("closed", c.status, 0);
	CHECK(strstr(c.err, "find the filesystem of a file: Bad file descriptor"));
}

/* Neither has a device, and both have a source of the same name. */
static void check_same_source(void)
{
	char one[128], two[128];
	struct medium first, second;

	CHECK(!mkdir(tempdir_path(one, "one"), 0755));
	CHECK(!mkdir(tempdir_path(two, "two"), 0755));
	CHECK(!mount("none", one, "tmpfs", 0, "size=64k"));
	CHECK(!mount("none", two, "tmpfs", 0, "size=64k"));
	first = look(one);
	second = look(two);
	CHECK_TEXT("source", first.device, second.device);
	CHECK_U64("device", first.dev, second.dev);
	CHECK(first.st_dev != second.st_dev);
}

/* Two options in a row of its own: each mount is told apart, though the device is one. */
static void check_twice(const char *point)
{
	char second[128];
	struct medium m;

	CHECK(!mkdir(tempdir_path(second, "second"), 0755));
	CHECK(!mount(point, second, NULL, MS_BIND, NULL));
	CHECK(!mount(NULL, second, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NODEV,
		     NULL));
	m = look(second);
	CHECK(!strncmp(m.options, "ro,nodev,", 9));
	m = look(point);
	CHECK(!strncmp(m.options, "rw,nosuid,noatime,", 18));
}

static void check_overlay(const char *point)
{
	char lower[160], upper[160], work[160], options[512];
	struct medium m;

	snprintf(lower, sizeof(lower), "%s/lower", point);
	snprintf(upper, sizeof(upper), "%s/upper", point);
	snprintf(work, sizeof(work), "%s/work", point);
	CHECK(!mkdir(lower, 0755) && !mkdir(upper, 0755) && !mkdir(work, 0755));
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", lower,
		 upper, work);
	if (mount("over lay", lower, "overlay", 0, options)) {
		printf("overlayfs not tested: mount: %s\n", strerror(errno));
		return;
	}
	m = look(lower);
	CHECK_TEXT("type", m.type, "overlay");
	CHECK_TEXT("device", m.device, "over lay");
	CHECK(m.indirect && !m.tmpfs);
}

/* A name and a source that mountinfo has to escape. */
static void check_mounts(void)
{
	char point[128];
	struct medium m;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		printf("mounts not tested: %s\n", strerror(errno));
		return;
	}
	CHECK(!mount("tempdir", tempdir, "tmpfs", 0, "size=1m"));
	CHECK(!mkdir(tempdir_path(point, "a b:c\\d\n\xff"), 0755));
	CHECK(!mount("page mill:\\1\xff", point, "tmpfs", MS_NOSUID | MS_NOATIME,
		     "size=64k"));
	m = look(point);
	CHECK_TEXT("type", m.type, "tmpfs");
	CHECK_TEXT("device", m.device, "page mill:\\1\xff");
	CHECK(!strncmp(m.options, "rw,nosuid,noatime,size=64k", 26));
	CHECK(!strstr(m.options, ",rw"));
	CHECK_U64("device number", m.dev, 0);
	CHECK(m.tmpfs && !m.indirect);
	check_twice(point);
	check_same_source();
	check_overlay(tempdir);
}

int main(void)
{
	base_init();
	tempdir_make();
	check_known();
	check_memory();
	check_closed();
	check_mounts();
	/* The mounts over it go when we do; below them it is empty. */
	umount2(tempdir, MNT_DETACH);
	tempdir_remove();
	return check_result();
}
