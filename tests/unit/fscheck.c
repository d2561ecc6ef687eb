// SPDX-License-Identifier: GPL-2.0-or-later
/* fscheck - tests of common/fscheck.c: what of a scratch filesystem is refused before it is made. */
#include "common/fs.h"
#include "tests/check.h"
#include "tests/unit/child.h"

static const struct {
	struct fs_config config;
	const char *says; /* NULL: nothing to refuse */
} rows[] = {
	{ { .type = NULL }, NULL },
	{ { .type = "xfs" }, NULL },
	{ { .type = "ext4,noatime" }, NULL },
	{ { .type = "btrfs,", .mkfs_options = "-K", .mount_options = "ro" }, NULL },
	{ { .type = "f2fs", .on = "/" }, NULL },
	{ { .type = "f2fs", .on = "tmpfs" }, NULL },
	{ { .type = "tmpfs,huge=always",
	    .size_bytes = 1 * MiB,
	    .mount_options = "noswap" },
	  NULL },
	{ { .type = "xfs", .size_bytes = 300 * MiB }, NULL },
	{ { .type = "xfs", .size_bytes = 300 * MiB - 1 },
	  "--fs-size 314572799: xfs needs at least 300m" },
	{ { .type = "btrfs,x", .size_bytes = 1 },
	  "--fs-size 1: btrfs needs at least 128m" },
	{ { .type = "tmpfs", .size_bytes = 4096 },
	  "--fs-size 4k: tmpfs needs at least 64k" },
	{ { .type = "" }, "--fs '': expected xfs, ext4, btrfs, f2fs or tmpfs" },
	{ { .type = "XFS" }, "--fs 'XFS': expected" },
	{ { .type = "xf" }, "--fs 'xf': expected" },
	{ { .type = "xfs4,x" }, "--fs 'xfs4,x': expected" },
	{ { .size_bytes = 1 },
	  "--fs-size is for a scratch filesystem: give --fs TYPE as well" },
	{ { .mkfs_options = "" }, "--mkfs-options is for" },
	{ { .mount_options = "" }, "--mount-options is for" },
	{ { .on = "/" }, "--fs-on is for" },
	{ { .wipe = true }, "--wipe is for a scratch" },
	{ { .type = "tmpfs", .mkfs_options = "-q" },
	  "--mkfs-options: there is no mkfs for tmpfs" },
	{ { .type = "tmpfs", .on = "/" }, "--fs-on: tmpfs is in memory" },
	{ { .type = "tmpfs", .on = "tmpfs" }, "--fs-on: tmpfs is in memory" },
	{ { .type = "tmpfs", .wipe = true }, "--wipe is for a block device" },
	{ { .type = "xfs", .wipe = true }, "--wipe is for a block device" },
	{ { .type = "xfs", .on = "/", .wipe = true }, "--wipe is for a block device" },
	{ { .type = "xfs", .on = "/no/such" },
	  "--fs-on '/no/such': expected a directory, tmpfs or a block device" },
	{ { .type = "xfs", .on = "" }, "--fs-on '': expected" },
	{ { .type = "xfs", .on = "/dev/null" }, "--fs-on '/dev/null': expected" },
};

static int check(const void *config)
{
	return exit_status(fs_check(config));
}

int main(void)
{
	struct child c;

	base_init();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char what[32];

		snprintf(what, sizeof(what), "row %zu", i);
		child_run(&c, check, &rows[i].config);
		CHECK_U64(what, c.status, rows[i].says ? 2 : 0);
		if (!rows[i].says || !strstr(c.err, rows[i].says))
			CHECK_TEXT(what, c.err, rows[i].says ?: "");
	}
	return check_result();
}
