// SPDX-License-Identifier: GPL-2.0-or-later
/* walk - passes over units, as phases ask for them. */
#include "usemem/task.h"

static int wrong_data(const struct touch *t, uint64_t unit, uint64_t i, uint64_t expected)
{
	return broken("wrong data at byte %ju of the memory: found %#jx, expected %#jx",
		      (uintmax_t)(unit * cfg.unit_bytes + i * sizeof(word)),
		      (uintmax_t)t->words[i], (uintmax_t)expected);
}

/* Note how far a sequential pass that stored something got. */
static void note_stored(struct task *task, const struct phase *phase, uint64_t unit,
			uint64_t made)
{
	struct stored *s = task->stored ? &task->stored[unit] : NULL;

	if (!s || !phase->writes || phase->random)
		return;
	if (phase->allocates)
		s->walked = MAX(s->walked, made);
	else
		s->written = MAX(s->written, made);
}

/* Pass number PASS of PHASE over UNIT, at most *LEFT accesses, which it lowers. */
static int pass_over_unit(struct worker *w, const struct phase *phase, uint64_t unit,
			  uint64_t pass_number, uint64_t *left)
{
	struct task *task = w->data;
	struct verified context = { task, unit };
	bool checks = phase->checks && pass_number > 0;
	struct touch t = {
		.words = task->units[unit],
		.count = unit_bytes(unit) / sizeof(word),
		.step = cfg.step_bytes / sizeof(word),
		.pattern = pattern_in_unit(task, phase->pattern, unit),
		.rng = task->rng,
		.fresh = phase->allocates && !pass_number && !cfg.prefault &&
			 !cfg.touch_alloc,
	};
	struct pass pass = {
		.kind = touch_find(&t, phase->writes, phase->random, checks),
		.at_most = *left,
		.page_bytes = region_page_bytes(&cfg.backing),
		.hold_ns = cfg.hold_ns,
		.right = phase->verifies ? holds_right : NULL,
		.context = &context,
	};
	uint64_t wrong;

	/* Before it: a random pass may come to the same word twice. */
	task->random_writes |= phase->writes && phase->random && !phase->allocates;
	wrong = pass_over(w, &t, &pass);
	*left -= pass.made;
	task->rng = t.rng;
	task->sink += t.sum;
	if (wrong != UINT64_MAX)
		return wrong_data(&t, unit, wrong,
				  phase->verifies ? expected_word(&context, &t, wrong)
						  : pattern_word(&t.pattern, wrong));
	note_stored(task, phase, unit, pass.made);
	return 0;
}

/* All passes over UNIT, and the msync of each. */
static int walk_unit(struct worker *w, const struct phase *phase, uint64_t unit)
{
	struct task *task = w->data;
	int ret = 0;

	for (uint64_t pass = 0; pass < phase->passes && !ret && (!pass || keep_going(w));
	     pass++) {
		uint64_t left = phase->at_most;

		ret = pass_over_unit(w, phase, unit, pass, &left);
		if (!ret && phase->syncs && cfg.msync_flags)
			ret = region_sync(&cfg.backing, task->units[unit],
					  unit_bytes(unit), (int)cfg.msync_flags);
	}
	return ret;
}

int walk_units(struct worker *w, const struct phase *phase)
{
	struct task *task = w->data;
	uint64_t count = phase->allocates && cfg.size_bytes ? units_wanted()
							    : task->unit_count;
	int ret = 0;

	for (uint64_t unit = 0; unit < count && !ret && (!unit || keep_going(w));
	     unit++) {
		if (unit == task->unit_count)
			ret = take_unit(w);
		if (!ret)
			ret = walk_unit(w, phase, unit);
		if (!ret && phase->asks)
			ret = ask_menu(w, unit);
	}
	return ret;
}

static uint64_t unit_accesses(uint64_t unit)
{
	const struct touch t = { .count = unit_bytes(unit) / sizeof(word),
				 .step = cfg.step_bytes / sizeof(word) };

	return touch_accesses(&t);
}

/* Of LEFT accesses those for a unit of N, where REMAINING are there to be made: in order all that
 * it has room for; random ones are spread over all units. */
static uint64_t share_of_unit(const struct phase *phase, uint64_t left, uint64_t n,
			      uint64_t remaining)
{
	if (!phase->random || left >= remaining)
		return left;
	return (uint64_t)((unsigned __int128)left * n / remaining);
}

/* One pass over all units. */
static int sweep_once(struct worker *w, const struct phase *phase, uint64_t pass)
{
	const struct task *task = w->data;
	uint64_t left = phase->at_most, count = task->unit_count;
	/* All units but the last are alike. */
	uint64_t remaining =
		count ? (count - 1) * unit_accesses(0) + unit_accesses(count - 1) : 0;
	int ret = 0;

	for (uint64_t unit = 0; unit < count && left && !ret; unit++) {
		uint64_t n = unit_accesses(unit);
		uint64_t share = share_of_unit(phase, left, n, remaining), rest = share;

		if ((pass || unit) && !keep_going(w))
			return 0;
		ret = pass_over_unit(w, phase, unit, pass, &rest);
		left -= share - rest;
		remaining -= n;
	}
	return ret;
}

int sweep_units(struct worker *w, const struct phase *phase)
{
	int ret = 0;

	for (uint64_t pass = 0; pass < phase->passes && !ret && (!pass || keep_going(w));
	     pass++)
		ret = sweep_once(w, phase, pass);
	return ret;
}
