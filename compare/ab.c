// SPDX-License-Identifier: GPL-2.0-or-later
/* ab - run two commands in turn, each run beside one of the other, and keep the results they write. */
#include "compare/ab.h"

#include "common/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is told to end ends all that it has begun: it is a process group of its own. Standard output is for
 * the comparison. */
static void become_command(const char *command, const char *json, const sigset_t *mask,
			   pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0 || setpgid(0, 0) || dup2(null, 0) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || setenv("JSON", json, 1))
		_exit(126);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	failed("run sh");
	_exit(127);
}

/* Until PID has ended; a signal to us is passed on to all it began. */
static int await(struct ab *ab, pid_t pid, const sigset_t *watched)
{
	int status, sig;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		sig = sigwaitinfo(watched, NULL);
		if (sig != SIGINT && sig != SIGTERM)
			continue;
		ab->signal = sig;
		kill(-pid, sig);
	}
	return status;
}

/* The wait status of COMMAND, or -errno after saying so. */
static int run_command(struct ab *ab, const char *command, const char *json)
{
	sigset_t watched, old;
	pid_t pid, self = getpid();
	int status;

	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGINT);
	sigaddset(&watched, SIGTERM);
	sigprocmask(SIG_BLOCK, &watched, &old);
	pid = fork();
	if (!pid)
		become_command(command, json, &old, self);
	status = pid < 0 ? failed("run a command") : 0;
	if (pid > 0) {
		setpgid(pid, pid);
		status = await(ab, pid, &watched);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}

/* For set-ups and clean-ups, which must go well. */
static int run_helper(struct ab *ab, const char *what, const char *command,
		      const char *json)
{
	int status = command ? run_command(ab, command, json) : 0;

	if (status <= 0 || ab->signal)
		return status < 0 ? status : 0;
	return broken("%s '%s' ended with status %d", what, command,
		      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* A file in memory: gone with us, however that may be. Commands reach it by our pid. */
static int add_result(struct ab_side *side)
{
	unsigned i = side->count;
	int *files = realloc(side->files, (i + 1) * sizeof(*files));
	char **names;

	if (files)
		side->files = files;
	names = realloc(side->names, (i + 1) * sizeof(char *));
	if (names)
		side->names = names;
	if (!files || !names)
		return failed("memory for %u results", i + 1);
	files[i] = memfd_create("result", MFD_CLOEXEC);
	if (files[i] < 0)
		return failed("memory for a result");
	if (asprintf(&names[i], "/proc/%d/fd/%d", getpid(), files[i]) < 0)
		names[i] = NULL;
	side->count++;
	return names[i] ? 0 : failed("memory for a name");
}

static int run_one(struct ab *ab, struct ab_side *side, unsigned i)
{
	int ret = run_helper(ab, "the set-up", side->setup, side->names[i]), status = 0,
	    cleaned;
	struct stat st;

	if (!ret && !ab->signal) {
		status = run_command(ab, side->command, side->names[i]);
		ret = status < 0 ? status : 0;
	}
	/* A signal has ended the run, and is no reason to leave things as they are. */
	cleaned = run_helper(ab, "the clean-up", side->cleanup, side->names[i]);
	ret = ret ?: cleaned;
	if (ret || ab->signal)
		return ret;
	if (!fstat(side->files[i], &st) && st.st_size)
		return 0;
	return broken("'%s' ended with status %d and wrote no result: expected JSON in "
		      "the file that $JSON names",
		      side->command,
		      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Which goes first is drawn, so that neither always profits from what the other leaves. */
static int run_pair(struct ab *ab, struct rng *rng, unsigned i)
{
	unsigned first = (unsigned)(rng_next(rng) >> 63);
	int ret = add_result(&ab->sides[0]) ?: add_result(&ab->sides[1]);

	for (unsigned k = 0; k < 2 && !ret && !ab->signal; k++)
		ret = run_one(ab, &ab->sides[first ^ k], i);
	return ret;
}

int ab_run(struct ab *ab)
{
	struct rng rng = rng_stream(ab->seed, 0);
	int ret = 0, enough = 0;

	while (!ret && !enough && ab->count < ab->pairs) {
		if (isatty(STDERR_FILENO))
			note("pair %u of at most %ju", ab->count + 1,
			     (uintmax_t)ab->pairs);
		ret = run_pair(ab, &rng, ab->count);
		ab->count += !ret && !ab->signal;
		if (!ret && ab->signal)
			ret = -EINTR;
		if (!ret && ab->enough)
			enough = ab->enough(ab);
		if (enough < 0)
			ret = enough;
	}
	return ret;
}

void ab_free(struct ab *ab)
{
	for (unsigned s = 0; s < 2; s++) {
		struct ab_side *side = &ab->sides[s];

		for (unsigned i = 0; i < side->count; i++) {
			close(side->files[i]);
			free(side->names[i]);
		}
		free(side->files);
		free(side->names);
	}
}
