// SPDX-License-Identifier: GPL-2.0-or-later
/* figures - what a repetition of copyfile measured: into the report, and as lines. */
#include "common/figures.h"

#include "common/lines.h"
#include "copyfile/copyfile.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define IN_RECORD(member) offsetof(struct copy_record, member)

static const bool *const always = NULL;
static bool refills, flushes; /* set where the figures are collected */

/* What adds up over the workers. */
static const struct figure figures[] = {
	{ { "copy", UNIT_NS, false }, always, IN_RECORD(copy_ns) },
	{ { "refill", UNIT_NS, false }, &refills, IN_RECORD(refill_ns) },
	{ { "flush", UNIT_NS, false }, &flushes, IN_RECORD(flush_ns) },
	{ { "refilled", UNIT_BYTES, true }, &refills, IN_RECORD(refilled_bytes) },
	{ { "flush", UNIT_COUNT, true }, &flushes, IN_RECORD(flushes) },
	{ { "verified", UNIT_BYTES, true }, &cfg.verify, IN_RECORD(verified_bytes) },
	{ { "user", UNIT_NS, false }, always, IN_RECORD(user_ns) },
	{ { "system", UNIT_NS, false }, always, IN_RECORD(system_ns) },
};

static const struct latency copy_latency = { "copy", IN_RECORD(latency_ns) };
static const struct latency flush_latency = { "flush", IN_RECORD(flush_latency_ns) };

static const struct metric metric_ops = { "copied", UNIT_COUNT, true };
static const struct metric metric_op_rate = { "ops", UNIT_PER_S, true };
static const struct metric metric_max_rss = { "max_rss", UNIT_BYTES, false };
static const struct metric metric_cloned = { "cloned", UNIT_BYTES, false };
static const struct metric metric_data = { "target_data", UNIT_BYTES, false };
/* Of these, where cloned is but a guess. */
static const struct metric metric_guessed = { "target_data_by_space", UNIT_BYTES, false };

/* What is known at the end of a repetition. */
struct outcome_of_copying {
	const struct crew_result *result;
	struct sharing sharing;
	struct hist copies, flushes;
};

static uint64_t total_of(const struct outcome_of_copying *o, size_t at)
{
	return figure_total(o->result, at);
}

static int print_method(void)
{
	if (cfg.method != cfg.asked)
		return print_line("method: %s in place of %s", cfg.method->name,
				  cfg.asked->name);
	return print_line("method: %s", cfg.method->name);
}

/* The time of all workers, and what went into what. */
static int print_times(const struct outcome_of_copying *o)
{
	uint64_t bytes = o->result->bytes, copy_ns = total_of(o, IN_RECORD(copy_ns));
	char rate[RATE_LEN];
	int ret;

	ret = print_line("time: copying %.6f s, refilling %.6f s, flushing %.6f s",
			 (double)copy_ns / 1e9,
			 (double)total_of(o, IN_RECORD(refill_ns)) / 1e9,
			 (double)total_of(o, IN_RECORD(flush_ns)) / 1e9);
	if (!ret && bytes)
		ret = print_line("copying alone: %ju bytes in %ju operations, %s each "
				 "worker",
				 (uintmax_t)bytes, (uintmax_t)o->result->ops,
				 format_rate(rate, bytes, copy_ns));
	return ret;
}

static int print_sharing(const struct sharing *s)
{
	const char *sources = "of the targets share extents with their sources";

	if (!s->known)
		return print_line(
			"cloned: unknown: the filesystem does not tell extents, "
			"nor does its free space");
	return print_line("cloned: %ju of %ju bytes %s%s%s", (uintmax_t)s->shared_bytes,
			  (uintmax_t)s->bytes, sources,
			  s->guessed_bytes ? ", as free space tells" : "",
			  s->shared_bytes ? ": no rate of copying" : "");
}

static int print_remarks(const struct outcome_of_copying *o)
{
	int ret = print_method();

	if (!ret)
		ret = print_times(o);
	if (!ret)
		ret = latency_print(&copy_latency, &o->copies);
	if (!ret)
		ret = latency_print(&flush_latency, &o->flushes);
	if (!ret)
		ret = print_sharing(&o->sharing);
	if (!ret && cfg.verify)
		ret = print_line("verified %ju bytes",
				 (uintmax_t)total_of(o, IN_RECORD(verified_bytes)));
	if (!ret && !cfg.from.count && !cfg.source_written && !cfg.refill)
		ret = print_line("sources: holes: no device was read for them");
	return ret ?: media_print();
}

static int print_all(const struct outcome_of_copying *o)
{
	int ret = 0;

	if (cfg.metrics)
		ret = print_metrics(o->result);
	for (unsigned i = 0; i < o->result->workers && !ret && !cfg.metrics; i++) {
		const struct tally *t = &o->result->tallies[i];

		ret = print_copied(t->work_bytes, tally_work_ns(t));
	}
	return ret ?: print_remarks(o);
}

