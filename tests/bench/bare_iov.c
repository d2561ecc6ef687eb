// SPDX-License-Identifier: GPL-2.0-or-later
/* bare_iov - the loop that ioviter's ubuf and iovec are measured against.
 *
 * bare_iov ubuf|iovec read|write CALL_BYTES BYTES SAMPLES moves BYTES, a file's whole length, in calls of
 * CALL_BYTES, once to warm up and SAMPLES times; it prints the nanoseconds of each. */
#include "common/clock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_SEGMENTS = 1024, PAGE_BYTES = 4096 };

static struct iovec iov[MOST_SEGMENTS];
static int segments;
static int fd;
static char *memory;

static int walk_ubuf(bool out, size_t call, uint64_t bytes)
{
	if (lseek(fd, 0, SEEK_SET))
		return -1;
	for (uint64_t at = 0; at < bytes; at += call) {
		ssize_t n = out ? write(fd, memory, call) : read(fd, memory, call);

		if (n != (ssize_t)call)
			return -1;
	}
	return 0;
}

static int walk_iovec(bool out, size_t call, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += call) {
		ssize_t n = out ? pwritev2(fd, iov, segments, (off_t)at, 0)
				: preadv2(fd, iov, segments, (off_t)at, 0);

		if (n != (ssize_t)call)
			return -1;
	}
	return 0;
}

static int make_memory(size_t call)
{
	size_t room = (call + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

	memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return -1;
	madvise(memory, room, MADV_NOHUGEPAGE);
	memset(memory, 1, room);
	for (size_t at = 0; at < call && segments < MOST_SEGMENTS; at += PAGE_BYTES)
		iov[segments++] = (struct iovec){ memory + at, call - at < PAGE_BYTES
								       ? call - at
								       : PAGE_BYTES };
	return 0;
}

int main(int argc, char **argv)
{
	size_t call = argc == 6 ? strtoul(argv[3], NULL, 10) : 0;
	uint64_t bytes = argc == 6 ? strtoull(argv[4], NULL, 10) : 0;
	long samples = argc == 6 ? strtol(argv[5], NULL, 10) : 0;
	bool ubuf, out;
	int (*walk)(bool out, size_t call, uint64_t bytes);

	fd = memfd_create("bare_iov", MFD_CLOEXEC);
	if (fd < 0 || !call || !bytes || bytes % call || make_memory(call)) {
		fprintf(stderr, "usage: bare_iov ubuf|iovec read|write CALL_BYTES BYTES "
				"SAMPLES\n");
		return 2;
	}
	ubuf = !strcmp(argv[1], "ubuf");
	out = !strcmp(argv[2], "write");
	walk = ubuf ? walk_ubuf : walk_iovec;
	if (walk(true, call, bytes) || walk(out, call, bytes))
		return 1;
	for (long i = 0; i < samples; i++) {
		uint64_t began_ns = now_ns();

		if (walk(out, call, bytes))
			return 1;
		printf("%" PRIu64 "\n", now_ns() - began_ns);
	}
	return 0;
}
