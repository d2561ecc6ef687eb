// SPDX-License-Identifier: GPL-2.0-or-later
/* limits - tests of common/limits.c and cgroup.c, on recorded machines and in a real
 * cgroup. */
#include "common/limits.h"
#include "common/cgroup.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *tree;
	uint64_t memory, available, swap, swap_free, hugepage;
	uint64_t max, high, room, room_with_swap;
	uint64_t pids, millicpus, maps;
	uint64_t for_memory, for_memory_and_swap;
} trees[] = {
	{ .tree = "v2-nested",
	  .memory = 16 * GiB,
	  .available = 8 * GiB,
	  .swap = 2 * GiB,
	  .swap_free = GiB,
	  .hugepage = 2 * MiB,
	  .max = 1024 * MiB,
	  .high = 768 * MiB,
	  /* Parent: 1024 - (600 - 60 - 30 - 10); grandparent's swap: 256 - 56. */
	  .room = 524 * MiB,
	  .room_with_swap = 724 * MiB,
	  .pids = 500,
	  .millicpus = 1500,
	  .maps = 65530,
	  .for_memory = 524 * MiB,
	  .for_memory_and_swap = 724 * MiB },
	{ .tree = "v2-container",
	  .memory = 16 * GiB,
	  .available = 8 * GiB,
	  .hugepage = 2 * MiB,
	  .max = 512 * MiB,
	  .high = NO_LIMIT,
	  .room = 412 * MiB,
	  .room_with_swap = 412 * MiB,
	  .pids = 100,
	  .millicpus = 500,
	  .maps = NO_LIMIT,
	  .for_memory = 412 * MiB,
	  .for_memory_and_swap = 412 * MiB },
	{ .tree = "v2-outside",
	  .memory = 16 * GiB,
	  .available = 8 * GiB,
	  .hugepage = 2 * MiB,
	  .max = 400 * MiB,
	  .high = NO_LIMIT,
	  .room = 300 * MiB,
	  .room_with_swap = 300 * MiB,
	  .pids = NO_LIMIT,
	  .millicpus = NO_LIMIT,
	  .maps = NO_LIMIT,
	  .for_memory = 300 * MiB,
	  .for_memory_and_swap = 300 * MiB },
	{ .tree = "v2-hidden",
	  .memory = 16 * GiB,
	  .available = 8 * GiB,
	  .hugepage = 2 * MiB,
	  .max = 256 * MiB,
	  .high = NO_LIMIT,
	  .room = 200 * MiB,
	  .room_with_swap = 200 * MiB,
	  .pids = NO_LIMIT,
	  .millicpus = NO_LIMIT,
	  .maps = NO_LIMIT,
	  .for_memory = 200 * MiB,
	  .for_memory_and_swap = 200 * MiB },
	{ .tree = "v1-nested",
	  /* MemFree + Cached */
	  .memory = 4 * GiB,
	  .available = 3 * GiB,
	  .swap = GiB,
	  .swap_free = 512 * MiB,
	  .max = 1024 * MiB,
	  .high = NO_LIMIT,
	  /* 1024 - (800 - 200); memsw: 1280 - (1000 - 200), less than 424 + 512. */
	  .room = 424 * MiB,
	  .room_with_swap = 480 * MiB,
	  .pids = 32,
	  .millicpus = 2500,
	  .maps = NO_LIMIT,
	  .for_memory = 424 * MiB,
	  .for_memory_and_swap = 480 * MiB },
	{ .tree = "v1-container",
	  .memory = 16 * GiB,
	  .available = 8 * GiB,
	  .hugepage = 512 * MiB,
	  .max = NO_LIMIT,
	  .high = NO_LIMIT,
	  .room = NO_LIMIT,
	  .room_with_swap = NO_LIMIT,
	  .pids = NO_LIMIT,
	  .millicpus = 250,
	  .maps = NO_LIMIT,
	  .for_memory = 8 * GiB,
	  .for_memory_and_swap = 8 * GiB },
	{ .tree = "hybrid",
	  .memory = 24683620 * KiB,
	  .available = 24446352 * KiB,
	  .hugepage = 2 * MiB,
	  .max = NO_LIMIT,
	  .high = NO_LIMIT,
	  .room = NO_LIMIT,
	  .room_with_swap = NO_LIMIT,
	  .pids = NO_LIMIT,
	  .millicpus = NO_LIMIT,
	  .maps = 1048576,
	  .for_memory = 24446352 * KiB,
	  .for_memory_and_swap = 24446352 * KiB },
	{ .tree = "bare",
	  .memory = GiB,
	  .available = 600 * MiB,
	  .max = NO_LIMIT,
	  .high = NO_LIMIT,
	  .room = NO_LIMIT,
	  .room_with_swap = NO_LIMIT,
	  .pids = NO_LIMIT,
	  .millicpus = NO_LIMIT,
	  .maps = NO_LIMIT,
	  .for_memory = 600 * MiB,
	  .for_memory_and_swap = 600 * MiB },
};

