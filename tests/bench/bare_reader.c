// SPDX-License-Identifier: GPL-2.0-or-later
/* bare_reader - the loop that readtwice's read is measured against: read(2) of a block to the end.
 *
 * bare_reader FILE BLOCK_BYTES PASSES prints the bytes and the nanoseconds that it took. */
#include "common/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t block_bytes = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	long passes = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	int fd = argc == 4 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	void *memory = aligned_alloc(4096, (block_bytes + 4095) / 4096 * 4096);
	uint64_t began_ns, bytes = 0;
	ssize_t n = 0;

	if (fd < 0 || !block_bytes || !memory) {
		fprintf(stderr, "usage: bare_reader FILE BLOCK_BYTES PASSES\n");
		return 2;
	}
	memset(memory, 1, block_bytes);
	began_ns = now_ns();
	for (long pass = 0; pass < passes && n >= 0; pass++) {
		if (pass && lseek(fd, 0, SEEK_SET))
			break;
		while ((n = read(fd, memory, block_bytes)) > 0)
			bytes += (uint64_t)n;
	}
	printf("%" PRIu64 " %" PRIu64 "\n", bytes, now_ns() - began_ns);
	free(memory);
	close(fd);
	return n < 0;
}
