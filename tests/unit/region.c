// SPDX-License-Identifier: GPL-2.0-or-later
/* region - tests of common/region.c and sigbus.c. */
#include "common/region.h"
#include "tests/check.h"
#include "tests/unit/child.h"
#include "tests/unit/hear.h"
#include "tests/unit/sigbus.h"
#include "tests/unit/tempdir.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { PAGES = 8 };

static uint64_t page;
static char file_path[128];

/* Kinds of memory, and who sees what is written to it. */
static const struct row {
	const char *name;
	const struct source *source;
	bool path, shared;
	bool same;  /* mapped twice it is the same memory */
	bool child; /* a child's writes are seen */
	const char *maps_name;
} rows[] = {
	{ "malloc", &source_malloc, .maps_name = NULL },
	{ "anonymous", &source_anonymous, .maps_name = NULL },
	{ "anonymous, shared", &source_anonymous, .shared = true, .child = true,
	  .maps_name = "/dev/zero (deleted)" },
	{ "zero", &source_zero, .maps_name = "/dev/zero" },
	{ "zero, shared", &source_zero, .shared = true, .child = true,
	  .maps_name = "/dev/zero (deleted)" },
	{ "memfd", &source_memfd, .maps_name = "/memfd:pagemill (deleted)" },
	{ "memfd, shared", &source_memfd, .path = true, .shared = true, .same = true,
	  .child = true, .maps_name = "/memfd:FILE (deleted)" },
	{ "file", &source_file, .path = true, .maps_name = "FILE" },
	{ "file, shared", &source_file, .path = true, .shared = true, .same = true,
	  .child = true, .maps_name = "FILE" },
};

static struct backing backing_of(const struct row *row)
{
	return (struct backing){ .source = row->source,
				 .path = row->path ? file_path : NULL,
				 .writable = true,
				 .shared = row->shared,
				 .fd = -1 };
}

static char *map_or_die(const struct backing *b, uint64_t at, uint64_t bytes)
{
	void *memory = NULL;

	CHECK_U64("map", region_map(b, at, bytes, &memory), 0);
	CHECK(memory);
	if (!memory)
		exit(check_result());
	return memory;
}

static void unmap(const struct backing *b, void *memory, uint64_t bytes)
{
	CHECK_U64("unmap", region_unmap(b, memory, bytes), 0);
}

/* Is this address in a mapping? */
static bool is_mapped(void *memory)
{
	unsigned char state;

	return !mincore(memory, page, &state) || errno != ENOMEM;
}

static uint64_t others(const char *memory, uint64_t bytes, char wanted)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < bytes; i++)
		n += memory[i] != wanted;
	return n;
}

static int write_y(const void *memory)
{
	*(char *)(uintptr_t)memory = 'y';
	return 0;
}

static void check_memory(const struct row *row)
{
	static struct child child;
	struct backing b = backing_of(row);
	char *first, *second;

	CHECK_U64(row->name, backing_open(&b, page * 2 * PAGES), 0);
	CHECK_U64(row->name, b.fd >= 0, row->source->open != NULL);
	if (b.fd >= 0)
		CHECK_U64(row->name, fcntl(b.fd, F_GETFD), FD_CLOEXEC);
	first = map_or_die(&b, 0, PAGES * page);
	second = map_or_die(&b, 0, PAGES * page);
	if (!row->source->heap) {
		CHECK_U64(row->name, others(first, PAGES * page, 0), 0);
		CHECK_U64(row->name, others(second, PAGES * page, 0), 0);
	}
	memset(second, 0, PAGES * page);
	memset(first, 'x', PAGES * page);
	CHECK_U64(row->name, others(first, PAGES * page, 'x'), 0);
	CHECK_U64(row->name, others(second, PAGES * page, row->same ? 'x' : 0), 0);
	child_run(&child, write_y, first);
	CHECK_U64(row->name, child.status, 0);
	CHECK_U64(row->name, first[0], row->child ? 'y' : 'x');
	unmap(&b, first, PAGES * page);
	unmap(&b, second, PAGES * page);
	if (!row->source->heap)
		CHECK(!is_mapped(first) && !is_mapped(second + (PAGES - 1) * page));
	backing_close(&b);
	CHECK_U64(row->name, b.fd, -1);
	backing_close(&b);
	unlink(file_path);
}

