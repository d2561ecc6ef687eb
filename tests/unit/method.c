// SPDX-License-Identifier: GPL-2.0-or-later
/* method - tests of common/method.c: the table, what is refused, and what O_DIRECT wants. */
#include "common/method.h"

#include "common/loop.h"
#include "common/scratch.h"
#include "common/uapi.h"
#include "tests/check.h"
#include "tests/unit/child.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* In place of libc's: what statx(2) says of O_DIRECT. */
static struct {
	bool played, told;
	int error;
	uint32_t memory, offset;
} dio;

int statx(int fd, const char *restrict path, int flags, unsigned mask,
	  struct statx *restrict st)
{
	if (!dio.played)
		return (int)syscall(SYS_statx, fd, path, flags, mask, st);
	errno = dio.error;
	if (dio.error)
		return -1;
	st->stx_mask = dio.told ? mask : mask & ~UAPI_STATX_DIOALIGN;
	memcpy((char *)st + 0x98, &dio.memory, 4);
	memcpy((char *)st + 0x9c, &dio.offset, 4);
	return 0;
}

static int opened, closed;
static const void *last_state;

static int open_well(void *state, const struct target *t)
{
	const char *byte = state;

	(void)t;
	opened++;
	last_state = state;
	CHECK_U64("aligned", (uintptr_t)state % 128, 0);
	for (size_t i = 0; i < 300; i++)
		CHECK(!byte[i]);
	memset(state, 1, 300);
	return 0;
}

static int open_badly(void *state, const struct target *t)
{
	(void)state;
	(void)t;
	return -ENOSPC;
}

static void close_well(void *state)
{
	CHECK(state == last_state);
	closed++;
}

static const struct method plain = { .name = "plain",
				     .help = "nothing special",
				     .state_bytes = 300,
				     .open = open_well,
				     .close = close_well };
static const struct method able = {
	.name = "able", .help = "all", .direct = CAN, .uncached = CAN
};
static const struct method always = { .name = "always",
				      .help = "direct",
				      .direct = ALWAYS };
static const struct method bad = { .name = "bad", .help = "fails", .open = open_badly };
static const struct method *const table[] = { &plain, &able, &always, &bad, NULL };

static void check_find(void)
{
	CHECK(method_find(table, "plain") == &plain);
	CHECK(method_find(table, "bad") == &bad);
	CHECK(!method_find(table, "pla"));
	CHECK(!method_find(table, ""));
	CHECK(!method_find(&table[4], "plain"));
}

static int list(const void *arg)
{
	(void)arg;
	return method_list(table);
}

static void check_list(void)
{
	struct child c;

	child_run(&c, list, NULL);
	CHECK_U64("list", c.status, 0);
	CHECK_TEXT("list", c.out,
		   "plain        nothing special\n"
		   "able         all\n"
		   "always       direct\n"
		   "bad          fails\n");
}

static const struct ability_row {
	const struct method *method;
	bool direct, uncached;
	const char *said; /* NULL: it can */
} abilities[] = {
	{ &plain, false, false, NULL },
	{ &plain, true, false,
	  "unit-method: method plain does not work with O_DIRECT\n" },
	{ &plain, false, true,
	  "unit-method: method plain does not work uncached (RWF_DONTCACHE)\n" },
	{ &able, false, false, NULL },
	{ &able, true, true, NULL },
	{ &always, true, false, NULL },
	{ &always, false, false,
	  "unit-method: method always works with O_DIRECT only\n" },
	{ &always, true, true,
	  "unit-method: method always does not work uncached (RWF_DONTCACHE)\n" },
};

static int check_ability(const void *arg)
{
	const struct ability_row *r = arg;
	struct target t = { .direct = r->direct, .uncached = r->uncached };

	return exit_status(method_check(r->method, &t));
}

static void check_abilities(void)
{
	struct child c;

	for (size_t i = 0; i < ARRAY_SIZE(abilities); i++) {
		child_run(&c, check_ability, &abilities[i]);
		CHECK_U64(abilities[i].method->name, c.status, abilities[i].said ? 2 : 0);
		CHECK_TEXT(abilities[i].method->name, c.err, abilities[i].said ?: "");
	}
}

