// SPDX-License-Identifier: GPL-2.0-or-later
/* sharing - tests of copyfile/sharing.c: extents that are told, and what free space tells in place of
 * them. Filesystems and targets are made up; tests/cli/copyfile_output.py has real ones. */
#include "copyfile/copyfile.h"
#include "tests/check.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

enum { MOST = 3, MANY = 1000 };
#define SIZE   UINT64_C(1000000)
#define SHARED FIEMAP_EXTENT_SHARED

/* A target: what it has, or takes, before the work and after it. */
struct fake {
	const struct extent {
		uint64_t at, len;
		uint32_t flags;
	} * extents; /* NULL: its filesystem has no FIEMAP */
	size_t count;
	int error; /* of FIEMAP, after the work */
	long type;
	unsigned device;
	double taken_mib, free_mib[2];
	bool sizeless; /* its filesystem */
};

/* What sharing.c takes from the rest of copyfile. Descriptor n is target n. */
struct config cfg;
static struct pair pairs[MOST] = { { .to = 0, .to_name = "TARGET", .size_bytes = SIZE },
				   { .to = 1, .to_name = "TARGET", .size_bytes = SIZE },
				   { .to = 2, .to_name = "TARGET", .size_bytes = SIZE } };
static const struct fake *fakes;
static bool worked;
static unsigned unsynced; /* series of FIEMAP calls that did not begin with a flush */

const struct pair *pair_of(unsigned worker)
{
	return &pairs[worker];
}

