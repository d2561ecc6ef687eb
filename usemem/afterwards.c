// SPDX-License-Identifier: GPL-2.0-or-later
/* afterwards - what follows the walk, step by step. */
#include "common/clock.h"
#include "common/lines.h"
#include "usemem/task.h"

static int read_again(struct worker *w)
{
	const struct phase phase = { .random = cfg.random,
				     .syncs = true,
				     .passes = cfg.passes,
				     .at_most = UINT64_MAX };
	struct task_record *record = w->record;
	uint64_t before = w->tally->bytes, began_ns = now_ns();
	int ret = phase_begin(w, began_ns);

	if (!ret)
		ret = walk_units(w, &phase);
	record->again.ns = now_ns() - began_ns;
	record->again.bytes = w->tally->bytes - before;
	if (!ret && run_prints_lines(&cfg.run))
		ret = print_bandwidth("read again ", record->again.bytes,
				      record->again.ns);
	return ret;
}

static int lock_all(struct worker *w)
{
	struct task *task = w->data;
	int ret = 0;

	for (uint64_t unit = 0; unit < task->unit_count && !ret; unit++)
		ret = lock_unit(task, unit);
	return ret;
}

static int punch_holes(struct worker *w)
{
	struct task *task = w->data;
	int ret = 0;

	if (cfg.signal_punch_holes)
		ret = await_signal(w, "Punch holes Process");
	for (uint64_t unit = 0; unit < task->unit_count && !ret; unit++) {
		if (crew_stopping(w))
			return 0;
		ret = punch_unit(task, unit);
	}
	if (!ret && run_prints_lines(&cfg.run))
		ret = print_line("punch holes done");
	return ret;
}

static int sleep_on(struct worker *w)
{
	if (cfg.sleep_ns)
		crew_sleep(w, cfg.sleep_ns);
	return 0;
}

static int line_up(struct worker *w)
{
	crew_line_up(w);
	return 0;
}

/* In this order. */
static const struct {
	const bool *asked; /* NULL: the step looks for itself */
	int (*take)(struct worker *w);
} steps[] = {
	{ &cfg.read_again, read_again },
	{ &cfg.mlock, lock_all },
	{ &cfg.punch_holes, punch_holes },
	{ &cfg.rounds, make_rounds },
	{ NULL, sleep_on },
	{ &cfg.sync_free, line_up },
};

int do_afterwards(struct worker *w)
{
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(steps) && !ret && !crew_stopping(w); i++)
		if (!steps[i].asked || *steps[i].asked)
			ret = steps[i].take(w);
	return ret;
}
