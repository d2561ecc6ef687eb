// SPDX-License-Identifier: GPL-2.0-or-later
/* foreman - the parent's side of one run of a crew: watches, stops, reaps and accounts. */
#include "common/foreman.h"

#include "common/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* How long a stopped worker may take to end by itself before it is killed. After a failure
 * everything is over within a second; after a signal the lines of what was done are wanted. */
#define GRACE_FAILED_NS      (250 * ns_per_ms)
#define GRACE_INTERRUPTED_NS (5 * ns_per_s)

static void change_state(struct foreman *f, enum crew_state state)
{
	atomic_store(&f->board->state, state);
	if (state > CREW_WORKING) {
		stop_tallies(f->board->tallies, f->board->total);
		board_ring_all(f->board);
	} else {
		bell_ring(&f->board->bell);
	}
}

void foreman_fail(struct foreman *f, int ret)
{
	if (!f->ret) {
		f->ret = ret;
		f->kill_at_ns = now_ns() + GRACE_FAILED_NS;
	}
	change_state(f, CREW_FAILED);
}

unsigned *foreman_slot(struct foreman *f, pid_t pid)
{
	unsigned i = (unsigned)pid * 2654435761U & f->mask;

	while (f->by_pid[i] && (f->processes[f->by_pid[i] - 1].pid != pid ||
				f->processes[f->by_pid[i] - 1].reaped))
		i = (i + 1) & f->mask;
	return &f->by_pid[i];
}

static void kill_workers(struct foreman *f)
{
	if (f->signal && !f->ret)
		note("%u processes did not stop by themselves and are killed",
		     f->running);
	for (unsigned i = 0; i < f->started; i++)
		if (!f->processes[i].reaped)
			kill(f->processes[i].pid, SIGKILL);
	f->kill_at_ns = 0;
}

static void interrupt(struct foreman *f, int sig)
{
	uint64_t now = now_ns();

	if (f->signal) {
		/* timeout(1) sends its signal twice; somebody who asks again waits longer. */
		if (now > f->interrupted_ns + ns_per_s)
			kill_workers(f);
		return;
	}
	f->signal = sig;
	f->interrupted_ns = now;
	if (f->ret)
		return;
	f->kill_at_ns = now + (atomic_load(&f->board->state) == CREW_WORKING
				       ? GRACE_INTERRUPTED_NS
				       : GRACE_FAILED_NS);
	change_state(f, CREW_INTERRUPTED);
}

static struct tally *tallies_of(const struct foreman *f, unsigned index)
{
	return &f->board->tallies[(size_t)index * MAX(f->crew->threads, 1)];
}

/* "worker 3" or "process of workers 4-7": the tasks of process INDEX. */
static const char *workers_of(const struct foreman *f, unsigned index,
			      char buf[static 64])
{
	unsigned threads = MAX(f->crew->threads, 1), first = index * threads;

	if (threads == 1)
		snprintf(buf, 64, "worker %u", first);
	else
		snprintf(buf, 64, "process of workers %u-%u", first, first + threads - 1);
	return buf;
}

/* Process INDEX was killed, or ended in a way of its own: its figures are void. */
static void lose(struct foreman *f, unsigned index, int status)
{
	struct tally *tallies = tallies_of(f, index);
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	bool spoke = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_WORKER_FAILED;
	char who[64];

	if (f->ret || f->signal || f->left)
		return; /* our own doing, or a consequence of what was said already */
	if (WIFEXITED(status) && WEXITSTATUS(status) > EXIT_SIGNAL) {
		sig = WEXITSTATUS(status) - EXIT_SIGNAL;
		spoke = true;
	}
	for (unsigned i = 0; i < MAX(f->crew->threads, 1); i++) {
		tallies[i].signal = sig;
		atomic_store(&tallies[i].outcome, OUTCOME_LOST);
	}
	workers_of(f, index, who);
	if (WIFSIGNALED(status))
		note("%s (pid %d) was killed by SIG%s", who, f->processes[index].pid,
		     sigabbrev_np(sig) ?: "?");
	else if (!spoke)
		note("%s (pid %d) ended with status %d", who, f->processes[index].pid,
		     WEXITSTATUS(status));
	foreman_fail(f, -ECHILD);
}

