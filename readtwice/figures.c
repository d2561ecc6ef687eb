// SPDX-License-Identifier: GPL-2.0-or-later
/* figures - what a repetition of readtwice measured: the lines, the summary, the metrics. */
#include "common/lines.h"
#include "readtwice/readtwice.h"

#include <math.h>
#include <stdlib.h>

static const struct metric metric_overlap = { "overlap", UNIT_SHARE, true };
static const struct metric metric_blocks = { "blocks", UNIT_COUNT, true };
static const struct metric metric_data = { "data", UNIT_BYTES, false };
static const struct metric metric_cached = { "cached", UNIT_PAGES, false };
static const struct metric metric_evict = { "evict", UNIT_NS, false };
static const struct metric metric_stayed = { "stayed", UNIT_PAGES, false };
static const struct metric metric_then = { "then", UNIT_NS, false };
static const struct metric metric_then_bytes = { "then", UNIT_BYTES, true };
static const struct metric metric_nearest = { "gap_nearest", UNIT_BYTES, true };
static const struct metric metric_furthest = { "gap_furthest", UNIT_BYTES, false };

/* What the readers' own times and rates come to. */
struct spread {
	uint64_t first_began_ns, last_began_ns, first_ended_ns, last_ended_ns;
	const struct tally *slowest, *fastest;
};

static bool is_slower(const struct tally *a, const struct tally *b)
{
	return (double)a->work_bytes * (double)tally_work_ns(b) <
	       (double)b->work_bytes * (double)tally_work_ns(a);
}

static struct spread spread_of(const struct crew_result *result)
{
	const struct tally *t = result->tallies;
	struct spread s = { t->began_ns, t->began_ns, t->ended_ns, t->ended_ns, t, t };

	for (unsigned i = 1; i < result->workers; i++) {
		t = &result->tallies[i];
		s.first_began_ns = MIN(s.first_began_ns, t->began_ns);
		s.last_began_ns = MAX(s.last_began_ns, t->began_ns);
		s.first_ended_ns = MIN(s.first_ended_ns, t->ended_ns);
		s.last_ended_ns = MAX(s.last_ended_ns, t->ended_ns);
		s.slowest = is_slower(t, s.slowest) ? t : s.slowest;
		s.fastest = is_slower(s.fastest, t) ? t : s.fastest;
	}
	return s;
}

/* Share of the time from the first start to the last end in which all read. */
static double overlap_of(const struct spread *s)
{
	if (s->first_ended_ns <= s->last_began_ns)
		return 0;
	return (double)(s->first_ended_ns - s->last_began_ns) /
	       (double)(s->last_ended_ns - s->first_began_ns);
}

/* Bytes of the files that came into the page cache: of what was read, each once. */
static uint64_t bytes_faulted(const struct crew_result *result)
{
	uint64_t sum = 0;

	if (!reads_through_cache())
		return 0;
	for (unsigned f = 0; f < cfg.file_count; f++) {
		uint64_t most = 0;

		for (unsigned r = 0; r < cfg.readers; r++)
			most = MAX(most, result->tallies[f * cfg.readers + r].work_bytes);
		sum += MIN(most, files[f].size_bytes);
	}
	return sum;
}

static int print_together(const struct crew_result *result, const struct spread *s)
{
	char total[RATE_LEN], slow[RATE_LEN], fast[RATE_LEN];
	int ret;

	ret = print_line("together: %ju bytes over %.6f s, %s", (uintmax_t)result->bytes,
			 (double)result->window_ns / 1e9,
			 format_rate(total, result->bytes, result->window_ns));
	if (ret || result->workers == 1)
		return ret;
	return print_line(
		"slowest reader %s, fastest %s; %u read at once for %.1f %% of the time",
		format_rate(slow, s->slowest->work_bytes, tally_work_ns(s->slowest)),
		format_rate(fast, s->fastest->work_bytes, tally_work_ns(s->fastest)),
		result->workers, 100 * overlap_of(s));
}

static int print_data(uint64_t data)
{
	uint64_t all = files_bytes();
	char *media = media_text();
	int ret;

	if (!media)
		return failed("memory for a line");
	if (cfg.method->no_data)
		ret = print_line("data: none; the figure is the harness");
	else if (!data)
		ret = print_line(
			"data: holes on %s: no device was read; the figure is %s", media,
			cost_of_holes());
	else
		ret = print_line("data: %ju of %ju bytes on %s%s", (uintmax_t)data,
				 (uintmax_t)all, media,
				 data < all
					 ? ": the rest are holes, and no device was read "
					   "for them"
					 : "");
	free(media);
	return ret;
}

