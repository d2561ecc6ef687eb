// SPDX-License-Identifier: GPL-2.0-or-later
/* probe - what counts the workers of each repetition, and who is told of its window. */
#include "common/probe.h"

#include "common/marker.h"
#include "common/perf.h"
#include "common/perfctl.h"
#include "common/profile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct probe {
	struct perf perf;
	bool counts;      /* perf is open */
	bool closed;      /* the window, so that there is something to tell */
	char absent[512]; /* what the document has of that already */
	struct perf_control control;
	struct profile profile;
	int marker;
};

static bool wants_counters(const struct run *run)
{
	return run->json && !run->no_perf;
}

int probe_open(struct run *run)
{
	struct probe *p = calloc(1, sizeof(*p));
	int ret = 0;

	run->probe = p;
	if (!p)
		return failed("memory for counters");
	p->control = (struct perf_control)PERF_CONTROL_CLOSED;
	p->profile = (struct profile)PROFILE_CLOSED;
	p->marker = marker_open();
	if (run->perf_control)
		ret = perf_control_open(&p->control, run->perf_control);
	if (!ret && run->profile)
		ret = profile_open(&p->profile);
	return ret;
}

void probe_close(struct run *run)
{
	struct probe *p = run->probe;

	if (!p)
		return;
	perf_control_close(&p->control);
	profile_close(&p->profile);
	if (p->marker >= 0)
		close(p->marker);
	free(p);
	run->probe = NULL;
}

bool probe_wants_window(const struct run *run)
{
	return run->probe->marker >= 0 || run->probe->control.to >= 0 || run->profile ||
	       wants_counters(run);
}

int probe_begin(struct run *run)
{
	struct probe *p = run->probe;
	int ret;

	p->closed = false;
	if (run->warming || run->dry_run)
		return 0;
	/* Before the counters, which its perf would inherit. */
	ret = run->profile ? profile_start(&p->profile) : 0;
	if (ret)
		return ret;
	if (wants_counters(run)) {
		perf_open(&p->perf, run->workers);
		p->counts = true;
	}
	return 0;
}

/* Who counts is told last and untold first: none of the rest is part of the window. */
static int open_window(struct probe *p)
{
	marker_say(p->marker, "start");
	if (p->counts)
		perf_start(&p->perf);
	if (p->profile.process >= 0)
		profile_begin(&p->profile);
	return p->control.to >= 0 ? perf_control_say(&p->control, "enable") : 0;
}

static int close_window(struct probe *p)
{
	int ret = p->control.to >= 0 ? perf_control_say(&p->control, "disable") : 0;

	if (!ret && p->profile.process >= 0)
		ret = profile_finish(&p->profile);
	if (p->counts)
		perf_stop(&p->perf);
	marker_say(p->marker, "end");
	p->closed = true;
	return ret;
}

int probe_see(struct run *run, enum crew_moment moment)
{
	if (run->warming || moment == WINDOW_LASTS)
		return 0;
	return moment == WINDOW_OPENS ? open_window(run->probe)
				      : close_window(run->probe);
}

void probe_end(struct run *run)
{
	struct probe *p = run->probe;

	if (p->counts)
		perf_close(&p->perf);
	p->counts = false;
	/* Whoever was interrupted waits no longer. */
	if (profile_stop(&p->profile))
		p->closed = false;
}

static void add_row(void *context, const char *name, double value)
{
	report_system(context, name, value);
}

/* Once, unless the next repetition has others. */
static void tell_absent(struct probe *p, struct report *r)
{
	char text[sizeof(p->absent)] = "";

	if (!perf_describe_absent(&p->perf, text, sizeof(text)) ||
	    !strcmp(text, p->absent))
		return;
	memcpy(p->absent, text, sizeof(text));
	report_note(r, text);
}

int probe_report(struct run *run, struct report *r, uint64_t window_ns)
{
	struct probe *p = run->probe;

	if (!p->closed)
		return 0;
	if (wants_counters(run)) {
		perf_rows(&p->perf.counts, window_ns, add_row, r);
		tell_absent(p, r);
	}
	return run->profile ? profile_report(&p->profile, add_row, r) : 0;
}
