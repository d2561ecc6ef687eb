// SPDX-License-Identifier: GPL-2.0-or-later
/* pipe - vmsplice(2) between memory and a pipe, splice(2) between the pipe and the file.
 *
 * Into the pipe go pages, not bytes; the copy is made on the way out of it. (A kind of its own,
 * ITER_PIPE, went with Linux 6.5.) */
#include "ioviter/kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct state {
	const struct trial *trial;
	int out, in; /* of the pipe, which is empty between two calls */
};

/* What everybody may give a pipe by default (pipe(7)). */
enum { MOST_BYTES = 1024 * 1024 };

/* As large as it gets: a user's pipes together have a limit as well. */
static long enlarge(int pipe)
{
	fcntl(pipe, F_SETPIPE_SZ, MOST_BYTES);
	return fcntl(pipe, F_GETPIPE_SZ);
}

static uint64_t pipe_most(void)
{
	int ends[2];
	long bytes;

	if (pipe2(ends, O_CLOEXEC))
		return MOST_BYTES; /* open() will say so */
	bytes = enlarge(ends[1]);
	close(ends[0]);
	close(ends[1]);
	return bytes > 0 ? (uint64_t)bytes : MOST_BYTES;
}

static int pipe_open(void *state, const struct trial *t)
{
	struct state *s = state;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return failed("pipe");
	s->trial = t;
	s->out = ends[0];
	s->in = ends[1];
	enlarge(s->in);
	return 0;
}

static void pipe_close(void *state)
{
	struct state *s = state;

	close(s->in);
	close(s->out);
}

/* One end of it moves up to LEN bytes at AT: into the pipe, or out of it. */
static ssize_t by_memory(struct state *s, bool in, uint64_t done, uint64_t len)
{
	struct iovec iov = { s->trial->memory + done, len };

	return vmsplice(in ? s->in : s->out, &iov, 1, 0);
}

static ssize_t by_file(struct state *s, bool in, uint64_t at, uint64_t len)
{
	const struct trial *t = s->trial;
	off_t offset = (off_t)at, *where = t->file_bytes ? &offset : NULL;

	return in ? splice(t->fd, where, s->in, NULL, len, 0)
		  : splice(s->out, NULL, t->fd, where, len, 0);
}

/* All LEN bytes that are in the pipe. 0, or -errno after saying so. */
static int empty_pipe(struct state *s, const struct span *block, uint64_t done,
		      uint64_t len)
{
	const struct trial *t = s->trial;

	while (len) {
		ssize_t n = t->write ? by_file(s, false, block->at + done, len)
				     : by_memory(s, false, done, len);

		if (n < 0 ? errno != EINTR : !n)
			return trial_failed(t, t->write ? "splice" : "vmsplice",
					    block->at + done, n);
		done += (uint64_t)MAX(n, 0);
		len -= (uint64_t)MAX(n, 0);
	}
	return 0;
}

static ssize_t pipe_pump(void *state, struct cursor *c)
{
	struct state *s = state;
	const struct trial *t = s->trial;
	struct span block;
	int ret = 0;

	if (!cursor_next(c, &block))
		return 0;
	for (uint64_t done = 0; done < block.len && !ret;) {
		ssize_t n = t->write
				    ? by_memory(s, true, done, block.len - done)
				    : by_file(s, true, block.at + done, block.len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EINVAL)
			return unsupported("%s: %s: EINVAL: it cannot be spliced",
					   t->name, t->write ? "vmsplice" : "splice");
		if (n <= 0)
			return trial_failed(t, t->write ? "vmsplice" : "splice",
					    block.at + done, n);
		ret = empty_pipe(s, &block, done, (uint64_t)n);
		done += (uint64_t)n;
	}
	return ret ?: (ssize_t)block.len;
}

const struct kind kind_pipe = {
	.name = "pipe",
	.help = "vmsplice(2) and splice(2) through a pipe",
	.copies_twice = true,
	.state_bytes = sizeof(struct state),
	.most_bytes = pipe_most,
	.lay = lay_one,
	.open = pipe_open,
	.pump = pipe_pump,
	.close = pipe_close,
};
