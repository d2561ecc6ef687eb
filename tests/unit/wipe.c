// SPDX-License-Identifier: GPL-2.0-or-later
/* wipe - tests of common/wipe.c: what a block device may hold. The devices are loop devices of this
 * test. */
#include "common/wipe.h"
#include "common/fstypes.h"
#include "common/loop.h"
#include "common/mkfs.h"
#include "common/scratch.h"
#include "tests/unit/child.h"
#include "tests/unit/fsdir.h"

#include <linux/blkpg.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

enum { SIZE = 512 * 1024 * 1024 };

struct device {
	int image, fd;
	char name[LOOP_NAME_LEN];
};

static struct device device_make(uint64_t size)
{
	struct device d = { .image = scratch_file(fsdir, size, SCRATCH_HOLE) };

	d.fd = loop_attach(d.image, d.name);
	if (d.fd < 0) {
		rmdir(fsdir);
		SKIP("no loop device");
	}
	return d;
}

static void device_free(struct device *d)
{
	close(d->fd);
	close(d->image);
}

static int check_name(const void *name)
{
	return exit_status(wipe_check(name, fstype_find("ext4")));
}

static void check_device(const char *what, const struct device *d, int status,
			 const char *says)
{
	struct child c;

	child_run(&c, check_name, d->name);
	CHECK_U64(what, c.status, status);
	if (!says)
		CHECK_TEXT(what, c.err, "");
	else if (!strstr(c.err, says) || !strstr(c.err, d->name))
		CHECK_TEXT(what, c.err, says);
}

#define TABLE   "holds a partition table"
#define UNKNOWN "holds something that no earlier run made"

