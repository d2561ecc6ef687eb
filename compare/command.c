// SPDX-License-Identifier: GPL-2.0-or-later
/* command - a command for sh(1) that takes all it began with it, however it or we end. */
#include "compare/command.h"

#include "common/clock.h"
#include "common/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_NS (5 * ns_per_s)

void command_stops(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGQUIT);
}

struct call {
	const char *command, *variable, *value;
	sigset_t watched, old;
	int alive[2]; /* a pipe that ends when this process does */
};

/* The command itself. Without a terminal, so that what asks there fails, and does not wait unseen. */
static void become_command(const struct call *c)
{
	int null = open("/dev/null", O_RDONLY);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || setenv(c->variable, c->value, 1))
		_exit(126);
	sigprocmask(SIG_UNBLOCK, &c->watched, NULL);
	execl("/bin/sh", "sh", "-c", c->command, (char *)NULL);
	failed("run sh");
	_exit(127);
}

/* The leader of the session: starts the command, ends as it does, and kills them all when the pipe ends. */
static void become_guard(const struct call *c)
{
	struct pollfd ends[] = { { .fd = c->alive[0], .events = POLLIN }, { .fd = -1 } };
	int status = 0;
	pid_t pid;

	close(c->alive[1]);
	if (setsid() < 0)
		_exit(126);
	pid = fork();
	if (!pid)
		become_command(c);
	ends[1] = (struct pollfd){ .fd = pid < 0 ? -1 : process_open(pid),
				   .events = POLLIN };
	if (ends[1].fd < 0)
		kill(0, SIGKILL);
	while (poll(ends, 2, -1) < 0 || !(ends[0].revents | ends[1].revents))
		;
	if (ends[0].revents || waitpid(pid, &status, 0) != pid)
		kill(0, SIGKILL);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Until the guard has ended, which is not yet reaped then: its session's number is still nobody else's. */
static int await(const struct call *c, pid_t guard, int *signal)
{
	uint64_t kill_at_ns = 0;
	siginfo_t info = { 0 };
	int sig;

	for (;;) {
		struct timespec second = { .tv_sec = 1 };

		info.si_pid = 0;
		if (waitid(P_PID, (id_t)guard, &info, WEXITED | WNOHANG | WNOWAIT))
			return failed("wait for a command");
		if (info.si_pid)
			return 0;
		sig = sigtimedwait(&c->watched, NULL, &second);
		if (sig > 0 && sig != SIGCHLD) {
			*signal = sig;
			kill(-guard, sig);
			kill(-guard, SIGCONT);
			kill_at_ns = kill_at_ns ?: now_ns() + GRACE_NS;
		}
		if (kill_at_ns && now_ns() > kill_at_ns)
			kill(-guard, SIGKILL);
	}
}

static int run_guarded(struct call *c, int *signal)
{
	pid_t guard = fork();
	int status = 0, ret;

	if (!guard)
		become_guard(c);
	if (guard < 0)
		return failed("run a command");
	close(c->alive[0]);
	c->alive[0] = -1;
	ret = await(c, guard, signal);
	kill(-guard, SIGKILL);
	if (waitpid(guard, &status, 0) < 0 && !ret)
		ret = failed("wait for a command");
	return ret ?: status;
}

int command_run(const char *command, const char *variable, const char *value, int *signal)
{
	struct call c = { .command = command, .variable = variable, .value = value };
	struct sigaction old_child;
	int ret;

	if (pipe2(c.alive, O_CLOEXEC))
		return failed("run a command");
	command_stops(&c.watched);
	sigaddset(&c.watched, SIGCHLD);
	sigprocmask(SIG_BLOCK, &c.watched, &c.old);
	/* Who started us may ignore it, and then nothing is left to be waited for. */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, &old_child);
	ret = run_guarded(&c, signal);
	sigaction(SIGCHLD, &old_child, NULL);
	sigprocmask(SIG_SETMASK, &c.old, NULL);
	close(c.alive[1]);
	if (c.alive[0] >= 0)
		close(c.alive[0]);
	return ret;
}
