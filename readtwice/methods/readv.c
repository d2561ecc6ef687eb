// SPDX-License-Identifier: GPL-2.0-or-later
/* readv - readv(2): as read(2), into several places. */
#include "common/vectors.h"
#include "readtwice/methods.h"
#include "readtwice/methods/buffer.h"

struct state {
	struct buffer buffer; /* the first: so buffer_pump() has it */
	struct vectors vectors;
};

static int readv_open(void *state, const struct target *t)
{
	struct state *s = state;

	vectors_fit(&s->vectors, t);
	return buffer_open(&s->buffer, t);
}

static ssize_t readv_once(struct buffer *b, char *to, size_t len, uint64_t at)
{
	struct vectors *v = &((struct state *)b)->vectors;
	ssize_t n;

	vectors_at(v, to, len);
	if (unlikely(buffer_seek(b, at)))
		return -1;
	n = readv(b->target->fd, v->iov, v->count);
	if (n > 0)
		b->offset += (uint64_t)n;
	return n;
}

static ssize_t readv_pump(void *state, struct cursor *c)
{
	return buffer_pump(state, c, readv_once, "readv");
}

const struct method method_readv = {
	.name = "readv",
	.help = "readv(2) of a block in pages, or in 16 segments if it has more pages",
	.state_bytes = sizeof(struct state),
	.direct = CAN,
	.copies = true,
	.open = readv_open,
	.pump = readv_pump,
	.close = buffer_close,
};
