// SPDX-License-Identifier: GPL-2.0-or-later
/* profile - perf record over a crew, from its start line to the end of its work. */
#include "common/profile.h"

#include "common/clock.h"
#include "common/perfctl.h"
#include "common/pidfd.h"
#include "common/procfile.h"
#include "common/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Before it listens it looks at all processes and modules. */
#define START_NS (60 * ns_per_s)
#define TALK_NS  (10 * ns_per_s)

static const struct profile closed = PROFILE_CLOSED;

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int profile_open(struct profile *p)
{
	*p = closed;
	p->said = memfd_create("perf", MFD_CLOEXEC);
	if (p->said < 0)
		return failed("--profile: memory for what perf says");
	/* Not in memory, which is what is measured. */
	p->data = scratch_file_as("the profile", "/var/tmp", 0, SCRATCH_HOLE);
	return MIN(p->data, 0);
}

/* The first line of what perf said that says something. */
static void read_reason(const struct profile *p, char text[static 200])
{
	char said[2048], *rest = said, *line;
	ssize_t n = pread(p->said, said, sizeof(said) - 1, 0);

	snprintf(text, 200, "perf ended without a word");
	said[MAX(n, 0)] = '\0';
	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		if (!*line || !strcmp(line, "Error:") || !strncmp(line, "Events ", 7))
			continue;
		snprintf(text, 200, "%s", line);
		return;
	}
}

/* In the child: perf finds PASSED, and its output goes to OUT. */
static void become(char *const *argv, const int *passed, int out, int err, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	/* How it looks is not for the user's settings here. */
	setenv("PERF_CONFIG", "/dev/null", 1);
	setenv("LC_ALL", "C", 1);
	unsetenv("DEBUGINFOD_URLS");
	for (; *passed >= 0; passed++)
		fcntl(*passed, F_SETFD, 0);
	if (dup2(null, STDIN_FILENO) == STDIN_FILENO &&
	    dup2(out >= 0 ? out : null, STDOUT_FILENO) == STDOUT_FILENO &&
	    dup2(err, STDERR_FILENO) == STDERR_FILENO)
		execvp(argv[0], argv);
	dprintf(err, "cannot run perf: %s\n", strerror(errno));
	_exit(127);
}

static int start(struct profile *p, char *const *argv, const int *passed, int out)
{
	pid_t parent = getpid();

	if (ftruncate(p->said, 0) || lseek(p->said, 0, SEEK_SET))
		return failed("--profile: empty what perf said");
	p->pid = fork();
	if (!p->pid)
		become(argv, passed, out, p->said, parent);
	if (p->pid < 0)
		return failed("--profile: start perf");
	/* Its status may be taken by the crew, which waits for all children: nobody needs it. */
	p->process = process_open(p->pid);
	return p->process < 0 ? failed("--profile: follow perf") : 0;
}

/* Wait for the end; the run's own is not put off for that. */
static int await_end(struct profile *p)
{
	struct pollfd end = { .fd = p->process, .events = POLLIN };
	int status, ret = 0;

	while (!ret && poll(&end, 1, 50) <= 0)
		if (stop_is_pending())
			ret = -EINTR;
	if (ret)
		process_signal(p->process, SIGKILL);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	drop(&p->process);
	return ret;
}

static int say(const struct profile *p, const char *command, uint64_t patience_ns)
{
	char reason[200];
	int ret = perf_talk(p->to, p->from, command, patience_ns);

	if (!ret || ret == -EINTR)
		return ret;
	read_reason(p, reason);
	return unsupported("--profile: %s",
			   ret == -ETIMEDOUT ? "perf does not answer" : reason);
}

int profile_start(struct profile *p)
{
	int control[2], ack[2], ret;
	char fds[32], file[32], pid[16];
	const char *argv[] = { "perf",      "record", "-q", "-g", "-k", "CLOCK_MONOTONIC",
			       "--control", fds,      "-o", file, "-p", pid,
			       NULL };

	if (ftruncate(p->data, 0))
		return failed("--profile: empty the profile");
	if (pipe2(control, O_CLOEXEC | O_NONBLOCK) || pipe2(ack, O_CLOEXEC | O_NONBLOCK))
		return failed("--profile: pipes to perf");
	p->to = control[1];
	p->from = ack[0];
	snprintf(fds, sizeof(fds), "fd:%d,%d", control[0], ack[1]);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", p->data);
	snprintf(pid, sizeof(pid), "%d", getpid());
	ret = start(p, (char *const *)argv, (int[]){ control[0], ack[1], p->data, -1 },
		    -1);
	close(control[0]);
	close(ack[1]);
	/* When it answers it is there. It records from here on: one that is to begin later does not
	 * hear of the processes that come before that, and has no names for what they run. */
	return ret ?: say(p, "ping", START_NS);
}

void profile_begin(struct profile *p)
{
	p->from_ns = now_ns();
}

int profile_finish(struct profile *p)
{
	p->until_ns = now_ns();
	return say(p, "disable", TALK_NS);
}

int profile_stop(struct profile *p)
{
	int ret = 0;

	if (p->process >= 0) {
		process_signal(p->process, SIGINT);
		ret = await_end(p);
	}
	drop(&p->to);
	drop(&p->from);
	return ret;
}

void profile_close(struct profile *p)
{
	if (p->process >= 0) {
		process_signal(p->process, SIGKILL);
		if (await_end(p))
			return;
	}
	drop(&p->to);
	drop(&p->from);
	drop(&p->data);
	drop(&p->said);
}

static int read_report(struct profile *p, int out, profile_row *row, void *context)
{
	char reason[200], *text = procfile_read("", "/proc/self/fd/%d", out);
	int ret;

	if (!text || !*text) {
		read_reason(p, reason);
		ret = broken("--profile: no report: %s", reason);
	} else {
		ret = profile_parse(text, row, context);
		if (ret)
			failed("--profile: memory for the report");
	}
	free(text);
	return ret;
}

int profile_report(struct profile *p, profile_row *row, void *context)
{
	char file[32], span[64];
	const char *argv[] = { "perf",
			       "report",
			       "--time",
			       span,
			       "-f",
			       "-i",
			       file,
			       "--stdio",
			       "--children",
			       "-g",
			       "none",
			       "-F",
			       "overhead_children,overhead,sym",
			       "--no-inline",
			       NULL };
	int out = memfd_create("report", MFD_CLOEXEC), ret;

	if (out < 0)
		return failed("--profile: memory for the report");
	snprintf(file, sizeof(file), "/proc/self/fd/%d", p->data);
	snprintf(span, sizeof(span), "%ju.%09ju,%ju.%09ju",
		 (uintmax_t)(p->from_ns / ns_per_s), (uintmax_t)(p->from_ns % ns_per_s),
		 (uintmax_t)(p->until_ns / ns_per_s),
		 (uintmax_t)(p->until_ns % ns_per_s));
	ret = start(p, (char *const *)argv, (int[]){ p->data, -1 }, out);
	ret = ret ?: await_end(p);
	ret = ret ?: read_report(p, out, row, context);
	close(out);
	return ret;
}