static void tell_extents(const struct fake *f, struct fiemap *map)
{
	map->fm_mapped_extents = 0;
	for (size_t i = 0; i < f->count; i++) {
		const struct extent *e = &f->extents[i];

		if (e->at + e->len <= map->fm_start ||
		    map->fm_mapped_extents == map->fm_extent_count)
			continue;
		map->fm_extents[map->fm_mapped_extents++] = (struct fiemap_extent){
			.fe_logical = e->at,
			.fe_length = e->len,
			.fe_flags = e->flags |
				    (i + 1 == f->count ? FIEMAP_EXTENT_LAST : 0),
		};
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	const struct fake *f = fakes + fd;
	struct fiemap *map;
	va_list args;

	va_start(args, request);
	map = va_arg(args, struct fiemap *);
	va_end(args);
	if (request != FS_IOC_FIEMAP || !f->extents) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (worked && f->error) {
		errno = f->error;
		return -1;
	}
	unsynced += worked && !map->fm_start && !(map->fm_flags & FIEMAP_FLAG_SYNC);
	tell_extents(f, map);
	return 0;
}

int fstat(int fd, struct stat *st)
{
	*st = (struct stat){ .st_dev = fakes[fd].device };
	st->st_blocks = worked ? (blkcnt_t)(fakes[fd].taken_mib * 2048) : 0;
	return 0;
}

int fstatfs(int fd, struct statfs *fs)
{
	*fs = (struct statfs){ .f_type = fakes[fd].type };
	return 0;
}

int fstatvfs(int fd, struct statvfs *fs)
{
	const struct fake *f = &fakes[fd];

	*fs = (struct statvfs){ .f_frsize = 4096, .f_blocks = f->sizeless ? 0 : 1 << 20 };
	fs->f_bfree = (fsblkcnt_t)(f->free_mib[worked] * 256);
	return 0;
}

static struct extent many[MANY]; /* every fourth is shared */
static const struct extent copied[] = { { 0, SIZE, 0 } };
static const struct extent cloned[] = { { 0, 1003520, SHARED } }; /* to a block's end */
static const struct extent mixed[] = {
	{ 4096, 8192, SHARED },
	{ 16384, 4096, 0 },
	{ 40960, 4096, FIEMAP_EXTENT_UNWRITTEN | SHARED },
	{ 983040, 40960, SHARED },
};
static const struct extent behind[] = { { 1003520, 4096, SHARED } };

#define EXTENTS(list) .extents = (list), .count = ARRAY_SIZE(list)
#define M(n)          ((n)*MiB)
static const struct row {
	const char *name;
	struct fake fakes[MOST];
	struct sharing want;
	bool refill;
	int ret;
} rows[] = {
	{ "a copy", { { EXTENTS(copied) } }, .want = { SIZE, 0, 0, true } },
	{ "a clone", { { EXTENTS(cloned) } }, .want = { SIZE, SIZE, 0, true } },
	{ "a clone of a source that is rewritten",
	  { { EXTENTS(cloned) } },
	  .want = { SIZE, SIZE, 0, true },
	  .refill = true },
	{ "nothing but a hole", { { .extents = copied } }, .want = { 0, 0, 0, true } },
	{ "holes, preallocated, and over the end",
	  { { EXTENTS(mixed) } },
	  .want = { 8192 + 4096 + SIZE - 983040, 8192 + SIZE - 983040, 0, true } },
	{ "behind the end", { { EXTENTS(behind) } }, .want = { 0, 0, 0, true } },
	{ "more than a call takes",
	  { { EXTENTS(many) } },
	  .want = { MANY * UINT64_C(512), MANY / 4 * UINT64_C(512), 0, true } },
	{ "two targets",
	  { { EXTENTS(cloned) }, { EXTENTS(copied) } },
	  .want = { 2 * SIZE, SIZE, 0, true } },
	{ "FIEMAP that fails", { { EXTENTS(copied), .error = EIO } }, .ret = -EIO },

	{ "tmpfs, whatever others do there",
	  { { .type = TMPFS_MAGIC, .taken_mib = 4, .free_mib = { 50, 90 } } },
	  .want = { M(4), 0, 0, true } },
	{ "the same, rewritten",
	  { { .type = TMPFS_MAGIC, .taken_mib = 4, .free_mib = { 50, 46 } } },
	  .want = { M(4), 0, 0, true },
	  .refill = true },

	{ "space that went",
	  { { .taken_mib = 4, .free_mib = { 50, 46 } } },
	  .want = { M(4), 0, M(4), true } },
	{ "space of which little went",
	  { { .taken_mib = 10, .free_mib = { 50, 49 } } },
	  .want = { M(10), M(10), M(10), true } },
	{ "space of which some went",
	  { { .taken_mib = 10, .free_mib = { 50, 48.9 } } },
	  .want = { M(10), 0, M(10), false } },
	{ "space of which most went",
	  { { .taken_mib = 10, .free_mib = { 50, 41.1 } } },
	  .want = { M(10), 0, M(10), false } },
	{ "space of which nearly all went",
	  { { .taken_mib = 10, .free_mib = { 50, 41 } } },
	  .want = { M(10), 0, M(10), true } },
	{ "too little growth",
	  { { .taken_mib = 0.5, .free_mib = { 50, 50 } } },
	  .want = { MiB / 2, 0, MiB / 2, false } },
	{ "no growth", { { .free_mib = { 50, 50 } } }, .want = { 0, 0, 0, false } },
	{ "space, and rewritten sources",
	  { { .taken_mib = 4, .free_mib = { 50, 46 } } },
	  .want = { M(4), 0, M(4), false },
	  .refill = true },
	{ "a filesystem without a size",
	  { { .taken_mib = 4, .sizeless = true } },
	  .want = { M(4), 0, M(4), false } },

	{ "two targets on one device, copied",
	  { { .taken_mib = 4, .free_mib = { 50, 42 } },
	    { .taken_mib = 4, .free_mib = { 50, 42 } } },
	  .want = { M(8), 0, M(8), true } },
	/* A device that counted twice would make it a copy. */
	{ "two targets on one device, one of them cloned",
	  { { .taken_mib = 4, .free_mib = { 50, 46 } },
	    { .taken_mib = 4, .free_mib = { 50, 46 } } },
	  .want = { M(8), 0, M(8), false } },
	{ "three targets on two devices",
	  { { .device = 1, .taken_mib = 4, .free_mib = { 50, 42 } },
	    { .device = 2, .taken_mib = 2, .free_mib = { 30, 28 } },
	    { .device = 1, .taken_mib = 4, .free_mib = { 50, 42 } } },
	  .want = { M(10), 0, M(10), true } },
	{ "of every kind",
	  { { EXTENTS(cloned) },
	    { .type = TMPFS_MAGIC, .taken_mib = 1 },
	    { .taken_mib = 2, .free_mib = { 30, 28 } } },
	  .want = { SIZE + M(3), SIZE, M(2), true } },
	{ "extents are told, free space tells nothing",
	  { { EXTENTS(cloned) }, { .taken_mib = 2, .free_mib = { 30, 29 } } },
	  .want = { SIZE + M(2), SIZE, M(2), false } },
};

static void use(const struct row *row)
{
	unsigned n = 1;

	while (n < MOST && (row->fakes[n].extents || row->fakes[n].taken_mib > 0))
		n++;
	cfg.run.workers = n;
	cfg.refill = row->refill;
	fakes = row->fakes;
	worked = false;
}

static void check_row(const struct row *row)
{
	struct sharing s;

	use(row);
	CHECK_U64(row->name, sharing_begin(), 0);
	worked = true;
	CHECK_U64(row->name, sharing_end(&s), row->ret);
	if (row->ret)
		return;
	CHECK_U64(row->name, s.bytes, row->want.bytes);
	CHECK_U64(row->name, s.shared_bytes, row->want.shared_bytes);
	CHECK_U64(row->name, s.guessed_bytes, row->want.guessed_bytes);
	CHECK_U64(row->name, s.known, row->want.known);
}

/* A stop does not wait until all extents are told. */
static void check_stop(void)
{
	struct sharing s;
	sigset_t stop;
	int sig;

	use(&rows[0]);
	CHECK_U64("a stop", sharing_begin(), 0);
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	raise(SIGINT);
	CHECK_U64("a stop", sharing_end(&s), -EINTR);
	sigwait(&stop, &sig);
}

int main(void)
{
	base_init();
	for (unsigned i = 0; i < MANY; i++)
		many[i] = (struct extent){ UINT64_C(1000) * i, 512, i % 4 ? 0 : SHARED };
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i]);
	CHECK_U64("what is dirty is written first", unsynced, 0);
	check_stop();
	return check_result();
}
