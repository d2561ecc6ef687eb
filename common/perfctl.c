// SPDX-License-Identifier: GPL-2.0-or-later
/* perfctl - a perf that runs beside us is told to count, as its --control has it (perf-stat(1)). */
#include "common/perfctl.h"

#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A perf that has nothing else to do answers within a millisecond. */
#define PATIENCE_NS (5 * ns_per_s)
/* How long a stop of the run may go unseen. */
#define SLICE_MS    50

/* 0 once FD is ready for EVENTS, or has nobody at its other end. */
static int await(int fd, short events, uint64_t until_ns)
{
	struct pollfd p = { .fd = fd, .events = events };

	while (now_ns() < until_ns) {
		if (poll(&p, 1, SLICE_MS) > 0)
			return 0;
		if (stop_is_pending())
			return -EINTR;
	}
	return -ETIMEDOUT;
}

/* What an earlier command left: perf ends its "ack" with a zero byte as well. */
static void drain(int fd)
{
	char rest[64];

	while (read(fd, rest, sizeof(rest)) > 0)
		;
}

static int tell(int fd, const char *command, uint64_t until_ns)
{
	char line[32];
	size_t len = (size_t)snprintf(line, sizeof(line), "%s\n", command);
	int ret;

	/* In one piece, or not at all (pipe(7)). */
	while (write(fd, line, len) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		ret = await(fd, POLLOUT, until_ns);
		if (ret)
			return ret;
	}
	return 0;
}

static int await_ack(int fd, uint64_t until_ns)
{
	char text[64];
	size_t len = 0;
	ssize_t n;
	int ret;

	for (;;) {
		ret = await(fd, POLLIN, until_ns);
		if (ret)
			return ret;
		n = read(fd, text + len, sizeof(text) - len);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		len += (size_t)n;
		if (memmem(text, len, "ack\n", 4))
			return 0;
		if (len == sizeof(text))
			return -EPROTO;
	}
}

int perf_talk(int to, int from, const char *command, uint64_t patience_ns)
{
	uint64_t until_ns = now_ns() + patience_ns;
	int ret;

	if (from >= 0)
		drain(from);
	ret = tell(to, command, until_ns);
	return ret || from < 0 ? ret : await_ack(from, until_ns);
}

static int open_fifo(const char *name, int flags)
{
	struct stat st;
	int fd;

	if (stat(name, &st))
		return failed("--perf-control: open %s", name);
	if (!S_ISFIFO(st.st_mode))
		return refused("--perf-control: expected a FIFO, which %s is not", name);
	fd = open(name, flags | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENXIO)
		return refused(
			"--perf-control: expected a perf that reads %s: nobody does",
			name);
	return fd < 0 ? failed("--perf-control: open %s", name) : fd;
}

int perf_control_open(struct perf_control *c, const char *names)
{
	const char *comma = strchrnul(names, ',');
	struct perf_control open = PERF_CONTROL_CLOSED;
	char name[PATH_MAX];
	int ret;

	if (comma - names >= PATH_MAX)
		return refused("--perf-control: expected names below %d characters",
			       PATH_MAX);
	memcpy(name, names, (size_t)(comma - names));
	name[comma - names] = '\0';
	/* Of the two it is the one that fails where there is no perf. */
	ret = open.to = open_fifo(name, O_WRONLY);
	if (ret >= 0 && *comma)
		ret = open.from = open_fifo(comma + 1, O_RDONLY);
	if (ret < 0) {
		perf_control_close(&open);
		return ret;
	}
	*c = open;
	return 0;
}

int perf_control_say(const struct perf_control *c, const char *command)
{
	int ret = perf_talk(c->to, c->from, command, PATIENCE_NS);

	if (!ret || ret == -EINTR)
		return ret;
	if (ret == -EPIPE)
		return broken("--perf-control: perf has gone: nobody took \"%s\"",
			      command);
	if (ret == -ETIMEDOUT)
		return broken("--perf-control: perf did not acknowledge \"%s\" in %u s",
			      command, (unsigned)(PATIENCE_NS / ns_per_s));
	errno = -ret;
	return failed("--perf-control: tell perf to %s", command);
}

void perf_control_close(struct perf_control *c)
{
	if (c->to >= 0)
		close(c->to);
	if (c->from >= 0)
		close(c->from);
	*c = (struct perf_control)PERF_CONTROL_CLOSED;
}