static const char *tree_path(char buf[static 256], const char *tree)
{
	const char *fixtures = getenv("PAGEMILL_FIXTURES");

	if (!fixtures)
		SKIP("PAGEMILL_FIXTURES does not say where the recorded machines are");
	snprintf(buf, 256, "%s/%s", fixtures, tree);
	return buf;
}

#define CHECK_FIELD(field, want) CHECK_U64(tree, limits.field, trees[i].want)

static void check_tree(size_t i)
{
	const char *tree = trees[i].tree;
	struct limits limits;
	char path[256];

	CHECK_U64(tree, limits_read(&limits, tree_path(path, tree)), 0);
	CHECK_FIELD(memory_bytes, memory);
	CHECK_FIELD(memory_available_bytes, available);
	CHECK_FIELD(swap_bytes, swap);
	CHECK_FIELD(swap_free_bytes, swap_free);
	CHECK_FIELD(hugepage_bytes, hugepage);
	CHECK_FIELD(cgroup_max_bytes, max);
	CHECK_FIELD(cgroup_high_bytes, high);
	CHECK_FIELD(cgroup_room_bytes, room);
	CHECK_FIELD(cgroup_room_with_swap_bytes, room_with_swap);
	CHECK_FIELD(cgroup_pids_max, pids);
	CHECK_FIELD(cgroup_millicpus, millicpus);
	CHECK_FIELD(max_map_count, maps);
	CHECK_U64(tree, limits_memory(&limits), trees[i].for_memory);
	CHECK_U64(tree, limits_memory_and_swap(&limits), trees[i].for_memory_and_swap);
}

static void check_trees(void)
{
	struct limits limits;
	char path[256];

	for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
		check_tree(i);
	CHECK_U64("no tree", limits_read(&limits, tree_path(path, "missing")), -ENOENT);
}

/* What the two answers make of values that no tree has. */
static void check_answers(void)
{
	struct limits l = { .memory_available_bytes = 10,
			    .swap_free_bytes = 5,
			    .cgroup_room_bytes = NO_LIMIT,
			    .cgroup_room_with_swap_bytes = NO_LIMIT };

	CHECK_U64("machine", limits_memory(&l), 10);
	CHECK_U64("machine", limits_memory_and_swap(&l), 15);
	l.cgroup_room_bytes = 4;
	l.cgroup_room_with_swap_bytes = 6;
	CHECK_U64("cgroup", limits_memory(&l), 4);
	CHECK_U64("cgroup", limits_memory_and_swap(&l), 6);
	l.swap_free_bytes = UINT64_MAX;
	l.cgroup_room_with_swap_bytes = NO_LIMIT;
	CHECK_U64("sum", limits_memory_and_swap(&l), UINT64_MAX);
}

