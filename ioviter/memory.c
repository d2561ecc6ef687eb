// SPDX-License-Identifier: GPL-2.0-or-later
/* memory - the memory of the process that a call moves data to or from. */
#include "common/parse.h"
#include "common/procfile.h"
#include "ioviter/ioviter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Segments begin up to two pages behind the start. */
enum { SLACK_PAGES = 4 };

/* Half of the mappings that a process may have: a tile is one each. */
uint64_t area_most_bytes(void)
{
	uint64_t mappings = MIN(cfg.run.limits.max_map_count, 65530) / 2;

	return (mappings - SLACK_PAGES) * cfg.page_bytes;
}

static int open_tile(struct area *area)
{
	int fd = memfd_create("ioviter", MFD_CLOEXEC);
	char *memory = mmap(NULL, area->bytes, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int ret = 0;

	if (fd < 0 || memory == MAP_FAILED || ftruncate(fd, (off_t)cfg.page_bytes))
		ret = failed("memory for a tile");
	for (uint64_t at = 0; at < area->bytes && !ret; at += cfg.page_bytes)
		if (mmap(memory + at, cfg.page_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED)
			ret = failed("map a tile %ju times",
				     (uintmax_t)(area->bytes / cfg.page_bytes));
	close(fd);
	area->memory = memory;
	return ret;
}

/* Of the mapping that begins at MEMORY, or follows there: what smaps calls AnonHugePages. */
static uint64_t huge_bytes_of(const struct area *area)
{
	uint64_t from = (uintptr_t)area->memory, start = 0, end = 0, kib, huge = 0;
	FILE *smaps = fopen("/proc/self/smaps", "re");
	char line[512];

	while (smaps && fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2)
			continue;
		if (start < from + area->bytes && end > from &&
		    sscanf(line, "AnonHugePages: %" SCNu64 " kB", &kib) == 1)
			huge += kib * KiB;
	}
	if (smaps)
		fclose(smaps);
	return huge;
}

static uint64_t huge_page_bytes(void)
{
	char *text = procfile_read("",
				   "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
	uint64_t bytes = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return bytes;
}

static int open_pages(struct area *area, enum page_sort sort, uint64_t unit)
{
	char *memory = mmap(NULL, area->bytes + unit, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *start = (char *)(((uintptr_t)memory + unit - 1) / unit * unit);

	if (memory == MAP_FAILED)
		return failed("map %ju bytes", (uintmax_t)(area->bytes + unit));
	if (start > memory)
		munmap(memory, (size_t)(start - memory));
	area->memory = start;
	/* A kernel without huge pages knows neither, and has base pages. */
	madvise(start, area->bytes, sort == PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(start, 1, area->bytes);
	return 0;
}

static int open_huge(struct area *area)
{
	uint64_t unit = huge_page_bytes(), huge;
	char have[FORMAT_LEN], want[FORMAT_LEN];
	int ret;

	if (!unit) {
		snprintf(area->reason, sizeof(area->reason),
			 "this kernel has no transparent huge pages");
		return 0;
	}
	area->bytes = (area->bytes + unit - 1) / unit * unit;
	ret = open_pages(area, PAGES_HUGE, unit);
	if (ret)
		return ret;
	huge = huge_bytes_of(area);
	if (huge >= area->bytes)
		return 0;
	snprintf(area->reason, sizeof(area->reason),
		 "%s of %s came as huge pages: is transparent_hugepage/enabled never, or "
		 "memory in pieces?",
		 format_bytes(have, (double)huge),
		 format_bytes(want, (double)area->bytes));
	area_close(area);
	return 0;
}

int area_open(struct area *area, enum page_sort sort, uint64_t call_bytes)
{
	uint64_t pages = (call_bytes - 1) / cfg.page_bytes + 1 + SLACK_PAGES;

	*area = (struct area){ .bytes = pages * cfg.page_bytes };
	if (cfg.tile)
		return open_tile(area);
	if (sort == PAGES_HUGE)
		return open_huge(area);
	return open_pages(area, sort, cfg.page_bytes);
}

void area_close(struct area *area)
{
	if (area->memory)
		munmap(area->memory, area->bytes);
	area->memory = NULL;
}
