// SPDX-License-Identifier: GPL-2.0-or-later
/* warnings - what speaks against a run's figures, each with what to do about it. */
#include "common/warnings.h"

#include "common/stats.h"

#include <math.h>
#include <stdio.h>

static void add(struct report *r, bool say, const char *text)
{
	report_warning(r, text);
	if (say)
		note("warning: %s", text);
}

void run_warning(struct report *r, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	add(r, true, text);
}

/* Who runs it as scripts have always done sees what scripts have always seen. */
static void warn(const struct run *run, struct report *r, const char *text)
{
	add(r, run->samples || run->json, text);
}

static void warn_of_spread(const struct run *run, struct report *r,
			   const struct repetitions *seen)
{
	struct summary all, rest;

	summarize(seen->rates, seen->count, &all);
	if (all.stddev > 0.05 * all.mean)
		warn(run, r,
		     "the runs spread by more than 5 %: quiet the machine, or take more "
		     "--samples");
	summarize(seen->rates + 1, seen->count - 1, &rest);
	if (fabs(seen->rates[0] - rest.median) >
	    fmax(0.05 * rest.median, 3 * (rest.max - rest.min)))
		warn(run, r, "the first run is unlike the rest: add --warmup 1");
}

static void warn_of_length(const struct run *run, struct report *r)
{
	char text[512];

	snprintf(text, sizeof(text), "a run took less than 100 ms: %s", run->longer);
	warn(run, r, text);
}

void warnings_add(const struct run *run, struct report *r, const struct repetitions *seen)
{
	if (seen->shortest_window_ns < 100 * ns_per_ms)
		warn_of_length(run, r);
	if ((run->has & RUN_TASKS) && run->workers > run->topo.allowed.count)
		warn(run, r,
		     "more tasks than CPUs that may be used: they take turns (--nproc "
		     "auto)");
	if ((run->has & RUN_TASKS) && seen->slowest_share < 0.8)
		warn(run, r,
		     "the slowest task has less than 80 % of the median task's rate: "
		     "are "
		     "the CPUs shared or unlike? (--bind 1)");
	if (seen->count >= 3)
		warn_of_spread(run, r, seen);
}
