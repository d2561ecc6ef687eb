// SPDX-License-Identifier: GPL-2.0-or-later
/* splice - splice(2) from the source into a pipe, and from there into the target. */
#include "copyfile/methods/copier.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct state {
	struct copier copier; /* the first: so copier_pump() has it */
	int out, in;          /* of the pipe, which is empty between two blocks */
};

/* Of a pipe: what it has, and what everybody may give it (both by default). */
enum { USUAL_BYTES = 64 * 1024, MOST_BYTES = 1024 * 1024 };

static void splice_close(void *state)
{
	struct state *s = state;

	close(s->in);
	close(s->out);
	copier_close(state);
}

static int splice_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return failed("pipe");
	s->out = ends[0];
	s->in = ends[1];
	/* A pipe of the usual size does as well, in more calls. */
	if (t->block_bytes > USUAL_BYTES)
		fcntl(s->in, F_SETPIPE_SZ, (int)MIN(t->block_bytes, MOST_BYTES));
	return copier_open(state, t);
}

/* All N bytes that are in the pipe. N, or -1, errno and the call. */
static ssize_t empty_pipe(struct state *s, uint64_t to, uint64_t n)
{
	off_t to_at = (off_t)to;

	while ((uint64_t)to_at < to + n) {
		ssize_t gone = splice(s->out, NULL, s->copier.target->to, &to_at,
				      to + n - (uint64_t)to_at, SPLICE_F_MOVE);

		if (gone < 0 && errno != EINTR)
			return copier_fails(&s->copier, "splice to the target");
		if (!gone)
			return copier_no_room(&s->copier, "splice to the target");
	}
	return (ssize_t)n;
}

static ssize_t splice_once(struct copier *c, uint64_t at, uint64_t to, uint64_t len)
{
	struct state *s = (struct state *)c;
	off_t from_at = (off_t)at;
	ssize_t n = splice(c->target->fd, &from_at, s->in, NULL, len, SPLICE_F_MOVE);

	if (n < 0)
		return copier_fails(c, "splice from the source");
	return n ? empty_pipe(s, to, (uint64_t)n) : 0;
}

static ssize_t splice_pump(void *state, struct cursor *cursor)
{
	return copier_pump(state, cursor, splice_once);
}

const struct method method_splice = {
	.name = "splice",
	.help = "splice(2) into a pipe, and from there into the target",
	.state_bytes = sizeof(struct state),
	.fallback = "readwrite",
	.open = splice_open,
	.pump = splice_pump,
	.close = splice_close,
};