static void check_open(void)
{
	struct target t = { .name = "FILE", .block_bytes = 4096, .align_bytes = 1 };
	void *state = NULL;

	CHECK_U64("open", method_open(&plain, &t, &state), 0);
	CHECK(state && state == last_state);
	method_close(&plain, state);
	CHECK_U64("opened", opened, 1);
	CHECK_U64("closed", closed, 1);
	state = NULL;
	CHECK_U64("bad", method_open(&bad, &t, &state), -ENOSPC);
	CHECK(!state);
	/* Without hooks and without a state. */
	CHECK_U64("able", method_open(&able, &t, &state), 0);
	method_close(&able, state);
}

static int say_refused(const void *arg)
{
	struct target t = { .name = "FILE" };

	return exit_status(method_refused(&t, "call", EPERM, "do %s", (const char *)arg));
}

static int say_failed(const void *arg)
{
	struct target t = { .name = "FILE" };

	(void)arg;
	errno = ENXIO;
	return exit_status(method_failed(&t, "call", UINT64_C(5) << 32));
}

static int say_early(const void *arg)
{
	struct target t = { .name = "FILE" };

	(void)arg;
	return exit_status(method_ended_early(&t, UINT64_C(5) << 32));
}

static void check_sayings(void)
{
	struct child c;

	child_run(&c, say_refused, "this");
	CHECK_U64("refused", c.status, 77);
	CHECK_TEXT("refused", c.err, "unit-method: FILE: call: EPERM: do this\n");
	child_run(&c, say_failed, NULL);
	CHECK_U64("failed", c.status, 1);
	CHECK_TEXT("failed", c.err,
		   "unit-method: call at offset 21474836480 of FILE: No such device or "
		   "address\n");
	child_run(&c, say_early, NULL);
	CHECK_U64("early", c.status, 1);
	CHECK_TEXT("early", c.err,
		   "unit-method: FILE: the file ended early, at offset 21474836480\n");
}

static const struct {
	bool told;
	int error;
	uint32_t memory, offset;
	int ret;
	uint64_t bytes; /* 0: what the filesystem has */
} alignments[] = {
	{ true, 0, 4, 512, 0, 512 },        { true, 0, 512, 4096, 0, 4096 },
	{ true, 0, 4096, 512, 0, 4096 },    { true, 0, 512, 65536, 0, 65536 },
	{ true, 0, 0, 0, -EOPNOTSUPP, 77 }, { true, 0, 512, 0, -EOPNOTSUPP, 77 },
	{ false, 0, 512, 65536, 0, 0 },     { true, EINVAL, 512, 65536, 0, 0 },
	{ true, ENOSYS, 512, 65536, 0, 0 },
};

static void check_alignments(int fd)
{
	struct statfs fs = { 0 };
	uint64_t bytes;

	CHECK_U64("statfs", fstatfs(fd, &fs), 0);
	for (size_t i = 0; i < ARRAY_SIZE(alignments); i++) {
		dio.played = true;
		dio.told = alignments[i].told;
		dio.error = alignments[i].error;
		dio.memory = alignments[i].memory;
		dio.offset = alignments[i].offset;
		bytes = 77;
		CHECK_U64("alignment", direct_alignment(fd, "FILE", &bytes),
			  alignments[i].ret);
		/* No disk here has sectors larger than the blocks. */
		CHECK_U64("alignment", bytes,
			  alignments[i].bytes ?: (uint64_t)fs.f_bsize);
	}
	dio.played = false;
}

static void check_device(int image)
{
	uint64_t bytes = 0;
	int sector = 0, fd;
	char name[LOOP_NAME_LEN];

	fd = loop_attach(image, name);
	if (fd < 0 || ioctl(fd, BLKSSZGET, &sector)) {
		printf("a block device not tested\n");
		return;
	}
	dio.played = true;
	dio.error = EINVAL;
	CHECK_U64("device", direct_alignment(fd, "DISK", &bytes), 0);
	CHECK_U64("device", bytes, sector);
	dio.played = false;
	CHECK_U64("device", direct_alignment(fd, "DISK", &bytes), 0);
	CHECK(bytes >= (uint64_t)sector && bytes <= 4096);
	close(fd);
}

