// SPDX-License-Identifier: GPL-2.0-or-later
/* limits - what this process may use: machine, memory and CPU cgroups, rlimits,
 * filesystem room. */
#include "common/limits.h"
#include "common/cgroup.h"
#include "common/procfile.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* What the two versions of the memory controller call the same things; NULL: has no such
 * file. */
struct memory_files {
	const char *max, *high, *current;
	const char *swap_max, *swap_current;   /* swap alone */
	const char *memsw_max, *memsw_current; /* memory and swap in one */
	const char *hierarchical;              /* 0 there: children are not counted in */
	/* In memory.stat, children counted in: what reclaim takes before anything fails.
	 * No shmem: it is in cache and file, but on the lists of anonymous memory. */
	const char *reclaimable[4];
};

static const struct memory_files memory_v2 = {
	.max = "memory.max",
	.high = "memory.high",
	.current = "memory.current",
	.swap_max = "memory.swap.max",
	.swap_current = "memory.swap.current",
	.reclaimable = { "inactive_file", "active_file", "slab_reclaimable" },
};

static const struct memory_files memory_v1 = {
	.max = "memory.limit_in_bytes",
	.current = "memory.usage_in_bytes",
	.memsw_max = "memory.memsw.limit_in_bytes",
	.memsw_current = "memory.memsw.usage_in_bytes",
	.hierarchical = "memory.use_hierarchy",
	.reclaimable = { "total_inactive_file", "total_active_file" },
};

/* The tightest on the way up. */
struct memory_room {
	uint64_t max, high, memory, swap, memsw;
};

static void tighten(uint64_t *limit, uint64_t other)
{
	*limit = MIN(*limit, other);
}

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? NO_LIMIT : sum;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t limit_in(const struct cgroup *cgroup, const char *file)
{
	return file ? cgroup_limit(cgroup, file) : NO_LIMIT;
}

/* What is left below the limit in file MAX, of which CURRENT bytes are used. */
static uint64_t room_in(const struct cgroup *cgroup, const char *max, const char *current,
			uint64_t reclaimable)
{
	uint64_t limit = limit_in(cgroup, max);

	if (limit == NO_LIMIT)
		return NO_LIMIT;
	return less(limit, less(cgroup_number(cgroup, current, 0), reclaimable));
}

static void count_level(const struct cgroup *cgroup, const struct memory_files *files,
			struct memory_room *room)
{
	uint64_t reclaimable = cgroup_sum(cgroup, "memory.stat", files->reclaimable);

	tighten(&room->max, limit_in(cgroup, files->max));
	tighten(&room->high, limit_in(cgroup, files->high));
	tighten(&room->memory, room_in(cgroup, files->max, files->current, reclaimable));
	tighten(&room->swap, room_in(cgroup, files->swap_max, files->swap_current, 0));
	tighten(&room->memsw,
		room_in(cgroup, files->memsw_max, files->memsw_current, reclaimable));
}

/* Every new page counts at every level, in memory or in swap. So there can be as many as
 * the tightest memory and the tightest swap hold, be they limits of different levels. */
static void read_memory_cgroup(struct limits *limits, const char *root)
{
	struct memory_room room = { NO_LIMIT, NO_LIMIT, NO_LIMIT, NO_LIMIT, NO_LIMIT };
	const struct memory_files *files;
	struct cgroup cgroup;
	bool found = !cgroup_find(&cgroup, root, "memory");

	files = cgroup.unified ? &memory_v2 : &memory_v1;
	while (found) {
		count_level(&cgroup, files, &room);
		found = cgroup_up(&cgroup);
		if (files->hierarchical &&
		    !cgroup_number(&cgroup, files->hierarchical, 1))
			break;
	}
	cgroup_free(&cgroup);
	limits->cgroup_max_bytes = room.max;
	limits->cgroup_high_bytes = room.high;
	limits->cgroup_room_bytes = room.memory;
	limits->cgroup_room_with_swap_bytes = MIN(
		add(room.memory, MIN(room.swap, limits->swap_free_bytes)), room.memsw);
}

static uint64_t pids_limit(const struct cgroup *cgroup)
{
	return cgroup_limit(cgroup, "pids.max");
}

