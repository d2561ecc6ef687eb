/* SPDX-License-Identifier: GPL-2.0-or-later */
/* short_reads - calls that read, of the test's own, that can bring less than was asked for, or fail. */
#ifndef TESTS_UNIT_SHORT_READS_H
#define TESTS_UNIT_SHORT_READS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* In place of libc's, where meddle.fd is read, or a pipe. */
static struct meddle {
	int fd;         /* -1: nothing is changed */
	size_t unit;    /* lengths are cut to a multiple of it */
	size_t hidden;  /* of more than a unit that came, so many bytes are not told of */
	unsigned calls; /* counted */
	unsigned
		error_at; /* the call that fails with error, 0: none, but some are interrupted */
	int error;
} meddle = { .fd = -1 };

static inline bool meddle_with(int fd)
{
	struct stat st;

	if (meddle.fd < 0 || fd == meddle.fd)
		return fd == meddle.fd && fd >= 0;
	return !meddle.error_at && !fstat(fd, &st) && S_ISFIFO(st.st_mode);
}

/* How many of LEN bytes call FD is to ask for; -1: errno says why none. Every third call is
 * interrupted, and most of the others are cut, to one unit or to a third. */
static inline ssize_t meddle_len(int fd, size_t len)
{
	unsigned call;
	size_t cut;

	if (!meddle_with(fd))
		return (ssize_t)len;
	call = ++meddle.calls;
	if (call == meddle.error_at || (!meddle.error_at && call % 3 == 0)) {
		errno = call == meddle.error_at ? meddle.error : EINTR;
		return -1;
	}
	cut = (call % 2                ? len / 3
	       : len > 4 * meddle.unit ? len - meddle.unit
				       : meddle.unit) /
	      meddle.unit * meddle.unit;
	return (ssize_t)(meddle.error_at || call % 5 == 0 || !cut || cut > len ? len
									       : cut);
}

/* The same for an iovec, which is cut in CUT. Segments, or -1. */
static inline int meddle_iov(int fd, const struct iovec *iov, int count,
			     struct iovec cut[static 16])
{
	size_t len = 0;
	ssize_t left;
	int n = 0;

	for (int i = 0; i < count; i++)
		len += iov[i].iov_len;
	left = meddle_len(fd, len);
	if (left < 0)
		return -1;
	for (; left; n++) {
		cut[n] = iov[n];
		if (cut[n].iov_len > (size_t)left)
			cut[n].iov_len = (size_t)left;
		left -= (ssize_t)cut[n].iov_len;
	}
	return n;
}

/* N bytes came. */
static inline ssize_t meddle_came(int fd, ssize_t n, bool moves_offset)
{
	if (fd != meddle.fd || n <= (ssize_t)(meddle.unit + meddle.hidden))
		return n;
	if (moves_offset)
		lseek(fd, -(off_t)meddle.hidden, SEEK_CUR);
	return n - (ssize_t)meddle.hidden;
}

ssize_t read(int fd, void *to, size_t len)
{
	ssize_t n = meddle_len(fd, len);

	return n < 0 ? -1 : meddle_came(fd, syscall(SYS_read, fd, to, n), true);
}

ssize_t pread(int fd, void *to, size_t len, off_t at)
{
	ssize_t n = meddle_len(fd, len);

	return n < 0 ? -1 : meddle_came(fd, syscall(SYS_pread64, fd, to, n, at), false);
}

ssize_t readv(int fd, const struct iovec *iov, int count)
{
	struct iovec cut[16];
	int n = meddle_iov(fd, iov, count, cut);

	return n < 0 ? -1 : meddle_came(fd, syscall(SYS_readv, fd, cut, n), true);
}

ssize_t preadv2(int fd, const struct iovec *iov, int count, off_t at, int flags)
{
	struct iovec cut[16];
	int n = meddle_iov(fd, iov, count, cut);

	return n < 0 ? -1
		     : meddle_came(fd, syscall(SYS_preadv2, fd, cut, n, at, 0, flags),
				   false);
}

ssize_t splice(int from, off_t *from_at, int to, off_t *to_at, size_t len, unsigned flags)
{
	ssize_t n = meddle_len(from, len);

	return n < 0 ? -1 : syscall(SYS_splice, from, from_at, to, to_at, n, flags);
}

ssize_t sendfile(int to, int from, off_t *at, size_t len)
{
	ssize_t n = meddle_len(from, len);

	return n < 0 ? -1 : syscall(SYS_sendfile, to, from, at, n);
}

#endif
