/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fssize - how large a scratch filesystem becomes. For fs.c and fsplan.c. */
#ifndef COMMON_FSSIZE_H
#define COMMON_FSSIZE_H

#include "common/base.h"

struct fs_config;
struct fstype;

/* What C asks for, or by the room there is: in the directory IMAGE_DIR, or in memory if that is
 * NULL. 0, or -errno after saying so. */
must_check int fs_size(const struct fs_config *c, const struct fstype *type,
		       const char *image_dir, uint64_t *bytes);

#endif
