// SPDX-License-Identifier: GPL-2.0-or-later
/* region - where memory comes from, and mappings of it. */
#include "common/region.h"

#include "common/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t base_page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t region_page_bytes(const struct backing *b)
{
	return b->page_bytes ?: base_page_bytes();
}

/* What a mapping of BYTES takes: whole pages. (The kernel rounds to base pages only.) */
static uint64_t whole_pages(const struct backing *b, uint64_t bytes)
{
	uint64_t page = region_page_bytes(b), rest = bytes % page;

	if (b->source->heap || !rest || bytes > UINT64_MAX - page)
		return bytes;
	return bytes + page - rest;
}

static void *map_pages(const struct backing *b, int flags, uint64_t at, uint64_t bytes)
{
	int prot = PROT_READ | (b->writable ? PROT_WRITE : 0);
	void *map;

	flags |= b->shared ? MAP_SHARED : MAP_PRIVATE;
	flags |= b->populate ? MAP_POPULATE : 0;
	map = mmap(NULL, bytes, prot, flags, b->fd, (off_t)at);
	return map == MAP_FAILED ? NULL : map;
}

static void *map_heap(const struct backing *b, uint64_t at, uint64_t bytes)
{
	(void)b;
	(void)at;
	return malloc(bytes);
}

static int unmap_heap(void *memory, uint64_t bytes)
{
	(void)bytes;
	free(memory);
	return 0;
}

static void *map_anonymous(const struct backing *b, uint64_t at, uint64_t bytes)
{
	int flags = MAP_ANONYMOUS;

	(void)at;
	if (b->huge)
		flags |= MAP_HUGETLB | huge_page_flags(b->page_bytes);
	return map_pages(b, flags, 0, bytes);
}

static void *map_zero(const struct backing *b, uint64_t at, uint64_t bytes)
{
	(void)at;
	return map_pages(b, 0, 0, bytes);
}

static void *map_file(const struct backing *b, uint64_t at, uint64_t bytes)
{
	return map_pages(b, 0, b->offset + at, bytes);
}

static int open_zero(struct backing *b, uint64_t bytes)
{
	(void)bytes;
	b->fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	return b->fd < 0 ? failed("open /dev/zero") : 0;
}

/* How long a file is to be. hugetlbfs has whole pages only. */
static uint64_t file_end(const struct backing *b, uint64_t bytes)
{
	return b->offset + (b->huge ? whole_pages(b, bytes) : bytes);
}

static int open_memfd(struct backing *b, uint64_t bytes)
{
	int flags = MFD_CLOEXEC;

	if (b->huge)
		flags |= MFD_HUGETLB | huge_page_flags(b->page_bytes);
	b->fd = memfd_create(b->path ?: "pagemill", (unsigned)flags);
	if (b->fd < 0)
		return failed("memfd_create");
	if (ftruncate(b->fd, (off_t)file_end(b, bytes)))
		return failed("make the memfd %ju bytes long",
			      (uintmax_t)file_end(b, bytes));
	return 0;
}

/* The bytes behind FD that can be mapped: UINT64_MAX for a device without a size. */
static int mappable_bytes(const struct backing *b, uint64_t *bytes)
{
	struct stat st;

	if (fstat(b->fd, &st))
		return failed("stat %s", b->path);
	*bytes = UINT64_MAX;
	if (S_ISREG(st.st_mode))
		*bytes = (uint64_t)st.st_size;
	else if (S_ISBLK(st.st_mode) && ioctl(b->fd, BLKGETSIZE64, bytes))
		return failed("size of %s", b->path);
	return 0;
}

static int lengthen_created(struct backing *b, uint64_t bytes)
{
	uint64_t end = file_end(b, bytes);
	struct stat st;
	int ret;

	if (!ftruncate(b->fd, (off_t)end))
		return 0;
	ret = failed("make %s %ju bytes long", b->path, (uintmax_t)end);
	/* What was made is of no use; a link that led to it was there before. */
	if (!lstat(b->path, &st) && S_ISREG(st.st_mode))
		unlink(b->path);
	return ret;
}

