// SPDX-License-Identifier: GPL-2.0-or-later
/* task - the life of one task: allocate, walk, what follows, free. */
#include "usemem/task.h"

#include "common/clock.h"
#include "common/lines.h"

#include <stdlib.h>
#include <sys/resource.h>

/* Only those that somebody will look at. */
static int open_tables(struct task *task)
{
	uint64_t count = cfg.size_bytes ? units_wanted() : 0;

	if (!count)
		return 0;
	task->units = calloc(count, sizeof(*task->units));
	if (cfg.menu)
		task->mapped = calloc(count, sizeof(*task->mapped));
	if (cfg.signal_verify)
		task->stored = calloc(count, sizeof(*task->stored));
	if (task->units && (!cfg.menu || task->mapped) &&
	    (!cfg.signal_verify || task->stored))
		return 0;
	return failed("memory for %ju units", (uintmax_t)count);
}

/* Set-up is part of the walk's time where something is done in it, unless it is taken out. */
static bool setup_counts(void)
{
	return (cfg.prealloc || cfg.lock_segment || cfg.advise) && !cfg.init_time &&
	       !cfg.first_access_speed;
}

/* With --sync-rw the first unit is taken in it. */
static bool takes_before_start(void)
{
	return cfg.sync_rw && !cfg.prealloc && cfg.size_bytes;
}

bool time_begins_early(void)
{
	return setup_counts() || takes_before_start();
}

int task_setup(struct worker *w)
{
	struct task *task = calloc(1, sizeof(*task));
	int ret;

	if (!task)
		return failed("memory for a task");
	w->data = task;
	ret = open_tables(task);
	if (ret)
		return ret;
	task->rng = rng_stream(cfg.seed, w->id);
	/* Tasks that share memory store the same there. */
	task->pattern_base = rng_stream(cfg.seed,
					cfg.prealloc || cfg.backing.shared ? 0 : w->id)
				     .counter;
	if (setup_counts())
		w->tally->began_ns = cfg.setup_began_ns;
	if (!takes_before_start())
		return 0;
	if (!setup_counts())
		w->tally->began_ns = now_ns();
	return take_unit(w);
}

int task_walk(struct worker *w)
{
	const struct phase phase = { .writes = !cfg.readonly,
				     .random = cfg.random,
				     .allocates = true,
				     .checks = !cfg.no_check,
				     .syncs = true,
				     .asks = cfg.menu,
				     .pattern = &cfg.walk_pattern,
				     .passes = cfg.passes,
				     .at_most = UINT64_MAX };

	return walk_units(w, &phase);
}

static int free_memory(struct worker *w)
{
	struct task_record *record = w->record;
	uint64_t began_ns = now_ns();
	int ret = free_units(w->data);

	record->free_ns = now_ns() - began_ns;
	if (!ret && run_prints_lines(&cfg.run))
		ret = print_free_time(record->free_ns);
	return ret;
}

static void count_faults(struct task_record *record)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		return;
	record->minor_faults = (uint64_t)usage.ru_minflt;
	record->major_faults = (uint64_t)usage.ru_majflt;
}

int task_finish(struct worker *w)
{
	struct task_record *record = w->record;
	const struct tally *t = w->tally;
	int ret = 0;

	record->walk = (struct measured){ t->work_bytes, tally_work_ns(t) };
	count_faults(record);
	if (walk_has_line() && run_prints_lines(&cfg.run))
		ret = print_bandwidth("", record->walk.bytes, record->walk.ns);
	if (!ret)
		ret = do_afterwards(w);
	count_faults(record);
	if (!ret)
		crew_reached(w);
	if (!ret && cfg.frees)
		ret = free_memory(w);
	return ret;
}

void task_teardown(struct worker *w)
{
	struct task *task = w->data;

	free(task->units);
	free(task->mapped);
	free(task->stored);
	free(task);
}
