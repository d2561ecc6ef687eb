// SPDX-License-Identifier: GPL-2.0-or-later
/* copy_trouble - tests of the rows of copyfile/methods.c where copying does not go well: short and
 * interrupted calls, a source that is cut, and what the kernel refuses. */
#include "common/clock.h"
#include "tests/unit/child.h"
#include "tests/unit/copier.h"
#include "tests/unit/short_calls.h"
#include "tests/unit/sigbus.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>

#define PLACE "/var/tmp"

enum { BLOCK = 32 * 1024, BLOCKS = 20, TAIL = 777, CUT = 9 * BLOCK + 4096 + 5 };
enum { SIZE = BLOCK * BLOCKS + TAIL };

static int source; /* SIZE bytes */
static struct child child;

/* Copies SOURCE in PLACE. */
static struct copier_test test_of(const struct method *m, bool direct)
{
	struct copier_test c = { .from = source };

	c.to = scratch_file(PLACE, m->maps ? SIZE : 0, SCRATCH_HOLE);
	CHECK(c.to >= 0);
	c.target = (struct target){
		.size_bytes = SIZE, .block_bytes = BLOCK, .depth = 4, .direct = direct
	};
	return c;
}

/* Each method that copies on any filesystem, and with O_DIRECT if there is a choice. */
static void each_method(void (*each)(const struct method *m, bool direct))
{
	for (size_t i = 0; copy_methods[i]; i++) {
		const struct method *m = copy_methods[i];

		if (!copier_built(m) || m->clones || m->no_data)
			continue;
		if (m->direct != ALWAYS)
			each(m, false);
		if (m->direct != CANNOT)
			each(m, true);
	}
}

static void check_whole(struct copier_test *c)
{
	struct cursor cursor = cursor_begin(SIZE, BLOCK, ORDER_SEQ, 0);
	struct stat st;

	CHECK_U64(c->text, copier_pump_all(c, &cursor), SIZE);
	shorten.on = false;
	CHECK(!fstat(c->to, &st));
	CHECK_U64(c->text, st.st_size, SIZE);
	CHECK_U64(c->text, copier_same(c, 0, 0, SIZE), true);
}

static void check_meddled(const struct method *m, bool direct)
{
	struct copier_test c = test_of(m, direct);

	CHECK_U64(c.text, copier_begin(&c, m), 0);
	shorten = (struct shorten){ .on = true, .unit = direct ? 4096 : 1 };
	check_whole(&c);
	/* Each block took several calls, if calls are what this method does. */
	CHECK(m->many || (m->maps && !shorten.calls) || shorten.calls > 2 * BLOCKS);
	copier_end(&c);
	close(c.to);
}

/* A file of /proc gives some KiB a call, also to a ring, which asks once if it may not wait. */
static void check_short_reads(const struct method *m, bool direct)
{
	struct copier_test c = test_of(m, false);
	char last;

	c.from = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	if (direct || !m->copies || pread(c.from, &last, 1, SIZE - 1) != 1) {
		if (!direct && m->copies)
			printf("%s: no short reads: /proc/kallsyms is not that long\n",
			       m->name);
	} else {
		CHECK_U64(c.text, copier_begin(&c, m), 0);
		CHECK(!fcntl(c.target.fd, F_SETFL, O_NONBLOCK));
		check_whole(&c);
		copier_end(&c);
	}
	close(c.from);
	close(c.to);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* A signal every 100 us, without SA_RESTART. */
static void check_interrupted(const struct method *m, bool direct)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	struct copier_test c = test_of(m, direct);

	CHECK_U64(c.text, copier_begin(&c, m), 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	check_whole(&c);
	setitimer(ITIMER_REAL, &never, NULL);
	copier_end(&c);
	close(c.to);
}

/* What is tried in a process of its own. */
struct attempt {
	const struct method *method;
	bool direct;
	const char *dir; /* of the target */
	bool cut;        /* the source, once all is open */
	struct shorten shorten;
};

static int attempt(const void *arg)
{
	const struct attempt *a = arg;
	struct copier_test c = test_of(a->method, a->direct);
	struct cursor cursor = cursor_begin(SIZE, BLOCK, ORDER_SEQ, 0);
	int64_t bytes;
	int ret;

	c.from = scratch_file(PLACE, SIZE, SCRATCH_WRITTEN);
	if (a->dir)
		c.to = scratch_file(a->dir, a->method->maps ? SIZE : 0, SCRATCH_HOLE);
	ret = copier_begin(&c, a->method);
	if (ret)
		return exit_status(ret);
	if (a->cut && ftruncate(c.from, CUT))
		return 100;
	shorten = a->shorten;
	bytes = copier_pump_all(&c, &cursor);
	shorten.on = false;
	copier_end(&c);
	return bytes < 0 ? exit_status((int)bytes) : 0;
}

/* The whole page that the cut is in is still there for a mapping. */
static void check_cut(const struct method *m, bool direct)
{
	struct attempt a = { .method = m, .direct = direct, .cut = true };

	child_run(&child, attempt, &a);
	CHECK_U64(m->name, child.status, 1);
	if (m == &method_mmap)
		CHECK(strstr(child.err, "SIGBUS at offset 303104 of SOURCE: file is "
					"shorter than the mapping"));
	else if (m == &method_mmap_write)
		CHECK(strstr(child.err,
			     "SOURCE: the file ended early, at offset 303104"));
	else
		CHECK(strstr(child.err, "SOURCE: the file ended early, at offset "));
}

/* The errno of the second call of a method: those that say "not here" are a skip. */
static const struct {
	int error;
	const char *name;
	int status;
} errors[] = {
	{ EXDEV, "EXDEV", 77 },
	{ EINVAL, "EINVAL", 77 },
	{ EOPNOTSUPP, "EOPNOTSUPP", 77 },
	{ ENOSYS, "ENOSYS", 77 },
	{ EPERM, "EPERM", 77 },
	{ ETXTBSY, "ETXTBSY", 77 },
	{ EIO, "Input/output error", 1 },
	{ ENOSPC, "No space left on device", 1 },
	{ EBADF, "Bad file descriptor", 1 },
	{ EDQUOT, "Disk quota exceeded", 1 },
	{ EFBIG, "File too large", 1 },
};

static void check_errors(const struct method *m, bool direct)
{
	struct attempt a = { .method = m };

	if (direct || m->many || m == &method_mmap)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		a.shorten = (struct shorten){
			.on = true, .unit = 1, .error_at = 2, .error = errors[i].error
		};
		child_run(&child, attempt, &a);
		CHECK_U64(m->name, child.status, errors[i].status);
		CHECK(strstr(child.err, errors[i].name) && strstr(child.err, "SOURCE") &&
		      strstr(child.err, "TARGET"));
	}
}

