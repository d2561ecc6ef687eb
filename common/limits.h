/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits - what this process may use: machine, memory and CPU cgroups, rlimits,
 * filesystem room. */
#ifndef COMMON_LIMITS_H
#define COMMON_LIMITS_H

#include "common/base.h"

#define NO_LIMIT UINT64_MAX

struct limits {
	uint64_t page_bytes;
	/* /proc/meminfo */
	uint64_t memory_bytes, memory_available_bytes, swap_bytes, swap_free_bytes;
	/* The default size of a huge page; 0: none in this kernel. */
	uint64_t hugepage_bytes;
	/* The tightest along the path of the memory cgroup to the root, v1 or v2;
	 * NO_LIMIT: none. room: hard limit less what is charged and cannot be had back
	 * (file pages can, by reclaim). high: memory.high, which slows and never fails,
	 * so it is told and never counted. */
	uint64_t cgroup_max_bytes, cgroup_high_bytes, cgroup_room_bytes;
	/* The same path's room for memory and swap together, swap of the machine
	 * included. */
	uint64_t cgroup_room_with_swap_bytes;
	/* The tightest pids.max, and the tightest CPU quota in thousandths of a CPU;
	 * NO_LIMIT: none. */
	uint64_t cgroup_pids_max, cgroup_millicpus;
	/* getrlimit(2), soft limits, whatever the root; NO_LIMIT: none */
	uint64_t memlock_bytes, address_space_bytes, file_bytes;
	uint64_t processes, open_files, pending_signals;
	/* vm.max_map_count; NO_LIMIT where it is hidden */
	uint64_t max_map_count;
};

/* Fill LIMITS from /proc and the cgroup mounts below ROOT ("" is this machine; tests give
 * a recorded tree, whose /proc/self stands for this process). What is missing has no
 * limit. 0, or -errno after saying so (only when /proc/meminfo cannot be read). */
must_check int limits_read(struct limits *limits, const char *root);
/* Bytes of new memory to be had: without swapping, and with all free swap used. */
uint64_t limits_memory(const struct limits *limits);
uint64_t limits_memory_and_swap(const struct limits *limits);
/* As many open files as the hard limit allows. */
void limits_raise_open_files(void);
/* Bytes an unprivileged user may still write on the filesystem that holds PATH. 0 or
 * -errno in silence. */
must_check int limits_free_space(const char *path, uint64_t *bytes);

#endif