static void check_this_machine(void)
{
	struct limits limits;
	struct rlimit r = { 0 };
	uint64_t room = 0;

	CHECK_U64("this machine", limits_read(&limits, ""), 0);
	CHECK_U64("page", limits.page_bytes, sysconf(_SC_PAGESIZE));
	CHECK(limits.memory_bytes >= limits.memory_available_bytes);
	CHECK(limits.memory_available_bytes > 0);
	CHECK(limits_memory(&limits) <= limits_memory_and_swap(&limits));
	CHECK_U64("rlimit", getrlimit(RLIMIT_NOFILE, &r), 0);
	CHECK_U64("open files", limits.open_files, r.rlim_cur);
	r.rlim_cur = 77;
	CHECK_U64("rlimit", setrlimit(RLIMIT_NOFILE, &r), 0);
	CHECK_U64("this machine", limits_read(&limits, ""), 0);
	CHECK_U64("open files", limits.open_files, 77);
	CHECK_U64("room", limits_free_space("/", &room), 0);
	CHECK(room < NO_LIMIT);
	room = 7;
	CHECK_U64("no room", limits_free_space("/no/such/place", &room), -ENOENT);
	CHECK_U64("no room", room, 7);
}

/* Make a cgroup below CGROUP with a limit of 64 MiB. False: not possible here, reason
 * printed. */
static bool make_limited(const struct cgroup *cgroup, char dir[static 512])
{
	const char *file = cgroup->unified ? "memory.max" : "memory.limit_in_bytes";
	char path[600];
	int fd;
	bool done;

	snprintf(dir, 512, "%s/pagemill-limits-%d", cgroup->dir, getpid());
	if (mkdir(dir, 0755)) {
		printf("no real cgroup: create %s: %s\n", dir, strerror(errno));
		return false;
	}
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && !write_all(fd, "67108864", 8);
	if (!done) {
		printf("no real cgroup: write %s: %s\n", path, strerror(errno));
		rmdir(dir);
	}
	close(fd);
	return done;
}

/* In the child: join the cgroup, read the limits, send them. */
static void send_limits(const char *dir, int to)
{
	struct limits limits;
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write_all(fd, "0", 1))
		_exit(2);
	_exit(limits_read(&limits, "") || write_all(to, &limits, sizeof(limits)));
}

/* False: the child could not join. */
static bool limits_inside(const char *dir, struct limits *limits)
{
	int ends[2], status = -1;
	ssize_t n;
	pid_t child;

	CHECK_U64("pipe", pipe2(ends, O_CLOEXEC), 0);
	fflush(stdout);
	child = fork();
	if (!child)
		send_limits(dir, ends[1]);
	close(ends[1]);
	n = read(ends[0], limits, sizeof(*limits));
	close(ends[0]);
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		return false;
	CHECK_U64("child", status, 0);
	CHECK_U64("sent", n, sizeof(*limits));
	return true;
}

static void check_real_cgroup(void)
{
	struct limits limits = { 0 };
	bool found, made = false, joined = false;
	struct cgroup cgroup;
	char dir[512];

	found = !cgroup_find(&cgroup, "", "memory");
	if (!found)
		printf("no real cgroup: no memory controller is mounted\n");
	/* v2 has limits only where the parent hands them out. */
	while (found && !(made = make_limited(&cgroup, dir)))
		found = cgroup_up(&cgroup);
	if (made) {
		joined = limits_inside(dir, &limits);
		if (!joined)
			printf("no real cgroup: cannot join %s\n", dir);
		/* Its last task may still be on its way out. */
		for (unsigned i = 0; i < 100000 && rmdir(dir) && errno == EBUSY; i++)
			sched_yield();
		CHECK(access(dir, F_OK));
	}
	cgroup_free(&cgroup);
	if (!joined)
		return;
	CHECK_U64("real cgroup", limits.cgroup_max_bytes, 64 * MiB);
	CHECK(limits.cgroup_room_bytes <= 64 * MiB &&
	      limits.cgroup_room_bytes > 32 * MiB);
	CHECK(limits_memory(&limits) <= 64 * MiB);
	CHECK(limits_memory_and_swap(&limits) >= limits_memory(&limits));
}

int main(void)
{
	base_init();
	check_trees();
	check_answers();
	check_real_cgroup();
	check_this_machine();
	return check_result();
}