/* The offset of the source is set first, where it is, then that of the target: neither is taken for a
 * read or a write. */
static void check_seeks(const struct method *m, bool direct)
{
	bool reads = m == &method_readwrite || m == &method_readvwritev;
	struct attempt a = { .method = m, .shorten = { .on = true, .unit = 1 } };

	if (direct || (!reads && m != &method_sendfile))
		return;
	for (unsigned at = 1; at <= (reads ? 2 : 1); at++)
		for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
			a.shorten.seek_error_at = at;
			a.shorten.error = errors[i].error;
			child_run(&child, attempt, &a);
			CHECK_U64(m->name, child.status, errors[i].status);
			CHECK(strstr(child.err, "lseek of "));
			CHECK(strstr(child.err, errors[i].name));
		}
}

/* Nothing copied, before the end, is not to be taken for it; nothing written, for the source's end. */
static void check_nothing(const struct method *m, bool direct)
{
	bool one_call = m == &method_copy_file_range || m == &method_sendfile;
	struct attempt a = { .method = m,
			     .shorten = { .on = true,
					  .unit = 1,
					  .error_at = one_call ? 3 : 2,
					  .ends = true } };

	if (direct || m->many || m == &method_mmap)
		return;
	child_run(&child, attempt, &a);
	CHECK_U64(m->name, child.status, 1);
	CHECK(strstr(child.err, one_call ? "SOURCE: the file ended early, at offset 65536"
					 : "TARGET: No space left on device"));
}

/* What filesystems that have no reflink say, and two of them. */
static void check_reflink(void)
{
	static const struct {
		const char *to, *error;
	} rows[] = {
		{ PLACE, "EOPNOTSUPP" },
		{ "/dev/shm", "EXDEV" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct attempt a = { .method = &method_reflink, .dir = rows[i].to };

		child_run(&child, attempt, &a);
		CHECK_U64(rows[i].to, child.status, 77);
		CHECK(strstr(child.err, rows[i].error));
	}
}

/* All calls of io_uring and libaio are forbidden. */
static int forbidden(const void *arg)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_setup, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	const struct sock_fprog filter = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 100;
	return attempt(arg);
}

static void check_forbidden(const struct method *m, bool direct)
{
	struct attempt a = { .method = m, .direct = direct };

	if (!m->many)
		return;
	child_run(&child, forbidden, &a);
	CHECK_U64(m->name, child.status, 77);
	CHECK(strstr(child.err, "ENOSYS"));
}

int main(void)
{
	base_init();
	source = scratch_file(PLACE, SIZE, SCRATCH_WRITTEN);
	CHECK(source >= 0);
	each_method(check_meddled);
	each_method(check_short_reads);
	each_method(check_interrupted);
	each_method(check_cut);
	each_method(check_errors);
	each_method(check_seeks);
	each_method(check_nothing);
	each_method(check_forbidden);
	check_reflink();
	return check_result();
}
