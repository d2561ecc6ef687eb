// SPDX-License-Identifier: GPL-2.0-or-later
/* task - the one worker: memory for all cells, and round after round a sample of each. */
#include "common/clock.h"
#include "ioviter/ioviter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct area areas[PAGES_SORTS];

/* Room for the largest call of each sort of pages. */
int task_setup(struct worker *w)
{
	uint64_t call = 1;
	int ret = 0;

	(void)w;
	for (unsigned i = 0; i < cell_count; i++)
		call = MAX(call, cells[i].call_bytes);
	for (unsigned i = 0; i < cfg.pages.count && !ret; i++)
		ret = area_open(&areas[cfg.pages.at[i]], (enum page_sort)cfg.pages.at[i],
				call);
	return ret;
}

/* Why there can be no samples, known without trying; NULL: there may be. */
static const char *reason_of(const struct cell *cell)
{
	if (cell->kind->unreachable)
		return cell->kind->unreachable;
	if (cell->target == TARGET_NULL && !cell->write)
		return "/dev/null has nothing to be read";
	if (!areas[cell->pages].memory)
		return areas[cell->pages].reason;
	return NULL;
}

/* How often this thread has slept so far. */
static uint64_t times_slept(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : (uint64_t)usage.ru_nvcsw;
}

/* Time it. 0, or -errno after saying so. */
static int take_sample(struct worker *w, const struct cell *cell, const struct trial *t,
		       void *state, struct cell_record *r, bool counts)
{
	uint64_t slept = times_slept(), ns, calls;
	int ret = trial_sample(w, t, cell->kind, state, &ns, &calls);

	if (ret == TRIAL_CUT)
		return 0;
	if (ret || !counts)
		return ret;
	/* What io_uring hands over to a thread of its own is waited for; nothing else is here. */
	slept = times_slept() - slept;
	r->punted |= cell->kind->rings && slept && slept >= calls / 2;
	r->ns[r->samples++] = ns;
	tally_add(w, calls, cfg.volume_bytes);
	return 0;
}

/* The trial with its kind open. 0, or -errno after saying so. */
static int run_trial(struct worker *w, const struct cell *cell, struct cell_record *r,
		     bool verify, bool counts)
{
	struct trial t;
	void *state = calloc(1, cell->kind->state_bytes);
	int ret;

	if (!state)
		return failed("memory for %s", cell->name);
	trial_make(&t, cell, &areas[cell->pages]);
	ret = cell->kind->open(state, &t);
	if (ret) {
		free(state);
		return ret;
	}
	if (verify)
		ret = trial_verify(&t, cell->kind, state);
	if (!ret)
		ret = take_sample(w, cell, &t, state, r, counts);
	if (cell->kind->close)
		cell->kind->close(state);
	free(state);
	return ret;
}

/* One more sample of CELL. What this machine refuses is the cell's reason; anything else is a failure. */
static int sample_cell(struct worker *w, const struct cell *cell, struct cell_record *r,
		       bool verify, bool counts)
{
	char text[sizeof(r->reason)] = "";
	int ret;

	complain_into(text, sizeof(text));
	ret = run_trial(w, cell, r, verify, counts);
	complain_into(NULL, 0);
	if (exit_status(ret) == 77)
		memcpy(r->reason, text, sizeof(text));
	else if (ret)
		return broken("%s: %s", cell->name, text);
	return 0;
}

/* Sample K of every cell comes before sample K + 1 of any: what drifts meanwhile drifts for all. */
int task_work(struct worker *w)
{
	uint64_t moved_ns = 0;
	int ret = 0;

	for (unsigned i = 0; i < cell_count; i++) {
		const char *reason = reason_of(&cells[i]);
		struct cell_record *r = cell_record(w->record, i);

		if (reason)
			snprintf(r->reason, sizeof(r->reason), "%s", reason);
	}
	for (unsigned round = 0; round < cfg.warmup + cfg.samples; round++) {
		bool counts = round >= cfg.warmup;

		for (unsigned i = 0; i < cell_count && !ret && keep_going(w); i++) {
			struct cell_record *r = cell_record(w->record, i);
			uint64_t had = r->samples;

			if (!r->reason[0])
				ret = sample_cell(w, &cells[i], r, cfg.verify && !round,
						  counts);
			if (r->samples > had)
				moved_ns += r->ns[had];
		}
	}
	/* Opening, warming up and checking is no time of the work. */
	w->tally->paused_ns = now_ns() - w->tally->began_ns - moved_ns;
	return ret;
}

void task_teardown(struct worker *w)
{
	(void)w;
	for (unsigned i = 0; i < PAGES_SORTS; i++)
		area_close(&areas[i]);
}
