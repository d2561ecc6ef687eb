// SPDX-License-Identifier: GPL-2.0-or-later
/* splice - splice(2) from the file into a pipe, and from there into /dev/null. */
#include "readtwice/methods.h"
#include "readtwice/methods/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct state {
	struct buffer buffer; /* the first: so buffer_pump() has it */
	int out, in;          /* of the pipe, which is empty between two calls */
	int null;
};

/* Of a pipe: what it has, and what everybody may give it (both by default). */
enum { USUAL_BYTES = 64 * 1024, MOST_BYTES = 1024 * 1024 };

static void splice_close(void *state)
{
	struct state *s = state;

	close(s->null);
	close(s->in);
	close(s->out);
	buffer_close(state);
}

static int splice_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ends[2], ret;

	if (pipe2(ends, O_CLOEXEC))
		return failed("pipe");
	s->out = ends[0];
	s->in = ends[1];
	/* A pipe of the usual size does as well, in more calls. */
	if (t->block_bytes > USUAL_BYTES)
		fcntl(s->in, F_SETPIPE_SZ, (int)MIN(t->block_bytes, MOST_BYTES));
	s->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ret = s->null < 0 ? failed("open /dev/null") : buffer_open(state, t);
	if (ret)
		splice_close(state);
	return ret;
}

/* The N bytes in the pipe: to TO if somebody looks at them. 0, or -1 and errno. */
static int empty_pipe(struct state *s, char *to, size_t n)
{
	while (n) {
		ssize_t gone = s->buffer.target->check ? read(s->out, to, n)
						       : splice(s->out, NULL, s->null,
								NULL, n, SPLICE_F_MOVE);

		if (gone < 0 && errno == EINTR)
			continue;
		if (gone < 0)
			return -1;
		to += gone;
		n -= (size_t)gone;
	}
	return 0;
}

static ssize_t splice_once(struct buffer *b, char *to, size_t len, uint64_t at)
{
	struct state *s = (struct state *)b;
	off_t from = (off_t)at;
	ssize_t n = splice(b->target->fd, &from, s->in, NULL, len, SPLICE_F_MOVE);

	if (n > 0 && empty_pipe(s, to, (size_t)n))
		return -1;
	return n;
}

static ssize_t splice_pump(void *state, struct cursor *c)
{
	return buffer_pump(state, c, splice_once, "splice");
}

const struct method method_splice = {
	.name = "splice",
	.help = "splice(2) of a block through a pipe into /dev/null: nothing is copied",
	.state_bytes = sizeof(struct state),
	.open = splice_open,
	.pump = splice_pump,
	.close = splice_close,
};
