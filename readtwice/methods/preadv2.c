// SPDX-License-Identifier: GPL-2.0-or-later
/* preadv2 - preadv2(2): where from, into several places, and with flags. */
#include "common/uapi.h"
#include "common/vectors.h"
#include "readtwice/methods.h"
#include "readtwice/methods/buffer.h"

#include <sys/syscall.h>

struct state {
	struct buffer buffer; /* the first: so buffer_pump() has it */
	struct vectors vectors;
	int flags;
};

static int preadv2_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ret = method_needs(t, "preadv2", SYS_preadv2);

	if (ret)
		return ret;
	s->flags = t->uncached ? UAPI_RWF_DONTCACHE : 0;
	vectors_fit(&s->vectors, t);
	return buffer_open(&s->buffer, t);
}

static ssize_t preadv2_once(struct buffer *b, char *to, size_t len, uint64_t at)
{
	struct state *s = (struct state *)b;

	vectors_at(&s->vectors, to, len);
	return preadv2(b->target->fd, s->vectors.iov, s->vectors.count, (off_t)at,
		       s->flags);
}

static ssize_t preadv2_pump(void *state, struct cursor *c)
{
	return buffer_pump(state, c, preadv2_once, "preadv2");
}

const struct method method_preadv2 = {
	.name = "preadv2",
	.help = "preadv2(2) of a block in segments, as readv",
	.state_bytes = sizeof(struct state),
	.direct = CAN,
	.copies = true,
	.uncached = CAN,
	.open = preadv2_open,
	.pump = preadv2_pump,
	.close = buffer_close,
};
