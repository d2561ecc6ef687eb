/* SPDX-License-Identifier: GPL-2.0-or-later */
/* foreign - marks that others leave on a block device. For wipe.c. */
#ifndef COMMON_FOREIGN_H
#define COMMON_FOREIGN_H

#include "common/base.h"

/* Both ends of a device: partition tables, filesystems, RAID and volume managers leave their
 * marks in the first MiB, and some in the last. */
enum { END_BYTES = 1024 * 1024 };

struct ends {
	const char *path;
	uint64_t size; /* of the device */
	unsigned char first[END_BYTES], last[END_BYTES];
};

/* What the device seems to hold, besides the filesystems of fstypes.h: "a LUKS volume". NULL:
 * nothing known. */
const char *foreign_find(const struct ends *e);

#endif
