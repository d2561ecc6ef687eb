/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mountinfo - the lines of /proc/self/mountinfo. For cgroup.c, medium.c and wipe.c. */
#ifndef COMMON_MOUNTINFO_H
#define COMMON_MOUNTINFO_H

#include "common/base.h"

#include <stdbool.h>

struct mountinfo {
	uint64_t id;
	/* As stat(2) has them for most filesystems, not for btrfs. */
	unsigned major, minor;
	char *root; /* the part of the filesystem that is seen at ... */
	char *point;
	char *options; /* of the mount */
	char *type, *source;
	char *super; /* options of the filesystem */
};

/* Cut the next mount off *TEXT, which is changed; the texts of M are in it. False at the end;
 * a line that is no mount is passed over. */
bool mountinfo_next(char **text, struct mountinfo *m);

#endif
