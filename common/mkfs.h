/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mkfs - run the program that makes a filesystem. For fs.c. */
#ifndef COMMON_MKFS_H
#define COMMON_MKFS_H

#include "common/base.h"

struct fstype;

/* Is the program for TYPE installed? 0 or unsupported(), which names its package. */
must_check int mkfs_require(const struct fstype *type);
/* Make a filesystem of TYPE on DEVICE, with OPTIONS, split at blanks, behind those of the row;
 * NULL: none. What the program says is shown only when it fails. It dies with us. 0, or -errno
 * after saying so. */
must_check int mkfs_run(const struct fstype *type, const char *options,
			const char *device);

#endif
