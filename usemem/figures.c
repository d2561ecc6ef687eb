// SPDX-License-Identifier: GPL-2.0-or-later
/* figures - what a repetition of usemem measured, into the report. */
#include "common/medium.h"
#include "common/system.h"
#include "usemem/usemem.h"

#include <stddef.h>
#include <stdlib.h>

/* A figure each task has, and how a repetition sums it up. */
struct figure {
	struct metric metric;
	const bool *asked; /* NULL: always there */
	bool late; /* measured after the first wait: not known of those left behind */
	size_t at; /* of a uint64_t in struct task_record */
};

#define FIGURE(name, unit, better, asked, late, member)      \
	{                                                    \
		{ name, unit, better }, asked, late,         \
			offsetof(struct task_record, member) \
	}
#define MEASURED(name, asked, late, member)                        \
	FIGURE(name, UNIT_BYTES, true, asked, late, member.bytes), \
		FIGURE(name, UNIT_NS, false, asked, late, member.ns)

static const struct figure figures[] = {
	MEASURED("walk", NULL, false, walk),
	MEASURED("read_again", &cfg.read_again, false, again),
	MEASURED("signal_read", &cfg.signal_read, true, signal[SIGNAL_READ]),
	MEASURED("signal_write", &cfg.signal_write, true, signal[SIGNAL_WRITE]),
	MEASURED("signal_madvise", &cfg.signal_madvise, true, signal[SIGNAL_MADVISE]),
	FIGURE("free", UNIT_NS, false, &cfg.frees, true, free_ns),
	FIGURE("minor", UNIT_FAULTS, false, NULL, false, minor_faults),
	FIGURE("major", UNIT_FAULTS, false, NULL, false, major_faults),
};
static const struct metric metric_setup = { "setup", UNIT_NS, false };
static const struct metric metric_resident = { "resident", UNIT_PAGES, true };

static void report_figure(struct report *r, const struct crew_result *result,
			  const struct figure *f, double *x)
{
	double total = 0;

	for (unsigned i = 0; i < result->workers; i++) {
		const char *record = crew_record(result, i);

		x[i] = (double)*(const uint64_t *)(record + f->at);
		total += x[i];
	}
	/* Bytes and faults add up; of times the mean is what a task had. */
	report_sample(r, &f->metric,
		      f->metric.unit == UNIT_NS ? total / result->workers : total);
	report_per_worker(r, &f->metric, x, result->workers);
}

static int report_medium(struct report *r)
{
	static struct medium medium;
	int ret;

	if (cfg.backing.source != &source_file)
		return 0;
	ret = medium_of(cfg.backing.fd, &medium);
	if (ret)
		return ret;
	report_filesystem(r, &medium, cfg.run.fs.type ? &cfg.run.fs_made : NULL);
	system_add_device(cfg.run.system, medium.dev);
	return 0;
}

int collect_figures(struct report *r, const struct crew_result *result)
{
	double *x = calloc(MAX(result->workers, 1), sizeof(*x));
	int ret;

	if (!x)
		return failed("memory for %u figures", result->workers);
	ret = report_medium(r);
	report_sample(r, &metric_setup, (double)cfg.setup_ns);
	if (cfg.mincore || cfg.mincore_huge)
		report_sample(r, &metric_resident, (double)cfg.residency.resident);
	for (size_t f = 0; f < ARRAY_SIZE(figures) && result->workers; f++)
		if ((!figures[f].asked || *figures[f].asked) &&
		    !(figures[f].late && result->left))
			report_figure(r, result, &figures[f], x);
	free(x);
	if (!ret && cfg.summary && result->workers)
		ret = print_summary(result);
	return ret;
}
