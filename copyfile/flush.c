// SPDX-License-Identifier: GPL-2.0-or-later
/* flush - the calls that write out what was copied. */
#include "copyfile/copyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int by_fsync(int fd, uint64_t at, uint64_t len)
{
	(void)at;
	(void)len;
	return fsync(fd);
}

static int by_fdatasync(int fd, uint64_t at, uint64_t len)
{
	(void)at;
	(void)len;
	return fdatasync(fd);
}

static int by_range(int fd, uint64_t at, uint64_t len)
{
	return sync_file_range(fd, (off_t)at, (off_t)len,
			       SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				       SYNC_FILE_RANGE_WAIT_AFTER);
}

static int by_syncfs(int fd, uint64_t at, uint64_t len)
{
	(void)at;
	(void)len;
	return syncfs(fd);
}

static const struct {
	const char *call;
	int (*flush)(int fd, uint64_t at, uint64_t len); /* 0, or -1 and errno */
} flushes[] = {
	[FLUSH_NONE] = { "no flush", NULL },
	[FLUSH_FSYNC] = { "fsync()", by_fsync },
	[FLUSH_FDATASYNC] = { "fdatasync()", by_fdatasync },
	[FLUSH_RANGE] = { "sync_file_range()", by_range },
	[FLUSH_SYNCFS] = { "syncfs()", by_syncfs },
};

int flush_range(int fd, uint64_t at, uint64_t len)
{
	return flushes[cfg.flush].flush(fd, at, len) ? -errno : 0;
}

const char *flush_call(void)
{
	return flushes[cfg.flush].call;
}
