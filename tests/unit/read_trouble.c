// SPDX-License-Identifier: GPL-2.0-or-later
/* read_trouble - tests of the rows of readtwice/methods.c where reading does not go well: short and
 * interrupted calls, files that are cut, passes that are cut, and what the system refuses. */
#include "tests/unit/child.h"
#include "tests/unit/reader.h"
#include "tests/unit/short_reads.h"
#include "tests/unit/sigbus.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

#define PLACE "/var/tmp"

enum { BLOCK = 16 * 1024, BLOCKS = 20, TAIL = 777 };
enum { SIZE = BLOCK * BLOCKS + TAIL, CUT = 9 * BLOCK + 5001 };

static int file; /* SIZE bytes */

static struct reader reader_for(const struct method *m, bool direct)
{
	struct target t = { .size_bytes = SIZE,
			    .block_bytes = BLOCK,
			    .depth = 8,
			    .direct = direct,
			    .check = reader_check };

	t.direct |= m->direct == ALWAYS;
	return (struct reader){ .target = t };
}

/* EACH method as it is and, if there is a choice, with O_DIRECT. */
static void each_method(void (*each)(const struct method *m, bool direct))
{
	for (size_t i = 0; read_methods[i]; i++) {
		if (!reader_built(read_methods[i]))
			continue;
		each(read_methods[i], read_methods[i]->direct == ALWAYS);
		if (read_methods[i]->direct == CAN)
			each(read_methods[i], true);
	}
}

static void check_meddled(const struct method *m, bool direct)
{
	struct reader r = reader_for(m, direct);

	if (reader_open(&r, m, file)) {
		CHECK(!"open");
		return;
	}
	meddle = (struct meddle){ .fd = r.target.fd,
				  .unit = direct ? 4096 : 1,
				  .hidden = direct ? 1000 : 0 };
	for (int pass = 0; pass < 3; pass++) {
		reader_pass(&r, ORDER_SEQ, 0);
		reader_pass(&r, ORDER_RANDOM, 1);
	}
	/* Each block took several calls, if calls are what this method does. */
	CHECK(!meddle.calls || meddle.calls > 6 * BLOCKS * 3 / 2);
	CHECK_U64(m->name, !meddle.calls, m->many || m->maps || m->no_data);
	meddle.fd = -1;
	reader_close(&r);
}

/* What is tried in a process of its own. */
struct attempt {
	const struct method *method;
	bool direct;
	uint64_t cut;
};

/* The fifth call fails. */
static int read_with_error(const void *arg)
{
	const struct attempt *a = arg;
	struct reader r = reader_for(a->method, a->direct);
	struct cursor c = cursor_begin(SIZE, BLOCK, ORDER_SEQ, 0);
	int64_t ret;

	ret = reader_open(&r, a->method, file);
	if (ret)
		return 90;
	meddle = (struct meddle){
		.fd = r.target.fd, .unit = 1, .error_at = 5, .error = EIO
	};
	ret = reader_pump(&r, &c);
	reader_close(&r);
	return r.wrong || r.blocks != 4 ? 91 : exit_status((int)ret);
}

static void check_error(const struct method *m, bool direct)
{
	struct attempt a = { m, direct, 0 };
	char want[128];
	struct child c;

	if (m->many || m->maps || m->no_data)
		return;
	child_run(&c, read_with_error, &a);
	snprintf(want, sizeof(want),
		 "unit-read_trouble: %s at offset %d of FILE: Input/output error\n",
		 m->name, 4 * BLOCK);
	CHECK_U64(m->name, c.status, 1);
	CHECK_TEXT(m->name, c.err, want);
}

/* Another's file, cut after one pump. Bytes that came before it was found out: no more than are in
 * flight by then. */
static int read_cut_file(const void *arg)
{
	const struct attempt *a = arg;
	struct reader r = reader_for(a->method, a->direct);
	struct cursor c = cursor_begin(SIZE, BLOCK, ORDER_SEQ, 0);
	int fd = scratch_file(PLACE, SIZE, SCRATCH_WRITTEN);
	int64_t bytes, ret;

	r.target.depth = a->cut == CUT ? 8 : 1;
	if (fd < 0 || reader_open(&r, a->method, fd))
		return 90;
	bytes = a->method->pump(r.state, &c);
	if (bytes < BLOCK || ftruncate(fd, (off_t)a->cut))
		return 91;
	while ((ret = a->method->pump(r.state, &c)) > 0)
		bytes += ret;
	reader_close(&r);
	printf("%jd\n", (intmax_t)bytes);
	fflush(stdout);
	return r.wrong ? 92 : exit_status((int)ret);
}

