// SPDX-License-Identifier: GPL-2.0-or-later
/* huge - the pools of huge pages that this machine has (hugetlbpage.rst). */
#include "common/parse.h"
#include "common/procfile.h"
#include "common/region.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <linux/magic.h>
#include <linux/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#define POOLS "/sys/kernel/mm/hugepages"

/* A number of the pool of PAGE_BYTES; false: there is no such pool. */
static bool pool_number(uint64_t page_bytes, const char *file, uint64_t *number)
{
	char *text = procfile_read("", POOLS "/hugepages-%jukB/%s",
				   (uintmax_t)(page_bytes / KiB), file);

	*number = text ? strtoull(text, NULL, 10) : 0;
	free(text);
	return text;
}

int huge_page_flags(uint64_t page_bytes)
{
	return __builtin_ctzll(page_bytes) << MAP_HUGE_SHIFT;
}

char *huge_pages_text(uint64_t page_bytes, char buf[static 96])
{
	uint64_t total, left;
	char size[FORMAT_LEN];
	int error = errno;

	pool_number(page_bytes, "nr_hugepages", &total);
	pool_number(page_bytes, "free_hugepages", &left);
	snprintf(buf, 96, "%ju of %ju pages of %s are free", (uintmax_t)left,
		 (uintmax_t)total, format_size(size, page_bytes));
	errno = error;
	return buf;
}

/* The sizes that there are, each with a blank before it. */
static void list_sizes(char *list, size_t room)
{
	DIR *pools = opendir(POOLS);
	struct dirent *entry;
	size_t used = 0;

	list[0] = '\0';
	while (pools && (entry = readdir(pools)) && used < room) {
		char size[FORMAT_LEN];
		uint64_t kib;

		if (sscanf(entry->d_name, "hugepages-%jukB", &kib) != 1)
			continue;
		used += (size_t)snprintf(list + used, room - used, " %s",
					 format_size(size, kib * KiB));
	}
	if (pools)
		closedir(pools);
}

int huge_pages_check(uint64_t page_bytes)
{
	char size[FORMAT_LEN], list[128];
	uint64_t total, more;

	if (!page_bytes)
		return unsupported("huge pages: this kernel has none");
	format_size(size, page_bytes);
	if (!pool_number(page_bytes, "nr_hugepages", &total)) {
		list_sizes(list, sizeof(list));
		return unsupported("huge pages of %s: this machine has%s", size,
				   list[0] ? list : " none");
	}
	pool_number(page_bytes, "nr_overcommit_hugepages", &more);
	if (!total && !more)
		return unsupported("huge pages of %s: the pool is empty; " POOLS
				   "/hugepages-%jukB/nr_hugepages fills it",
				   size, (uintmax_t)(page_bytes / KiB));
	return 0;
}

int huge_file_page_bytes(const char *path, uint64_t *page_bytes)
{
	char *copy = strdup(path);
	struct statfs fs;
	int ret = copy ? statfs(path, &fs) : -1;

	/* A file that is to be created has the page size of its folder. */
	if (copy && ret && errno == ENOENT)
		ret = statfs(dirname(copy), &fs);
	free(copy);
	if (ret)
		return failed("filesystem of %s", path);
	if (fs.f_type != HUGETLBFS_MAGIC)
		return broken(
			"%s: expected a file on hugetlbfs, since --hugetlb is there",
			path);
	*page_bytes = (uint64_t)fs.f_bsize;
	return 0;
}
