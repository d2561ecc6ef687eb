// SPDX-License-Identifier: GPL-2.0-or-later
/* read_methods - tests of readtwice/methods.c: every method, on every filesystem that we can make,
 * brings each byte of a file once a pass. */
#include "common/fs.h"
#include "common/uapi.h"
#include "tests/unit/reader.h"
#include "tests/unit/tempdir.h"

#include <sys/mount.h>
#include <sys/uio.h>

static const struct place {
	const char *type; /* NULL: what is there already */
	const char *dir;  /* NULL: made in the temporary directory */
	bool direct;      /* has O_DIRECT, whatever the kernel's age */
} places[] = {
	{ NULL, "/var/tmp", true }, { NULL, "/dev/shm", false }, { "ext4", NULL, true },
	{ "xfs", NULL, true },      { "btrfs", NULL, true },
};

/* With words, pages and blocks that a block or the end of the file cuts, and others. */
static const uint64_t sizes[] = { 5, 256 * KiB, 300007 };
static const struct {
	uint64_t bytes;
	bool direct;
} blocks[] = {
	{ 4096, true }, { 12 * KiB, true }, { 160 * KiB, true },
	{ MiB, true },  { 1000, false },    { 64 * KiB + 1, false },
};

static const enum order orders[] = { ORDER_SEQ, ORDER_RANDOM, ORDER_REVERSE };

/* Can RWF_DONTCACHE be had of FD? */
static bool has_uncached(int fd)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	return preadv2(fd, &iov, 1, 0, UAPI_RWF_DONTCACHE) >= 0;
}

static void check_reads(int fd, const struct method *m, const struct target *t)
{
	struct reader r = { .target = *t };
	int ret;

	if (!reader_built(m))
		return;
	ret = reader_open(&r, m, fd);
	CHECK_U64(r.text, ret, 0);
	if (ret)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		reader_pass(&r, orders[i], i);
	/* From where a pass in another order ended. */
	reader_pass(&r, ORDER_SEQ, 0);
	reader_close(&r);
}

/* All that M can do with T's blocks: with and without a look at the data. */
static void check_ways(int fd, const struct method *m, struct target t, bool direct,
		       bool uncached)
{
	for (int way = 0; way < 8; way++) {
		t.check = way & 1 ? reader_check : NULL;
		t.direct = way & 2;
		t.uncached = way & 4;
		t.depth = way & 1 ? 8 : 3;
		if ((t.direct && (!direct || m->direct == CANNOT)) ||
		    (!t.direct && m->direct == ALWAYS) ||
		    (t.uncached && (!uncached || m->uncached == CANNOT)))
			continue;
		check_reads(fd, m, &t);
	}
}

static void check_size(const struct place *p, const char *dir, uint64_t size)
{
	int fd = scratch_file(dir, size, SCRATCH_WRITTEN);
	bool uncached = has_uncached(fd);

	printf("%s: %ju bytes%s\n", p->type ?: p->dir, (uintmax_t)size,
	       uncached ? ", also uncached" : "");
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		struct target t = { .size_bytes = size, .block_bytes = blocks[i].bytes };

		for (size_t j = 0; read_methods[j]; j++)
			check_ways(fd, read_methods[j], t, p->direct && blocks[i].direct,
				   uncached);
	}
	close(fd);
}

/* The last blocks of a sparse file that is larger than 32 bits can tell. */
static void check_beyond_4g(int fd, const struct method *m, const struct target *t)
{
	struct reader r = { .target = *t };
	struct cursor c = cursor_begin(t->size_bytes, t->block_bytes, ORDER_SEQ, 0);
	int ret;

	if (!reader_built(m))
		return;
	ret = reader_open(&r, m, fd);
	CHECK_U64(r.text, ret, 0);
	if (ret)
		return;
	c.next = c.blocks - 8;
	CHECK_U64(r.text, reader_pump(&r, &c),
		  t->size_bytes - (c.blocks - 8) * t->block_bytes);
	CHECK_U64(r.text, r.wrong, 0);
	CHECK_U64(r.text, r.blocks, m->no_data ? 0 : 8);
	reader_close(&r);
}

static void check_sparse(const struct place *p, const char *dir)
{
	struct target t = { .size_bytes = 5 * GiB + 4711,
			    .block_bytes = 64 * KiB,
			    .depth = 4,
			    .check = reader_check };
	const uint64_t start = 5 * GiB - MiB;
	static uint64_t words[(MiB + 4711) / 8 + 1];
	int fd = scratch_file(dir, t.size_bytes, SCRATCH_HOLE);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = scratch_word(start / 8 + i);
	CHECK_U64("write", pwrite(fd, words, t.size_bytes - start, (off_t)start),
		  t.size_bytes - start);
	for (size_t j = 0; read_methods[j]; j++) {
		t.direct = p->direct && read_methods[j]->direct != CANNOT;
		check_beyond_4g(fd, read_methods[j], &t);
		t.direct = read_methods[j]->direct == ALWAYS;
		if (p->direct || !t.direct)
			check_beyond_4g(fd, read_methods[j], &t);
	}
	close(fd);
}

/* Over DIR, where its images in memory make short work of small requests. False: not here. */
static bool make_filesystem(const char *type, const char *dir)
{
	const struct fs_config config = { .type = type,
					  .size_bytes = 512 * MiB,
					  .on = "tmpfs" };
	static struct fs_made made;
	int ret = fs_open(&config, dir, &made);

	if (exit_status(ret) == 77)
		printf("%s not tested\n", type);
	else
		CHECK_U64(type, ret, 0);
	return !ret;
}

static void check_place(const struct place *p)
{
	const char *dir = p->dir ?: tempdir;

	if (p->type && !make_filesystem(p->type, dir))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		check_size(p, dir, sizes[i]);
	check_sparse(p, dir);
	if (p->type)
		CHECK_U64("umount", umount(dir), 0);
}

static void check_table(void)
{
	static const char *const names[] = { "read",   "pread",  "readv",    "preadv2",
					     "mmap",   "splice", "sendfile", "io_uring",
					     "libaio", "null" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && read_methods[i]; i++) {
		CHECK_TEXT("method", read_methods[i]->name, names[i]);
		CHECK(read_methods[i]->help);
	}
	CHECK_U64("methods", i, ARRAY_SIZE(names));
	CHECK(!read_methods[i]);
}

int main(void)
{
	base_init();
	tempdir_make();
	check_table();
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		check_place(&places[i]);
	tempdir_remove();
	return check_result();
}
