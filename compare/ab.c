// SPDX-License-Identifier: GPL-2.0-or-later
/* ab - run two commands in turn, each run beside one of the other, and keep the results they write. */
#include "compare/ab.h"

#include "common/rng.h"
#include "compare/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* For set-ups and clean-ups, which must go well. */
static int run_helper(struct ab *ab, const char *what, const char *command,
		      const char *json)
{
	int status = command ? command_run(command, "JSON", json, &ab->signal) : 0;

	if (status <= 0 || ab->signal)
		return status < 0 ? status : 0;
	return broken("%s '%s' ended with status %d", what, command, status_of(status));
}

static bool make_room(struct ab_side *side)
{
	int *files = realloc(side->files, (side->count + 1) * sizeof(*files));
	char **names;

	if (files)
		side->files = files;
	names = realloc(side->names, (side->count + 1) * sizeof(char *));
	if (names)
		side->names = names;
	return files && names;
}

/* Where there may be no more descriptors: as many as a limit of ours can be raised to. */
static int open_result(void)
{
	int fd = memfd_create("result", MFD_CLOEXEC);
	struct rlimit limit;

	if (fd >= 0 || errno != EMFILE || getrlimit(RLIMIT_NOFILE, &limit))
		return fd;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return -1;
	return memfd_create("result", MFD_CLOEXEC);
}

/* A place for the next result. In memory it is gone with us, however that may be; commands reach it by our
 * pid. */
static int add_result(struct ab *ab, struct ab_side *side)
{
	unsigned i = side->count;
	int len, fd = -1;
	char *name;

	if (!ab->keep && (fd = open_result()) < 0)
		return failed("memory for result %u (--keep DIR has files)", i + 1);
	len = ab->keep ? asprintf(&name, "%s/%c-%03u.json", ab->keep,
				  side == ab->sides ? 'a' : 'b', i + 1)
		       : asprintf(&name, "/proc/%d/fd/%d", getpid(), fd);
	if (len < 0 || !make_room(side))
		return failed("memory for a name");
	side->files[i] = fd;
	side->names[i] = name;
	side->count++;
	return 0;
}

/* A stop that came while nothing ran. */
static void take_stop(struct ab *ab)
{
	struct timespec now = { 0 };
	sigset_t stops;
	int sig;

	command_stops(&stops);
	sig = sigtimedwait(&stops, NULL, &now);
	if (sig > 0)
		ab->signal = sig;
}

static int run_one(struct ab *ab, struct ab_side *side, unsigned i)
{
	int ret = run_helper(ab, "the set-up", side->setup, side->names[i]), status = 0,
	    cleaned;
	struct stat st;

	if (!ret && !ab->signal) {
		status = command_run(side->command, "JSON", side->names[i], &ab->signal);
		ret = status < 0 ? status : 0;
	}
	/* A signal has ended the run, and is no reason to leave things as they are. */
	take_stop(ab);
	cleaned = run_helper(ab, "the clean-up", side->cleanup, side->names[i]);
	ret = ret ?: cleaned;
	if (ret || ab->signal)
		return ret;
	if (stat(side->names[i], &st) || !st.st_size)
		return broken("'%s' ended with status %d and wrote no result: expected "
			      "JSON in the file that $JSON names",
			      side->command, status_of(status));
	if (status)
		note("'%s' ended with status %d: its result says why, or is not to be "
		     "trusted",
		     side->command, status_of(status));
	return 0;
}

/* Which goes first is drawn, so that neither always profits from what the other leaves. */
static int run_pair(struct ab *ab, struct rng *rng, unsigned i)
{
	unsigned first = (unsigned)(rng_next(rng) >> 63);
	int ret = add_result(ab, &ab->sides[0]) ?: add_result(ab, &ab->sides[1]);

	for (unsigned k = 0; k < 2 && !ret && !ab->signal; k++)
		ret = run_one(ab, &ab->sides[first ^ k], i);
	return ret;
}

/* For --keep: made if it is missing, and without what an earlier run left. */
static int open_folder(const struct ab *ab)
{
	char *first;
	int ret = 0;

	if (!ab->keep)
		return 0;
	if (mkdir(ab->keep, 0777) && errno != EEXIST)
		return failed("create %s", ab->keep);
	if (asprintf(&first, "%s/a-001.json", ab->keep) < 0)
		return failed("memory for a name");
	if (!access(first, F_OK))
		ret = refused("--keep %s: expected a directory without results of an "
			      "earlier run",
			      ab->keep);
	free(first);
	return ret;
}

int ab_run(struct ab *ab)
{
	struct rng rng = rng_stream(ab->seed, 0);
	int ret = open_folder(ab), enough = 0;
	sigset_t stops, old;

	command_stops(&stops);
	sigprocmask(SIG_BLOCK, &stops, &old);
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
	sigprocmask(SIG_SETMASK, &old, NULL);
	return ret;
}

void ab_free(struct ab *ab)
{
	for (unsigned s = 0; s < 2; s++) {
		struct ab_side *side = &ab->sides[s];

		for (unsigned i = 0; i < side->count; i++) {
			if (side->files[i] >= 0)
				close(side->files[i]);
			free(side->names[i]);
		}
		free(side->files);
		free(side->names);
	}
}
