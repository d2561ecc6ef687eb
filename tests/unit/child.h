/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child - run a function in a process of its own: how it ended and what it said. */
#ifndef TESTS_UNIT_CHILD_H
#define TESTS_UNIT_CHILD_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	int status, signal; /* one of them is -1 */
	char out[1024 * 1024], err[16 * 1024];
};

/* Appended to, so that processes that share it do not write over each other. */
static inline int child_ear(void)
{
	int fd = memfd_create("heard", MFD_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND))
		abort();
	return fd;
}

static inline void child_hear(int fd, char *text, size_t room)
{
	ssize_t n = pread(fd, text, room - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	close(fd);
}

/* ACT's return value is the exit status; it may exit, or die, by itself. */
static inline void child_run(struct child *c, int (*act)(const void *), const void *arg)
{
	int out = child_ear(), err = child_ear(), status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		_exit(act(arg));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	c->signal = WIFSIGNALED(status) ? WTERMSIG(status) : -1;
	child_hear(out, c->out, sizeof(c->out));
	child_hear(err, c->err, sizeof(c->err));
}

#endif
