// SPDX-License-Identifier: GPL-2.0-or-later
/* preadv2 - preadv2(2) and pwritev2(2): where from and to, in segments, and with flags. */
#include "common/uapi.h"
#include "common/vectors.h"
#include "copyfile/methods/copier.h"

#include <sys/syscall.h>

struct state {
	struct copier copier; /* the first: so copier_pump() has it */
	struct vectors vectors;
	int flags;
};

static int preadv2_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ret = method_needs(t, "preadv2", SYS_preadv2);

	if (!ret)
		ret = method_needs(t, "pwritev2", SYS_pwritev2);
	if (ret)
		return ret;
	s->flags = t->uncached ? UAPI_RWF_DONTCACHE : 0;
	vectors_fit(&s->vectors, t);
	return copier_open_buffer(&s->copier, t);
}

static ssize_t pwritev2_once(struct copier *c, char *memory, uint64_t len, uint64_t to)
{
	struct state *s = (struct state *)c;

	vectors_at(&s->vectors, memory, len);
	return pwritev2(c->target->to, s->vectors.iov, s->vectors.count, (off_t)to,
			s->flags);
}

static ssize_t preadv2_once(struct copier *c, uint64_t at, uint64_t to, uint64_t len)
{
	struct state *s = (struct state *)c;
	const struct target *t = c->target;
	ssize_t n;

	vectors_at(&s->vectors, c->memory, target_request(t, len));
	n = preadv2(t->fd, s->vectors.iov, s->vectors.count, (off_t)at, s->flags);
	if (n < 0)
		return copier_fails(c, "preadv2");
	n = copier_usable(c, n, len);
	return n > 0 ? copier_write(c, c->memory, (uint64_t)n, to, pwritev2_once,
				    "pwritev2")
		     : n;
}

static ssize_t preadv2_pump(void *state, struct cursor *cursor)
{
	return copier_pump(state, cursor, preadv2_once);
}

const struct method method_preadv2 = {
	.name = "preadv2",
	.help = "preadv2(2), pwritev2(2), in segments as readvwritev",
	.state_bytes = sizeof(struct state),
	.direct = CAN,
	.uncached = CAN,
	.copies = true,
	.fallback = "readwrite",
	.open = preadv2_open,
	.pump = preadv2_pump,
	.close = copier_close,
};