/* A signal has stopped the workers of one process. If it went to all, as from a terminal, the
 * parent has it too; else they did what they could, but the run is not whole. */
static void note_stopped(struct foreman *f, unsigned index, int sig)
{
	struct timespec now = { 0 };
	char who[64];
	int own = f->signal ? 0 : sigtimedwait(&f->stops, NULL, &now);

	if (own > 0)
		interrupt(f, own);
	if (f->ret || f->signal || f->left)
		return;
	note("%s (pid %d) was stopped by SIG%s", workers_of(f, index, who),
	     f->processes[index].pid, sigabbrev_np(sig) ?: "?");
	foreman_fail(f, -ECHILD);
}

/* A worker's error was said where it happened; the first one found is the crew's. */
static void notice_failures(struct foreman *f)
{
	if (!atomic_load(&f->board->failures))
		return;
	for (unsigned i = 0; !f->ret && i < f->board->total; i++) {
		int error = atomic_load(&f->board->tallies[i].error);

		if (error)
			foreman_fail(f, error);
	}
}

/* Does any worker of process INDEX stand at OUTCOME? */
static bool any_outcome(const struct foreman *f, unsigned index, enum outcome outcome)
{
	const struct tally *tallies = tallies_of(f, index);

	for (unsigned i = 0; i < MAX(f->crew->threads, 1); i++)
		if (atomic_load(&tallies[i].outcome) == (int)outcome)
			return true;
	return false;
}

static void account(struct foreman *f, pid_t pid, int status)
{
	unsigned slot = *foreman_slot(f, pid), index = slot - 1;

	if (!slot)
		return;
	f->processes[index].reaped = true;
	f->running--;
	if (status)
		notice_failures(f);
	if (status == W_EXITCODE(EXIT_SIGNAL + SIGINT, 0) ||
	    status == W_EXITCODE(EXIT_SIGNAL + SIGTERM, 0))
		note_stopped(f, index, WEXITSTATUS(status) - EXIT_SIGNAL);
	else if (status ? !any_outcome(f, index, OUTCOME_FAILED)
			: any_outcome(f, index, OUTCOME_NONE))
		lose(f, index, status);
}

static void reap(struct foreman *f)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		account(f, pid, status);
}

static struct crew_view view_of(const struct foreman *f)
{
	const struct board *b = f->board;
	struct crew_view v = { .workers = b->total, .last = !f->running || f->left };
	uint64_t now = now_ns(), ended_ns = 0, work_bytes = 0;

	for (unsigned i = 0; i < b->total; i++) {
		const struct tally *t = &b->tallies[i];

		v.ops += atomic_load_explicit(&t->ops, memory_order_relaxed);
		v.bytes += atomic_load_explicit(&t->bytes, memory_order_relaxed);
		if (v.last) {
			ended_ns = MAX(ended_ns, t->ended_ns);
			work_bytes += t->work_bytes;
		}
	}
	/* Freeing and exiting took their time, but nothing was done in it. */
	if (ended_ns && work_bytes == v.bytes)
		now = ended_ns;
	v.elapsed_ns = now - atomic_load(&b->started_ns);
	return v;
}

static void tick(struct foreman *f)
{
	struct crew_view view = view_of(f);
	uint64_t now;

	f->crew->tick(f->crew->context, &view);
	/* Ticks that could not be kept are left out, not made up for. */
	now = now_ns();
	if (f->next_tick_ns <= now)
		f->next_tick_ns = now + f->crew->tick_ns -
				  (now - f->next_tick_ns) % f->crew->tick_ns;
}

static void tell_window(struct foreman *f, enum crew_moment moment)
{
	int ret = f->crew->window ? f->crew->window(f->crew->context, moment) : 0;

	if (ret)
		foreman_fail(f, ret);
	f->next_sample_ns = 0;
	if (f->crew->sample_ns && moment != WINDOW_CLOSES)
		f->next_sample_ns = now_ns() + f->crew->sample_ns;
}