/* Line by line: does one mapping begin and end where MEMORY does, and bear this name? */
static bool has_line(const char *memory, uint64_t bytes, const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], wanted[64], *at;
	bool found = false;

	snprintf(wanted, sizeof(wanted), "%jx-%jx ", (uintmax_t)(uintptr_t)memory,
		 (uintmax_t)(uintptr_t)memory + bytes);
	while (!found && maps && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		at = strlen(line) > strlen(name) ? line + strlen(line) - strlen(name)
						 : line;
		found = strstr(line, wanted) && !strcmp(at, name);
	}
	if (maps)
		fclose(maps);
	return found;
}

/* The names in /proc/self/maps. A private mapping of /dev/zero stays one for itself, its
 * neighbour's twin or not. */
static void check_names(const struct row *row)
{
	struct backing b = backing_of(row);
	char *first, *second, name[160];

	if (!row->maps_name)
		return;
	CHECK_U64(row->name, backing_open(&b, page * 2 * PAGES), 0);
	first = map_or_die(&b, 0, PAGES * page);
	second = map_or_die(&b, PAGES * page, PAGES * page);
	snprintf(name, sizeof(name), "%s", row->maps_name);
	if (strstr(name, "FILE"))
		snprintf(name, sizeof(name), "%.*s%s%s",
			 (int)strcspn(row->maps_name, "F"), row->maps_name, file_path,
			 strstr(row->maps_name, "FILE") + 4);
	if (!has_line(first, PAGES * page, name))
		CHECK_TEXT(row->name, "no such line in /proc/self/maps", name);
	if (!has_line(second, PAGES * page, name))
		CHECK_TEXT(row->name, "no such line in /proc/self/maps", name);
	unmap(&b, first, PAGES * page);
	unmap(&b, second, PAGES * page);
	backing_close(&b);
	unlink(file_path);
}

static uint64_t resident_pages(void *memory)
{
	unsigned char states[PAGES] = { 0 };
	uint64_t n = 0;

	CHECK_U64("mincore", mincore(memory, PAGES * page, states), 0);
	for (unsigned i = 0; i < PAGES; i++)
		n += states[i] & 1;
	return n;
}

static void check_populate(const struct row *row)
{
	struct backing b = backing_of(row);
	char *memory;

	if (row->source->heap)
		return;
	CHECK_U64(row->name, backing_open(&b, PAGES * page), 0);
	memory = map_or_die(&b, 0, PAGES * page);
	CHECK_U64(row->name, resident_pages(memory), 0);
	unmap(&b, memory, PAGES * page);
	b.populate = true;
	memory = map_or_die(&b, 0, PAGES * page);
	CHECK_U64(row->name, resident_pages(memory), PAGES);
	unmap(&b, memory, PAGES * page);
	backing_close(&b);
	unlink(file_path);
}

/* The kernel cannot write to what is mapped for reading only, and to the other it can. */
static void check_protection(const struct row *row)
{
	struct backing b = backing_of(row);
	char *memory;
	int zero;

	if (row->source->heap)
		return;
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	CHECK_U64(row->name, backing_open(&b, page), 0);
	memory = map_or_die(&b, 0, page);
	CHECK_U64(row->name, read(zero, memory, 1), 1);
	unmap(&b, memory, page);
	backing_close(&b);
	b = backing_of(row);
	b.writable = false;
	CHECK_U64(row->name, backing_open(&b, page), 0);
	memory = map_or_die(&b, 0, page);
	CHECK_U64(row->name, memory[page - 1], 0);
	CHECK(read(zero, memory, 1) < 0 && errno == EFAULT);
	unmap(&b, memory, page);
	backing_close(&b);
	close(zero);
	unlink(file_path);
}