static int print_cold(void)
{
	const struct residency *left = &coldness.left;

	if (!coldness.known)
		return print_line("cold: unknown, the kernel does not tell of files of "
				  "others");
	if (!left->resident)
		return print_line("cold: yes, no page was cached");
	return print_line("cold: no, %ju of %ju pages stayed cached",
			  (uintmax_t)left->resident, (uintmax_t)left->pages);
}

static int print_cached(const struct file *f, const struct residency *there)
{
	if (!run_prints_lines(&cfg.run))
		return 0;
	if (!there->pages)
		return print_line("%s: how much is cached the kernel does not tell",
				  f->name);
	return print_line("%s: %ju of %ju pages cached, %.1f %%", f->name,
			  (uintmax_t)there->resident, (uintmax_t)there->pages,
			  100.0 * (double)there->resident / (double)there->pages);
}

/* How much of each file is cached. */
static int tell_residency(struct report *r)
{
	double cached = 0;
	int ret = 0;

	for (unsigned i = 0; i < cfg.file_count && !ret; i++) {
		const struct file *f = &files[i];
		struct residency there = { 0 };

		if (file_residency_is_told(f->fd))
			ret = file_residency(f->fd, f->name, f->size_bytes, &there);
		cached += there.pages ? (double)there.resident : NAN;
		if (!ret)
			ret = print_cached(f, &there);
	}
	if (!ret)
		report_sample(r, &metric_cached, cached);
	return ret;
}

static void report_gap(struct report *r)
{
	uint64_t nearest = UINT64_MAX, furthest = 0;

	for (unsigned i = 0; i < cfg.run.workers; i++) {
		nearest = MIN(nearest, places[i].nearest);
		furthest = MAX(furthest, places[i].furthest);
	}
	if (nearest == UINT64_MAX)
		return;
	report_sample(r, &metric_nearest, (double)(nearest * cfg.block_bytes));
	report_sample(r, &metric_furthest, (double)(furthest * cfg.block_bytes));
}

/* What is done with the files, and the two lines that tell how long it and the reading took. */
static int finish_files(struct report *r, const struct crew_result *result,
			const struct spread *s)
{
	struct afterwards a = { .bytes = bytes_faulted(result) };
	bool gone = cfg.then == THEN_UNLINK || cfg.then == THEN_TRUNCATE;
	int ret = do_then(&a);

	if (ret)
		return ret;
	report_sample(r, &metric_then, (double)(a.ended_ns - a.began_ns));
	report_sample(r, &metric_then_bytes, (double)a.bytes);
	if (!run_prints_lines(&cfg.run))
		return 0;
	if (!gone)
		return print_period(a.bytes, "dropped", a.began_ns, a.ended_ns);
	ret = print_period(a.bytes, "faulted", s->first_began_ns, s->last_ended_ns);
	return ret ?: print_period(a.bytes, "truncated", a.began_ns, a.ended_ns);
}

static int print_lines(const struct crew_result *result, const struct spread *s,
		       uint64_t data)
{
	int ret = 0;

	for (unsigned i = 0; i < result->workers && !ret; i++)
		ret = print_copied(result->tallies[i].work_bytes,
				   tally_work_ns(&result->tallies[i]));
	if (!ret)
		ret = print_together(result, s);
	if (!ret)
		ret = print_data(data);
	if (!ret && cfg.cold)
		ret = print_cold();
	return ret;
}

static void report_figures(struct report *r, const struct crew_result *result,
			   const struct spread *s, uint64_t data)
{
	report_sample(r, &metric_overlap, overlap_of(s));
	report_sample(r, &metric_blocks, (double)result->ops);
	report_sample(r, &metric_data, (double)data);
	report_gap(r);
	if (!cfg.cold)
		return;
	report_sample(r, &metric_evict, (double)coldness.evict_ns);
	report_sample(r, &metric_stayed,
		      coldness.known ? (double)coldness.left.resident : NAN);
	if (coldness.left.resident)
		run_warning(r, "the files were not cold: some pages could not be pushed "
			       "out of the page cache");
}

int collect_figures(struct report *r, const struct crew_result *result)
{
	struct spread s = spread_of(result);
	uint64_t data = data_bytes();
	int ret = 0;

	report_figures(r, result, &s, data);
	if (run_prints_lines(&cfg.run))
		ret = print_lines(result, &s, data);
	if (!ret && cfg.residency)
		ret = tell_residency(r);
	if (!ret && cfg.then != THEN_NOTHING)
		ret = finish_files(r, result, &s);
	return ret;
}