static void open_start_line(struct foreman *f)
{
	uint64_t now;

	tell_window(f, WINDOW_OPENS);
	if (f->ret)
		return;
	now = now_ns();
	atomic_store(&f->board->started_ns, now);
	if (f->crew->tick_ns)
		f->next_tick_ns = now + f->crew->tick_ns;
	change_state(f, CREW_WORKING);
}

/* All work has ended, or all workers have. */
static void close_window(struct foreman *f)
{
	tell_window(f, WINDOW_CLOSES);
	atomic_store(&f->board->closed, true);
	bell_ring(&f->board->bell);
}

/* Wait until AT_NS (0: not at all) for a signal: SIGCHLD is also how a worker calls the parent.
 * The signals are blocked, so none is lost between a look and the wait. */
void foreman_heed(struct foreman *f, uint64_t at_ns)
{
	uint64_t now = at_ns ? now_ns() : 0;
	struct timespec wait = timespec_of(at_ns > now ? at_ns - now : 0);
	int sig = sigtimedwait(&f->watched, NULL, &wait);

	if (sig == SIGINT || sig == SIGTERM)
		interrupt(f, sig);
	/* After any of them: a flood of one must not hide another. */
	if (sig > 0)
		reap(f);
	notice_failures(f);
	if (f->kill_at_ns && now_ns() >= f->kill_at_ns)
		kill_workers(f);
}

/* Have all workers come so far that they may be left alone? */
static bool may_leave(const struct foreman *f)
{
	const struct board *b = f->board;

	return b->leaves && !f->left && !f->ret && !f->signal &&
	       atomic_load(&b->reached) == b->total;
}

/* Their pids told, make each process outlive this one. What happens to them from here on is
 * their own affair. */
static void leave(struct foreman *f)
{
	pid_t *pids = calloc(f->count, sizeof(*pids));
	int ret;

	for (unsigned i = 0; i < f->count && pids; i++)
		pids[i] = f->processes[i].pid;
	ret = pids ? f->crew->leave(pids, f->count)
		   : failed("memory for %u pids", f->count);
	free(pids);
	if (ret) {
		foreman_fail(f, ret);
		return;
	}
	f->left = true;
	atomic_store(&f->board->leaving, true);
	for (unsigned i = 0; i < f->count; i++)
		if (!f->processes[i].reaped)
			syscall(SYS_tgkill, f->processes[i].pid, f->processes[i].pid,
				SIGURG);
	for (unsigned i = 0; i < f->count; i++) {
		const struct meeting *m = board_meeting(f->board, i * f->board->threads);

		while (!f->processes[i].reaped && !atomic_load(&m->released)) {
			int sig = sigwaitinfo(&f->watched, NULL);

			reap(f);
			/* Told to stop: nobody is left after all. */
			if (sig == SIGINT || sig == SIGTERM) {
				f->left = false;
				interrupt(f, sig);
				return;
			}
		}
	}
}

static uint64_t next_event_ns(const struct foreman *f)
{
	uint64_t at = now_ns() + 3600 * ns_per_s;

	if (f->kill_at_ns)
		at = MIN(at, f->kill_at_ns);
	if (f->next_tick_ns)
		at = MIN(at, f->next_tick_ns);
	if (f->next_sample_ns)
		at = MIN(at, f->next_sample_ns);
	return at;
}

static void see_to_window(struct foreman *f)
{
	struct board *b = f->board;

	if (!atomic_load(&b->started_ns) || atomic_load(&b->closed))
		return;
	if (!f->running || atomic_load(&b->worked) == b->total)
		close_window(f);
	else if (f->next_sample_ns && now_ns() >= f->next_sample_ns)
		tell_window(f, WINDOW_LASTS);
}

void foreman_watch(struct foreman *f)
{
	struct board *b = f->board;

	while (f->running && !f->left) {
		if (atomic_load(&b->state) == CREW_GATHERING &&
		    atomic_load(&b->ready) == b->total)
			open_start_line(f);
		foreman_heed(f, next_event_ns(f));
		if (f->next_tick_ns && now_ns() >= f->next_tick_ns)
			tick(f);
		see_to_window(f);
		if (may_leave(f))
			leave(f);
	}
	see_to_window(f);
	if (f->next_tick_ns)
		tick(f);
}