/* A clone is no copy, whatever the rate says. */
static int judge_sharing(struct report *r, const struct sharing *s)
{
	if (!s->shared_bytes || cfg.method->clones)
		return 0;
	if (cfg.no_clone)
		return broken("--no-clone: %ju bytes of the targets share extents with "
			      "their sources all the same",
			      (uintmax_t)s->shared_bytes);
	run_warning(r,
		    "%s shared extents in place of copying: the rates are those of a "
		    "clone (--no-clone has it copy)",
		    cfg.method->name);
	return 0;
}

static double per_s(uint64_t ops, uint64_t ns)
{
	return ns ? (double)ops * 1e9 / (double)ns : 0;
}

/* What the rates below must not be taken for. */
static void warn(struct report *r, const struct crew_result *result)
{
	if (cfg.method != cfg.asked)
		run_warning(
			r, "%s ran in place of %s%s", cfg.method->name, cfg.asked->name,
			cfg.asked->direct == ALWAYS && !cfg.direct ? ", without O_DIRECT"
								   : "");
	if (cfg.method->no_data)
		run_warning(r, "%s copies nothing: these are no rates of copying",
			    cfg.method->name);
	if (cfg.method->threads && cfg.run.threads > 1)
		run_warning(r, "user and system times are without those of the kernel's "
			       "threads that work for this process (--nproc has them)");
	if (!result->ops && !result->signal && cfg.size_bytes)
		run_warning(r, "no operation came to its end: a longer --runtime, or a "
			       "smaller --block");
}

/* X has room for a value of each worker. */
static void report_ops(struct report *r, const struct crew_result *result, double *x)
{
	report_sample(r, &metric_ops, (double)result->ops);
	for (unsigned i = 0; i < result->workers; i++)
		x[i] = (double)result->tallies[i].work_ops;
	report_per_worker(r, &metric_ops, x, result->workers);
	report_sample(r, &metric_op_rate, per_s(result->ops, result->window_ns));
	for (unsigned i = 0; i < result->workers; i++)
		x[i] = per_s(result->tallies[i].work_ops,
			     tally_work_ns(&result->tallies[i]));
	report_per_worker(r, &metric_op_rate, x, result->workers);
}

/* The same; of all workers the largest. */
static void report_max_rss(struct report *r, const struct crew_result *result, double *x)
{
	double most = 0;

	for (unsigned i = 0; i < result->workers; i++) {
		const struct copy_record *record = crew_record(result, i);

		x[i] = (double)record->max_rss_kib * (double)KiB;
		most = MAX(most, x[i]);
	}
	report_sample(r, &metric_max_rss, most);
	report_per_worker(r, &metric_max_rss, x, result->workers);
}

/* The same. */
static void report_all(struct report *r, const struct outcome_of_copying *o, double *x)
{
	const struct crew_result *result = o->result;

	report_ops(r, result, x);
	figures_report(r, figures, ARRAY_SIZE(figures), result, x);
	report_max_rss(r, result, x);
	latency_report(r, &copy_latency, result, &o->copies, x);
	latency_report(r, &flush_latency, result, &o->flushes, x);
	if (o->sharing.known)
		report_sample(r, &metric_cloned, (double)o->sharing.shared_bytes);
	report_sample(r, &metric_data, (double)o->sharing.bytes);
	report_sample(r, &metric_guessed, (double)o->sharing.guessed_bytes);
	/* The method and O_DIRECT are settled by now. */
	report_options(r, copyfile_options);
	warn(r, result);
}

/* A stop while the extents are looked up takes nothing from what was measured. */
static int look_up_sharing(struct report *r, struct sharing *s)
{
	int ret = sharing_end(s);

	if (ret != -EINTR)
		return ret;
	*s = (struct sharing){ 0 };
	run_warning(r,
		    "stopped before it was known what is cloned: the rates may be those "
		    "of a clone");
	return 0;
}

static int collect_into(struct report *r, struct outcome_of_copying *o, double *x)
{
	int ret = look_up_sharing(r, &o->sharing), judged;

	if (ret)
		return ret;
	latency_merge(&copy_latency, o->result, &o->copies);
	latency_merge(&flush_latency, o->result, &o->flushes);
	report_all(r, o, x);
	judged = judge_sharing(r, &o->sharing);
	if (run_prints_lines(&cfg.run) && !judged)
		ret = print_all(o);
	return judged ?: ret;
}

int collect_figures(struct report *r, const struct crew_result *result)
{
	double *x = calloc(MAX(result->workers, 1), sizeof(*x));
	struct outcome_of_copying *o = calloc(1, sizeof(*o));
	int ret;

	refills = cfg.refill;
	flushes = cfg.flush != FLUSH_NONE;
	if (x && o) {
		o->result = result;
		ret = collect_into(r, o, x);
	} else {
		ret = failed("memory for %u figures", result->workers);
	}
	free(o);
	free(x);
	return ret;
}
