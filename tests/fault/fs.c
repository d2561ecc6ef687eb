// SPDX-License-Identifier: GPL-2.0-or-later
/* fs - a run that is killed at any moment leaves no image, no loop device and no mount. */
#include "common/fs.h"
#include "common/fstypes.h"
#include "common/limits.h"
#include "common/mkfs.h"
#include "common/parse.h"
#include "common/rng.h"
#include "tests/unit/child.h"
#include "tests/unit/fsdir.h"

enum { ROUNDS = 3, DIRTY_MIB = 1024 };

static const char *const types[] = { "ext4", "xfs", "btrfs", "tmpfs" };

static struct rng rng;

/* The same moments again: FS_SEED=N. FS_ROUNDS=N: more of them. */
static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	uint64_t value;

	return text && !parse_count(text, &value) ? value : otherwise;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec t = timespec_of(ns);

	nanosleep(&t, NULL);
}

static int write_file(const struct fs_made *made, unsigned mib, bool flush)
{
	char path[PATH_MAX + 16];
	static char piece[MiB];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/file", made->dir);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return failed("open %s", path);
	memset(piece, 'x', sizeof(piece));
	for (unsigned i = 0; i < mib && !ret; i++)
		ret = write_all(fd, piece, sizeof(piece));
	if (!ret && flush && fsync(fd))
		ret = failed("flush %s", path);
	close(fd);
	return ret;
}

/* For ever: the test kills it. */
static int write_over_and_over(const struct fs_made *made)
{
	while (!write_file(made, 8, true))
		holder_self->beats++;
	return -EIO;
}

static int write_dirty(const struct fs_made *made)
{
	return write_file(made, DIRTY_MIB, false);
}

/* Can a filesystem of TYPE be made here, and how long does it take? */
static bool can_make(const char *type, uint64_t *took_ns)
{
	const struct fs_config c = { .type = type, .size_bytes = 512 * MiB };
	const uint64_t began_ns = now_ns();
	struct holder h = holder_start(&c, fsdir, NULL);
	bool opened = holder_await(&h, &h.told->opened);
	int result = h.told->result;

	*took_ns = now_ns() - began_ns;
	holder_kill(&h, SIGKILL);
	fsdir_check_away(type);
	if (!opened)
		printf("%s not tested: exit status %d\n", type, exit_status(result));
	CHECK(opened || exit_status(result) == 77);
	return opened;
}

/* Somewhere between the fork and a good while after the mount. */
static void kill_at_random(const char *type, uint64_t took_ns, unsigned rounds)
{
	const struct fs_config c = { .type = type, .size_bytes = 512 * MiB };
	char row[96];

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t at_ns = rng_scale(rng_next(&rng), 3 * took_ns);
		struct holder h = holder_start(&c, fsdir, write_over_and_over);

		sleep_ns(at_ns);
		snprintf(row, sizeof(row), "%s, killed after %ju us, %s", type,
			 (uintmax_t)(at_ns / ns_per_us),
			 h.told->opened ? "writing" : "making");
		CHECK_U64(row, WTERMSIG(holder_kill(&h, SIGKILL)), SIGKILL);
		fsdir_check_away(row);
		printf("%s\n", row);
	}
}

static void kill_dirty(const char *type)
{
	const struct fs_config c = { .type = type, .size_bytes = 2 * GiB };
	struct holder h = holder_start(&c, fsdir, write_dirty);
	char row[64];

	snprintf(row, sizeof(row), "%s, killed with %d MiB dirty", type, DIRTY_MIB);
	CHECK(holder_await(&h, &h.told->done));
	CHECK_U64(row, h.told->result, 0);
	CHECK_U64(row, WTERMSIG(holder_kill(&h, SIGKILL)), SIGKILL);
	fsdir_check_away(row);
}

/* mkfs is there for long: it copies what it finds in /usr. */
static void kill_during_mkfs(int sig)
{
	const struct fs_config c = { .type = "ext4",
				     .size_bytes = 4 * GiB,
				     .mkfs_options = "-d /usr" };
	struct holder h = holder_start(&c, fsdir, NULL);
	const uint64_t deadline = now_ns() + 20 * ns_per_s;
	char row[64];

	snprintf(row, sizeof(row), "signal %d during mkfs", sig);
	while (!fsdir_has_loop() && now_ns() < deadline)
		poll(NULL, 0, 1);
	sleep_ns(rng_scale(rng_next(&rng), 100 * ns_per_ms));
	CHECK(fsdir_has_loop());
	CHECK_U64(row, h.told->opened, false);
	CHECK_U64(row, WTERMSIG(holder_kill(&h, sig)), sig);
	fsdir_check_away(row);
}

/* The last process that uses it takes it down, not the first. */
static int leave_child(const struct fs_made *made)
{
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	(void)made;
	return child;
}

