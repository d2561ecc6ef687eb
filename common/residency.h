/* SPDX-License-Identifier: GPL-2.0-or-later */
/* residency - how much of memory or of a file is resident, by mincore(2). */
#ifndef COMMON_RESIDENCY_H
#define COMMON_RESIDENCY_H

#include "common/base.h"

#include <stdbool.h>

struct residency {
	uint64_t resident, pages;
};

/* The resident ones of every EVERYth base page of BYTES at START, which begins a page: with huge
 * pages the base pages of each are alike. 0 or -errno after saying so, as both calls. */
must_check int memory_residency(void *start, uint64_t bytes, uint64_t every,
				struct residency *r);
/* Add to R the pages of the page cache that hold the first BYTES of the file FD, called NAME. -EINTR
 * in silence if a stop is pending.
 * (cachestat(2) is blind on overlayfs; mincore(2) is not.) */
must_check int file_residency(int fd, const char *name, uint64_t bytes,
			      struct residency *r);
/* Does the kernel tell this process? Of files that it neither owns nor may write mincore(2) calls
 * every page resident. */
bool file_residency_is_told(int fd);

#endif
