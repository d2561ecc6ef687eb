// SPDX-License-Identifier: GPL-2.0-or-later
/* task - what one task does: allocate, walk, read again, free. */
#include "common/clock.h"
#include "common/lines.h"
#include "usemem/pass.h"
#include "usemem/usemem.h"

#include <stdlib.h>

struct task {
	void **units; /* those that are allocated, in order */
	uint64_t unit_count;
	struct rng rng;
	volatile uint64_t sink; /* what was read ends here */
};

/* One phase over the units: the walk, or reading all once more. */
struct phase {
	bool writes, checks;
	bool allocates; /* take new units; else those that are there */
};

static uint64_t unit_bytes(uint64_t unit)
{
	uint64_t at = unit * cfg.unit_bytes;

	return MIN(cfg.unit_bytes, cfg.size_bytes - at);
}

static uint64_t units_wanted(void)
{
	return cfg.size_bytes / cfg.unit_bytes + (cfg.size_bytes % cfg.unit_bytes != 0);
}

/* The next unit: a piece of what all share, or memory of the task's own. */
static int take_unit(struct task *task)
{
	uint64_t unit = task->unit_count, at = unit * cfg.unit_bytes;
	int ret = 0;

	if (cfg.shared)
		task->units[unit] = (char *)cfg.shared + at;
	else
		ret = region_map(&cfg.backing, at, unit_bytes(unit), &task->units[unit]);
	task->unit_count += !ret;
	return ret;
}

int task_setup(struct worker *w)
{
	struct task *task = calloc(1, sizeof(*task));

	w->data = task;
	if (task && cfg.size_bytes)
		task->units = calloc(units_wanted(), sizeof(*task->units));
	if (!task || (cfg.size_bytes && !task->units))
		return failed("memory for %ju units", (uintmax_t)units_wanted());
	task->rng = rng_stream(cfg.seed, w->id);
	if (cfg.prealloc && !cfg.init_time)
		w->tally->began_ns = cfg.setup_began_ns;
	if (!cfg.sync_rw || cfg.prealloc || !cfg.size_bytes)
		return 0;
	w->tally->began_ns = now_ns();
	return take_unit(task);
}

static int wrong_data(const struct touch *t, uint64_t access, uint64_t unit)
{
	uint64_t i = access * t->step;

	return broken("wrong data at byte %ju of the memory: found %#jx, expected %#jx",
		      (uintmax_t)(unit * cfg.unit_bytes + i * sizeof(word)),
		      (uintmax_t)t->words[i], (uintmax_t)touch_value(t, i));
}

static int passes_over(struct worker *w, const struct phase *phase, uint64_t unit)
{
	struct task *task = w->data;
	void *memory = task->units[unit];
	struct touch t = {
		.words = memory,
		.count = unit_bytes(unit) / sizeof(uint64_t),
		.step = cfg.step_bytes / sizeof(uint64_t),
		.index_mask = cfg.index_mask,
		.data = cfg.data,
		.rng = task->rng,
	};
	int ret = 0;

	for (uint64_t pass = 0; pass < cfg.passes && !ret && (!pass || keep_going(w));
	     pass++) {
		bool checks = phase->checks && pass > 0;
		uint64_t wrong;

		t.fresh = phase->allocates && !pass && !cfg.prefault;
		wrong = pass_over(w, &t,
				  touch_find(phase->writes, cfg.random, checks, t.step));

		if (wrong != UINT64_MAX)
			ret = wrong_data(&t, wrong, unit);
		else if (cfg.msync_flags)
			ret = region_sync(&cfg.backing, memory, unit_bytes(unit),
					  (int)cfg.msync_flags);
	}
	task->rng = t.rng;
	task->sink += t.sum;
	return ret;
}

/* All passes over each unit in turn. What the deadline cuts is not begun, but for the first. */
static int walk(struct worker *w, const struct phase *phase)
{
	struct task *task = w->data;
	uint64_t count = phase->allocates && cfg.size_bytes ? units_wanted()
							    : task->unit_count;
	int ret = 0;

	for (uint64_t unit = 0; unit < count && !ret && (!unit || keep_going(w));
	     unit++) {
		if (unit == task->unit_count)
			ret = take_unit(task);
		if (!ret)
			ret = passes_over(w, phase, unit);
	}
	return ret;
}

int task_walk(struct worker *w)
{
	const struct phase phase = { .writes = !cfg.readonly,
				     .checks = true,
				     .allocates = true };

	return walk(w, &phase);
}

static int read_again(struct worker *w)
{
	const struct phase phase = { .writes = false };
	struct task_record *record = w->record;
	uint64_t before = w->tally->bytes, began_ns = now_ns();
	int ret = phase_begin(w, began_ns);

	if (!ret)
		ret = walk(w, &phase);
	record->again_ns = now_ns() - began_ns;
	record->again_bytes = w->tally->bytes - before;
	if (!ret && run_prints_lines(&cfg.run))
		ret = print_bandwidth("read again ", record->again_bytes,
				      record->again_ns);
	return ret;
}

static int free_units(struct worker *w)
{
	struct task_record *record = w->record;
	struct task *task = w->data;
	uint64_t began_ns = now_ns();
	int ret = 0;

	for (uint64_t unit = 0; unit < task->unit_count && !ret; unit++)
		ret = region_unmap(&cfg.backing, task->units[unit], unit_bytes(unit));
	record->free_ns = now_ns() - began_ns;
	if (!ret && run_prints_lines(&cfg.run))
		ret = print_free_time(record->free_ns);
	return ret;
}

/* What follows the walk, each phase that was asked for. */
int task_finish(struct worker *w)
{
	struct task_record *record = w->record;
	const struct tally *t = w->tally;
	int ret = 0;

	record->walk_ns = t->ended_ns - t->began_ns;
	if (run_prints_lines(&cfg.run))
		ret = print_bandwidth("", t->work_bytes, record->walk_ns);
	if (!ret && cfg.read_again && !crew_stopping(w))
		ret = read_again(w);
	if (!ret && !cfg.prealloc)
		ret = free_units(w);
	return ret;
}

void task_teardown(struct worker *w)
{
	struct task *task = w->data;

	free(task->units);
	free(task);
}
