// SPDX-License-Identifier: GPL-2.0-or-later
/* data - how much of the files was ever written, and what reading the rest measures. */
#include "readtwice/readtwice.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* Neither holes nor blocks that were allocated and never written count (lseek(2), SEEK_DATA). A
 * filesystem that does not tell them apart calls all of it data. */
static uint64_t data_of(const struct file *f)
{
	off_t end = (off_t)f->size_bytes, at = 0, hole;
	uint64_t bytes = 0;
	struct stat st;

	if (fstat(f->fd, &st) || S_ISBLK(st.st_mode))
		return f->size_bytes;
	while (at < end) {
		at = lseek(f->fd, at, SEEK_DATA);
		if (at < 0)
			return errno == ENXIO ? bytes : f->size_bytes;
		hole = lseek(f->fd, at, SEEK_HOLE);
		hole = hole < 0 || hole > end ? end : hole;
		bytes += at < hole ? (uint64_t)(hole - at) : 0;
		at = hole;
	}
	return bytes;
}

uint64_t data_bytes(void)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < cfg.file_count; i++)
		bytes += data_of(&files[i]);
	return bytes;
}

const char *cost_of_holes(void)
{
	if (media_in_memory())
		return "handing out zeros";
	if (cfg.direct)
		return "clearing buffers";
	if (!cfg.method->copies)
		return "clearing and reclaim";
	return cfg.uncached ? "clearing, copying and dropping"
			    : "clearing, copying and reclaim";
}