/* Units of a file, behind the offset: what is written to them arrives where it belongs. */
static void check_places(const struct row *row)
{
	struct backing b = backing_of(row);
	char *first, *second, got[4] = "";
	struct stat st = { 0 };

	if (!row->source->is_file || !row->shared)
		return;
	b.offset = 2 * page;
	CHECK_U64(row->name, backing_open(&b, 4 * page + 8), 0);
	CHECK_U64(row->name, fstat(b.fd, &st), 0);
	CHECK_U64(row->name, st.st_size, 6 * page + 8);
	first = map_or_die(&b, 0, page);
	second = map_or_die(&b, 3 * page, page + 8);
	first[1] = 'a';
	second[page + 7] = 'b';
	CHECK_U64(row->name, region_sync(&b, first, page, MS_SYNC), 0);
	CHECK_U64(row->name, region_sync(&b, second, page + 8, MS_ASYNC), 0);
	CHECK_U64(row->name, pread(b.fd, got, 1, (off_t)(2 * page + 1)), 1);
	CHECK_U64(row->name, pread(b.fd, got + 1, 1, (off_t)(6 * page + 7)), 1);
	CHECK_TEXT(row->name, got, "ab");
	unmap(&b, first, page);
	unmap(&b, second, page + 8);
	backing_close(&b);
	unlink(file_path);
}

static void check_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		check_memory(&rows[i]);
		check_names(&rows[i]);
		check_populate(&rows[i]);
		check_protection(&rows[i]);
		check_places(&rows[i]);
	}
}

/* A file of LENGTH bytes, or none, that is to be opened. */
static const struct opening {
	const char *name;
	const char *file; /* NULL: the test's own */
	int64_t length;   /* -1: missing */
	uint64_t offset, bytes;
	bool readonly;
	int ret;
	const char *said; /* FILE stands for its path */
	int64_t after;    /* its length; -1: missing */
	bool created;
} openings[] = {
	{ .name = "created",
	  .length = -1,
	  .bytes = 5000,
	  .after = 5000,
	  .created = true },
	{ .name = "created, with an offset",
	  .length = -1,
	  .offset = 8192,
	  .bytes = 5000,
	  .after = 13192,
	  .created = true },
	{ .name = "created, empty",
	  .length = -1,
	  .bytes = 0,
	  .after = 0,
	  .created = true },
	{ .name = "just right", .length = 8192, .bytes = 8192, .after = 8192 },
	{ .name = "longer", .length = 9000, .bytes = 8192, .after = 9000 },
	{ .name = "just right, read only",
	  .length = 8192,
	  .bytes = 8192,
	  .readonly = true,
	  .after = 8192 },
	{ .name = "short",
	  .length = 8191,
	  .bytes = 8192,
	  .ret = -EIO,
	  .after = 8191,
	  .said = "prog: FILE: file is shorter than the mapping: it ends at offset 8191, "
		  "the mapping at 8192\n" },
	{ .name = "short behind the offset",
	  .length = 8192,
	  .offset = 4096,
	  .bytes = 8192,
	  .ret = -EIO,
	  .after = 8192,
	  .said = "prog: FILE: file is shorter than the mapping: it ends at offset 8192, "
		  "the mapping at 12288\n" },
	{ .name = "short, read only",
	  .length = 1,
	  .bytes = 8192,
	  .readonly = true,
	  .ret = -EIO,
	  .after = 1,
	  .said = "prog: FILE: file is shorter than the mapping: it ends at offset 1, "
		  "the mapping at 8192\n" },
	{ .name = "empty",
	  .length = 0,
	  .bytes = 1,
	  .ret = -EIO,
	  .after = 0,
	  .said = "prog: FILE: file is shorter than the mapping: it ends at offset 0, "
		  "the mapping at 1\n" },
	{ .name = "missing, read only",
	  .length = -1,
	  .bytes = 8192,
	  .readonly = true,
	  .ret = -ENOENT,
	  .after = -1,
	  .said = "prog: open FILE: No such file or directory\n" },
	{ .name = "too long",
	  .length = -1,
	  .offset = 4096,
	  .bytes = INT64_MAX - 4095,
	  .ret = -EBADRQC,
	  .after = -1,
	  .said = "prog: a file cannot be 4096 + 9223372036854771712 bytes long\n" },
	{ .name = "beyond 64 bits",
	  .length = -1,
	  .offset = UINT64_MAX - 4095,
	  .bytes = 8192,
	  .ret = -EBADRQC,
	  .after = -1,
	  .said = "prog: a file cannot be 18446744073709547520 + 8192 bytes long\n" },
	{ .name = "a directory",
	  .file = "/tmp",
	  .bytes = 1,
	  .ret = -EISDIR,
	  .said = "prog: open /tmp: Is a directory\n" },
	{ .name = "no such directory",
	  .file = "/no/such/place",
	  .bytes = 1,
	  .ret = -ENOENT,
	  .said = "prog: open /no/such/place: No such file or directory\n" },
	{ .name = "a device has no end", .file = "/dev/zero", .bytes = TiB },
};

