// SPDX-License-Identifier: GPL-2.0-or-later
/* bare_copier - the loop that copyfile's copy_file_range is measured against.
 *
 * bare_copier DIR SIZE_BYTES BLOCK_BYTES OPS makes two files of SIZE_BYTES in DIR, the first of them
 * written. Each operation rewrites a block of the first, copies it to the second, and flushes that:
 * pwrite(2), copy_file_range(2), fsync(2) at random blocks. Prints operations and nanoseconds. */
#include "common/clock.h"
#include "common/rng.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int copy_blocks(int from, int to, const void *memory, uint64_t size_bytes,
		       size_t block_bytes, long ops)
{
	struct rng rng = rng_stream(1, 0);

	for (long op = 0; op < ops; op++) {
		uint64_t blocks = size_bytes / block_bytes;
		off_t at = (off_t)(rng_scale(rng_next(&rng), blocks) * block_bytes);
		off_t in = at,
		      out = (off_t)(rng_scale(rng_next(&rng), blocks) * block_bytes);

		if (pwrite(from, memory, block_bytes, at) != (ssize_t)block_bytes ||
		    copy_file_range(from, &in, to, &out, block_bytes, 0) !=
			    (ssize_t)block_bytes ||
		    fsync(to))
			return -1;
	}
	return 0;
}

static int make_file(const char *dir, uint64_t size_bytes)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 && ftruncate(fd, (off_t)size_bytes) ? -1 : fd;
}

static int write_file(int fd, const void *memory, uint64_t size_bytes, size_t block_bytes)
{
	for (uint64_t at = 0; at < size_bytes; at += block_bytes)
		if (pwrite(fd, memory, block_bytes, (off_t)at) != (ssize_t)block_bytes)
			return -1;
	return fsync(fd);
}

int main(int argc, char **argv)
{
	uint64_t size_bytes = argc == 5 ? strtoull(argv[2], NULL, 10) : 0;
	size_t block_bytes = argc == 5 ? strtoul(argv[3], NULL, 10) : 0;
	long ops = argc == 5 ? strtol(argv[4], NULL, 10) : 0;
	int from = argc == 5 ? make_file(argv[1], size_bytes) : -1,
	    to = argc == 5 ? make_file(argv[1], size_bytes) : -1;
	char *memory = aligned_alloc(4096, (block_bytes + 4095) / 4096 * 4096);
	uint64_t began_ns;
	int ret;

	if (from < 0 || to < 0 || !block_bytes || size_bytes % block_bytes || !memory) {
		fprintf(stderr, "usage: bare_copier DIR SIZE_BYTES BLOCK_BYTES OPS\n");
		return 2;
	}
	/* As irregular as copyfile's: a disk, or what is behind one, may compress. */
	for (size_t i = 0; i < block_bytes; i++)
		memory[i] = (char)(rng_hash(i / 8) >> i % 8 * 8);
	if (write_file(from, memory, size_bytes, block_bytes))
		return 1;
	began_ns = now_ns();
	ret = copy_blocks(from, to, memory, size_bytes, block_bytes, ops);
	printf("%ld %" PRIu64 "\n", ops, now_ns() - began_ns);
	free(memory);
	close(from);
	close(to);
	return ret ? 1 : 0;
}
