/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots - the requests of the methods that have many in flight. */
#ifndef COMMON_SLOTS_H
#define COMMON_SLOTS_H

#include "common/clock.h"
#include "common/method.h"

struct slot {
	struct span block;
	uint64_t done; /* bytes of it that came */
	char *memory;
	uint64_t began_ns; /* if the target asks for latencies */
};

struct slots {
	const struct target *target;
	struct slot *slot; /* target->depth of them */
	unsigned *idle, nidle;
	char *memory;
	uint64_t step_bytes; /* of memory, from one slot to the next */
};

/* What a slot has to ask for next. */
struct request {
	char *to;
	size_t len;
	uint64_t at;
};

/* 0, or -errno after saying so. */
must_check int slots_open(struct slots *s, const struct target *t);
void slots_close(struct slots *s);

static inline unsigned slots_busy(const struct slots *s)
{
	return s->target->depth - s->nidle;
}

/* A slot that was idle, with the next block of C. NULL: no slot, or no block. */
static inline struct slot *slot_take(struct slots *s, struct cursor *c)
{
	struct slot *slot;

	if (!s->nidle)
		return NULL;
	slot = &s->slot[s->idle[s->nidle - 1]];
	if (!cursor_next(c, &slot->block))
		return NULL;
	slot->done = 0;
	if (s->target->latency_ns)
		slot->began_ns = now_ns();
	s->nidle--;
	return slot;
}

/* O_DIRECT goes on from the last whole unit only, and so may bring bytes again. */
static inline uint64_t slot_from(const struct slots *s, const struct slot *slot)
{
	return slot->done & -s->target->align_bytes;
}

static inline struct request slot_request(const struct slots *s, const struct slot *slot)
{
	uint64_t from = slot_from(s, slot);

	return (struct request){ slot->memory + from,
				 target_request(s->target, slot->block.len - from),
				 slot->block.at + from };
}

/* Did a request of SLOT, without an error, bring no more than there was? Of a write that means a full
 * filesystem, as for cp(1). */
static inline bool slot_is_stuck(const struct slots *s, const struct slot *slot,
				 int64_t result)
{
	return result >= 0 && slot_from(s, slot) + (uint64_t)result <= slot->done;
}

/* The request of SLOT ended with RESULT, bytes or -errno, of CALL. The bytes of the block, which
 * then is whole and the slot idle; 0: there is more to ask for; -errno after saying so, and the slot
 * is idle. */
must_check ssize_t slot_came(struct slots *s, struct slot *slot, int64_t result,
			     const char *call);

#endif
