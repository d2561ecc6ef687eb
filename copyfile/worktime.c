// SPDX-License-Identifier: GPL-2.0-or-later
/* worktime - what the parts of a worker's work take of time, and all of it of the CPU. */
#include "common/clock.h"
#include "copyfile/copyfile.h"

#include <sys/resource.h>

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * ns_per_s + (uint64_t)t.tv_usec * ns_per_us;
}

/* That so far is taken off, or added. Of a process, where it has one worker: io_uring's threads, which
 * the kernel makes in it, do a part of the work. */
static void count_usage(struct copy_record *record, int sign)
{
	struct rusage usage;

	if (getrusage(cfg.run.threads > 1 ? RUSAGE_THREAD : RUSAGE_SELF, &usage))
		return;
	record->user_ns += (uint64_t)sign * ns_of(usage.ru_utime);
	record->system_ns += (uint64_t)sign * ns_of(usage.ru_stime);
	record->max_rss_kib = (uint64_t)usage.ru_maxrss;
}

void pause_work(struct worker *w, struct task *task)
{
	count_usage(w->record, 1);
	task->now_ns = now_ns();
}

void resume_work(struct worker *w, struct task *task)
{
	uint64_t ended_ns = now_ns();

	w->tally->paused_ns += ended_ns - task->now_ns;
	task->now_ns = ended_ns;
	count_usage(w->record, -1);
}

void begin_work(struct worker *w, struct task *task)
{
	count_usage(w->record, -1);
	task->now_ns = now_ns();
}

void end_work(struct worker *w)
{
	count_usage(w->record, 1);
}

uint64_t lap(struct task *task)
{
	uint64_t began_ns = task->now_ns;

	task->now_ns = now_ns();
	return task->now_ns - began_ns;
}
