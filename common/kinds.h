/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kinds - which of the kernel's numbers count events, and which are levels. */
#ifndef COMMON_KINDS_H
#define COMMON_KINDS_H

#include "common/counters.h"

/* Of /proc/vmstat, and that of a node. A name that no row knows counts events: all levels so far are
 * named alike. */
enum counter_kind kind_in_vmstat(const char *key);
/* Is there a row for it? */
bool kind_is_known(const char *key);
/* Of a memory cgroup's memory.stat, without "total_". Limits are no part of a result. */
enum counter_kind kind_in_memcg(const char *key);
/* Of hugepages-SIZE/stats, and of zswap in debugfs. */
enum counter_kind kind_in_thp(const char *key);
enum counter_kind kind_in_zswap(const char *key);
/* Of oom_control in cgroup v1, which has settings too. */
enum counter_kind kind_in_oom_control(const char *key);
/* Where all are alike. */
enum counter_kind kind_grows(const char *key);
enum counter_kind kind_grows_32(const char *key);
enum counter_kind kind_level(const char *key);

#endif
