// SPDX-License-Identifier: GPL-2.0-or-later
/* copy_methods - tests of copyfile/methods.c: every method, on every filesystem that we can make and
 * between two of them, copies each byte, and no other, or says why it cannot. */
#include "common/fs.h"
#include "tests/unit/copier.h"
#include "tests/unit/tempdir.h"

#include <sys/mount.h>
#include <sys/stat.h>

static const struct place {
	const char *type; /* NULL: what is there already */
	const char *mkfs;
	const char *dir;   /* NULL: made in the temporary directory */
	const char *other; /* where the targets are, if not there */
	bool direct;       /* has O_DIRECT, whatever the kernel's age */
	bool clones;       /* FICLONERANGE works */
} places[] = {
	{ .dir = "/var/tmp", .direct = true },
	{ .dir = "/dev/shm" },
	{ .type = "ext4", .direct = true },
	{ .type = "xfs", .mkfs = "-m reflink=0", .direct = true },
	{ .type = "xfs", .direct = true, .clones = true },
	{ .type = "btrfs", .direct = true, .clones = true },
	{ .type = "xfs", .other = "/dev/shm" },
	{ .type = "ext4", .other = "/var/tmp", .direct = true },
};

#define BLOCK (64 * KiB)
/* Empty, a byte, and around a block and a page. */
static const uint64_t sizes[] = { 0,     1,         4095,      4097,  BLOCK - 1,
				  BLOCK, BLOCK + 1, 3 * BLOCK, 300007 };
static const uint64_t blocks[] = { BLOCK, 512, 4096, MiB, 1000, BLOCK + 1 };

static void pattern(int fd, uint64_t at, uint64_t len)
{
	uint64_t *words = calloc(len / 8 + 1, 8);

	if (!words)
		abort();
	for (uint64_t i = 0; i <= len / 8; i++)
		words[i] = scratch_word(at / 8 + i);
	CHECK_U64("write", pwrite(fd, words, len, (off_t)at), len);
	free(words);
}

static void say_row(struct copier_test *c, const struct place *p)
{
	size_t len = strlen(c->text);

	snprintf(c->text + len, sizeof(c->text) - len, " on %s%s%s", p->type ?: p->dir,
		 p->other ? " to " : "", p->other ?: "");
}

/* Whole files: from an empty target, unless the method maps it. */
static void check_whole(struct copier_test *c, const struct place *p, uint64_t base)
{
	const struct target *t = &c->target;
	uint64_t head = MIN(base, t->size_bytes), bytes = 0;
	struct stat st;

	CHECK(!ftruncate(c->to, 0));
	if (c->method->maps)
		CHECK(!ftruncate(c->to, (off_t)t->size_bytes));
	for (int part = 0; part < 2; part++) {
		uint64_t len = part ? t->size_bytes - head : head;
		struct cursor cursor;

		if (!len)
			continue;
		cursor = cursor_begin(len, t->block_bytes, ORDER_SEQ, 0);
		cursor.base = part ? head : 0;
		bytes += (uint64_t)copier_pump_all(c, &cursor);
		CHECK_U64(c->text, c->method->pump(c->state, &cursor), 0);
	}
	say_row(c, p);
	CHECK_U64(c->text, bytes, t->size_bytes);
	if (c->method->no_data)
		return;
	CHECK(!fstat(c->to, &st));
	CHECK_U64(c->text, st.st_size, t->size_bytes);
	CHECK_U64(c->text, copier_same(c, 0, 0, t->size_bytes), true);
}

/* Some blocks to other places: there is nothing but these in the target then. */
static void check_pairs(struct copier_test *c, uint64_t step)
{
	const struct target *t = &c->target;
	struct cursor cursor = cursor_pairs(t->size_bytes, t->block_bytes, step,
					    step + 7),
		      again;
	char *want = calloc(t->size_bytes, 1), *from, *to;
	struct span b = { 0 };

	if (!want)
		abort();
	CHECK(!ftruncate(c->to, 0) && !ftruncate(c->to, (off_t)t->size_bytes));
	for (int i = 0; i < 4; i++) {
		/* One by one: blocks may lie over each other. */
		cursor.end = cursor.next + 1;
		again = cursor;
		CHECK(cursor_next(&again, &b));
		CHECK_U64(c->text, copier_pump_all(c, &cursor), b.len);
		from = copier_bytes(c->from, b.at, b.len);
		memcpy(want + b.to, from, b.len);
		free(from);
	}
	to = copier_bytes(c->to, 0, t->size_bytes);
	CHECK_U64(c->text, !memcmp(want, to, t->size_bytes), !c->method->no_data);
	free(want);
	free(to);
}

static void check_method(struct copier_test *c, const struct place *p,
			 const struct method *m, uint64_t step)
{
	struct target *t = &c->target;
	int ret = copier_begin(c, m);

	CHECK_U64(c->text, ret, 0);
	if (ret)
		return;
	check_whole(c, p, 0);
	if (!t->direct && !m->clones)
		check_whole(c, p, 1);
	if (t->size_bytes > t->block_bytes)
		check_pairs(c, t->direct || m->clones ? MAX(step, 4096) : step);
	copier_end(c);
}

/* Two that work within a filesystem only; since Linux 5.19 the first of them, too. */
static bool is_refused(const struct place *p, const struct method *m)
{
	return (m->clones && !p->clones) || (p->other && m == &method_copy_file_range);
}

