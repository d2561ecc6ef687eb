// SPDX-License-Identifier: GPL-2.0-or-later
/* fstypes - the filesystems that a run can make: a row each. */
#include "common/fstypes.h"

#include <endian.h>
#include <string.h>
#include <unistd.h>

/* sb_agcount, big-endian as all of XFS. */
static uint64_t xfs_allocation_groups(int device)
{
	uint32_t count;

	return pread(device, &count, sizeof(count), 88) == sizeof(count) ? be32toh(count)
									 : 0;
}

#define MARK(at, text) .mark_at = (at), .mark = (text), .mark_len = sizeof(text) - 1

const struct fstype fstypes[FSTYPE_COUNT] = {
	{
		.name = "xfs",
		.mkfs = "mkfs.xfs",
		.package = "xfsprogs",
		.mkfs_args = { "-q", "-f", "-L", FS_LABEL },
		.min_bytes = 300 * MiB,
		.signature = { MARK(0, "XFSB"), .label_at = 108, .label_len = 12,
			       .label_step = 1 },
		.allocation_groups = xfs_allocation_groups,
	},
	{
		.name = "ext4",
		.mkfs = "mkfs.ext4",
		.package = "e2fsprogs",
		.mkfs_args = { "-q", "-F", "-L", FS_LABEL },
		.min_bytes = 16 * MiB,
		/* Else a kernel thread zeroes inode tables while the run is measured. */
		.mount_options = "noinit_itable",
		.signature = { .begins_at = 1024,
			       MARK(1024 + 56, "\x53\xef"),
			       .label_at = 1024 + 120,
			       .label_len = 16,
			       .label_step = 1 },
	},
	{
		.name = "btrfs",
		.mkfs = "mkfs.btrfs",
		.package = "btrfs-progs",
		.mkfs_args = { "-q", "-f", "-L", FS_LABEL },
		.min_bytes = 128 * MiB,
		.signature = { .begins_at = 64 * KiB,
			       MARK(64 * KiB + 64, "_BHRfS_M"),
			       .label_at = 64 * KiB + 0x12b,
			       .label_len = 256,
			       .label_step = 1 },
	},
	{
		.name = "f2fs",
		.mkfs = "mkfs.f2fs",
		.package = "f2fs-tools",
		.mkfs_args = { "-q", "-f", "-l", FS_LABEL },
		.min_bytes = 64 * MiB,
		.signature = { .begins_at = 1024,
			       MARK(1024, "\x10\x20\xf5\xf2"),
			       .label_at = 1024 + 124,
			       .label_len = 1024,
			       .label_step = 2 },
	},
	{
		.name = "tmpfs",
		.min_bytes = 64 * KiB,
	},
};

const struct fstype *fstype_find(const char *text)
{
	size_t len = strcspn(text, ",");

	for (size_t i = 0; i < FSTYPE_COUNT; i++)
		if (strlen(fstypes[i].name) == len &&
		    !strncmp(fstypes[i].name, text, len))
			return &fstypes[i];
	return NULL;
}
