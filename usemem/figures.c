// SPDX-License-Identifier: GPL-2.0-or-later
/* figures - what a repetition of usemem measured, into the report. */
#include "usemem/usemem.h"

#include <stdlib.h>

/* A figure each task has, and how a repetition sums it up. */
struct figure {
	struct metric metric;
	const bool *asked; /* NULL: always there */
	bool unasked;      /* there only if *asked is not */
	double (*of_task)(const struct tally *t, const struct task_record *record);
};

static double walk_bytes(const struct tally *t, const struct task_record *record)
{
	(void)record;
	return (double)t->work_bytes;
}

static double walk_ns(const struct tally *t, const struct task_record *record)
{
	(void)t;
	return (double)record->walk_ns;
}

static double again_bytes(const struct tally *t, const struct task_record *record)
{
	(void)t;
	return (double)record->again_bytes;
}

static double again_ns(const struct tally *t, const struct task_record *record)
{
	(void)t;
	return (double)record->again_ns;
}

static double free_ns(const struct tally *t, const struct task_record *record)
{
	(void)t;
	return (double)record->free_ns;
}

static const struct figure figures[] = {
	{ { "walk", UNIT_BYTES, true }, NULL, false, walk_bytes },
	{ { "walk", UNIT_NS, false }, NULL, false, walk_ns },
	{ { "read_again", UNIT_BYTES, true }, &cfg.read_again, false, again_bytes },
	{ { "read_again", UNIT_NS, false }, &cfg.read_again, false, again_ns },
	{ { "free", UNIT_NS, false }, &cfg.prealloc, true, free_ns },
};

static const struct metric metric_setup = { "setup", UNIT_NS, false };

void collect_figures(struct report *r, const struct crew_result *result)
{
	double *x = calloc(result->workers, sizeof(*x));

	report_sample(r, &metric_setup, (double)cfg.setup_ns);
	for (size_t f = 0; f < ARRAY_SIZE(figures) && x; f++) {
		double total = 0;

		if (figures[f].asked && *figures[f].asked == figures[f].unasked)
			continue;
		for (unsigned i = 0; i < result->workers; i++) {
			x[i] = figures[f].of_task(&result->tallies[i],
						  crew_record(result, i));
			total += x[i];
		}
		/* Bytes add up; of times the mean is what a task had. */
		report_sample(r, &figures[f].metric,
			      figures[f].metric.unit == UNIT_NS ? total / result->workers
								: total);
		report_per_worker(r, &figures[f].metric, x, result->workers);
	}
	free(x);
}