static void check_file_cut_at(const struct method *m, bool direct, uint64_t cut)
{
	static const char early[] =
		"unit-read_trouble: FILE: the file ended early, at offset ";
	struct attempt a = { m, direct, cut };
	uint64_t at, most;
	struct child c;

	if (m->no_data)
		return;
	child_run(&c, read_cut_file, &a);
	CHECK_U64(m->name, c.status, 1);
	if (m->maps) {
		CHECK(strstr(c.err, "SIGBUS at offset "));
		CHECK(strstr(c.err, " of FILE: file is shorter than the mapping\n"));
		return;
	}
	CHECK(!strncmp(c.err, early, strlen(early)));
	at = strtoull(c.err + strlen(early), NULL, 10);
	/* Of many requests, the first to come back may be one behind the cut. */
	most = m->many ? MIN(cut / BLOCK + 8, BLOCKS) * BLOCK : cut / BLOCK * BLOCK;
	CHECK(m->many ? at >= cut && at < SIZE : at == cut);
	CHECK(strtoull(c.out, NULL, 10) <= most);
}

/* In the middle, and in the last block: there nothing else comes. */
static void check_cut_file(const struct method *m, bool direct)
{
	check_file_cut_at(m, direct, CUT);
	if (!m->maps)
		check_file_cut_at(m, direct, SIZE - 100);
}

static void check_cut_pass(const struct method *m, bool direct)
{
	struct reader r = reader_for(m, direct);
	struct cursor c = cursor_begin(SIZE, BLOCK, ORDER_SEQ, 0);
	int64_t bytes;

	if (reader_open(&r, m, file)) {
		CHECK(!"open");
		return;
	}
	bytes = m->pump(r.state, &c);
	c.end = c.next;
	bytes += reader_pump(&r, &c);
	CHECK_U64(r.text, bytes, c.next * BLOCK);
	CHECK_U64(r.text, c.next, m->many ? 8 : 1);
	CHECK_U64(r.text, r.blocks, m->no_data ? 0 : c.next);
	CHECK_U64(r.text, r.wrong, 0);
	/* What was left is for the next pass. */
	reader_pass(&r, ORDER_REVERSE, 0);
	reader_close(&r);
}

/* Closed with requests in flight, many times: none may write into memory that is free by then. */
static void check_close(const struct method *m, bool direct)
{
	for (int i = 0; i < 50; i++) {
		struct reader r = reader_for(m, direct);
		struct cursor c = cursor_begin(SIZE, BLOCK, ORDER_RANDOM, (uint64_t)i);

		if (reader_open(&r, m, file)) {
			CHECK(!"open");
			return;
		}
		CHECK(m->pump(r.state, &c) > 0);
		reader_close(&r);
		CHECK_U64(r.text, r.wrong, 0);
	}
}

/* The check of a block that says no. */
static int object(void *context, const struct span *block, const void *data)
{
	(void)context;
	(void)data;
	return block->at / BLOCK >= 2 ? -EDOM : 0;
}

static void check_objection(const struct method *m, bool direct)
{
	struct reader r = reader_for(m, direct);
	struct cursor c = cursor_begin(SIZE, BLOCK, ORDER_SEQ, 0);

	if (m->no_data)
		return;
	r.target.check = object;
	if (reader_open(&r, m, file)) {
		CHECK(!"open");
		return;
	}
	CHECK_U64(r.text, reader_pump(&r, &c), -EDOM);
	reader_close(&r);
}

static void tick(int sig)
{
	(void)sig;
}

/* A signal every millisecond, which restarts nothing. */
static void check_signals(void)
{
	struct sigaction action = { .sa_handler = tick };
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 10; i++)
		each_method(check_cut_pass);
	setitimer(ITIMER_REAL, &never, NULL);
}

static int open_only(const struct method *m, unsigned depth, uint64_t block)
{
	struct reader r = { .target = { .fd = file,
					.name = "FILE",
					.size_bytes = SIZE,
					.block_bytes = block,
					.depth = depth,
					.align_bytes = 1 } };
	int ret = method_open(m, &r.target, &r.state);

	if (!ret)
		method_close(m, r.state);
	return exit_status(ret);
}

/* From here on system call NUMBER fails with ERROR. Memory without a file can still be mapped: the allocator, a
 * sanitizer's above all, cannot do without. */
static int forbid(unsigned number, unsigned error)
{
	const size_t fd_at = offsetof(struct seccomp_data, args[4]) +
			     (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0);
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)fd_at),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX, number == SYS_mmap, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static const struct refusal {
	const struct method *method;
	unsigned number, error;
	int status;
	const char *said;
} refusals[] = {
	{ &method_io_uring, SYS_io_uring_setup, EPERM, 77,
	  "FILE: io_uring_setup: EPERM: kernel.io_uring_disabled is " },
	{ &method_io_uring, SYS_io_uring_setup, ENOSYS, 77,
	  "FILE: io_uring_setup: ENOSYS: the kernel is built without it, or a seccomp "
	  "filter "
	  "forbids it" },
	{ &method_io_uring, SYS_io_uring_setup, ENOMEM, 77,
	  "FILE: io_uring_setup: ENOMEM: memlock limit is " },
	{ &method_io_uring, SYS_io_uring_setup, EMFILE, 1,
	  "FILE: io_uring_setup for 8 requests: Too many open files" },
	{ &method_io_uring, SYS_io_uring_register, ENOMEM, 77,
	  "FILE: io_uring_register of buffers: ENOMEM: memlock limit is " },
	{ &method_libaio, SYS_io_setup, EAGAIN, 77,
	  "FILE: io_setup: EAGAIN: 8 requests wanted, fs.aio-max-nr is " },
	{ &method_libaio, SYS_io_setup, ENOSYS, 77, "FILE: io_setup: ENOSYS: " },
	{ &method_libaio, SYS_io_setup, ENOMEM, 1,
	  "FILE: io_setup for 8 requests: Cannot allocate memory" },
	{ &method_mmap, SYS_mmap, ENODEV, 77, "FILE: mmap: ENODEV: " },
	{ &method_sendfile, SYS_openat, EMFILE, 1,
	  "open /dev/null: Too many open files" },
	{ &method_splice, SYS_pipe2, EMFILE, 1, "pipe: Too many open files" },
};

