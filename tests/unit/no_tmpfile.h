/* SPDX-License-Identifier: GPL-2.0-or-later */
/* no_tmpfile - an open() and openat() of the test's own, that can have no O_TMPFILE. */
#ifndef TESTS_UNIT_NO_TMPFILE_H
#define TESTS_UNIT_NO_TMPFILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In place of libc's, to play a filesystem (EOPNOTSUPP) or a kernel (EISDIR) without O_TMPFILE. */
static int tmpfile_error;

static int open_unless_nameless(int dir, const char *path, int flags, mode_t mode)
{
	if ((flags & O_TMPFILE) == O_TMPFILE && tmpfile_error) {
		errno = tmpfile_error;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_unless_nameless(AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_unless_nameless(dir, path, flags, mode);
}

#endif