static void put_file(int64_t length)
{
	int fd;

	unlink(file_path);
	if (length < 0)
		return;
	fd = open(file_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK_U64("file", ftruncate(fd, length), 0);
	close(fd);
}

static char *with_path(char buf[static 512], const char *text)
{
	const char *at = text ? strstr(text, "FILE") : NULL;

	if (at)
		snprintf(buf, 512, "%.*s%s%s", (int)(at - text), text, file_path, at + 4);
	else
		snprintf(buf, 512, "%s", text ?: "");
	return buf;
}

static void check_opening(const struct opening *row)
{
	static struct heard heard;
	struct backing b = { .source = &source_file,
			     .path = row->file ?: file_path,
			     .offset = row->offset,
			     .writable = !row->readonly };
	struct stat st = { .st_size = -1 };
	char said[512];
	int ret;

	put_file(row->file ? -1 : row->length);
	hear_begin(&heard, STDERR_FILENO);
	ret = backing_open(&b, row->bytes);
	hear_end(&heard);
	CHECK_U64(row->name, ret, row->ret);
	CHECK_TEXT(row->name, heard.text, with_path(said, row->said));
	CHECK_U64(row->name, b.created, row->created);
	if (!ret)
		CHECK_U64(row->name, fcntl(b.fd, F_GETFL) & O_ACCMODE,
			  row->readonly ? O_RDONLY : O_RDWR);
	backing_close(&b);
	if (row->file)
		return;
	if (stat(file_path, &st))
		st.st_size = -1;
	CHECK_U64(row->name, st.st_size, row->after);
	if (row->created)
		CHECK_U64(row->name, st.st_mode & 07777, 0640);
}

static int create_beyond_the_limit(const void *arg)
{
	const struct rlimit limit = { 4096, 4096 };
	struct backing b = { .source = &source_file,
			     .path = file_path,
			     .writable = true };

	(void)arg;
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit))
		return 99;
	return backing_open(&b, 8192) == -EFBIG ? 0 : 1;
}

/* A file that cannot get its length is not left behind. */
static void check_failed_creation(void)
{
	static struct child child;
	char said[512];

	put_file(-1);
	child_run(&child, create_beyond_the_limit, NULL);
	CHECK_U64("beyond the limit", child.status, 0);
	CHECK_TEXT("beyond the limit", child.err,
		   with_path(said, "prog: make FILE 8192 bytes long: File too large\n"));
	CHECK(access(file_path, F_OK) && errno == ENOENT);
}

/* A link that leads nowhere is there: what it names is created, and the link stays, whether or not
 * the file gets its length. */