/* Every way that M has to copy C's files in such blocks. */
static void check_ways(struct copier_test *c, const struct place *p,
		       const struct method *m, uint64_t block)
{
	bool whole_units = block % 4096 == 0;

	c->target = (struct target){ .size_bytes = c->target.size_bytes,
				     .block_bytes = block };
	if (!copier_built(m) || is_refused(p, m) || (m->clones && !whole_units))
		return;
	for (int direct = 0; direct < 2; direct++) {
		if ((direct && (m->direct == CANNOT || !p->direct || !whole_units)) ||
		    (!direct && m->direct == ALWAYS))
			continue;
		c->target.direct = direct;
		c->target.depth = m->many ? 3 : 1;
		check_method(c, p, m, block == 1000 ? 1 : 4096);
	}
}

static void open_files(struct copier_test *c, const char *dir, const struct place *p,
		       uint64_t size)
{
	c->target.size_bytes = size;
	c->from = scratch_file(dir, size, SCRATCH_HOLE);
	c->to = scratch_file(p->other ?: dir, 0, SCRATCH_HOLE);
	CHECK(c->from >= 0 && c->to >= 0);
}

static void check_size(const char *dir, const struct place *p, uint64_t size)
{
	struct copier_test c = { 0 };

	open_files(&c, dir, p, size);
	pattern(c.from, 0, size);
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		for (size_t j = 0; copy_methods[j]; j++)
			check_ways(&c, p, copy_methods[j], blocks[i]);
	close(c.from);
	close(c.to);
}

/* Data, a hole, data, a hole at the end. */
static void check_holes(const char *dir, const struct place *p)
{
	struct copier_test c = { 0 };

	open_files(&c, dir, p, 8 * BLOCK + 5);
	pattern(c.from, 0, BLOCK);
	pattern(c.from, 3 * BLOCK + 4096, BLOCK);
	for (size_t j = 0; copy_methods[j]; j++)
		check_ways(&c, p, copy_methods[j], BLOCK);
	close(c.from);
	close(c.to);
}

/* Blocks behind what 32 bits can tell, of a sparse file. */
static void check_beyond_4g(const char *dir, const struct place *p)
{
	struct copier_test c = { 0 };
	const uint64_t tail = 5 * GiB - 2 * BLOCK;
	struct cursor cursor;

	open_files(&c, dir, p, 5 * GiB + 4711);
	pattern(c.from, tail, 2 * BLOCK + 4711);
	for (size_t j = 0; copy_methods[j]; j++) {
		const struct method *m = copy_methods[j];

		if (!copier_built(m) || is_refused(p, m) ||
		    (m->direct == ALWAYS && !p->direct))
			continue;
		c.target = (struct target){ .size_bytes = 5 * GiB + 4711,
					    .block_bytes = BLOCK,
					    .depth = 2,
					    .direct = m->direct == ALWAYS };
		CHECK(!ftruncate(c.to, 0) &&
		      !ftruncate(c.to, (off_t)c.target.size_bytes));
		if (copier_begin(&c, m)) {
			CHECK_TEXT("opens", m->name, "");
			continue;
		}
		cursor = cursor_begin(c.target.size_bytes - tail, BLOCK, ORDER_SEQ, 0);
		cursor.base = tail;
		CHECK_U64(c.text, copier_pump_all(&c, &cursor), 2 * BLOCK + 4711);
		CHECK_U64(c.text, copier_same(&c, tail, tail, 2 * BLOCK + 4711),
			  !m->no_data);
		copier_end(&c);
	}
	close(c.from);
	close(c.to);
}

/* Over DIR, its image in memory. False: not here. */
static bool make_filesystem(const struct place *p, const char *dir)
{
	const struct fs_config config = { .type = p->type,
					  .mkfs_options = p->mkfs,
					  .size_bytes = 512 * MiB,
					  .on = "tmpfs" };
	static struct fs_made made;
	int ret = fs_open(&config, dir, &made);

	if (exit_status(ret) == 77)
		printf("%s not tested\n", p->type);
	else
		CHECK_U64(p->type, ret, 0);
	return !ret;
}

static void check_place(const struct place *p)
{
	const char *dir = p->dir ?: tempdir;

	if (p->type && !make_filesystem(p, dir))
		return;
	printf("%s %s%s%s\n", p->type ?: p->dir, p->mkfs ?: "", p->other ? " to " : "",
	       p->other ?: "");
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		check_size(dir, p, sizes[i]);
	check_holes(dir, p);
	check_beyond_4g(dir, p);
	/* A ring holds its files a moment longer than it is open. */
	if (p->type)
		CHECK_U64("umount", umount2(dir, MNT_DETACH), 0);
}

static void check_table(void)
{
	static const char *const names[] = {
		"copy_file_range", "readwrite", "readvwritev", "preadv2",  "mmap",
		"mmap_write",      "sendfile",  "splice",      "io_uring", "libaio",
		"reflink",         "null"
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && copy_methods[i]; i++) {
		const struct method *m = copy_methods[i];

		CHECK_TEXT("method", m->name, names[i]);
		CHECK(m->help);
		/* Each chain ends. */
		for (unsigned steps = 0; m->fallback; steps++) {
			m = method_find(copy_methods, m->fallback);
			CHECK(m && steps < 4);
			if (!m || steps == 4)
				break;
		}
	}
	CHECK_U64("methods", i, ARRAY_SIZE(names));
	CHECK(!copy_methods[i]);
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
