// SPDX-License-Identifier: GPL-2.0-or-later
/* libaio - io_submit(2) of a read, and once it has come of the write: many blocks in flight. */
#include "common/aio.h"
#include "common/slots.h"
#include "copyfile/methods.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct state {
	struct slots slots;
	struct aio aio;
	bool *writing; /* of each slot: its request is a write */
};

static void free_all(struct state *s)
{
	slots_close(&s->slots);
	free(s->writing);
}

static int libaio_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ret = slots_open(&s->slots, t);

	if (ret)
		return ret;
	s->writing = calloc(t->depth, sizeof(*s->writing));
	ret = s->writing ? aio_open(&s->aio, t)
			 : failed("memory for %u requests", t->depth);
	if (ret)
		free_all(s);
	return ret;
}

/* The rest of the block. */
static void queue_read(struct state *s, struct slot *slot)
{
	struct request r = slot_request(&s->slots, slot);
	unsigned i = (unsigned)(slot - s->slots.slot);

	io_prep_pread(&s->aio.iocb[i], s->slots.target->fd, r.to, r.len, (long long)r.at);
	s->writing[i] = false;
	aio_queue(&s->aio, i, slot);
}

static void queue_write(struct state *s, struct slot *slot, uint64_t len)
{
	struct request r = slot_request(&s->slots, slot);
	uint64_t to = slot->block.to + (r.at - slot->block.at);
	unsigned i = (unsigned)(slot - s->slots.slot);

	io_prep_pwrite(&s->aio.iocb[i], s->slots.target->to, r.to,
		       target_request(s->slots.target, len), (long long)to);
	s->writing[i] = true;
	aio_queue(&s->aio, i, slot);
}

static int say_failed(const struct state *s, const struct slot *slot, int64_t result,
		      const char *call)
{
	errno = (int)-result;
	return copy_failed(s->slots.target, call, &slot->block);
}

/* What came is written: whole units, but for the end of the file. 0, or -errno after saying so. */
static int has_read(struct state *s, struct slot *slot, int64_t result)
{
	uint64_t left = slot->block.len - slot_from(&s->slots, slot), len;

	if (result == -EINTR) {
		queue_read(s, slot);
		return 0;
	}
	if (result < 0)
		return say_failed(s, slot, result, "read by libaio");
	len = (uint64_t)result < left ? (uint64_t)result & -s->slots.target->align_bytes
				      : left;
	if (!len)
		return copy_ended_early(s->slots.target,
					slot->block.at + slot->done + (uint64_t)result);
	queue_write(s, slot, len);
	return 0;
}

/* The bytes of the block, which then is whole; 0: there is more to come; -errno after saying so. */
static ssize_t has_written(struct state *s, struct slot *slot, int64_t result)
{
	const struct target *t = s->slots.target;
	ssize_t n;

	if (slot_is_stuck(&s->slots, slot, result))
		result = -ENOSPC;
	if (result < 0 && result != -EINTR)
		return say_failed(s, slot, result, "write by libaio");
	n = slot_came(&s->slots, slot, result, "write by libaio");
	if (!n)
		queue_read(s, slot);
	/* The last unit of the file was written whole. */
	if (n > 0 && target_request(t, slot->block.len) > slot->block.len &&
	    ftruncate(t->to, (off_t)t->size_bytes))
		return failed("cut %s", t->to_name);
	return n;
}

/* What is queued, if anything. 0, or -errno after saying so. */
static int submit(struct state *s)
{
	void *refused;
	int ret = aio_submit(&s->aio, &refused);

	return ret ? say_failed(s, refused, ret, "io_submit") : 0;
}

/* All that has come, one at least. Bytes of blocks that are whole, or -errno after saying so. */
static ssize_t reap(struct state *s)
{
	int n = aio_await(&s->aio);
	ssize_t bytes = 0, came;

	errno = -n;
	if (n < 0)
		return copy_failed(s->slots.target, "io_getevents", NULL);
	for (int i = 0; i < n; i++) {
		struct slot *slot = s->aio.events[i].data;
		int64_t result = (int64_t)s->aio.events[i].res;

		came = s->writing[slot - s->slots.slot] ? has_written(s, slot, result)
							: has_read(s, slot, result);
		if (unlikely(came < 0))
			return came;
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
		queue_read(s, slot);
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
	free_all(s);
}

const struct method method_libaio = {
	LIBAIO_ROW,
	.state_bytes = sizeof(struct state),
	.open = libaio_open,
	.pump = libaio_pump,
	.close = libaio_close,
};
