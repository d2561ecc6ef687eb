/* SPDX-License-Identifier: GPL-2.0-or-later */
/* no_tmpfile - an open() of the test's own, that can have no O_TMPFILE. */
#ifndef TESTS_UNIT_NO_TMPFILE_H
#define TESTS_UNIT_NO_TMPFILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

/* In place of libc's, to play a filesystem (EOPNOTSUPP) or a kernel (EISDIR) without O_TMPFILE. */
static int tmpfile_error;

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode = 0;

	if ((flags & O_TMPFILE) == O_TMPFILE && tmpfile_error) {
		errno = tmpfile_error;
		return -1;
	}
	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	return openat(AT_FDCWD, path, flags, mode);
}

#endif