static void check_target_open(int fd)
{
	struct target t = { .name = "FILE", .block_bytes = 64 * KiB };
	char byte;

	CHECK_U64("open", target_open(&t, fd), 0);
	CHECK_U64("alignment", t.align_bytes, 1);
	CHECK_U64("flags", fcntl(t.fd, F_GETFL) & (O_ACCMODE | O_DIRECT), O_RDONLY);
	CHECK_U64("close-on-exec", fcntl(t.fd, F_GETFD), FD_CLOEXEC);
	CHECK_U64("own offset", read(t.fd, &byte, 1) + lseek(fd, 0, SEEK_CUR), 1);
	close(t.fd);
	t.direct = true;
	CHECK_U64("direct", target_open(&t, fd), 0);
	CHECK(t.align_bytes >= 512 && !(t.align_bytes & (t.align_bytes - 1)));
	CHECK(fcntl(t.fd, F_GETFL) & O_DIRECT);
	close(t.fd);
}

static int open_odd_blocks(const void *arg)
{
	struct target t = { .name = "FILE", .block_bytes = 1000, .direct = true };

	return exit_status(target_open(&t, *(const int *)arg));
}

static int open_proc(const void *arg)
{
	struct target t = { .name = "STATUS", .block_bytes = 4096, .direct = true };
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	(void)arg;
	return exit_status(target_open(&t, fd));
}

static void check_target_refused(int fd)
{
	struct child c;

	child_run(&c, open_odd_blocks, &fd);
	CHECK_U64("odd blocks", c.status, 2);
	CHECK(strstr(c.err, "FILE: O_DIRECT takes blocks of a multiple of "));
	CHECK(strstr(c.err, " here, not 1000\n"));
	child_run(&c, open_proc, NULL);
	CHECK_U64("no direct I/O", c.status, 77);
	CHECK(strstr(c.err,
		     "STATUS: open with O_DIRECT: EINVAL: its filesystem has no direct "
		     "I/O: "));
}

static int probe_proc(const void *arg)
{
	struct target t = { .name = "STATUS",
			    .fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC),
			    .block_bytes = 4096,
			    .align_bytes = 1,
			    .uncached = true };
	char memory[4096];

	(void)arg;
	return exit_status(target_probe(&t, memory));
}

static void check_probe(void)
{
	struct target t = { .fd = -1 };
	struct child c;

	CHECK_U64("nothing to try", target_probe(&t, NULL), 0);
	child_run(&c, probe_proc, NULL);
	CHECK_U64("uncached", c.status, 77);
	CHECK(strstr(
		c.err,
		"STATUS: read with RWF_DONTCACHE: EOPNOTSUPP: it takes Linux 6.14 "));
}

static void check_memory(void)
{
	static const struct {
		uint64_t block_bytes, align_bytes, count, step;
	} rows[] = {
		{ 1, 1, 3, 4096 },
		{ 4096, 1, 3, 4096 },
		{ 4097, 1, 2, 8192 },
		{ 4096, 512, 1, 4096 },
		{ 64 * KiB, 64 * KiB, 2, 64 * KiB },
	};
	struct target t = { .name = "FILE" };
	uint64_t step;
	char *memory;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		t.block_bytes = rows[i].block_bytes;
		t.align_bytes = rows[i].align_bytes;
		memory = target_memory(&t, rows[i].count, &step);
		CHECK(memory);
		CHECK_U64("aligned", (uintptr_t)memory % MAX(4096, t.align_bytes), 0);
		CHECK_U64("step", step, rows[i].step);
		memset(memory, 1, step * rows[i].count);
		free(memory);
	}
	t.block_bytes = UINT64_C(1) << 40;
	CHECK(!target_memory(&t, 1 << 30, &step));
}

int main(void)
{
	int fd;

	base_init();
	fd = scratch_file("/var/tmp", MiB, SCRATCH_WRITTEN);
	if (fd < 0)
		SKIP("no file in /var/tmp");
	check_find();
	check_list();
	check_abilities();
	check_open();
	check_sayings();
	check_alignments(fd);
	check_device(fd);
	check_target_open(fd);
	check_target_refused(fd);
	check_probe();
	check_memory();
	close(fd);
	return check_result();
}
