// SPDX-License-Identifier: GPL-2.0-or-later
/* run - the options every program has, and "warm up, repeat, measure, warn". */
#include "common/run.h"

#include "common/lines.h"
#include "common/parse.h"
#include "common/probe.h"
#include "common/stats.h"
#include "common/warnings.h"
#include "common/watch.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIVE_LINE_NS (500 * ns_per_ms)
#define LEVELS_NS    ns_per_s

static const struct metric metric_throughput = { "throughput", UNIT_BYTES_PER_S, true };
static const struct metric metric_throughput_sum = { "throughput_sum", UNIT_BYTES_PER_S,
						     true };
static const struct metric metric_window = { "window", UNIT_NS, false };
static const struct metric metric_bytes = { "total", UNIT_BYTES, true };

/* One run of the program, all repetitions of it. */
struct session {
	struct run *run;
	const struct run_hooks *hooks;
	struct report *report;
	struct repetitions seen;
	bool opened;           /* the place for the results */
	bool done;             /* set-up was all there was to do */
	struct crew_view last; /* what the last tick saw */
};

static double rate_of(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * 1e9 / (double)ns : 0;
}

static bool has_live_line(const struct run *run)
{
	return !run->quiet && isatty(STDERR_FILENO);
}

/* The next output overwrites it. */
static void write_live_line(const char *text)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "\033[K%s%s", text, text[0] ? "\r" : "");

	/* Who sees it sees the next one too. */
	if (write_all(STDERR_FILENO, line, MIN((size_t)len, sizeof(line) - 1)))
		return;
}

void run_live_line(const struct run *run, const char *fmt, ...)
{
	char text[100] = "";
	va_list args;

	if (!has_live_line(run))
		return;
	va_start(args, fmt);
	if (fmt)
		vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	write_live_line(text);
}

/* An --interval line, or the live line. */
static void tick(void *context, const struct crew_view *view)
{
	struct session *s = context;
	uint64_t ns = view->elapsed_ns - s->last.elapsed_ns,
		 bytes = view->bytes - s->last.bytes;
	char amount[FORMAT_LEN], live[64] = "";

	if (!s->run->interval_ns) {
		format_bytes(amount, rate_of(bytes, ns));
		if (!view->last)
			snprintf(live, sizeof(live), "%.0f s  %s/s",
				 (double)view->elapsed_ns / 1e9, amount);
		write_live_line(live);
	} else if (!s->run->warming && view->elapsed_ns > s->last.elapsed_ns) {
		note("%.3f s: %ju bytes, %ju KB/s", (double)view->elapsed_ns / 1e9,
		     (uintmax_t)bytes, (uintmax_t)line_kb_per_s(bytes, ns));
		report_interval(s->report, s->seen.count, view->elapsed_ns, view->bytes);
	}
	s->last = *view;
}

/* The system is looked at outside of what is counted. */
static int see(const struct session *s, enum crew_moment moment)
{
	int ret = moment == WINDOW_CLOSES ? probe_see(s->run, moment) : 0;

	watch_see(s->run, moment);
	return moment == WINDOW_CLOSES ? ret : probe_see(s->run, moment);
}

static int window(void *context, enum crew_moment moment)
{
	const struct session *s = context;

	return moment == WINDOW_OPENS && s->hooks->set_up_counts ? 0 : see(s, moment);
}

static void collect_workers(struct session *s, const struct crew_result *result)
{
	double *rates = calloc(result->workers, sizeof(*rates)), sum = 0;
	struct summary summary;

	if (!rates)
		return;
	for (unsigned i = 0; i < result->workers; i++) {
		const struct tally *t = &result->tallies[i];

		rates[i] = rate_of(t->work_bytes, tally_work_ns(t));
		sum += rates[i];
	}
	summarize(rates, result->workers, &summary);
	if (summary.median > 0)
		s->seen.slowest_share = fmin(s->seen.slowest_share,
					     summary.min / summary.median);
	report_sample(s->report, &metric_throughput_sum, sum);
	report_per_worker(s->report, &metric_throughput, rates, result->workers);
	free(rates);
}

static int collect(struct session *s, const struct crew_result *result)
{
	double rate = rate_of(result->bytes, result->window_ns);

	s->seen.rates[s->seen.count] = (double)line_kb_per_s(result->bytes,
							     result->window_ns);
	s->seen.shortest_window_ns = MIN(s->seen.shortest_window_ns, result->window_ns);
	report_sample(s->report, &metric_throughput, rate);
	report_sample(s->report, &metric_bytes, (double)result->bytes);
	report_sample(s->report, &metric_window, (double)result->window_ns);
	collect_workers(s, result);
	return s->hooks->collect ? s->hooks->collect(s->report, result) : 0;
}

/* From the first fan-out on there is something to lose, so a signal between two of them waits for
 * the next, or for the results to be written; the first set-up is simply ended by it. */
static void hold_signals(void)
{
	sigset_t stops;

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigprocmask(SIG_BLOCK, &stops, NULL);
}

/* The stop that came while it was held back; 0: none. */
static int take_stop(void)
{
	struct timespec now = { 0 };
	sigset_t stops;
	int sig;

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sig = sigtimedwait(&stops, NULL, &now);
	return MAX(sig, 0);
}

