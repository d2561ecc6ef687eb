/* SPDX-License-Identifier: GPL-2.0-or-later */
/* short_calls - calls that move data, of the test's own, that can move less than was asked for, be
 * interrupted, or fail. */
#ifndef TESTS_UNIT_SHORT_CALLS_H
#define TESTS_UNIT_SHORT_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* In place of libc's, while ON. */
static struct shorten {
	bool on;
	size_t unit;    /* lengths are cut to a multiple of it */
	unsigned calls; /* counted */
	unsigned
		error_at; /* the call that fails with ERROR; 0: every third is interrupted */
	int error;
	bool ends;                     /* the call ERROR_AT moves nothing instead */
	unsigned seeks, seek_error_at; /* the same of lseek(2); 0: none fails */
} shorten;

/* How many of LEN bytes a call is to ask for; -1: errno says why none. */
static inline ssize_t shorten_len(size_t len)
{
	unsigned call;
	size_t cut;

	if (!shorten.on)
		return (ssize_t)len;
	call = ++shorten.calls;
	if (shorten.error_at) {
		errno = shorten.error;
		return call != shorten.error_at ? (ssize_t)len : shorten.ends ? 0 : -1;
	}
	errno = EINTR;
	if (call % 3 == 0)
		return -1;
	cut = len / 3 / shorten.unit * shorten.unit;
	return (ssize_t)(call % 5 == 0 || !cut ? len : cut);
}

/* The same for an iovec, which is cut in CUT. Segments, or -1. */
static inline int shorten_iov(const struct iovec *iov, int count,
			      struct iovec cut[static 1024])
{
	size_t len = 0;
	ssize_t left;
	int n = 0;

	for (int i = 0; i < count; i++)
		len += iov[i].iov_len;
	left = shorten_len(len);
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

off_t lseek(int fd, off_t at, int whence)
{
	if (shorten.on && ++shorten.seeks == shorten.seek_error_at) {
		errno = shorten.error;
		return -1;
	}
	return syscall(SYS_lseek, fd, at, whence);
}

ssize_t read(int fd, void *to, size_t len)
{
	ssize_t n = shorten_len(len);

	return n <= 0 ? n : syscall(SYS_read, fd, to, n);
}

ssize_t write(int fd, const void *from, size_t len)
{
	ssize_t n = fd > STDERR_FILENO ? shorten_len(len) : (ssize_t)len;

	return n <= 0 ? n : syscall(SYS_write, fd, from, n);
}

ssize_t pwrite(int fd, const void *from, size_t len, off_t at)
{
	ssize_t n = shorten_len(len);

	return n <= 0 ? n : syscall(SYS_pwrite64, fd, from, n, at);
}

ssize_t readv(int fd, const struct iovec *iov, int count)
{
	struct iovec cut[1024];
	int n = shorten_iov(iov, count, cut);

	return n <= 0 ? n : syscall(SYS_readv, fd, cut, n);
}

ssize_t writev(int fd, const struct iovec *iov, int count)
{
	struct iovec cut[1024];
	int n = shorten_iov(iov, count, cut);

	return n <= 0 ? n : syscall(SYS_writev, fd, cut, n);
}

ssize_t preadv2(int fd, const struct iovec *iov, int count, off_t at, int flags)
{
	struct iovec cut[1024];
	int n = shorten_iov(iov, count, cut);

	return n <= 0 ? n : syscall(SYS_preadv2, fd, cut, n, at, 0, flags);
}

ssize_t pwritev2(int fd, const struct iovec *iov, int count, off_t at, int flags)
{
	struct iovec cut[1024];
	int n = shorten_iov(iov, count, cut);

	return n <= 0 ? n : syscall(SYS_pwritev2, fd, cut, n, at, 0, flags);
}

ssize_t splice(int from, off_t *from_at, int to, off_t *to_at, size_t len, unsigned flags)
{
	ssize_t n = shorten_len(len);

	return n <= 0 ? n : syscall(SYS_splice, from, from_at, to, to_at, n, flags);
}

ssize_t vmsplice(int fd, const struct iovec *iov, size_t count, unsigned flags)
{
	struct iovec cut[1024];
	int n = shorten_iov(iov, (int)count, cut);

	return n <= 0 ? n : syscall(SYS_vmsplice, fd, cut, n, flags);
}

ssize_t sendfile(int to, int from, off_t *at, size_t len)
{
	ssize_t n = shorten_len(len);

	return n <= 0 ? n : syscall(SYS_sendfile, to, from, at, n);
}

ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t len,
			unsigned flags)
{
	ssize_t n = shorten_len(len);

	return n <= 0 ? n
		      : syscall(SYS_copy_file_range, from, from_at, to, to_at, n, flags);
}

#endif