static void check_link(void)
{
	static struct child child;
	struct backing b = { .source = &source_file,
			     .path = file_path,
			     .writable = true };
	struct stat st = { 0 };
	char target[128];

	put_file(-1);
	CHECK_U64("link", symlink(tempdir_path(target, "target"), file_path), 0);
	CHECK_U64("link", backing_open(&b, 8192), 0);
	CHECK_U64("link: created", b.created, true);
	backing_close(&b);
	CHECK_U64("link: target", lstat(target, &st), 0);
	CHECK_U64("link: target", st.st_size, 8192);
	unlink(target);
	child_run(&child, create_beyond_the_limit, NULL);
	CHECK_U64("link, beyond the limit", child.status, 0);
	CHECK_U64("link stays", lstat(file_path, &st), 0);
	CHECK(S_ISLNK(st.st_mode));
	unlink(target);
}

static int map_a_pipe(const void *arg)
{
	struct backing b = { .source = &source_file, .path = arg };
	void *memory;

	alarm(20); /* whoever waits for the other end */
	return (backing_open(&b, 4096) ?: region_map(&b, 0, 4096, &memory)) == -ENODEV
		       ? 0
		       : 1;
}

/* A pipe is opened without waiting for its other end; it cannot be mapped. */
static void check_pipe(void)
{
	static struct child child;
	char said[512];

	put_file(-1);
	CHECK_U64("pipe", mkfifo(file_path, 0600), 0);
	child_run(&child, map_a_pipe, file_path);
	CHECK_U64("pipe", child.status, 0);
	CHECK_TEXT("pipe", child.err,
		   with_path(said, "prog: map 4k of FILE: No such device\n"));
}

/* Opened once more, as by the next repetition, a file that was created is a file that is there:
 * nothing is cut from it. */
static void check_opening_again(void)
{
	struct backing b = { .source = &source_file,
			     .path = file_path,
			     .writable = true };
	struct stat st = { 0 };

	put_file(-1);
	CHECK_U64("first", backing_open(&b, 4096), 0);
	CHECK_U64("first: created", b.created, true);
	backing_close(&b);
	put_file(10000);
	CHECK_U64("again", backing_open(&b, 4096), 0);
	CHECK_U64("again: created", b.created, false);
	CHECK_U64("again: stat", fstat(b.fd, &st), 0);
	CHECK_U64("again: length", st.st_size, 10000);
	backing_close(&b);
}

static void check_openings(void)
{
	mode_t mask = umask(0027);

	for (size_t i = 0; i < ARRAY_SIZE(openings); i++)
		check_opening(&openings[i]);
	check_failed_creation();
	check_link();
	check_pipe();
	check_opening_again();
	umask(mask);
	unlink(file_path);
}

/* The messages of calls that cannot succeed, and outputs that stay as they were. */
static void check_messages(void)
{
	static const struct {
		struct backing backing;
		uint64_t bytes;
		int ret;
		const char *said;
	} maps[] = {
		{ { .source = &source_anonymous, .fd = -1 },
		  4194304 * TiB,
		  -ENOMEM,
		  "prog: map 4194304t of anonymous memory: Cannot allocate memory\n" },
		{ { .source = &source_zero, .fd = -1 },
		  4096,
		  -EBADF,
		  "prog: map 4k of anonymous memory: Bad file descriptor\n" },
		{ { .source = &source_memfd, .fd = -1 },
		  64 * MiB,
		  -EBADF,
		  "prog: map 64m of memfd memory: Bad file descriptor\n" },
		{ { .source = &source_memfd, .path = "name", .fd = -1 },
		  1536,
		  -EBADF,
		  "prog: map 1536 of name: Bad file descriptor\n" },
		{ { .source = &source_file, .path = "/x/y", .fd = -1 },
		  GiB,
		  -EBADF,
		  "prog: map 1g of /x/y: Bad file descriptor\n" },
	};
	static struct heard heard;
	void *memory;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		memory = &heard;
		hear_begin(&heard, STDERR_FILENO);
		ret = region_map(&maps[i].backing, 0, maps[i].bytes, &memory);
		hear_end(&heard);
		CHECK_U64(maps[i].said, ret, maps[i].ret);
		CHECK_TEXT("map", heard.text, maps[i].said);
		CHECK(memory == &heard);
	}
	hear_begin(&heard, STDERR_FILENO);
	ret = region_unmap(&maps[0].backing, (void *)1, 4096);
	hear_end(&heard);
	CHECK_U64("unmap", ret, -EINVAL);
	CHECK_TEXT("unmap", heard.text, "prog: unmap memory: Invalid argument\n");
}

