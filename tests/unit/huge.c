// SPDX-License-Identifier: GPL-2.0-or-later
/* huge - tests of common/huge.c, as far as a machine without a filled pool shows it. */
#include "common/limits.h"
#include "common/region.h"
#include "tests/check.h"
#include "tests/unit/child.h"

#include <errno.h>
#include <linux/mman.h>
#include <sys/mman.h>

static const struct {
	uint64_t bytes;
	int flags;
} sizes[] = {
	{ 64 * KiB, 16 << MAP_HUGE_SHIFT },
	{ 2 * MiB, MAP_HUGE_2MB },
	{ 512 * MiB, MAP_HUGE_512MB },
	{ 1 * GiB, MAP_HUGE_1GB },
};

static int check_size(const void *bytes)
{
	return huge_pages_check(*(const uint64_t *)bytes) == -EOPNOTSUPP ? 77 : 0;
}

static void check_sizes_that_are_not_there(void)
{
	static const uint64_t absent[] = { 0, 4 * KiB, 8 * TiB };
	static struct child child;

	for (size_t i = 0; i < ARRAY_SIZE(absent); i++) {
		child_run(&child, check_size, &absent[i]);
		CHECK_U64("status", child.status, 77);
		CHECK(strstr(child.err, "huge pages"));
	}
	child_run(&child, check_size, &absent[2]);
	CHECK(strstr(child.err, "huge pages of 8t: this machine has"));
}

static int look_at(const void *path)
{
	uint64_t page_bytes = 42;
	int ret = huge_file_page_bytes(path, &page_bytes);

	return page_bytes == 42 ? -ret : 0;
}

static void check_files(void)
{
	static struct child child;

	child_run(&child, look_at, "/proc/version");
	CHECK_U64("no hugetlbfs", child.status, EIO);
	CHECK(strstr(child.err, "/proc/version: expected a file on hugetlbfs"));
	child_run(&child, look_at, "/proc/is not there");
	CHECK_U64("its folder", child.status, EIO);
	child_run(&child, look_at, "/is not there/x");
	CHECK_U64("no folder", child.status, ENOENT);
}

/* What cannot be mapped says how the pool stands. */
static int map_too_much(const void *arg)
{
	struct backing b = { .source = &source_anonymous,
			     .page_bytes = *(const uint64_t *)arg,
			     .huge = true,
			     .writable = true,
			     .fd = -1 };
	void *memory;

	return region_map(&b, 0, UINT64_C(1) << 46, &memory) ? 1 : 0;
}

static void check_pool(void)
{
	static struct child child;
	struct limits limits;

	CHECK_U64("limits", limits_read(&limits, ""), 0);
	if (!limits.hugepage_bytes)
		return;
	child_run(&child, map_too_much, &limits.hugepage_bytes);
	CHECK_U64("status", child.status, 1);
	CHECK(strstr(child.err, "map 64t of huge pages: "));
	CHECK(strstr(child.err, " pages of "));
	CHECK(strstr(child.err, " are free: Cannot allocate memory\n"));
}

int main(void)
{
	base_init();
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		CHECK_U64("flags", huge_page_flags(sizes[i].bytes), sizes[i].flags);
	check_sizes_that_are_not_there();
	check_files();
	check_pool();
	return check_result();
}
