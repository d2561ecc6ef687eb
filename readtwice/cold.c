// SPDX-License-Identifier: GPL-2.0-or-later
/* cold - the files pushed out of the page cache, as far as the kernel does. */
#include "common/clock.h"
#include "readtwice/readtwice.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct coldness coldness;

/* Dirty pages are not dropped, so they are written first. */
static int evict(const struct file *f)
{
	int ret;

	if (fdatasync(f->fd))
		return failed("fdatasync of %s", f->name);
	ret = posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED);
	errno = ret;
	return ret ? failed("posix_fadvise(POSIX_FADV_DONTNEED) of %s", f->name) : 0;
}

int files_evict(void)
{
	uint64_t began_ns = now_ns();
	int ret = 0;

	coldness = (struct coldness){ .known = true };
	for (unsigned i = 0; i < cfg.file_count && !ret; i++) {
		run_live_line(&cfg.run, "pushing file %u of %u out of the page cache",
			      i + 1, cfg.file_count);
		ret = evict(&files[i]);
	}
	coldness.evict_ns = now_ns() - began_ns;
	for (unsigned i = 0; i < cfg.file_count && !ret; i++) {
		if (file_residency_is_told(files[i].fd))
			ret = file_residency(files[i].fd, files[i].name,
					     files[i].size_bytes, &coldness.left);
		else
			coldness.known = false;
	}
	return ret;
}
