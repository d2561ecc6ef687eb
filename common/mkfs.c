// SPDX-License-Identifier: GPL-2.0-or-later
/* mkfs - run the program that makes a filesystem. */
#include "common/mkfs.h"

#include "common/fstypes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char blanks[] = " \t\n";

/* Users other than root seldom have the directories of such programs in PATH. NULL: nowhere. */
static char *find_program(const char *name, char path[static PATH_MAX])
{
	char *dirs, *rest, *dir, *found = NULL;

	if (asprintf(&dirs, "%s:/usr/sbin:/sbin", getenv("PATH") ?: "") < 0)
		return NULL;
	for (rest = dirs; !found && (dir = strsep(&rest, ":"));) {
		snprintf(path, PATH_MAX, "%s/%s", dir, name);
		found = *dir && !access(path, X_OK) ? path : NULL;
	}
	free(dirs);
	return found;
}

int mkfs_require(const struct fstype *type)
{
	char path[PATH_MAX];

	if (find_program(type->mkfs, path))
		return 0;
	return unsupported("%s is not installed: package %s", type->mkfs, type->package);
}

/* The argument vector; WORDS, the options, is cut up for it. NULL: no memory. */
static const char **argument_vector(const struct fstype *type, char *words,
				    const char *device)
{
	size_t room = ARRAY_SIZE(type->mkfs_args) + strlen(words) / 2 + 4, n = 0;
	const char **argv = calloc(room, sizeof(*argv));
	char *rest = NULL;

	if (!argv)
		return NULL;
	argv[n++] = type->mkfs;
	for (const char *const *arg = type->mkfs_args; *arg; arg++)
		argv[n++] = *arg;
	for (char *word = strtok_r(words, blanks, &rest); word;
	     word = strtok_r(NULL, blanks, &rest))
		argv[n++] = word;
	argv[n] = device;
	return argv;
}

/* In the child. Signals that we ignore are not for it to ignore. */
static void become(const char *path, const char *const *argv, int output, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO &&
	    dup2(output, STDOUT_FILENO) == STDOUT_FILENO &&
	    dup2(output, STDERR_FILENO) == STDERR_FILENO)
		execv(path, (char *const *)argv);
	dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
	_exit(127);
}

static void show(int output)
{
	char piece[4096];
	ssize_t n;

	if (lseek(output, 0, SEEK_SET))
		return;
	while ((n = read(output, piece, sizeof(piece))) > 0)
		if (write_all(STDERR_FILENO, piece, (size_t)n))
			return;
}

static int judge(const char *name, int status, int output)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	show(output);
	if (WIFSIGNALED(status))
		return broken("%s was killed by signal %d", name, WTERMSIG(status));
	return broken("%s failed with exit status %d", name, WEXITSTATUS(status));
}

static int run(const char *name, const char *path, const char *const *argv, int output)
{
	pid_t parent = getpid(), child = fork(), ended;
	int status = 0;

	if (!child)
		become(path, argv, output, parent);
	if (child < 0)
		return failed("start %s", name);
	do {
		ended = waitpid(child, &status, 0);
	} while (ended < 0 && errno == EINTR);
	return ended < 0 ? failed("wait for %s", name) : judge(name, status, output);
}

/* Where SIGCHLD is ignored, as some shells hand it down, nobody learns how a child ended. */
static int run_and_wait(const char *name, const char *path, const char *const *argv,
			int output)
{
	const struct sigaction heard = { .sa_handler = SIG_DFL };
	struct sigaction before;
	int ret;

	sigaction(SIGCHLD, &heard, &before);
	ret = run(name, path, argv, output);
	sigaction(SIGCHLD, &before, NULL);
	return ret;
}

int mkfs_run(const struct fstype *type, const char *options, const char *device)
{
	char path[PATH_MAX], *words = strdup(options ?: "");
	const char **argv = words ? argument_vector(type, words, device) : NULL;
	int output = memfd_create(type->mkfs, MFD_CLOEXEC), ret;

	if (!argv || output < 0)
		ret = failed("prepare to run %s", type->mkfs);
	else if (!find_program(type->mkfs, path))
		ret = mkfs_require(type);
	else
		ret = run_and_wait(type->mkfs, path, argv, output);
	if (output >= 0)
		close(output);
	free(argv);
	free(words);
	return ret;
}