/* In quarters of a page. */
static const struct {
	unsigned start, length, whole_start, whole_length;
} heaps[] = {
	{ 4, 4, 4, 4 },  { 4, 12, 4, 12 }, { 4, 7, 4, 4 }, { 5, 11, 8, 8 },
	{ 5, 10, 8, 4 }, { 7, 5, 8, 4 },   { 7, 4, 0, 0 }, { 5, 6, 0, 0 },
	{ 5, 3, 0, 0 },  { 5, 2, 0, 0 },   { 6, 1, 0, 0 }, { 4, 3, 0, 0 },
	{ 8, 0, 0, 0 },  { 9, 0, 0, 0 },
};

static void check_pages(void)
{
	const struct backing heap = { .source = &source_malloc },
			     mapping = { .source = &source_anonymous };
	uint64_t quarter = page / 4;

	CHECK_U64("page", page, sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < ARRAY_SIZE(heaps); i++) {
		char *start = (char *)(heaps[i].start * quarter);
		uint64_t bytes = heaps[i].length * quarter;
		struct pages p = region_pages(&heap, start, bytes);

		CHECK_U64("bytes", p.bytes, heaps[i].whole_length * quarter);
		if (p.bytes)
			CHECK_U64("start", (uintptr_t)p.start,
				  heaps[i].whole_start * quarter);
		p = region_pages(&mapping, start, bytes);
		if (!bytes)
			continue;
		CHECK_U64("start", (uintptr_t)p.start, heaps[i].start / 4 * page);
		CHECK_U64("end", (uintptr_t)p.start + p.bytes,
			  (heaps[i].start + heaps[i].length + 3) / 4 * page);
	}
}

/* What msync() is asked shows by flags that it refuses. */
static void check_sync(void)
{
	const struct backing heap = { .source = &source_malloc },
			     mapping = { .source = &source_anonymous, .fd = -1 };
	static struct heard heard;
	char *memory = map_or_die(&mapping, 0, 2 * page);
	struct {
		const char *name;
		const struct backing *backing;
		char *start;
		uint64_t bytes;
		int flags, ret;
	} rows_of_sync[] = {
		{ "less than a page", &heap, memory + 8, page, MS_SYNC, 0 },
		{ "less than a page: no call", &heap, memory + 8, page, -1, 0 },
		{ "a page inside", &heap, memory + page - 8, page + 8, MS_SYNC, 0 },
		{ "a page inside: a call", &heap, memory + page - 8, page + 8, -1,
		  -EINVAL },
		{ "a mapping", &mapping, memory, page, MS_SYNC, 0 },
		{ "a mapping", &mapping, memory, page, MS_ASYNC, 0 },
		{ "a mapping", &mapping, memory, page, -1, -EINVAL },
	};
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(rows_of_sync); i++) {
		hear_begin(&heard, STDERR_FILENO);
		ret = region_sync(rows_of_sync[i].backing, rows_of_sync[i].start,
				  rows_of_sync[i].bytes, rows_of_sync[i].flags);
		hear_end(&heard);
		CHECK_U64(rows_of_sync[i].name, ret, rows_of_sync[i].ret);
		CHECK_U64(rows_of_sync[i].name, heard.writes, ret ? 1 : 0);
	}
	CHECK_TEXT("msync", heard.text, "prog: msync anonymous: Invalid argument\n");
	unmap(&mapping, memory, 2 * page);
}

/* A mapping behind OFFSET pages of a file that is then cut to KEPT pages, and the page of the
 * mapping that is touched. */
