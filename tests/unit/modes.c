// SPDX-License-Identifier: GPL-2.0-or-later
/* modes - tests of msync/modes.c: which call each mode makes, of what. */
#include "msync/modes.h"
#include "common/base.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static char heard[128];
static int answer; /* of the next call: 0, or an errno */

static int reply(void)
{
	errno = answer;
	return answer ? -1 : 0;
}

/* In place of those of the C library. */
int msync(void *memory, size_t bytes, int flags)
{
	snprintf(heard, sizeof(heard), "msync %#jx %zu %d", (uintmax_t)(uintptr_t)memory,
		 bytes, flags);
	return reply();
}

int fsync(int fd)
{
	snprintf(heard, sizeof(heard), "fsync %d", fd);
	return reply();
}

int fdatasync(int fd)
{
	snprintf(heard, sizeof(heard), "fdatasync %d", fd);
	return reply();
}

int sync_file_range(int fd, off_t at, off_t bytes, unsigned flags)
{
	snprintf(heard, sizeof(heard), "sync_file_range %d %jd %jd %u", fd, (intmax_t)at,
		 (intmax_t)bytes, flags);
	return reply();
}

/* For 64 KiB mapped at 0x7000, which are those at 5 GiB of descriptor 42. The flags are numbers here:
 * the kernel's, msync(2) and sync_file_range(2). */
static const struct {
	const char *name, *heard;
	bool whole_file, writes_out, may_be_busy;
} rows[] = {
	{ "sync", "msync 0x7000 65536 4", false, true, false },
	{ "async", "msync 0x7000 65536 1", false, false, false },
	{ "invalidate", "msync 0x7000 65536 6", false, true, true },
	{ "fsync", "fsync 42", true, true, false },
	{ "fdatasync", "fdatasync 42", true, true, false },
	{ "sync_file_range", "sync_file_range 42 5368709120 65536 7", false, true,
	  false },
	{ "none", NULL, false, false, false },
};

int main(void)
{
	const struct range range = { 42, (void *)0x7000, 5 * GiB, 64 * KiB };

	CHECK_U64("modes", ARRAY_SIZE(rows), MODES);
	for (size_t i = 0; i < MODES; i++) {
		const struct mode *mode = &modes[i];

		CHECK_TEXT("name", mode->name, rows[i].name);
		CHECK_U64(mode->name, mode->whole_file, rows[i].whole_file);
		CHECK_U64(mode->name, mode->writes_out, rows[i].writes_out);
		CHECK_U64(mode->name, mode->may_be_busy, rows[i].may_be_busy);
		CHECK(mode->call);
		CHECK_U64(mode->name, mode->flush != NULL, rows[i].heard != NULL);
		if (!mode->flush)
			continue;
		answer = 0;
		CHECK_U64(mode->name, mode->flush(&range), 0);
		CHECK_TEXT(mode->name, heard, rows[i].heard);
		answer = EIO;
		CHECK_U64(mode->name, mode->flush(&range), -1);
		CHECK_U64(mode->name, errno, EIO);
	}
	return check_result();
}
