/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgroup - the cgroup of this process for one controller, and the way up from it. For
 * limits.c. */
#ifndef COMMON_CGROUP_H
#define COMMON_CGROUP_H

#include "common/base.h"

#include <stdbool.h>

struct cgroup {
	const char *root; /* as for limits_read() */
	bool unified;     /* v2 */
	char *dir;        /* below root; malloc'ed */
	size_t top;       /* dir[0..top) is the mount point, the last level to be seen */
};

/* Where CONTROLLER ("memory", "cpu", "pids") counts this process. 0, or in silence
 * -ENOENT (no such controller, or its hierarchy is not mounted here) or another -errno.
 * cgroup_free() afterwards, also after a failure. */
must_check int cgroup_find(struct cgroup *cgroup, const char *root,
			   const char *controller);
/* Go to the parent. False, and nothing changed, at the mount point. */
bool cgroup_up(struct cgroup *cgroup);
void cgroup_free(struct cgroup *cgroup);

/* Is there FILE at this level? The top one of v2 counts little, and has no limits. */
bool cgroup_has(const struct cgroup *cgroup, const char *file);
/* The first number in FILE of this level; OTHERWISE where there is no such file, or no
 * number. */
uint64_t cgroup_number(const struct cgroup *cgroup, const char *file, uint64_t otherwise);
/* The same for a limit: NO_LIMIT for a missing file, for "max", and for what v1 prints
 * instead. */
uint64_t cgroup_limit(const struct cgroup *cgroup, const char *file);
/* The sum of the values of KEYS, ended by NULL, in FILE. */
uint64_t cgroup_sum(const struct cgroup *cgroup, const char *file,
		    const char *const *keys);
/* CPU bandwidth in thousandths of a CPU, from cpu.max or cpu.cfs_*; NO_LIMIT: none. */
uint64_t cgroup_cpu_quota(const struct cgroup *cgroup);

#endif
