// SPDX-License-Identifier: GPL-2.0-or-later
/* figures - what a repetition of msync measured: into the report, and as lines. */
#include "common/figures.h"
#include "common/lines.h"
#include "msync/msync.h"

#include <stddef.h>
#include <stdlib.h>

/* What adds up over the workers. */
static const struct figure figures[] = {
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

static const struct latency flush_latency = { "flush",
					      offsetof(struct flush_record, latency_ns) };

/* What the numbers above must not be taken for. */
static int print_remarks(const struct crew_result *result)
{
	const struct mode *mode = &modes[cfg.mode];
	uint64_t busy = figure_total(result, offsetof(struct flush_record, busy)),
		 dirtied = figure_total(result,
					offsetof(struct flush_record, dirtied_bytes)),
		 charged = figure_total(result,
					offsetof(struct flush_record, charged_bytes));
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
	uint64_t dirtied = figure_total(result, figures[0].at),
		 flushed = figure_total(result, figures[1].at),
		 verified = figure_total(result, figures[2].at),
		 calls = figure_total(result, figures[3].at);
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
		ret = latency_print(&flush_latency, all);
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
	figures_report(r, figures, ARRAY_SIZE(figures), result, x);
	if (cfg.pieces && !result->signal &&
	    !figure_total(result, offsetof(struct flush_record, calls)))
		run_warning(r, "no flush came to its end: a longer --runtime, a smaller "
			       "--size, or fewer pages (--dirty)");
	latency_report(r, &flush_latency, result, all, x);
}

int collect_figures(struct report *r, const struct crew_result *result)
{
	double *x = calloc(MAX(result->workers, 1), sizeof(*x));
	struct hist *all = calloc(1, sizeof(*all));
	int ret = 0;

	if (x && all) {
		latency_merge(&flush_latency, result, all);
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
