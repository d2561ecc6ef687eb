// SPDX-License-Identifier: GPL-2.0-or-later
/* slots - the requests of the methods that have many in flight. */
#include "common/slots.h"

#include <errno.h>
#include <stdlib.h>

void slots_close(struct slots *s)
{
	free(s->slot);
	free(s->idle);
	free(s->memory);
}

/* Slot 0 is the first to be taken. */
static void fill_slots(struct slots *s)
{
	for (unsigned i = 0; i < s->target->depth; i++) {
		s->slot[i].memory = s->memory + i * s->step_bytes;
		s->idle[i] = s->target->depth - 1 - i;
	}
	s->nidle = s->target->depth;
}

int slots_open(struct slots *s, const struct target *t)
{
	int ret;

	s->target = t;
	s->slot = calloc(t->depth, sizeof(*s->slot));
	s->idle = calloc(t->depth, sizeof(*s->idle));
	s->memory = target_memory(t, t->depth, &s->step_bytes);
	if (s->memory && s->slot && s->idle) {
		fill_slots(s);
		ret = target_probe(t, s->memory);
	} else {
		ret = s->memory ? failed("memory for %u requests", t->depth) : -ENOMEM;
	}
	if (ret)
		slots_close(s);
	return ret;
}

/* What is to be said if CALL brought nothing; 0: nothing, ask again. */
static int excuse(const struct slots *s, const struct slot *slot, int64_t result,
		  const char *call)
{
	if (result == -EINTR)
		return 0;
	if (result >= 0)
		return method_ended_early(s->target, slot->block.at + slot->done);
	errno = (int)-result;
	return method_failed(s->target, call, slot->block.at + slot_from(s, slot));
}

static void put_back(struct slots *s, const struct slot *slot)
{
	s->idle[s->nidle++] = (unsigned)(slot - s->slot);
}

ssize_t slot_came(struct slots *s, struct slot *slot, int64_t result, const char *call)
{
	const struct target *t = s->target;
	uint64_t came = slot_from(s, slot) + (uint64_t)MAX(result, 0);
	int ret = 0;

	if (unlikely(came <= slot->done)) {
		ret = excuse(s, slot, result, call);
		if (ret)
			put_back(s, slot);
		return ret;
	}
	slot->done = came;
	if (unlikely(came < slot->block.len))
		return 0;
	put_back(s, slot);
	if (t->latency_ns)
		hist_add(t->latency_ns, now_ns() - slot->began_ns);
	if (unlikely(t->check))
		ret = t->check(t->context, &slot->block, slot->memory);
	return ret ?: (ssize_t)slot->block.len;
}