static const struct bus {
	const char *name;
	const struct source *source;
	bool readonly, reads, unknown;
	unsigned offset, kept, touched;
	const char *said; /* FILE: its path; %ju: the byte offset */
} buses[] = {
	{ "write", &source_file, .kept = 2, .touched = 5,
	  .said = "prog: SIGBUS at offset %ju of FILE: file is shorter than the "
		  "mapping\n" },
	{ "read", &source_file, .kept = 2, .touched = 2, .reads = true,
	  .said = "prog: SIGBUS at offset %ju of FILE: file is shorter than the "
		  "mapping\n" },
	{ "read only", &source_file, .kept = 0, .touched = 0, .reads = true,
	  .readonly = true,
	  .said = "prog: SIGBUS at offset %ju of FILE: file is shorter than the "
		  "mapping\n" },
	{ "offset", &source_file, .offset = 3, .kept = 4, .touched = 1,
	  .said = "prog: SIGBUS at offset %ju of FILE: file is shorter than the "
		  "mapping\n" },
	{ "memfd", &source_memfd, .kept = 7, .touched = 7,
	  .said = "prog: SIGBUS at offset %ju of FILE: file is shorter than the "
		  "mapping\n" },
};

static int touch_what_is_gone(const void *arg)
{
	const struct bus *row = arg;
	struct backing b = { .source = row->source,
			     .path = file_path,
			     .offset = row->offset * page,
			     .writable = !row->readonly,
			     .shared = true };
	volatile char *byte;
	void *memory;

	explain_sigbus(&b);
	if (backing_open(&b, PAGES * page) || region_map(&b, 0, PAGES * page, &memory))
		return 98;
	if (row->readonly ? truncate(file_path, (off_t)(row->kept * page))
			  : ftruncate(b.fd, (off_t)(row->kept * page)))
		return 97;
	byte = (char *)memory + row->touched * page + 24;
	if (row->reads)
		return *byte ? 96 : 95;
	*byte = 'x';
	return 94;
}

static void check_short_files(void)
{
	static struct child child;
	char said[512], with_offset[512];

	for (size_t i = 0; i < ARRAY_SIZE(buses); i++) {
		uint64_t at = (buses[i].offset + buses[i].touched) * page;
		const char *number = strstr(buses[i].said, "%ju");

		put_file((int64_t)((PAGES + 8) * page));
		child_run(&child, touch_what_is_gone, &buses[i]);
		CHECK_U64(buses[i].name, child.status, 1);
		snprintf(with_offset, sizeof(with_offset), "%.*s%ju%s",
			 (int)(number - buses[i].said), buses[i].said, (uintmax_t)at,
			 number + 3);
		CHECK_TEXT(buses[i].name, child.err, with_path(said, with_offset));
	}
	put_file(-1);
}

/* SIGBUS in a mapping that is not the backing's: there is no file to tell about. */
static int touch_behind_its_back(const void *arg)
{
	const struct backing none = { .source = &source_anonymous, .fd = -1 };
	struct backing b = { .source = &source_memfd, .writable = true, .shared = true };
	void *memory;

	(void)arg;
	explain_sigbus(&none);
	if (backing_open(&b, 0) || region_map(&b, 0, page, &memory))
		return 98;
	*(volatile char *)memory = 'x';
	return 97;
}

static int get_sigbus_from_outside(const void *arg)
{
	const struct backing b = { .source = &source_anonymous, .fd = -1 };
	const struct rlimit no_core = { 0, 0 };

	(void)arg;
	setrlimit(RLIMIT_CORE, &no_core);
	explain_sigbus(&b);
	kill(getpid(), SIGBUS);
	return 97;
}

/* As a worker is: a child of the process that asked for explanations. */
static int inherit_explanations(const void *arg)
{
	static struct child child;
	const struct backing b = { .source = &source_anonymous, .fd = -1 };

	explain_sigbus(&b);
	child_run(&child, (int (*)(const void *))arg, NULL);
	return child.status == 128 + SIGBUS ? 0 : 1;
}

