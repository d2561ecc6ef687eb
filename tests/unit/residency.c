// SPDX-License-Identifier: GPL-2.0-or-later
/* residency - tests of common/residency.c: what is in the page cache, counted page by page. */
#include "common/residency.h"

#include "common/clock.h"
#include "common/medium.h"
#include "common/region.h"
#include "common/scratch.h"
#include "tests/check.h"
#include "tests/unit/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHERE "/var/tmp"

/* Written, on the disk, and out of the page cache; nothing is read ahead. */
static int cold_file(uint64_t bytes, enum scratch_fill fill)
{
	int fd = scratch_file(WHERE, bytes, fill);

	if (fd < 0 || fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		abort();
	return fd;
}

static void touch(int fd, uint64_t page)
{
	char byte;

	CHECK_U64("read", pread(fd, &byte, 1, (off_t)(page * base_page_bytes())), 1);
}

static void check_pages(const char *what, int fd, uint64_t bytes, uint64_t resident,
			uint64_t pages)
{
	struct residency r = { 100, 1000 };

	CHECK_U64(what, file_residency(fd, "F", bytes, &r), 0);
	CHECK_U64(what, r.resident - 100, resident);
	CHECK_U64(what, r.pages - 1000, pages);
}

static void each_page_counts(void)
{
	uint64_t page = base_page_bytes();
	int fd = cold_file(20 * page + 1, SCRATCH_WRITTEN);

	check_pages("cold", fd, 20 * page + 1, 0, 21);
	touch(fd, 0);
	check_pages("the first", fd, 20 * page + 1, 1, 21);
	touch(fd, 20);
	check_pages("the last, of one byte", fd, 20 * page + 1, 2, 21);
	check_pages("all but the last", fd, 20 * page, 1, 20);
	check_pages("one byte", fd, 1, 1, 1);
	check_pages("no byte", fd, 0, 0, 0);
	close(fd);
}

/* Two windows of a GiB and a page, and more pages than a call of mincore(2) is asked for. */
static void long_files_are_looked_at_piecewise(void)
{
	uint64_t page = base_page_bytes(), in_gib = GiB / page;
	int fd = cold_file(2 * GiB + page, SCRATCH_HOLE);

	touch(fd, 4095);
	touch(fd, 4096);
	touch(fd, in_gib - 1);
	touch(fd, in_gib);
	touch(fd, 2 * in_gib);
	check_pages("all", fd, 2 * GiB + page, 5, 2 * in_gib + 1);
	check_pages("a GiB", fd, GiB, 3, in_gib);
	check_pages("a GiB and a page", fd, GiB + page, 4, in_gib + 1);
	close(fd);
}

static void memory_counts_anew(void)
{
	uint64_t page = base_page_bytes();
	struct residency r = { 100, 1000 };
	char *map = mmap(NULL, 5000 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	madvise(map, 5000 * page, MADV_NOHUGEPAGE);
	map[0] = map[4 * page] = map[7 * page] = map[4096 * page] = 1;
	CHECK_U64("memory", memory_residency(map, 5000 * page, 1, &r), 0);
	CHECK_U64("resident", r.resident, 4);
	CHECK_U64("pages", r.pages, 5000);
	CHECK_U64("every fourth", memory_residency(map, 5000 * page, 4, &r), 0);
	CHECK_U64("resident of those", r.resident, 3);
	CHECK_U64("those", r.pages, 1250);
	munmap(map, 5000 * page);
}

/* A pipe cannot be mapped. */
static int look_at_a_pipe(const void *arg)
{
	struct residency r = { 0 };
	int ends[2];

	(void)arg;
	return pipe(ends) ? 1 : -file_residency(ends[0], "F", 1, &r);
}

static const struct {
	const char *name;
	uid_t owner, user;
	mode_t mode;
	bool told;
} owners[] = {
	{ "root, of a file of others", 65534, 0, 0400, true },
	{ "the owner", 65534, 65534, 0400, true },
	{ "others, who may write", 0, 65534, 0666, true },
	{ "others, who may read", 0, 65534, 0644, false },
};

static int is_told(const void *arg)
{
	size_t i = (size_t)(uintptr_t)arg;
	int fd = scratch_file(WHERE, 4096, SCRATCH_HOLE);

	if (fd < 0 || fchmod(fd, owners[i].mode) || fchown(fd, owners[i].owner, 0))
		return 2;
	if (owners[i].user && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
		return 3;
	return file_residency_is_told(fd);
}

static void who_is_told(void)
{
	static struct child child;

	if (geteuid()) {
		printf("skipped: files of other owners: not root\n");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		child_run(&child, is_told, (const void *)(uintptr_t)i);
		CHECK_U64(owners[i].name, child.status, owners[i].told);
	}
}

static bool in_memory(void)
{
	struct medium m = { 0 };
	int fd = open(WHERE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool tmpfs = fd < 0 || medium_of(fd, &m) || m.tmpfs;

	close(fd);
	return tmpfs;
}

int main(void)
{
	static struct child child;
	static char prog[] = "prog";

	program_invocation_short_name = prog;
	memory_counts_anew();
	child_run(&child, look_at_a_pipe, NULL);
	CHECK_U64("a pipe", child.status, ENODEV);
	CHECK_TEXT("a pipe", child.err, "prog: map F: No such device\n");
	who_is_told();
	if (in_memory()) {
		printf("skipped: " WHERE " has no page cache of its own\n");
		return check_result();
	}
	each_page_counts();
	long_files_are_looked_at_piecewise();
	return check_result();
}
