// SPDX-License-Identifier: GPL-2.0-or-later
/* base - errors, exit statuses, and lines that are written whole. */
#include "common/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_LEN = PIPE_BUF }; /* a longer write could be torn apart in a pipe */

void base_init(void)
{
	static const int flags[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	/* The wrong direction on purpose: whoever then reads or writes there gets EBADF. */
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", flags[fd]) != fd)
			_exit(1);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* What complain_once() was given. */
static _Thread_local _Atomic bool *once;

void complain_once(_Atomic bool *said)
{
	once = said;
}

/* What complain_into() was given. */
static _Thread_local char *captured;
static _Thread_local size_t captured_room;

void complain_into(char *text, size_t room)
{
	captured = text;
	captured_room = room;
}

/* Write "program: message[: reason]\n"; a message too long is cut, its newline is not. */
static void write_message(const char *fmt, va_list args, const char *reason)
{
	char line[LINE_LEN];
	size_t room = sizeof(line) - 1;
	int len = snprintf(line, room, "%s: ", program_invocation_short_name);

	len += vsnprintf(line + len, room - (size_t)len, fmt, args);
	if (reason && (size_t)len < room)
		len += snprintf(line + len, room - (size_t)len, ": %s", reason);
	if ((size_t)len >= room)
		len = (int)room - 1;
	line[len++] = '\n';
	/* Nobody is left to be told that stderr is gone. */
	if (write_all(STDERR_FILENO, line, (size_t)len))
		return;
}

static void complain(const char *fmt, va_list args, const char *reason)
{
	int len;

	if (captured) {
		len = vsnprintf(captured, captured_room, fmt, args);
		if (reason && (size_t)len < captured_room)
			snprintf(captured + len, captured_room - (size_t)len, ": %s",
				 reason);
	} else if (!once || !atomic_exchange(once, true))
		write_message(fmt, args, reason);
}

/* The functions that complain differ in the reason they give and in what they return. */
#define COMPLAIN(fmt, reason)                \
	do {                                 \
		va_list args;                \
		va_start(args, fmt);         \
		complain(fmt, args, reason); \
		va_end(args);                \
	} while (0)

int failed(const char *fmt, ...)
{
	int error = errno ? errno : EIO;

	COMPLAIN(fmt, strerror(error));
	return -error;
}

int refused(const char *fmt, ...)
{
	COMPLAIN(fmt, NULL);
	return -EBADRQC;
}

int unsupported(const char *fmt, ...)
{
	COMPLAIN(fmt, NULL);
	return -EOPNOTSUPP;
}

int broken(const char *fmt, ...)
{
	COMPLAIN(fmt, NULL);
	return -EIO;
}

void note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	write_message(fmt, args, NULL);
	va_end(args);
}

bool stop_is_pending(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) > 0 || sigismember(&pending, SIGTERM) > 0);
}

int exit_status(int ret)
{
	switch (ret) {
	case 0:
		return 0;
	case -EBADRQC:
		return 2;
	case -EOPNOTSUPP:
	case -ENOSYS:
		return 77;
	default:
		return 1;
	}
}

int print_text(const char *text, size_t len)
{
	int ret = write_all(STDOUT_FILENO, text, len);

	errno = -ret;
	return ret ? failed("write results to standard output") : 0;
}

int print_line(const char *fmt, ...)
{
	char line[LINE_LEN];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	len = MIN(len, (int)sizeof(line) - 2);
	line[len++] = '\n';
	return print_text(line, (size_t)len);
}
