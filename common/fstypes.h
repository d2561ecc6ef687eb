/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fstypes - the filesystems that a run can make: a row each. For fs.c, mkfs.c and wipe.c. */
#ifndef COMMON_FSTYPES_H
#define COMMON_FSTYPES_H

#include "common/base.h"

/* What tells a filesystem of an earlier run from others. */
#define FS_LABEL "pagemill"

/* Where a filesystem has its mark and its label: bytes from the start of the device. */
struct signature {
	uint64_t begins_at; /* no mkfs of it writes before that, but perhaps zeros */
	uint64_t mark_at;
	const char *mark;
	size_t mark_len;
	uint64_t label_at;
	size_t label_len;
	size_t label_step; /* bytes a character: 2 for UTF-16LE */
};

struct fstype {
	const char *name;
	const char *mkfs;    /* NULL: there is nothing to make, and no device */
	const char *package; /* of Debian, that has mkfs */
	/* quiet, whatever is there, our label; ended by NULL */
	const char *mkfs_args[6];
	uint64_t min_bytes;        /* mkfs refuses less */
	const char *mount_options; /* NULL: none */
	struct signature signature;
	/* How many there are on the open DEVICE; NULL: the filesystem has none. */
	uint64_t (*allocation_groups)(int device);
};

enum { FSTYPE_COUNT = 5 };
extern const struct fstype fstypes[FSTYPE_COUNT];

/* The row that TEXT, up to its first comma, is the name of. NULL: there is none. */
const struct fstype *fstype_find(const char *text);

#endif
