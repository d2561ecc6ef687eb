/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fs - a scratch filesystem of the run: an image, a loop device, mkfs, a private mount. */
#ifndef COMMON_FS_H
#define COMMON_FS_H

#include "common/base.h"

#include <stdbool.h>

/* What was asked for. */
struct fs_config {
	const char *type;    /* "xfs", "xfs,noatime"; NULL: no filesystem */
	uint64_t size_bytes; /* 0: by the room there is */
	const char *mkfs_options, *mount_options;
	const char *
		on; /* a directory, "tmpfs" or a block device; NULL: where it is mounted */
	bool wipe;
};

/* What was made. */
struct fs_made {
	const char *type;
};

/* What can be refused before anything is done: 0 or refused(). */
must_check int fs_check(const struct fs_config *c);
must_check int fs_open(const struct fs_config *c, const char *dir, struct fs_made *made);

#endif
