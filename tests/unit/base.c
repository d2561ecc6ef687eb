// SPDX-License-Identifier: GPL-2.0-or-later
/* base - tests of common/base.c. */
#include "common/base.h"
#include "tests/check.h"
#include "tests/unit/child.h"
#include "tests/unit/hear.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>

enum { PIPE_ROOM = 4096 }; /* a longer write to a pipe may be torn */

/* In place of libc's: with write_most set, each other call is interrupted, and no call writes
 * more than that. */
static size_t write_most;
static unsigned write_calls;

ssize_t write(int fd, const void *data, size_t len)
{
	if (!write_most)
		return syscall(SYS_write, fd, data, len);
	if (++write_calls % 2) {
		errno = EINTR;
		return -1;
	}
	return syscall(SYS_write, fd, data, MIN(len, write_most));
}

static const struct {
	const char *name;
	int ret, status;
} statuses[] = {
	{ "success", 0, 0 },
	{ "refused", -EBADRQC, 2 },
	{ "unsupported", -EOPNOTSUPP, 77 },
	{ "no such call", -ENOSYS, 77 },
	{ "EIO", -EIO, 1 },
	{ "ENOENT", -ENOENT, 1 },
	{ "EINVAL", -EINVAL, 1 },
	{ "ECHILD", -ECHILD, 1 },
	{ "ENOMEM", -ENOMEM, 1 },
	{ "1", 1, 1 },
	{ "77", 77, 1 },
	{ "EBADRQC", EBADRQC, 1 },
};

static void check_statuses(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		CHECK_U64(statuses[i].name, exit_status(statuses[i].ret),
			  statuses[i].status);
}

static int say_failed(const char *text)
{
	errno = ENOENT;
	return failed("%s", text);
}

static int say_failed_without_errno(const char *text)
{
	errno = 0;
	return failed("%s", text);
}

static int say_refused(const char *text)
{
	return refused("%s", text);
}

static int say_unsupported(const char *text)
{
	return unsupported("%s", text);
}

static int say_broken(const char *text)
{
	return broken("%s", text);
}

static int say_note(const char *text)
{
	note("%s", text);
	return 0;
}

static int say_line(const char *text)
{
	return print_line("%s", text);
}

/* Each kind of line: before and behind the text. */
static const struct kind {
	const char *name;
	int (*say)(const char *text);
	int fd, ret;
	const char *before, *behind;
} kinds[] = {
	{ "failed", say_failed, 2, -ENOENT, "prog: ", ": No such file or directory" },
	{ "failed, errno 0", say_failed_without_errno, 2, -EIO,
	  "prog: ", ": Input/output error" },
	{ "refused", say_refused, 2, -EBADRQC, "prog: ", "" },
	{ "unsupported", say_unsupported, 2, -EOPNOTSUPP, "prog: ", "" },
	{ "broken", say_broken, 2, -EIO, "prog: ", "" },
	{ "note", say_note, 2, 0, "prog: ", "" },
	{ "print_line", say_line, 1, 0, "", "" },
};

/* Around each place where a line of the longest begins to be cut. */
static const size_t lengths[] = { 0,    1,    80,   4000, 4050, 4060, 4061,
				  4062, 4063, 4064, 4065, 4066, 4080, 4085,
				  4086, 4087, 4088, 4089, 4090, 4091, 4092,
				  4093, 4094, 4095, 4096, 4097, 5000, 70000 };

/* What fits is whole; of what does not, the longest piece that leaves room for the newline. */
static void check_length(const struct kind *k, size_t length)
{
	static struct heard heard;
	char *text = malloc(length + 1), *whole = NULL;
	size_t wanted;
	int ret;

	if (!text)
		abort();
	memset(text, 'x', length);
	text[length] = '\0';
	if (asprintf(&whole, "%s%s%s\n", k->before, text, k->behind) < 0)
		abort();
	wanted = MIN(strlen(whole), PIPE_ROOM - 1);
	whole[wanted - 1] = '\n';
	whole[wanted] = '\0';
	hear_begin(&heard, k->fd);
	ret = k->say(text);
	hear_end(&heard);
	CHECK_U64(k->name, ret, k->ret);
	CHECK_U64(k->name, heard.writes, 1);
	CHECK_U64(k->name, heard.len, wanted);
	CHECK_TEXT(k->name, heard.text, whole);
	free(text);
	free(whole);
}

static void check_lines(void)
{
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
			check_length(&kinds[k], lengths[i]);
}

static void check_formats(void)
{
	static struct heard heard;

	hear_begin(&heard, 2);
	errno = EACCES;
	CHECK_U64("failed", failed("open %s at %d%%", "x", 50), -EACCES);
	hear_end(&heard);
	CHECK_TEXT("failed", heard.text, "prog: open x at 50%: Permission denied\n");
	hear_begin(&heard, 1);
	CHECK_U64("line", print_line("%d bytes / %s", 7, "%s"), 0);
	hear_end(&heard);
	CHECK_TEXT("line", heard.text, "7 bytes / %s\n");
}