static uint64_t tightest(const char *root, const char *controller,
			 uint64_t (*limit_of)(const struct cgroup *cgroup))
{
	uint64_t limit = NO_LIMIT;
	struct cgroup cgroup;

	for (bool found = !cgroup_find(&cgroup, root, controller); found;
	     found = cgroup_up(&cgroup))
		tighten(&limit, limit_of(&cgroup));
	cgroup_free(&cgroup);
	return limit;
}

/* KEY of /proc/meminfo, which counts in "kB" of 1024; OTHERWISE where there is none. */
static uint64_t meminfo_bytes(const char *text, const char *key, uint64_t otherwise)
{
	uint64_t kib;

	return procfile_number(text, key, &kib) ? kib * KiB : otherwise;
}

static int read_meminfo(struct limits *limits, const char *root)
{
	char *text = procfile_read(root, "/proc/meminfo");
	uint64_t cached;

	if (!text)
		return failed("read %s/proc/meminfo", root);
	limits->memory_bytes = meminfo_bytes(text, "MemTotal", 0);
	limits->swap_bytes = meminfo_bytes(text, "SwapTotal", 0);
	limits->swap_free_bytes = meminfo_bytes(text, "SwapFree", 0);
	limits->hugepage_bytes = meminfo_bytes(text, "Hugepagesize", 0);
	/* Linux 3.14 brought MemAvailable. */
	cached = meminfo_bytes(text, "MemFree", 0) + meminfo_bytes(text, "Cached", 0);
	limits->memory_available_bytes = meminfo_bytes(text, "MemAvailable", cached);
	free(text);
	if (limits->memory_bytes)
		return 0;
	errno = EINVAL;
	return failed("find MemTotal in %s/proc/meminfo", root);
}

static const struct {
	int resource;
	size_t offset; /* in struct limits */
} rlimits[] = {
	{ RLIMIT_MEMLOCK, offsetof(struct limits, memlock_bytes) },
	{ RLIMIT_AS, offsetof(struct limits, address_space_bytes) },
	{ RLIMIT_NPROC, offsetof(struct limits, processes) },
	{ RLIMIT_NOFILE, offsetof(struct limits, open_files) },
	{ RLIMIT_SIGPENDING, offsetof(struct limits, pending_signals) },
	{ RLIMIT_FSIZE, offsetof(struct limits, file_bytes) },
};

static void read_rlimits(struct limits *limits)
{
	struct rlimit r;
	uint64_t *limit;

	for (size_t i = 0; i < ARRAY_SIZE(rlimits); i++) {
		limit = (uint64_t *)((char *)limits + rlimits[i].offset);
		*limit = NO_LIMIT;
		if (!getrlimit(rlimits[i].resource, &r) && r.rlim_cur != RLIM_INFINITY)
			*limit = r.rlim_cur;
	}
}

static uint64_t read_max_map_count(const char *root)
{
	char *text = procfile_read(root, "/proc/sys/vm/max_map_count");
	uint64_t count = text ? strtoull(text, NULL, 10) : NO_LIMIT;

	free(text);
	return count;
}

int limits_read(struct limits *limits, const char *root)
{
	int ret;

	*limits = (struct limits){ .page_bytes = sysconf(_SC_PAGESIZE) };
	ret = read_meminfo(limits, root);
	if (ret)
		return ret;
	read_memory_cgroup(limits, root);
	limits->cgroup_pids_max = tightest(root, "pids", pids_limit);
	limits->cgroup_millicpus = tightest(root, "cpu", cgroup_cpu_quota);
	read_rlimits(limits);
	limits->max_map_count = read_max_map_count(root);
	return 0;
}

uint64_t limits_memory(const struct limits *limits)
{
	return MIN(limits->memory_available_bytes, limits->cgroup_room_bytes);
}

uint64_t limits_memory_and_swap(const struct limits *limits)
{
	return MIN(add(limits->memory_available_bytes, limits->swap_free_bytes),
		   limits->cgroup_room_with_swap_bytes);
}

void limits_raise_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	/* Where that is not to be had, opening the one too many says so. */
	setrlimit(RLIMIT_NOFILE, &limit);
}

int limits_free_space(const char *path, uint64_t *bytes)
{
	struct statvfs fs;

	if (statvfs(path, &fs))
		return -errno;
	if (__builtin_mul_overflow((uint64_t)fs.f_bavail, (uint64_t)fs.f_frsize, bytes))
		*bytes = NO_LIMIT;
	return 0;
}
