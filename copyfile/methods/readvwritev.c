// SPDX-License-Identifier: GPL-2.0-or-later
/* readvwritev - readv(2) and writev(2): as readwrite, through a buffer in segments. */
#include "common/vectors.h"
#include "copyfile/methods/copier.h"

struct state {
	struct copier copier; /* the first: so copier_pump() has it */
	struct vectors vectors;
};

static int readvwritev_open(void *state, const struct target *t)
{
	struct state *s = state;

	vectors_fit(&s->vectors, t);
	return copier_open_buffer(&s->copier, t);
}

static ssize_t writev_once(struct copier *c, char *memory, uint64_t len, uint64_t to)
{
	struct vectors *v = &((struct state *)c)->vectors;
	ssize_t n;

	vectors_at(v, memory, len);
	if (unlikely(copier_seek(c->target->to, &c->to_offset, to)))
		return copier_fails(c, "lseek");
	n = writev(c->target->to, v->iov, v->count);
	if (n > 0)
		c->to_offset += (uint64_t)n;
	return n;
}

static ssize_t readvwritev_once(struct copier *c, uint64_t at, uint64_t to, uint64_t len)
{
	struct vectors *v = &((struct state *)c)->vectors;
	const struct target *t = c->target;
	ssize_t n;

	vectors_at(v, c->memory, target_request(t, len));
	if (unlikely(copier_seek(t->fd, &c->from_offset, at)))
		return copier_fails(c, "lseek");
	n = readv(t->fd, v->iov, v->count);
	if (n < 0)
		return copier_fails(c, "readv");
	c->from_offset += (uint64_t)n;
	n = copier_usable(c, n, len);
	return n > 0 ? copier_write(c, c->memory, (uint64_t)n, to, writev_once, "writev")
		     : n;
}

static ssize_t readvwritev_pump(void *state, struct cursor *cursor)
{
	return copier_pump(state, cursor, readvwritev_once);
}

const struct method method_readvwritev = {
	.name = "readvwritev",
	.help = "readv(2), writev(2): in pages, or in 16 segments if a block has more",
	.state_bytes = sizeof(struct state),
	.direct = CAN,
	.copies = true,
	.fallback = "readwrite",
	.open = readvwritev_open,
	.pump = readvwritev_pump,
	.close = copier_close,
};