static int open_forbidden(const void *arg)
{
	const struct refusal *r = arg;

	return forbid(r->number, r->error) ? 90 : open_only(r->method, 8, BLOCK);
}

static void check_refusals(void)
{
	struct child c;

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		child_run(&c, open_forbidden, &refusals[i]);
		if (!reader_built(refusals[i].method)) {
			CHECK_U64("not built", c.status, 77);
			CHECK(strstr(c.err, ": built without lib"));
			continue;
		}
		CHECK_U64(refusals[i].said, c.status, refusals[i].status);
		if (!strstr(c.err, refusals[i].said))
			CHECK_TEXT("refusal", c.err, refusals[i].said);
		CHECK(strchr(c.err, '\n') == strrchr(c.err, '\n'));
	}
}

/* Calls for many requests that fail once all is open: no way to read is given up for them. */
static const struct refusal failures[] = {
	{ &method_libaio, SYS_io_submit, EINVAL, 1,
	  "unit-read_trouble: io_submit at offset 0 of FILE: Invalid argument\n" },
	{ &method_libaio, SYS_io_getevents, EINVAL, 1,
	  "unit-read_trouble: FILE: io_getevents: Invalid argument\n" },
	{ &method_io_uring, SYS_io_uring_enter, EPERM, 1,
	  "unit-read_trouble: FILE: io_uring_enter: Operation not permitted\n" },
};

static int read_forbidden(const void *arg)
{
	const struct refusal *f = arg;
	struct reader r = reader_for(f->method, false);
	struct cursor c = cursor_begin(SIZE, BLOCK, ORDER_SEQ, 0);

	if (reader_open(&r, f->method, file) || forbid(f->number, f->error))
		return 90;
	return exit_status((int)reader_pump(&r, &c));
}

static void check_failing(void)
{
	struct child c;

	for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
		if (!reader_built(failures[i].method))
			continue;
		child_run(&c, read_forbidden, &failures[i]);
		CHECK_U64(failures[i].said, c.status, failures[i].status);
		CHECK_TEXT(failures[i].method->name, c.err, failures[i].said);
	}
}

/* Buffers, of which nobody may lock more than 64 KiB; of the many the rings alone are more. */
static const struct unlockable {
	unsigned depth;
	const char *said;
} unlockables[] = {
	{ 16, "memlock limit is 64k, needed 1050112: " },
	{ 1024, "memlock limit is 64k, needed 65632k: " },
};

static int open_unlockable(const void *arg)
{
	const struct rlimit limit = { 64 * KiB, 64 * KiB };
	const struct unlockable *u = arg;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(65534) || setuid(65534))
		return 90;
	return open_only(&method_io_uring, u->depth, 64 * KiB);
}

static void check_memlock(const struct unlockable *u)
{
	struct child c;

	if (getuid() || !reader_built(&method_io_uring)) {
		printf("the memlock limit not tested: needs root, and io_uring\n");
		return;
	}
	child_run(&c, open_unlockable, u);
	if (!c.status) {
		printf("the memlock limit not tested: this kernel does not charge it\n");
		return;
	}
	CHECK_U64("memlock", c.status, 77);
	CHECK(strstr(c.err, ": ENOMEM: "));
	if (!strstr(c.err, u->said))
		CHECK_TEXT("memlock", c.err, u->said);
}

static int open_deep(const void *arg)
{
	(void)arg;
	return open_only(&method_io_uring, 16385, 4096);
}

static int open_wide(const void *arg)
{
	(void)arg;
	return open_only(&method_io_uring, 1, GiB + 4096);
}

static void check_too_much(void)
{
	struct child c;

	if (!reader_built(&method_io_uring))
		return;
	child_run(&c, open_deep, NULL);
	CHECK_U64("deep", c.status, 2);
	child_run(&c, open_wide, NULL);
	CHECK_U64("wide", c.status, 2);
}

int main(void)
{
	base_init();
	file = scratch_file(PLACE, SIZE, SCRATCH_WRITTEN);
	if (file < 0)
		SKIP("no file in " PLACE);
	each_method(check_meddled);
	each_method(check_error);
	each_method(check_cut_file);
	each_method(check_cut_pass);
	each_method(check_close);
	each_method(check_objection);
	check_signals();
	check_refusals();
	check_failing();
	for (size_t i = 0; i < ARRAY_SIZE(unlockables); i++)
		check_memlock(&unlockables[i]);
	check_too_much();
	return check_result();
}
