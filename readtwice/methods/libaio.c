// SPDX-License-Identifier: GPL-2.0-or-later
/* libaio - io_submit(2) and io_getevents(2): many requests in flight, as databases have it. */
#include "common/aio.h"
#include "common/slots.h"
#include "readtwice/methods.h"

#include <errno.h>

struct state {
	struct slots slots;
	struct aio aio;
};

static int libaio_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ret = slots_open(&s->slots, t);

	if (ret)
		return ret;
	ret = aio_open(&s->aio, t);
	if (ret)
		slots_close(&s->slots);
	return ret;
}

static void queue(struct state *s, struct slot *slot)
{
	struct request r = slot_request(&s->slots, slot);
	unsigned i = (unsigned)(slot - s->slots.slot);

	io_prep_pread(&s->aio.iocb[i], s->slots.target->fd, r.to, r.len, (long long)r.at);
	aio_queue(&s->aio, i, slot);
}

/* What is queued, if anything. 0, or -errno after saying so. */
static int submit(struct state *s)
{
	void *refused;
	int ret = aio_submit(&s->aio, &refused);

	errno = -ret;
	return ret ? method_failed(s->slots.target, "io_submit",
				   slot_request(&s->slots, refused).at)
		   : 0;
}

/* All that has come, one at least. Bytes of blocks that are whole, or -errno after saying so; of
 * others the rest is queued. */
static ssize_t reap(struct state *s)
{
	int n = aio_await(&s->aio);
	ssize_t bytes = 0, came;

	errno = -n;
	if (n < 0)
		return failed("%s: io_getevents", s->slots.target->name);
	for (int i = 0; i < n; i++) {
		struct slot *slot = s->aio.events[i].data;

		came = slot_came(&s->slots, slot, (int64_t)s->aio.events[i].res,
				 "read by libaio");
		if (unlikely(came < 0))
			return came;
		if (unlikely(!came))
			queue(s, slot);
		bytes += came;
	}
	return bytes;
}

static ssize_t libaio_pump(void *state, struct cursor *c)
{
	struct state *s = state;
	struct slot *slot;
	ssize_t bytes = 0;

	while ((slot = slot_take(&s->slots, c)))
		queue(s, slot);
	while (!bytes && slots_busy(&s->slots)) {
		bytes = submit(s);
		if (!bytes)
			bytes = reap(s);
	}
	return bytes;
}

static void libaio_close(void *state)
{
	struct state *s = state;

	aio_close(&s->aio);
	slots_close(&s->slots);
}

const struct method method_libaio = {
	LIBAIO_ROW,
	.state_bytes = sizeof(struct state),
	.open = libaio_open,
	.pump = libaio_pump,
	.close = libaio_close,
};
