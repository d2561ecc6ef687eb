/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wipe - may a block device be overwritten? For fs.c. */
#ifndef COMMON_WIPE_H
#define COMMON_WIPE_H

#include "common/base.h"

struct fstype;

/* By a filesystem of TYPE. Only if it has room for that, nothing uses it, it has no partitions, and
 * it is either empty or holds a filesystem that an earlier run made. 0; refused(), or another -errno
 * after saying so. */
must_check int wipe_check(const char *path, const struct fstype *type);

#endif
