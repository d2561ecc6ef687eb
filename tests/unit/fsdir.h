/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fsdir - a directory for scratch filesystems, a process that has one, and what is left of it. */
#ifndef TESTS_UNIT_FSDIR_H
#define TESTS_UNIT_FSDIR_H

#include "common/clock.h"
#include "common/fs.h"
#include "common/mountinfo.h"
#include "common/procfile.h"
#include "tests/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* On a disk, and of this test alone: others make loop devices at the same time. */
static char fsdir[64];

static inline void fsdir_make(void)
{
	snprintf(fsdir, sizeof(fsdir), "/var/tmp/pagemill-fs-XXXXXX");
	if (!mkdtemp(fsdir) || chmod(fsdir, 0755))
		abort();
}

/* The image of a loop device, nameless or not, is told by the directory it is in. */
static inline bool fsdir_has_loop(void)
{
	bool found = false;
	glob_t all;

	if (glob("/sys/block/loop*/loop/backing_file", GLOB_NOSORT, NULL, &all))
		return false;
	for (size_t i = 0; i < all.gl_pathc && !found; i++) {
		char *file = procfile_read("", "%s", all.gl_pathv[i]);

		found = file && !strncmp(file, fsdir, strlen(fsdir));
		free(file);
	}
	globfree(&all);
	return found;
}

static inline bool fsdir_has_mount(void)
{
	char *text = procfile_read("", "/proc/self/mountinfo"), *rest = text;
	struct mountinfo m;
	bool found = false;

	while (!found && mountinfo_next(&rest, &m))
		found = !strncmp(m.point, fsdir, strlen(fsdir));
	free(text);
	return found;
}

static inline bool fsdir_has_names(void)
{
	DIR *names = opendir(fsdir);
	unsigned n = 0;

	while (names && readdir(names))
		n++;
	if (names)
		closedir(names);
	return n != 2;
}

/* What a run has left, if anything is left. */
static inline const char *fsdir_left(void)
{
	return fsdir_has_mount()   ? "a mount"
	       : fsdir_has_loop()  ? "a loop device"
	       : fsdir_has_names() ? "a name in the directory"
				   : "nothing";
}

/* Within seconds: what is dirty is written before a filesystem is gone. */
static inline void fsdir_check_away(const char *row)
{
	const uint64_t deadline = now_ns() + 30 * ns_per_s;

	while (strcmp(fsdir_left(), "nothing") != 0 && now_ns() < deadline)
		poll(NULL, 0, 5);
	CHECK_TEXT(row, fsdir_left(), "nothing");
}

static inline void fsdir_remove(void)
{
	CHECK_U64("remove the directory", rmdir(fsdir), 0);
}

/* A process that makes a filesystem and stays. */
struct holder {
	pid_t pid;
	struct holder_told {
		_Atomic bool opened,
			done;           /* fs_open() has returned 0; act has returned */
		_Atomic unsigned beats; /* for act to count what it has done */
		int result;             /* of either */
		struct fs_made made;
	} * told; /* written by the child */
};

/* In the child, its own. */
static struct holder_told *holder_self;

/* ACT runs in the child once the filesystem is there; NULL: nothing more to do. */
static inline struct holder holder_start(const struct fs_config *c, const char *dir,
					 int (*act)(const struct fs_made *made))
{
	struct holder h = { .told = mmap(NULL, sizeof(*h.told), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0) };

	fflush(stdout);
	h.pid = h.told == MAP_FAILED ? -1 : fork();
	if (h.pid < 0)
		abort();
	if (h.pid)
		return h;
	holder_self = h.told;
	h.told->result = fs_open(c, dir, &h.told->made);
	if (h.told->result)
		_exit(exit_status(h.told->result));
	h.told->opened = true;
	h.told->result = act ? act(&h.told->made) : 0;
	h.told->done = true;
	for (;;)
		pause();
}

/* Wait until FLAG of the child is set. False: the child has ended without it, or takes for ever. */
static inline bool holder_await(const struct holder *h, const _Atomic bool *flag)
{
	const uint64_t deadline = now_ns() + 60 * ns_per_s;
	siginfo_t ended = { 0 };

	while (!*flag && now_ns() < deadline) {
		if (!waitid(P_PID, (id_t)h->pid, &ended, WEXITED | WNOHANG | WNOWAIT) &&
		    ended.si_pid)
			return *flag;
		poll(NULL, 0, 1);
	}
	return *flag;
}

/* End it; its wait status. */
static inline int holder_kill(struct holder *h, int sig)
{
	int status = -1;

	kill(h->pid, sig);
	while (waitpid(h->pid, &status, 0) < 0 && errno == EINTR)
		;
	munmap(h->told, sizeof(*h->told));
	return status;
}

/* Whether filesystems on loop devices can be made at all; else SKIPs. */
static inline void fsdir_require_root(void)
{
	if (geteuid())
		SKIP("loop devices need root");
	if (access("/dev/loop-control", R_OK | W_OK))
		SKIP("no loop devices: /dev/loop-control: %s", strerror(errno));
}

#endif
