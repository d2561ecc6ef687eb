// SPDX-License-Identifier: GPL-2.0-or-later
/* residency - how much of memory or of a file is resident, by mincore(2). */
#include "common/residency.h"

#include "common/region.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Looked at in one call of mincore(2), and mapped at a time. */
enum { MINCORE_PAGES = 4096 };
#define WINDOW_BYTES GiB

/* Add to R->resident. */
static int count_resident(void *start, uint64_t bytes, uint64_t every,
			  struct residency *r)
{
	uint64_t page = base_page_bytes(), count = (bytes + page - 1) / page;
	unsigned char there[MINCORE_PAGES];

	for (uint64_t at = 0; at < count; at += sizeof(there)) {
		uint64_t some = MIN(sizeof(there), count - at);

		if (mincore((char *)start + at * page, some * page, there))
			return failed("mincore");
		for (uint64_t i = 0; i < some; i++)
			r->resident += (at + i) % every == 0 && (there[i] & 1);
	}
	r->pages += count / every;
	return 0;
}

int memory_residency(void *start, uint64_t bytes, uint64_t every, struct residency *r)
{
	*r = (struct residency){ 0 };
	return count_resident(start, bytes, every, r);
}

int file_residency(int fd, const char *name, uint64_t bytes, struct residency *r)
{
	int ret = 0;

	for (uint64_t at = 0; at < bytes && !ret; at += WINDOW_BYTES) {
		uint64_t some = MIN(WINDOW_BYTES, bytes - at);
		void *map = mmap(NULL, some, PROT_NONE, MAP_SHARED, fd, (off_t)at);

		if (map == MAP_FAILED)
			return failed("map %s", name);
		ret = stop_is_pending() ? -EINTR : count_resident(map, some, 1, r);
		munmap(map, some);
	}
	return ret;
}

bool file_residency_is_told(int fd)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return geteuid() == 0 || (!fstat(fd, &st) && st.st_uid == geteuid()) ||
	       !access(path, W_OK);
}
