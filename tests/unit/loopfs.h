/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loopfs - a small filesystem of the test's own, on a nameless image, gone when the test ends. */
#ifndef TESTS_UNIT_LOOPFS_H
#define TESTS_UNIT_LOOPFS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

/* Mounts are this process's own from now on. 0, or -1 and errno. */
static inline int loopfs_begin(void)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL)
		       ? -1
		       : 0;
}

/* A loop device for IMAGE, which is freed with its last user; its path into NAME. fd, or -1. */
static inline int loopfs_attach(int image, char name[static 32])
{
	struct loop_config config = { .fd = (unsigned)image,
				      .info.lo_flags = LO_FLAGS_AUTOCLEAR };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), fd = -1;

	/* Between the question and the answer another may take it. */
	for (int tries = 0; control >= 0 && tries < 100 && fd < 0; tries++) {
		int number = ioctl(control, LOOP_CTL_GET_FREE);

		snprintf(name, 32, "/dev/loop%d", number);
		fd = number < 0 ? -1 : open(name, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && ioctl(fd, LOOP_CONFIGURE, &config)) {
			close(fd);
			fd = -1;
		}
	}
	if (control >= 0)
		close(control);
	return fd;
}

/* mkfs.TYPE -q OPTION NAME: 0, or not. */
static inline int loopfs_make(const char *type, const char *name)
{
	char program[32];
	int status = -1;
	pid_t pid;

	snprintf(program, sizeof(program), "mkfs.%s", type);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execlp(program, program, "-q", strcmp(type, "ext4") ? "-f" : "-F", name,
		       NULL);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* A filesystem of TYPE (ext4, xfs, btrfs) on DIR. 0, or -1 after printing why not. */
static inline int loopfs_mount(const char *type, const char *dir)
{
	int image = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), loop = -1;
	const char *what = "make an image";
	char name[32];
	int ret = -1;

	if (image >= 0 && !ftruncate(image, 512 << 20)) {
		what = "take a loop device";
		loop = loopfs_attach(image, name);
	}
	if (loop >= 0) {
		what = "mkfs and mount";
		ret = loopfs_make(type, name) || mount(name, dir, type, 0, NULL) ? -1 : 0;
	}
	if (ret)
		printf("%s not tested: %s: %s\n", type, what, strerror(errno));
	if (loop >= 0)
		close(loop);
	if (image >= 0)
		close(image);
	return ret;
}

#endif
