// SPDX-License-Identifier: GPL-2.0-or-later
/* verify - what a word should hold, as far as that can be known. */
#include "usemem/task.h"

/* Stored by nobody, a word holds its index: what was written into a file before, say. */
static uint64_t as_found(uint64_t i)
{
	return i;
}

static uint64_t stored_by_walk(const struct verified *v, uint64_t i)
{
	struct pattern p = pattern_in_unit(v->task, &cfg.walk_pattern, v->unit);

	return pattern_word(&p, i);
}

static bool known_to_be_stored(const struct verified *v, const struct touch *t,
			       uint64_t i)
{
	const struct stored *s = &v->task->stored[v->unit];

	return i % t->step == 0 && i / t->step < MAX(s->walked, s->written);
}

uint64_t expected_word(const struct verified *v, const struct touch *t, uint64_t i)
{
	const struct stored *s = &v->task->stored[v->unit];

	if (!known_to_be_stored(v, t, i))
		return as_found(i);
	return i / t->step < s->written ? pattern_word(&cfg.signal_pattern, i)
					: stored_by_walk(v, i);
}

static bool in_a_hole(const struct verified *v, const struct touch *t, uint64_t i)
{
	struct pages pages = unit_pages(v->task, v->unit);
	uint64_t page = region_page_bytes(&cfg.backing);
	uintptr_t at = (uintptr_t)(t->words + i), first = (uintptr_t)pages.start;

	return cfg.punch_holes && at >= first && at < first + pages.bytes &&
	       is_hole((at - first) / page, pages.bytes / page);
}

/* Do other tasks store into the same memory? */
static bool others_write(void)
{
	if (cfg.run.workers == 1)
		return false;
	if (cfg.prealloc)
		return cfg.backing.shared || cfg.run.threads > 1;
	return cfg.backing.shared && cfg.backing.source->is_file;
}

/* Memory that comes from the kernel is zero where nothing was stored. */
static bool begins_as_zero(void)
{
	const struct backing *b = &cfg.backing;

	return !b->source->heap && (!b->source->is_file || cfg.memfd || b->created);
}

/* Other values than the expected one that are right as well. */
static bool may_hold(const struct verified *v, const struct touch *t, uint64_t i,
		     uint64_t value)
{
	bool walk_stores = !cfg.readonly && cfg.passes;
	bool others = others_write();

	if ((v->task->random_writes || (others && cfg.signal_write)) &&
	    value == pattern_word(&cfg.signal_pattern, i))
		return true;
	if (walk_stores && (cfg.random || others) && value == stored_by_walk(v, i))
		return true;
	if (value == 0 && in_a_hole(v, t, i))
		return true;
	/* The walk stored elsewhere: at random, with another step, or cut by the deadline. */
	return value == 0 && walk_stores && !cfg.touch_alloc && begins_as_zero() &&
	       !known_to_be_stored(v, t, i);
}

bool holds_right(const void *context, const struct touch *t, uint64_t i, uint64_t value)
{
	const struct verified *v = context;

	return value == expected_word(v, t, i) || may_hold(v, t, i, value);
}
