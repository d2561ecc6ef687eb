/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fs - a scratch filesystem that vanishes with the last process that uses it. */
#ifndef COMMON_FS_H
#define COMMON_FS_H

#include "common/base.h"

#include <limits.h>
#include <stdbool.h>

/* What was asked for on the command line. */
struct fs_config {
	/* "xfs", or with mount options "xfs,noatime"; NULL: no scratch filesystem */
	const char *type;
	uint64_t size_bytes; /* 0: by the memory and the free space that there are */
	/* Arguments for mkfs, split at blanks; mount options, added to those of type. NULL:
	 * none */
	const char *mkfs_options, *mount_options;
	/* Where the filesystem lies: a directory for its image, "tmpfs" for an image in
	 * memory, or a block device; NULL: an image in the directory itself */
	const char *on;
	bool wipe; /* a block device may be overwritten */
};

/* What was made, besides what medium_of() tells of any filesystem. */
struct fs_made {
	/* The directory without relative parts. Use it in place of what fs_open() was given:
	 * "." still is the directory below the mount. */
	char dir[PATH_MAX];
	uint64_t size_bytes;        /* of the image, the device or the tmpfs */
	uint64_t allocation_groups; /* 0: the filesystem has none */
	int reflink;                /* 1: files can share blocks; 0: no; -1: unknown */
	/* Where the image lies: a directory, or "tmpfs" for memory; "": there is no image */
	char image_on[PATH_MAX];
	bool loop_direct_io; /* the loop device goes past the page cache of the image */
};

/* Is there anything to be refused, before anything is done? 0 or refused(). */
must_check int fs_check(const struct fs_config *c);
/* Can a filesystem be mounted over DIR, which without relative parts is REAL? Not over "/". 0, or
 * -errno after saying so. */
must_check int fs_check_dir(const char *dir, char real[static PATH_MAX]);
/* What fs_open() would make, without making anything: "a new xfs of 20g, its image in /var/tmp";
 * malloc'ed. What can be told without making it is refused as fs_open() does, such as a device
 * that holds something. Not whether we may mount. 0, or -errno after saying so. */
must_check int fs_plan(const struct fs_config *c, const char *dir, char **text);
/* Make the filesystem and mount it over DIR, for this process and its children only: they get
 * a mount namespace of their own, and nothing is created in DIR. There is no fs_close(): when
 * the last of these processes ends, in whatever way, the kernel takes down the mount, the loop
 * device and the image. Call it while there is one thread. 0, or -errno after saying so. */
must_check int fs_open(const struct fs_config *c, const char *dir, struct fs_made *made);

enum { FS_IMAGE_TEXT_LEN = PATH_MAX + 64 };
/* Where the image lies, to be added to a text about the filesystem: ", image in memory", ", image
 * in /var/tmp, past its page cache", or "": there is none. NULL, no filesystem made, is "" too. TEXT
 * is returned. */
const char *fs_image_text(const struct fs_made *made,
			  char text[static FS_IMAGE_TEXT_LEN]);

#endif
