// SPDX-License-Identifier: GPL-2.0-or-later
/* copy_full - tests of the rows of copyfile/methods.c where the target has no room: each of them says
 * so, and says it of the target. */
#include "common/fs.h"
#include "tests/unit/child.h"
#include "tests/unit/copier.h"
#include "tests/unit/sigbus.h"
#include "tests/unit/tempdir.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define BLOCK (64 * KiB)

/* What is tried in a process of its own. */
struct attempt {
	const struct method *method;
	bool direct;
	const char *from, *to; /* directories */
	uint64_t size;
	unsigned depth;
	uint64_t align; /* in place of what O_DIRECT wants here; 0: that */
	uint64_t limit; /* of the sizes of files; 0: none */
};

static struct child child;
static char small_dir[128];

/* 0: there is no such file. */
static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

static int target_file(const struct attempt *a)
{
	return scratch_file(a->to, a->method->maps ? a->size : 0, SCRATCH_HOLE);
}

/* Two new filesystems count alike: then an inode number does not tell the files apart. */
static bool open_files(struct copier_test *c, const struct attempt *a)
{
	bool one = !strcmp(a->from, a->to);

	c->from = scratch_file(a->from, a->size, one ? SCRATCH_HOLE : SCRATCH_WRITTEN);
	c->to = target_file(a);
	while (!one && inode_of(c->to) && inode_of(c->to) < inode_of(c->from)) {
		close(c->to);
		c->to = target_file(a);
	}
	return inode_of(c->to) && (one || inode_of(c->to) == inode_of(c->from));
}

/* The status of a copy. */
static int attempt(const void *arg)
{
	const struct attempt *a = arg;
	struct rlimit limit = { a->limit, a->limit };
	struct cursor cursor = cursor_begin(a->size, BLOCK, ORDER_SEQ, 0);
	struct copier_test c = { 0 };
	int64_t ret;

	if (!open_files(&c, a))
		return 98;
	c.target = (struct target){ .size_bytes = a->size,
				    .block_bytes = BLOCK,
				    .depth = a->depth,
				    .direct = a->direct };
	ret = copier_begin(&c, a->method);
	if (ret)
		return exit_status((int)ret);
	if (a->align)
		c.target.align_bytes = a->align;
	signal(SIGXFSZ, SIG_IGN);
	if (a->limit && setrlimit(RLIMIT_FSIZE, &limit))
		return 99;
	ret = copier_pump_all(&c, &cursor);
	copier_end(&c);
	return ret < 0 ? exit_status((int)ret) : 0;
}

static void check_full(const struct attempt *a)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%s, full", a->method->name,
		 a->direct ? " direct" : "");
	child_run(&child, attempt, a);
	CHECK_U64(text, child.status, 1);
	if (!strstr(child.err, "TARGET: No space left on device") &&
	    !strstr(child.err, " of TARGET: no space left"))
		CHECK_TEXT(text, child.err, "no space left of TARGET");
}

/* Each method that copies, as A says, with O_DIRECT or without. */
static void each_method(struct attempt a, const struct method *but)
{
	for (size_t i = 0; copy_methods[i]; i++) {
		const struct method *m = copy_methods[i];

		if (copier_built(m) && !m->clones && !m->no_data && m != but &&
		    m->direct != (a.direct ? CANNOT : ALWAYS)) {
			a.method = m;
			check_full(&a);
		}
	}
}

/* The source is a hole, so that the target alone takes room. */
static void check_disk(void)
{
	const struct fs_config config = { .type = "ext4",
					  .size_bytes = 16 * MiB,
					  .on = "tmpfs" };
	struct attempt a = {
		.from = tempdir, .to = tempdir, .size = 20 * MiB, .depth = 3
	};
	static struct fs_made made;

	if (fs_open(&config, tempdir, &made)) {
		printf("a full ext4 is not tested\n");
		return;
	}
	each_method(a, NULL);
	a.direct = true;
	each_method(a, NULL);
	CHECK_U64("umount", umount2(tempdir, MNT_DETACH), 0);
}

/* From one new filesystem to another. copy_file_range(2) does not go there. */
static void check_memory(void)
{
	const struct fs_config large = { .type = "tmpfs", .size_bytes = 4 * MiB },
			       small = { .type = "tmpfs", .size_bytes = 128 * KiB };
	const struct attempt a = {
		.from = tempdir, .to = small_dir, .size = 512 * KiB, .depth = 3
	};
	static struct fs_made made[2];

	if (fs_open(&large, tempdir, &made[0])) {
		printf("a full tmpfs is not tested\n");
		return;
	}
	tempdir_path(small_dir, "small");
	CHECK(!mkdir(small_dir, 0700));
	CHECK_U64("small", fs_open(&small, small_dir, &made[1]), 0);
	each_method(a, &method_copy_file_range);
	CHECK_U64("umount", umount2(tempdir, MNT_DETACH), 0);
}

/* Room for a part of a unit: what is written of it is never enough to go on from. */
static void check_part_of_a_unit(void)
{
	const char *dir = "/var/tmp";
	struct attempt a = { .direct = true,
			     .from = dir,
			     .to = dir,
			     .size = 4 * BLOCK,
			     .depth = 1,
			     .align = 4096,
			     .limit = BLOCK + 8192 + 1024 };
	int fd = scratch_file(dir, 0, SCRATCH_HOLE);
	uint64_t align;

	if (fd < 0 || direct_alignment(fd, dir, &align) || align > 1024)
		printf("%s takes no parts of a unit: not tested\n", dir);
	else
		each_method(a, NULL);
	close(fd);
}

int main(void)
{
	base_init();
	tempdir_make();
	check_part_of_a_unit();
	check_disk();
	check_memory();
	tempdir_remove();
	return check_result();
}
