// SPDX-License-Identifier: GPL-2.0-or-later
/* figures - what a repetition of msync measured: into the report, and as lines. */
#include "common/lines.h"
#include "msync/msync.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* What adds up over the workers. */
static const struct figure {
	struct metric metric;
	const bool *asked; /* NULL: always there */
	size_t at;         /* of a uint64_t in struct flush_record */
} figures[] = {
	{ { "dirtied", UNIT_BYTES, true },
	  NULL,
	  offsetof(struct flush_record, dirtied_bytes) },
	{ { "flushed", UNIT_BYTES, true },
	  NULL,
	  offsetof(struct flush_record, flushed_bytes) },
	{ { "verified", UNIT_BYTES, true },
	  &cfg.verify,
	  offsetof(struct flush_record, verified_bytes) },
	{ { "flush", UNIT_COUNT, true }, NULL, offsetof(struct flush_record, calls) },
	{ { "flush_busy", UNIT_COUNT, false },
	  NULL,
	  offsetof(struct flush_record, busy) },
	{ { "charged", UNIT_BYTES, false },
	  NULL,
	  offsetof(struct flush_record, charged_bytes) },
	{ { "minor", UNIT_FAULTS, false },
	  NULL,
	  offsetof(struct flush_record, minor_faults) },
	{ { "major", UNIT_FAULTS, false },
	  NULL,
	  offsetof(struct flush_record, major_faults) },
};

/* Of the latency of a flush: the smallest, the largest, and what so many are not above. */
static const struct quantile {
	struct metric metric;
	const char *text;
	double share;
} quantiles[] = {
	{ { "flush_latency_min", UNIT_NS, false }, "min", 0 },
	{ { "flush_latency_median", UNIT_NS, false }, "median", 0.5 },
	{ { "flush_latency_p90", UNIT_NS, false }, "90 %", 0.9 },
	{ { "flush_latency_p99", UNIT_NS, false }, "99 %", 0.99 },
	{ { "flush_latency_p99_9", UNIT_NS, false }, "99.9 %", 0.999 },
	{ { "flush_latency_max", UNIT_NS, false }, "max", 1 },
};

static uint64_t figure_of(const struct crew_result *result, unsigned worker, size_t at)
{
	const char *record = crew_record(result, worker);

	return *(const uint64_t *)(record + at);
}

static uint64_t total_of(const struct crew_result *result, size_t at)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < result->workers; i++)
		total += figure_of(result, i, at);
	return total;
}

static void report_figure(struct report *r, const struct crew_result *result,
			  const struct figure *f, double *x)
{
	for (unsigned i = 0; i < result->workers; i++)
		x[i] = (double)figure_of(result, i, f->at);
	report_sample(r, &f->metric, (double)total_of(result, f->at));
	report_per_worker(r, &f->metric, x, result->workers);
}

/* The sample is that of all flushes of all workers together. */
static void report_quantile(struct report *r, const struct crew_result *result,
			    const struct hist *all, const struct quantile *q, double *x)
{
	for (unsigned i = 0; i < result->workers; i++) {
		const struct flush_record *record = crew_record(result, i);

		x[i] = (double)hist_quantile(&record->latency_ns, q->share);
	}
	report_sample(r, &q->metric, (double)hist_quantile(all, q->share));
	report_per_worker(r, &q->metric, x, result->workers);
}

static int print_latency(const struct hist *all)
{
	char text[256];
	size_t len = 0;

	if (!all->count)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %.1f us",
					i ? ", " : "", quantiles[i].text,
					(double)hist_quantile(all, quantiles[i].share) /
						1e3);
	return print_line("flush latency: %s", text);
}

/* What the numbers above must not be taken for. */
static int print_remarks(const struct crew_result *result)
{
	const struct mode *mode = &modes[cfg.mode];
	uint64_t busy = total_of(result, offsetof(struct flush_record, busy)),
		 dirtied = total_of(result, offsetof(struct flush_record, dirtied_bytes)),
		 charged = total_of(result, offsetof(struct flush_record, charged_bytes));
	int ret = 0;

	if (busy)
		ret = print_line("busy: %ju calls found locked pages (EBUSY) and flushed "
				 "nothing",
				 (uintmax_t)busy);
	/* A store dirties the whole folio that its page lies in. */
	if (!ret && charged > 2 * dirtied)
		ret = print_line(
			"folios: %ju bytes were dirtied and written for these, as "
			"the kernel counts",
			(uintmax_t)charged);
	if (!ret && mode->to_be_known)
		ret = print_line("%s: %s", mode->name, mode->to_be_known);
	if (!ret && mode->whole_file && cfg.shared && cfg.run.workers > 1)
		ret = print_line("%s: each call flushes the whole file, what the other "
				 "workers dirtied too",
				 mode->name);
	return ret;
}

static int print_lines(const struct crew_result *result, const struct hist *all)
{
	uint64_t dirtied = total_of(result, figures[0].at),
		 flushed = total_of(result, figures[1].at),
		 verified = total_of(result, figures[2].at),
		 calls = total_of(result, figures[3].at);
	int ret = 0;

	for (unsigned i = 0; i < result->workers && !ret; i++) {
		const struct tally *t = &result->tallies[i];

		ret = print_bandwidth("", t->work_bytes, tally_work_ns(t));
	}
	if (!ret)
		ret = print_line("dirtied %ju bytes, flushed %ju bytes in %ju calls",
				 (uintmax_t)dirtied, (uintmax_t)flushed,
				 (uintmax_t)calls);
	if (!ret)
		ret = print_latency(all);
	if (!ret && cfg.verify)
		ret = print_line("verified %ju bytes, read back %s", (uintmax_t)verified,
				 cfg.buffered ? "through the page cache"
					      : "with O_DIRECT");
	if (!ret)
		ret = print_remarks(result);
	return ret ?: media_print();
}

/* X has room for a value of each worker. */
static void report_all(struct report *r, const struct crew_result *result,
		       const struct hist *all, double *x)
{
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		if (!figures[i].asked || *figures[i].asked)
			report_figure(r, result, &figures[i], x);
	if (cfg.pieces && !result->signal &&
	    !total_of(result, offsetof(struct flush_record, calls)))
		run_warning(r, "no flush came to its end: a longer --runtime, a smaller "
			       "--size, or fewer pages (--dirty)");
	for (size_t i = 0; i < ARRAY_SIZE(quantiles) && all->count; i++)
		report_quantile(r, result, all, &quantiles[i], x);
}

int collect_figures(struct report *r, const struct crew_result *result)
{
	double *x = calloc(MAX(result->workers, 1), sizeof(*x));
	struct hist *all = calloc(1, sizeof(*all));
	int ret = 0;

	if (x && all) {
		for (unsigned i = 0; i < result->workers; i++) {
			const struct flush_record *record = crew_record(result, i);

			hist_merge(all, &record->latency_ns);
		}
		report_all(r, result, all, x);
		if (run_prints_lines(&cfg.run))
			ret = print_lines(result, all);
	} else {
		ret = failed("memory for %u figures", result->workers);
	}
	free(all);
	free(x);
	return ret;
}