static void outlive(const char *type)
{
	const struct fs_config c = { .type = type, .size_bytes = 512 * MiB };
	struct holder h = holder_start(&c, fsdir, leave_child);
	char mounts[64], *text;
	pid_t child;

	CHECK(holder_await(&h, &h.told->done));
	child = h.told->result;
	CHECK_U64(type, WTERMSIG(holder_kill(&h, SIGKILL)), SIGKILL);
	snprintf(mounts, sizeof(mounts), "/proc/%d/mountinfo", child);
	text = procfile_read("", "%s", mounts);
	CHECK(text && strstr(text, fsdir));
	free(text);
	kill(child, SIGKILL);
	fsdir_check_away(type);
}

/* One of two in the same directory goes; the other does not notice. */
static void side_by_side(const char *type)
{
	const struct fs_config c = { .type = type, .size_bytes = 512 * MiB };
	struct holder one = holder_start(&c, fsdir, write_over_and_over);
	struct holder two = holder_start(&c, fsdir, write_over_and_over);
	const uint64_t deadline = now_ns() + 30 * ns_per_s;
	char path[128];
	unsigned beats;

	CHECK(holder_await(&one, &one.told->opened));
	CHECK(holder_await(&two, &two.told->opened));
	CHECK(!fsdir_has_mount() && !fsdir_has_names());
	holder_kill(&one, SIGKILL);
	for (beats = two.told->beats; two.told->beats < beats + 3 && now_ns() < deadline;)
		poll(NULL, 0, 1);
	CHECK(two.told->beats >= beats + 3);
	snprintf(path, sizeof(path), "/proc/%d/root%s/file", two.pid, fsdir);
	CHECK(!access(path, F_OK));
	holder_kill(&two, SIGKILL);
	fsdir_check_away(type);
}

static int open_as_told(const void *arg)
{
	static struct fs_made made;

	return exit_status(fs_open(arg, fsdir, &made));
}

/* A filesystem that cannot be made, or cannot be mounted: the program's own words, and no trace
 * of it. */
static void fail_to_make(void)
{
	static const struct {
		struct fs_config config;
		int status;
		const char *says[3];
	} rows[] = {
		{ { .type = "ext4", .size_bytes = 64 * MiB, .mkfs_options = "-i 1" },
		  1,
		  { "invalid inode ratio 1", "mkfs.ext4 failed with exit status 1" } },
		{ { .type = "xfs",
		    .size_bytes = 512 * MiB,
		    .mkfs_options = "-d  agcount=x" },
		  1,
		  { "agcount", "mkfs.xfs failed with exit status 1" } },
		{ { .type = "btrfs",
		    .size_bytes = 512 * MiB,
		    .mkfs_options = "--no-such" },
		  1,
		  { "--no-such", "mkfs.btrfs failed with exit status 1" } },
		{ { .type = "ext4,no_such_option", .size_bytes = 64 * MiB },
		  1,
		  { "mount ext4 over", fsdir, "noinit_itable,no_such_option'" } },
		{ { .type = "tmpfs", .mount_options = "no_such_option" },
		  1,
		  { "mount tmpfs over", fsdir, "no_such_option'" } },
		{ { .type = "ext4", .size_bytes = 64 * MiB, .on = "/proc" },
		  1,
		  { "create the image of the scratch filesystem of 67108864 bytes in "
		    "/proc: " } },
		{ { .type = "f2fs", .size_bytes = 64 * MiB, .mkfs_options = "-Q" },
		  -1,
		  { NULL } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct child c;

		child_run(&c, open_as_told, &rows[i].config);
		if (rows[i].status < 0)
			CHECK(c.status == 1 || c.status == 77);
		else
			CHECK_U64(rows[i].config.type, c.status, rows[i].status);
		for (size_t w = 0; w < ARRAY_SIZE(rows[i].says); w++)
			if (rows[i].says[w] && !strstr(c.err, rows[i].says[w]))
				CHECK_TEXT(rows[i].config.type, c.err, rows[i].says[w]);
		fsdir_check_away(rows[i].config.type);
	}
}

static bool room_for_dirty(void)
{
	struct limits limits;
	uint64_t space;

	return !limits_read(&limits, "") && !limits_free_space(fsdir, &space) &&
	       space >= 3 * GiB && limits_memory(&limits) >= 3 * GiB;
}

int main(void)
{
	const uint64_t seed = from_environment("FS_SEED", now_ns());
	const unsigned rounds = (unsigned)from_environment("FS_ROUNDS", ROUNDS);
	bool dirty, ext4 = false;
	uint64_t took_ns;

	base_init();
	fsdir_require_root();
	fsdir_make();
	rng = rng_stream(seed, 0);
	printf("FS_SEED=%ju\n", (uintmax_t)seed);
	dirty = room_for_dirty();
	if (!dirty)
		printf("no %d MiB dirty: less than 3 GiB of disk or memory\n", DIRTY_MIB);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (!can_make(types[i], &took_ns))
			continue;
		ext4 = ext4 || !strcmp(types[i], "ext4");
		kill_at_random(types[i], took_ns, rounds);
		outlive(types[i]);
		side_by_side(types[i]);
		if (dirty)
			kill_dirty(types[i]);
	}
	if (dirty && ext4) {
		kill_during_mkfs(SIGKILL);
		kill_during_mkfs(SIGTERM);
	}
	fail_to_make();
	fsdir_remove();
	return check_result();
}
