// SPDX-License-Identifier: GPL-2.0-or-later
/* scratch - files that vanish when their last descriptor closes. */
#include "common/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* For filesystems without O_TMPFILE. */
static int open_and_unlink(const char *dir)
{
	char *name;
	int fd;

	if (asprintf(&name, "%s/pagemill-XXXXXX", dir) < 0)
		return -1;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

/* Without O_EXCL, so that linkat(2) can still give the file a name. EISDIR comes from
 * kernels that do not know O_TMPFILE. */
static int open_nameless(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
		fd = open_and_unlink(dir);
	return fd;
}

/* Too irregular for a compressing filesystem to make much of. Each step can be undone: odd
 * factors and shifts mix 56 bits, which then become eight bytes of seven bits and a top bit
 * that is set. */
uint64_t scratch_word(uint64_t index)
{
	const uint64_t mask = (UINT64_C(1) << 56) - 1;
	uint64_t x = index & mask;

	x = x * UINT64_C(0x9e3779b97f4a7c15) & mask;
	x ^= x >> 28;
	x = x * UINT64_C(0xbf58476d1ce4e5b9) & mask;
	x ^= x >> 28;
	x = (x & 0x000000000fffffff) | (x & 0x00fffffff0000000) << 4;
	x = (x & 0x00003fff00003fff) | (x & 0x0fffc0000fffc000) << 2;
	x = (x & 0x007f007f007f007f) | (x & 0x3f803f803f803f80) << 1;
	return x | 0x8080808080808080;
}

static int write_pattern(int fd, uint64_t size)
{
	const size_t piece = MIN(MAX(size, 1), MiB);
	uint64_t *words = malloc(MiB);
	int ret = words ? 0 : -ENOMEM;
	uint64_t at = 0;
	size_t len;

	while (at < size && !ret) {
		len = MIN(size - at, piece);
		for (size_t i = 0; i < (len + 7) / 8; i++)
			words[i] = scratch_word(at / 8 + i);
		ret = stop_is_pending() ? -EINTR : write_all(fd, words, len);
		at += len;
	}
	free(words);
	if (!ret && lseek(fd, 0, SEEK_SET))
		ret = -errno;
	return ret;
}

static int fill_hole(int fd, uint64_t size)
{
	return ftruncate(fd, (off_t)size) ? -errno : 0;
}

static int fill_reserved(int fd, uint64_t size)
{
	int ret = 0;

	/* fallocate(2) calls a length of 0 invalid. */
	do {
		ret = size ? fallocate(fd, 0, 0, (off_t)size) : 0;
	} while (ret && errno == EINTR);
	return ret ? -errno : 0;
}

static const struct {
	const char *verb;
	int (*fill)(int fd, uint64_t size); /* 0 or -errno in silence */
} fills[] = {
	[SCRATCH_HOLE] = { "extend", fill_hole },
	[SCRATCH_RESERVED] = { "reserve", fill_reserved },
	[SCRATCH_WRITTEN] = { "write", write_pattern },
};

int scratch_file_as(const char *what, const char *dir, uint64_t size,
		    enum scratch_fill fill)
{
	int fd, ret;

	fd = open_nameless(dir);
	if (fd < 0)
		return failed("create %s of %ju bytes in %s", what, (uintmax_t)size, dir);
	ret = size > INT64_MAX ? -EFBIG : fills[fill].fill(fd, size);
	if (!ret)
		return fd;
	close(fd);
	errno = -ret;
	return failed("%s %s of %ju bytes in %s", fills[fill].verb, what, (uintmax_t)size,
		      dir);
}

int scratch_file(const char *dir, uint64_t size, enum scratch_fill fill)
{
	return scratch_file_as("a scratch file", dir, size, fill);
}

int scratch_reopen(int fd, int flags)
{
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, flags | O_CLOEXEC);
	return again < 0 ? failed("open the scratch file again, by %s", path) : again;
}

int scratch_keep(int fd, const char *dir, const char *name)
{
	char by[32], *path;
	int ret;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return failed("memory for the name of a scratch file");
	snprintf(by, sizeof(by), "/proc/self/fd/%d", fd);
	ret = linkat(AT_FDCWD, by, AT_FDCWD, path, AT_SYMLINK_FOLLOW)
		      ? failed("give the scratch file the name %s", path)
		      : 0;
	free(path);
	return ret;
}