/* Set up and run the crew; nothing more once set-up was all. */
static int set_up_and_run(struct session *s, const struct crew *crew,
			  struct crew_result *result)
{
	const struct run_hooks *hooks = s->hooks;
	int ret = probe_begin(s->run);

	watch_begin(s->run);
	if (!ret && hooks->set_up_counts)
		ret = see(s, WINDOW_OPENS);
	if (!ret && hooks->set_up)
		ret = hooks->set_up();
	s->done = ret == RUN_DONE;
	hold_signals();
	s->last = (struct crew_view){ 0 };
	if (!ret)
		ret = crew_run(crew, result);
	else if (s->done)
		ret = hooks->set_up_counts ? see(s, WINDOW_CLOSES) : 0;
	watch_end(s->run, result->left);
	probe_end(s->run);
	return ret;
}

static int repeat_once(struct session *s, const struct crew *crew, int *signal)
{
	const struct run_hooks *hooks = s->hooks;
	struct crew_result result = { 0 };
	int ret = set_up_and_run(s, crew, &result);

	*signal = result.signal;
	if (!s->run->warming) {
		report_workers(s->report, &result);
		if (!ret && result.window_ns)
			ret = collect(s, &result);
		else if (!ret && s->done && hooks->collect)
			ret = hooks->collect(s->report, &result);
		if (!ret && (result.window_ns || s->done))
			watch_report(s->run, s->report);
		if (!ret && result.window_ns)
			ret = probe_report(s->run, s->report, result.window_ns);
		s->seen.count++;
	}
	crew_result_free(&result);
	if (hooks->tear_down)
		hooks->tear_down();
	if (!*signal)
		*signal = take_stop();
	/* What was cut short by it is no failure. */
	return ret == -EINTR && *signal ? 0 : ret;
}

/* Warnings and the five lines of a run that went well. */
static int conclude(struct session *s)
{
	char text[FIVE_LINES_LEN];
	struct summary all;

	warnings_add(s->run, s->report, &s->seen);
	if (!s->run->samples || (s->run->has & RUN_ONCE) || !run_prints_lines(s->run))
		return 0;
	summarize(s->seen.rates, s->seen.count, &all);
	format_five_lines(text, &all);
	return print_text(text, strlen(text));
}

static struct crew crew_for(struct session *s, const struct crew *crew)
{
	const struct run *run = s->run;
	struct crew mine = *crew;

	mine.processes = run->processes;
	mine.threads = run->threads;
	mine.cpus = run->bind_stride ? &run->topo.allowed : NULL;
	mine.cpu_stride = run->bind_stride;
	mine.cpu_sets = run->node_cpus;
	mine.cpu_sets_count = run->node_count;
	mine.runtime_ns = run->runtime_ns;
	mine.max_ops = run->max_ops;
	mine.context = s;
	mine.tick = tick;
	mine.tick_ns = run->interval_ns;
	if (!mine.tick_ns && has_live_line(run))
		mine.tick_ns = LIVE_LINE_NS;
	if (run->json || probe_wants_window(run))
		mine.window = window;
	if (run->json)
		mine.sample_ns = LEVELS_NS;
	return mine;
}

static int session_open(struct session *s, struct run *run, const struct run_hooks *hooks,
			struct output *file)
{
	int ret;

	*s = (struct session){ .run = run,
			       .hooks = hooks,
			       .seen = { .shortest_window_ns = UINT64_MAX,
					 .slowest_share = 1 } };
	s->seen.rates = calloc(MAX(run->samples, 1), sizeof(*s->seen.rates));
	s->report = report_new(run->argc, run->argv, run->own, run->standard);
	if (!s->seen.rates || !s->report)
		return failed("memory for the results");
	report_environment(s->report, &run->topo, &run->limits);
	/* Before anything is mounted over the directory that it may be in. */
	ret = run->json ? output_open(file, run->json) : 0;
	if (ret)
		return ret;
	s->opened = true;
	ret = probe_open(run);
	if (!ret && run->fs.type)
		ret = fs_open(&run->fs, run->dirs.at[0], &run->fs_made);
	if (!ret && hooks->describe)
		ret = hooks->describe(s->report);
	return ret ?: watch_open(run);
}

int run_repeat(struct run *run, const struct crew *crew, const struct run_hooks *hooks)
{
	bool once = run->has & RUN_ONCE;
	uint64_t total = once ? 1 : run->warmup + MAX(run->samples, 1);
	struct output file;
	struct session s;
	struct crew mine;
	int signal = 0, wrote, ret = session_open(&s, run, hooks, &file);

	if (!ret)
		mine = crew_for(&s, crew);
	for (uint64_t i = 0; i < total && !ret && !signal && !s.done; i++) {
		run->warming = !once && i < run->warmup;
		ret = repeat_once(&s, &mine, &signal);
	}
	if (!ret && !signal && !s.done)
		ret = conclude(&s);
	if (s.opened && run->json) {
		report_outcome(s.report, ret, signal);
		wrote = report_write(s.report, &file);
		ret = ret ? ret : wrote;
	}
	watch_close(run);
	probe_close(run);
	report_free(s.report);
	free(s.seen.rates);
	return ret ? exit_status(ret) : signal ? 128 + signal : 0;
}
