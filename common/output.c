// SPDX-License-Identifier: GPL-2.0-or-later
/* output - a file of results that appears only once it is complete. */
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a link leads is written, not the link. */
static int open_dir(struct output *file)
{
	char target[PATH_MAX], copy[PATH_MAX];

	if (!realpath(file->path, target))
		snprintf(target, sizeof(target), "%s", file->path);
	memcpy(copy, target, sizeof(copy));
	snprintf(file->name, sizeof(file->name), "%s", basename(copy));
	file->dir = open(dirname(target), O_PATH | O_DIRECTORY | O_CLOEXEC);
	return file->dir < 0 ? -errno : 0;
}

/* A nameless file beside what PATH is or will be; the old one stays until the new is complete. */
static int open_beside(struct output *file)
{
	file->fd = openat(file->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	if (file->fd >= 0)
		file->nameless = true;
	else if (errno == EOPNOTSUPP || errno == EISDIR)
		file->fd = openat(file->dir, file->name, O_WRONLY | O_CREAT | O_CLOEXEC,
				  0666);
	return file->fd < 0 ? -errno : 0;
}

/* A link that leads nowhere is followed in place. */
static int open_missing(struct output *file)
{
	struct stat st;

	if (lstat(file->path, &st))
		return open_beside(file);
	file->fd = open(file->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	return file->fd < 0 ? -errno : 0;
}

/* A nameless file to take the place of the one that is there, with its mode. */
static bool open_instead(struct output *file, const struct stat *st)
{
	if (access(file->path, W_OK) || open_beside(file))
		return false;
	return !fchmod(file->fd, st->st_mode & 07777);
}

bool output_is_stdout(const char *path)
{
	struct stat there, out;

	if (!path[0] || !strcmp(path, "-"))
		return true;
	return !stat(path, &there) && !fstat(STDOUT_FILENO, &out) &&
	       there.st_dev == out.st_dev && there.st_ino == out.st_ino;
}

int output_open(struct output *file, const char *path)
{
	struct stat st;
	int ret = 0;

	*file = (struct output){ .path = path, .fd = STDOUT_FILENO, .dir = -1 };
	if (output_is_stdout(path))
		return 0;
	ret = open_dir(file);
	if (!ret && stat(path, &st))
		ret = errno == ENOENT ? open_missing(file) : -errno;
	else if (!ret && !(S_ISREG(st.st_mode) && open_instead(file, &st)) &&
		 (file->fd = open(path, O_WRONLY | O_CLOEXEC)) < 0)
		ret = -errno;
	errno = -ret;
	return ret ? failed("create %s", path) : 0;
}

/* Give the nameless file its name, in the place of what is there. */
static int link_file(const struct output *file)
{
	char self[64], aside[NAME_MAX + 16];
	int ret;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
	if (!linkat(AT_FDCWD, self, file->dir, file->name, AT_SYMLINK_FOLLOW))
		return 0;
	snprintf(aside, sizeof(aside), "%s.%d", file->name, getpid());
	if (errno != EEXIST ||
	    linkat(AT_FDCWD, self, file->dir, aside, AT_SYMLINK_FOLLOW))
		return -errno;
	ret = renameat(file->dir, aside, file->dir, file->name) ? -errno : 0;
	if (ret)
		unlinkat(file->dir, aside, 0);
	return ret;
}

/* The way for what is no file, and for a file that cannot be replaced: one that is mounted, say. */
static int write_in_place(int fd, const char *text)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && ftruncate(fd, 0))
		return -errno;
	return write_all(fd, text, strlen(text));
}

static int write_document(struct output *file, const char *text)
{
	int ret, fd;

	if (file->fd == STDOUT_FILENO)
		return write_all(file->fd, text, strlen(text));
	if (!file->nameless)
		return write_in_place(file->fd, text);
	ret = write_all(file->fd, text, strlen(text));
	if (ret)
		return ret;
	ret = link_file(file);
	if (!ret || (fd = openat(file->dir, file->name, O_WRONLY | O_CLOEXEC)) < 0)
		return ret;
	ret = write_in_place(fd, text);
	return close(fd) && !ret ? -errno : ret;
}

int output_write(struct output *file, const char *text)
{
	int ret = write_document(file, text);

	if (file->fd != STDOUT_FILENO && close(file->fd) && !ret)
		ret = -errno;
	if (file->dir >= 0)
		close(file->dir);
	errno = -ret;
	return ret ? failed("write results to %s",
			    file->fd == STDOUT_FILENO ? "standard output" : file->path)
		   : 0;
}
