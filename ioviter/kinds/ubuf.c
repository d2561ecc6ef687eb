// SPDX-License-Identifier: GPL-2.0-or-later
/* ubuf - ITER_UBUF: read(2) and write(2), one piece of memory. */
#include "ioviter/kinds.h"

#include <errno.h>
#include <unistd.h>

struct state {
	const struct trial *trial;
	uint64_t offset; /* the descriptor's own; UINT64_MAX: not known */
};

static int ubuf_open(void *state, const struct trial *t)
{
	struct state *s = state;

	s->trial = t;
	s->offset = UINT64_MAX;
	return 0;
}

static ssize_t call_once(const struct trial *t, char *memory, uint64_t len)
{
	return t->write ? write(t->fd, memory, len) : read(t->fd, memory, len);
}

/* What is missing of BLOCK after a call that ended with N. */
static ssize_t finish(struct state *s, const struct span *block, ssize_t n)
{
	const struct trial *t = s->trial;
	uint64_t done = 0;

	for (;;) {
		if (n < 0 ? errno != EINTR : !n)
			return trial_failed(t, t->write ? "write" : "read",
					    block->at + done, n);
		done += (uint64_t)MAX(n, 0);
		if (done == block->len)
			break;
		n = call_once(t, t->memory + done, block->len - done);
	}
	s->offset = block->at + block->len;
	return (ssize_t)block->len;
}

static ssize_t ubuf_pump(void *state, struct cursor *c)
{
	struct state *s = state;
	const struct trial *t = s->trial;
	struct span block;
	ssize_t n;

	if (!cursor_next(c, &block))
		return 0;
	if (unlikely(s->offset != block.at) &&
	    lseek(t->fd, (off_t)block.at, SEEK_SET) < 0)
		return failed("lseek in %s", t->name);
	n = call_once(t, t->memory, block.len);
	s->offset = block.at + block.len;
	return n == (ssize_t)block.len ? n : finish(s, &block, n);
}

const struct kind kind_ubuf = {
	.name = "ubuf",
	.help = "read(2), write(2): one piece of memory",
	.skips_devices = true,
	.state_bytes = sizeof(struct state),
	.lay = lay_one,
	.open = ubuf_open,
	.pump = ubuf_pump,
};