static int touch_behind_the_file(const void *arg)
{
	FILE *file = tmpfile();
	volatile char *map = MAP_FAILED;

	(void)arg;
	if (file)
		map = mmap(NULL, page, PROT_READ, MAP_SHARED, fileno(file), 0);
	return map == MAP_FAILED ? 96 : *map;
}

static void check_other_signals(void)
{
	static struct child child;

	child_run(&child, inherit_explanations, touch_behind_the_file);
	CHECK_U64("a child", child.status, 0);
	child_run(&child, touch_behind_its_back, NULL);
	CHECK_U64("no file", child.status, 1);
	CHECK(!strncmp(child.err, "prog: SIGBUS at address 0x", 26));
	CHECK(strstr(child.err, ": Bad address\n"));
	child_run(&child, get_sigbus_from_outside, NULL);
	CHECK_U64("sent by somebody", child.signal, SIGBUS);
	CHECK_TEXT("sent by somebody", child.err, "");
}

enum { NO_MOUNT = 99 };

/* On a tmpfs of 4 MiB, in a mount namespace of the child's own. */
static int fill_a_small_filesystem(const void *arg)
{
	struct backing b = { .source = &source_file,
			     .path = file_path,
			     .writable = true,
			     .shared = true };
	void *memory;

	(void)arg;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("pagemill", tempdir, "tmpfs", 0, "size=4m,mode=0755,huge=never")) {
		dprintf(STDOUT_FILENO, "%s", strerror(errno));
		return NO_MOUNT;
	}
	explain_sigbus(&b);
	if (backing_open(&b, 8 * MiB) || region_map(&b, 0, 8 * MiB, &memory))
		return 98;
	for (uint64_t at = 0; at < 8 * MiB; at += page)
		((volatile char *)memory)[at] = 'x';
	return 97;
}

static void check_full_filesystem(void)
{
	static struct child child;
	char said[512];

	child_run(&child, fill_a_small_filesystem, NULL);
	if (child.status == NO_MOUNT) {
		printf("a full filesystem not tested: %s\n", child.out);
		return;
	}
	CHECK_U64("full", child.status, 1);
	CHECK_TEXT("full", child.err,
		   with_path(said,
			     "prog: SIGBUS at offset 4194304 of FILE: no space left\n"));
}

/* A mapping that grows keeps its bytes, and what is advised is whole pages. */
static void check_growing(void)
{
	struct backing b = { .source = &source_anonymous, .writable = true, .fd = -1 };
	void *memory;
	char *bytes;

	CHECK_U64("map", region_map(&b, 0, 2 * page + 1, &memory), 0);
	bytes = memory;
	bytes[0] = 'a';
	bytes[2 * page] = 'b';
	CHECK_U64("advise", region_advise(&b, bytes + page + 1, 1, MADV_DONTNEED, "x"),
		  0);
	CHECK_U64("advised no other page", bytes[2 * page], 'b');
	CHECK_U64("grow", region_grow(&b, 2 * page + 1, 30 * page, &memory), 0);
	bytes = memory;
	CHECK_U64("kept", bytes[0], 'a');
	CHECK_U64("kept", bytes[2 * page], 'b');
	CHECK_U64("new", bytes[30 * page - 1], 0);
	CHECK_U64("advise", region_advise(&b, bytes, 1, MADV_DONTNEED, "x"), 0);
	CHECK_U64("advised", bytes[0], 0);
	unmap(&b, bytes, 30 * page);
	CHECK(!is_mapped(bytes + 29 * page));
}

int main(void)
{
	static char prog[] = "prog";

	program_invocation_short_name = prog;
	page = base_page_bytes();
	tempdir_make();
	tempdir_path(file_path, "file");
	check_rows();
	check_openings();
	check_messages();
	check_pages();
	check_sync();
	check_growing();
	check_short_files();
	check_other_signals();
	check_full_filesystem();
	CHECK_U64("names left", tempdir_names(0), 0);
	tempdir_remove();
	return check_result();
}