/* Of those who share it, one; notes and lines always. */
static void check_once(void)
{
	static struct heard heard;
	static _Atomic bool said;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		bool complains = kinds[k].ret < 0;

		said = false;
		complain_once(&said);
		hear_begin(&heard, kinds[k].fd);
		for (int i = 0; i < 3; i++)
			CHECK_U64(kinds[k].name, kinds[k].say("x"), kinds[k].ret);
		hear_end(&heard);
		CHECK_U64(kinds[k].name, heard.writes, complains ? 1 : 3);
		CHECK_U64(kinds[k].name, said, complains);
		complain_once(NULL);
		hear_begin(&heard, kinds[k].fd);
		CHECK_U64(kinds[k].name, kinds[k].say("x"), kinds[k].ret);
		hear_end(&heard);
		CHECK_U64(kinds[k].name, heard.writes, 1);
	}
}

static void check_write_all(size_t most)
{
	char got[64] = "";
	int ends[2], ret;

	CHECK(!pipe2(ends, O_NONBLOCK));
	write_most = most;
	write_calls = 0;
	ret = write_all(ends[1], "0123456789", 10);
	write_most = 0;
	CHECK_U64("in pieces", ret, 0);
	CHECK_U64("calls", write_calls, 2 * ((10 + most - 1) / most));
	CHECK_U64("bytes", read(ends[0], got, sizeof(got) - 1), 10);
	CHECK_TEXT("bytes", got, "0123456789");
	CHECK_U64("nothing", write_all(ends[1], NULL, 0), 0);
	close(ends[0]);
	close(ends[1]);
	CHECK_U64("closed", write_all(ends[1], "x", 1), -EBADF);
	CHECK_U64("closed", write_all(-1, "x", 1), -EBADF);
}

enum { STDOUT_FULL, STDOUT_CLOSED, STDOUT_DEAF };

static const struct lost {
	const char *name;
	int how, ret;
	const char *said;
} losses[] = {
	{ "full", STDOUT_FULL, -ENOSPC,
	  "prog: write results to standard output: No space left on device\n" },
	{ "closed", STDOUT_CLOSED, -EBADF,
	  "prog: write results to standard output: Bad file descriptor\n" },
	{ "deaf", STDOUT_DEAF, -EPIPE,
	  "prog: write results to standard output: Broken pipe\n" },
};

static int print_where_it_is_lost(const void *arg)
{
	const struct lost *row = arg;
	int ends[2];

	if (row->how == STDOUT_CLOSED)
		close(STDOUT_FILENO);
	if (row->how == STDOUT_FULL)
		dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
	if (row->how == STDOUT_DEAF) {
		if (pipe(ends))
			return 99;
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
	}
	base_init();
	return print_line("a result") == row->ret ? 0 : 1;
}

static void check_losses(void)
{
	static struct child child;

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		child_run(&child, print_where_it_is_lost, &losses[i]);
		CHECK_U64(losses[i].name, child.status, 0);
		CHECK_TEXT(losses[i].name, child.err, losses[i].said);
	}
}

enum { FILE_LANDED_LOW = 1, READ_WENT_WRONG = 2, PRINT_WENT_WRONG = 4, SIGNAL_KILLS = 8 };

/* With the descriptors of the bits in *ARG closed. */
static int begin_with_closed(const void *arg)
{
	unsigned closed = *(const unsigned *)arg;
	static const int signals[] = { SIGPIPE, SIGXFSZ };
	struct sigaction action;
	int wrong = 0, ret;
	char c;

	for (int fd = 0; fd < 3; fd++)
		if (closed & 1U << fd)
			close(fd);
	base_init();
	if (open("/dev/null", O_RDWR) < 3)
		wrong |= FILE_LANDED_LOW;
	ret = (int)read(STDIN_FILENO, &c, 1);
	if (closed & 1 && !(ret < 0 && errno == EBADF))
		wrong |= READ_WENT_WRONG;
	if (print_line("a result") != (closed & 2 ? -EBADF : 0))
		wrong |= PRINT_WENT_WRONG;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], NULL, &action);
		if (action.sa_handler != SIG_IGN)
			wrong |= SIGNAL_KILLS;
	}
	return wrong;
}

static void check_closed_descriptors(void)
{
	static struct child child;
	char name[32];

	for (unsigned closed = 0; closed < 8; closed++) {
		snprintf(name, sizeof(name), "closed: %s%s%s", closed & 1 ? "0 " : "",
			 closed & 2 ? "1 " : "", closed & 4 ? "2" : "");
		child_run(&child, begin_with_closed, &closed);
		CHECK_U64(name, child.status, 0);
		CHECK_TEXT(name, child.out, closed & 2 ? "" : "a result\n");
	}
}

int main(void)
{
	static char prog[] = "prog";

	program_invocation_short_name = prog;
	check_statuses();
	check_lines();
	check_formats();
	check_once();
	for (size_t most = 1; most < 12; most++)
		check_write_all(most);
	check_losses();
	check_closed_descriptors();
	return check_result();
}