/* Bytes written to an empty device, twice: at places that may count from the end. */
static void check_bytes(void)
{
	static const struct {
		const char *what;
		struct {
			int64_t at;
			const char *bytes;
		} writes[2];
		const char *says; /* NULL: it may be overwritten */
	} rows[] = {
		{ "empty", { { 0, NULL } }, NULL },
		{ "the first byte", { { 0, "x" } }, UNKNOWN },
		{ "in the first MiB", { { MiB - 1, "x" } }, UNKNOWN },
		{ "behind the first MiB", { { MiB, "x" } }, NULL },
		{ "before the last MiB", { { -(int64_t)MiB - 1, "x" } }, NULL },
		{ "in the last MiB", { { -(int64_t)MiB, "x" } }, UNKNOWN },
		{ "the last byte", { { -1, "x" } }, UNKNOWN },
		{ "a boot sector", { { 446, "\x80" }, { 510, "\x55\xaa" } }, TABLE },
		{ "its last entry", { { 509, "\x01" }, { 510, "\x55\xaa" } }, TABLE },
		{ "no entry", { { 3, "x" }, { 510, "\x55\xaa" } }, UNKNOWN },
		{ "GPT", { { 512, "EFI PART" } }, TABLE },
		{ "GPT, blocks of 4k", { { 4096, "EFI PART" } }, TABLE },
		{ "LUKS", { { 0, "LUKS\xba\xbe" } }, "holds a LUKS volume" },
		{ "xfs of others",
		  { { 0, "XFSB" }, { 108, "mine" } },
		  "filesystem (xfs)" },
		{ "xfs", { { 0, "XFSB" }, { 108, FS_LABEL } }, NULL },
		{ "a longer label", { { 0, "XFSB" }, { 108, FS_LABEL "2" } }, "(xfs)" },
		{ "ext4", { { 1080, "\x53\xef" }, { 1144, FS_LABEL } }, NULL },
		{ "ours and another", { { 1080, "\x53\xef" }, { 0, "XFSB" } }, "(xfs)" },
		{ "a label alone", { { 108, FS_LABEL } }, UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct device d = device_make(16 * MiB);

		for (size_t w = 0; w < 2 && rows[i].writes[w].bytes; w++) {
			const char *bytes = rows[i].writes[w].bytes;
			int64_t at = rows[i].writes[w].at;

			at += at < 0 ? (int64_t)(16 * MiB) : 0;
			CHECK_U64("write", pwrite(d.fd, bytes, strlen(bytes), at),
				  strlen(bytes));
		}
		check_device(rows[i].what, &d, rows[i].says ? 2 : 0, rows[i].says);
		device_free(&d);
	}
}

/* Filesystems of ours whose mark has outlived them: NULs count, so LEN tells. */
static void check_stale(void)
{
#define BYTES(at, text) (at), (text), sizeof(text) - 1
#define MD              "\xfc\x4e\x2b\xa9"
	enum { STALE = 16 * 1024 * 1024 + 512 * 3 };
	static const struct {
		int64_t at;
		const char *bytes;
		size_t len;
		const char *says;
	} rows[] = {
		{ BYTES(0, "x"), UNKNOWN },
		{ BYTES(64 * KiB - 1, "x"), UNKNOWN },
		{ BYTES(0, "LUKS\xba\xbe"), "a LUKS volume" },
		{ BYTES(16 * KiB, "SKUL\xba\xbe"), "a LUKS volume" },
		{ BYTES(512 * KiB, "SKUL\xba\xbe"), "a LUKS volume" },
		{ BYTES(0, MD), "a member of a RAID" },
		{ BYTES(4 * KiB, MD), "a member of a RAID" },
		{ BYTES(16 * MiB - 8 * KiB, MD), "a member of a RAID" },
		{ BYTES(16 * MiB - 64 * KiB, MD), "a member of a RAID" },
		{ BYTES(16 * MiB - 64 * KiB, "\xa9\x2b\x4e\xfc"), "of a RAID" },
		{ BYTES(512, "LABELONE"), "an LVM volume" },
		{ BYTES(1536, "LABELONE"), "an LVM volume" },
		{ BYTES(4096 - 10, "SWAPSPACE2"), "a swap area" },
		{ BYTES(65536 - 10, "SWAPSPACE2"), "a swap area" },
		{ BYTES(4096 + 24, "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf"
				   "\x80\x3d\xf7\xef"),
		  "a bcachefs filesystem" },
		{ BYTES(3, "EXFAT   "), "an exFAT filesystem" },
		{ BYTES(3, "NTFS    "), "an NTFS filesystem" },
		{ BYTES(0, "hsqs"), "a squashfs filesystem" },
		{ BYTES(16 * KiB + 20, "\0\0\0\7version"), "a ZFS pool" },
		{ BYTES(16 * MiB - 240 * KiB + 20, "\0\0\0\7version"), "a ZFS pool" },
		{ BYTES(STALE - 512, "EFI PART"), "a partition table" },
		{ BYTES(STALE - 4096, "x"), NULL },
	};
	const struct signature *ours = &fstype_find("btrfs")->signature;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct device d = device_make(STALE);
		char what[32];

		snprintf(what, sizeof(what), "stale, row %zu", i);
		CHECK(pwrite(d.fd, ours->mark, ours->mark_len, (off_t)ours->mark_at) ==
		      (ssize_t)ours->mark_len);
		CHECK(pwrite(d.fd, FS_LABEL, sizeof(FS_LABEL), (off_t)ours->label_at) ==
		      (ssize_t)sizeof(FS_LABEL));
		CHECK(pwrite(d.fd, rows[i].bytes, rows[i].len, rows[i].at) ==
		      (ssize_t)rows[i].len);
		check_device(what, &d, rows[i].says ? 2 : 0, rows[i].says);
		device_free(&d);
	}
}

/* As each mkfs leaves it: ours, and then with the label of somebody else. */
static void check_made(const struct fstype *type)
{
	struct fstype other = *type;
	struct device d = device_make(SIZE);
	char says[64];

	if (mkfs_require(type)) {
		printf("%s not tested\n", type->name);
		device_free(&d);
		return;
	}
	CHECK_U64(type->name, mkfs_run(type, NULL, d.name), 0);
	check_device(type->name, &d, 0, NULL);
	for (size_t i = 0; type->mkfs_args[i]; i++)
		if (!strcmp(type->mkfs_args[i], FS_LABEL))
			other.mkfs_args[i] = "page";
	CHECK_U64(type->name, mkfs_run(&other, NULL, d.name), 0);
	snprintf(says, sizeof(says), "a filesystem (%s) that is not labelled",
		 type->name);
	check_device(type->name, &d, 2, says);
	device_free(&d);
}