static int open_file(struct backing *b, uint64_t bytes)
{
	/* O_NONBLOCK: a pipe shall be found out, not waited for. */
	int flags = (b->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK;
	uint64_t there = 0;
	int ret;

	b->fd = open(b->path, flags);
	if (b->fd < 0 && errno == ENOENT && b->writable) {
		b->fd = open(b->path, flags | O_CREAT, 0666);
		b->created = b->fd >= 0;
	}
	if (b->fd < 0)
		return failed("open %s", b->path);
	if (b->created)
		return lengthen_created(b, bytes);
	ret = mappable_bytes(b, &there);
	if (!ret && there < b->offset + bytes)
		ret = broken("%s: file is shorter than the mapping: it ends at offset "
			     "%ju, the "
			     "mapping at %ju",
			     b->path, (uintmax_t)there, (uintmax_t)(b->offset + bytes));
	return ret;
}

const struct source source_malloc = {
	.name = "malloc",
	.heap = true,
	.map = map_heap,
	.unmap = unmap_heap,
};
const struct source source_anonymous = {
	.name = "anonymous",
	.map = map_anonymous,
	.unmap = munmap,
};
const struct source source_zero = {
	.name = "anonymous",
	.open = open_zero,
	.map = map_zero,
	.unmap = munmap,
};
const struct source source_memfd = {
	.name = "memfd",
	.is_file = true,
	.open = open_memfd,
	.map = map_file,
	.unmap = munmap,
};
const struct source source_file = {
	.name = "file",
	.is_file = true,
	.open = open_file,
	.map = map_file,
	.unmap = munmap,
};

int backing_open(struct backing *b, uint64_t bytes)
{
	uint64_t end;

	b->fd = -1;
	b->created = false;
	if (!b->source->open)
		return 0;
	if (__builtin_add_overflow(b->offset, bytes, &end) || end > INT64_MAX)
		return refused("a file cannot be %ju + %ju bytes long",
			       (uintmax_t)b->offset, (uintmax_t)bytes);
	return b->source->open(b, bytes);
}

void backing_close(struct backing *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
}

int region_map(const struct backing *b, uint64_t at, uint64_t bytes, void **memory)
{
	void *got = b->source->map(b, at, whole_pages(b, bytes));
	char size[FORMAT_LEN], pool[96];

	if (!got && b->huge)
		return failed("map %s of huge pages: %s", format_size(size, bytes),
			      huge_pages_text(b->page_bytes, pool));
	if (!got)
		return failed("map %s of %s%s", format_size(size, bytes),
			      b->path ?: b->source->name, b->path ? "" : " memory");
	*memory = got;
	return 0;
}

int region_unmap(const struct backing *b, void *memory, uint64_t bytes)
{
	return b->source->unmap(memory, whole_pages(b, bytes)) ? failed("unmap memory")
							       : 0;
}

struct pages region_pages(const struct backing *b, void *memory, uint64_t bytes)
{
	uint64_t page = region_page_bytes(b);
	uintptr_t first = (uintptr_t)memory, end = first + bytes;

	if (b->source->heap) {
		first = (first + page - 1) / page * page;
		end = end / page * page;
	} else {
		first = first / page * page;
		end = (end + page - 1) / page * page;
	}
	return (struct pages){ (void *)first, end > first ? end - first : 0 };
}

int region_sync(const struct backing *b, void *memory, uint64_t bytes, int flags)
{
	struct pages pages = region_pages(b, memory, bytes);

	if (!pages.bytes || !msync(pages.start, pages.bytes, flags))
		return 0;
	return failed("msync %s", b->path ?: b->source->name);
}

int region_advise(const struct backing *b, void *memory, uint64_t bytes, int advice,
		  const char *name)
{
	struct pages pages = region_pages(b, memory, bytes);

	if (!pages.bytes || !madvise(pages.start, pages.bytes, advice))
		return 0;
	return failed("madvise(%s)", name);
}

int region_grow(const struct backing *b, uint64_t bytes, uint64_t new_bytes,
		void **memory)
{
	void *moved = mremap(*memory, whole_pages(b, bytes), whole_pages(b, new_bytes),
			     MREMAP_MAYMOVE);
	char size[FORMAT_LEN];

	if (moved == MAP_FAILED)
		return failed("mremap to %s", format_size(size, new_bytes));
	*memory = moved;
	return 0;
}