/* One run after the other, each with another filesystem: what is left of the first is ours. */
static void check_succession(const struct fstype *first)
{
	for (size_t i = 0; i < FSTYPE_COUNT; i++) {
		struct device d = device_make(SIZE);
		char what[64];

		snprintf(what, sizeof(what), "%s, then %s", first->name, fstypes[i].name);
		if (fstypes[i].mkfs && !mkfs_require(first) &&
		    !mkfs_require(&fstypes[i])) {
			CHECK_U64(what, mkfs_run(first, NULL, d.name), 0);
			CHECK_U64(what, mkfs_run(&fstypes[i], NULL, d.name), 0);
			check_device(what, &d, 0, NULL);
		}
		device_free(&d);
	}
}

static void check_in_use(void)
{
	struct device d = device_make(SIZE);
	int claim = open(d.name, O_RDWR | O_EXCL | O_CLOEXEC);

	check_device("claimed", &d, 2, "is in use");
	close(claim);
	check_device("no longer", &d, 0, NULL);
	device_free(&d);
}

/* Another mount namespace sees that the device is in use, ours where. */
static void check_mounted(void)
{
	struct device d = device_make(SIZE);
	struct child c;

	if (mkfs_run(fstype_find("ext4"), NULL, d.name) || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(d.name, fsdir, "ext4", 0, NULL)) {
		printf("a mounted device not tested: %s\n", strerror(errno));
		device_free(&d);
		return;
	}
	child_run(&c, check_name, d.name);
	CHECK_U64("mounted", c.status, 2);
	CHECK(strstr(c.err, " is mounted on /var/tmp/pagemill-fs-"));
	CHECK(!umount(fsdir));
	device_free(&d);
}

static void check_partitions(void)
{
	struct device d = device_make(SIZE);
	struct loop_info64 info;
	struct blkpg_partition part = { .start = MiB, .length = MiB, .pno = 1 };
	struct blkpg_ioctl_arg arg = { .op = BLKPG_ADD_PARTITION,
				       .datalen = sizeof(part),
				       .data = &part };

	CHECK(!ioctl(d.fd, LOOP_GET_STATUS64, &info));
	info.lo_flags |= LO_FLAGS_PARTSCAN;
	if (ioctl(d.fd, LOOP_SET_STATUS64, &info) || ioctl(d.fd, BLKPG, &arg)) {
		printf("partitions not tested: %s\n", strerror(errno));
	} else {
		check_device("partitions", &d, 2, "has partitions");
		arg.op = BLKPG_DEL_PARTITION;
		CHECK(!ioctl(d.fd, BLKPG, &arg));
		check_device("none again", &d, 0, NULL);
	}
	device_free(&d);
}

static void check_others(void)
{
	static const struct device rows[] = { { .name = "/dev/null" },
					      { .name = "/dev" } };
	struct device small = device_make(MiB);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_device("no device", &rows[i], 2, "is no block device");
	check_device("small", &small, 2, ": ext4 needs at least 16m");
	device_free(&small);
	check_device("missing", &(struct device){ .name = "/dev/no-such" }, 1,
		     "No such file");
}

int main(void)
{
	base_init();
	fsdir_require_root();
	fsdir_make();
	check_bytes();
	check_stale();
	for (size_t i = 0; i < FSTYPE_COUNT; i++)
		if (fstypes[i].mkfs) {
			check_made(&fstypes[i]);
			check_succession(&fstypes[i]);
		}
	check_in_use();
	check_partitions();
	check_others();
	check_mounted();
	fsdir_check_away("at the end");
	fsdir_remove();
	return check_result();
}
