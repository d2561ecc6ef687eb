// SPDX-License-Identifier: GPL-2.0-or-later
/* waits - what the workers of a crew wait for after their work: a signal, time, each other. */
#include "common/board.h"
#include "common/procfile.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A stop may come between the look and the wait: it is seen after so long at the latest. */
#define LOOK_AGAIN_NS (2 * ns_per_ms)

void crew_wait(struct worker *w, _Atomic uint32_t *bell, uint32_t value,
	       uint64_t until_ns)
{
	while (keep_going(w) && atomic_load(bell) == value) {
		uint64_t now = now_ns(), again = now + LOOK_AGAIN_NS;

		if (until_ns && now >= until_ns)
			return;
		bell_wait(bell, value, until_ns ? MIN(until_ns, again) : again);
	}
}

void crew_ring(_Atomic uint32_t *bell)
{
	bell_ring(bell);
}

void crew_reached(struct worker *w)
{
	struct board *b = w->board;

	/* Who was told to stop has not done what the others wait for. */
	if (!b->leaves || w->reached || crew_stopping(w))
		return;
	w->reached = true;
	if (atomic_fetch_add(&b->reached, 1) + 1 == b->total)
		kill(b->parent, SIGCHLD);
}

/* The others have come already, and wait for the end of this round. */
static void take_signal(struct worker *w)
{
	struct meeting *m = meeting_of(w);

	for (;;) {
		uint32_t bell = atomic_load(&m->bell);

		if (crew_stopping(w) || atomic_exchange(&m->signalled, false))
			break;
		bell_wait(&m->bell, bell, 0);
	}
	atomic_fetch_add(&m->rounds, 1);
	bell_ring(&m->bell);
}

static void await_round(struct worker *w, unsigned round)
{
	struct meeting *m = meeting_of(w);

	for (;;) {
		uint32_t bell = atomic_load(&m->bell);

		if (crew_stopping(w) || atomic_load(&m->rounds) != round)
			return;
		bell_wait(&m->bell, bell, 0);
	}
}

int crew_await_signal(struct worker *w, int (*say)(const char *what), const char *what)
{
	struct meeting *m = meeting_of(w);
	unsigned round = atomic_load(&m->rounds);
	int ret;

	if (atomic_fetch_add(&m->present, 1) + 1 < w->board->threads) {
		crew_reached(w);
		await_round(w, round);
		return 0;
	}
	atomic_store(&m->present, 0);
	ret = crew_stopping(w) ? 0 : say(what);
	if (ret)
		return ret;
	crew_reached(w);
	take_signal(w);
	return 0;
}

void crew_sleep(struct worker *w, uint64_t ns)
{
	struct meeting *m = meeting_of(w);
	uint64_t until_ns;

	if (__builtin_add_overflow(now_ns(), ns, &until_ns) || until_ns > INT64_MAX)
		until_ns = 0;
	crew_reached(w);
	for (;;) {
		uint32_t bell = atomic_load(&m->bell);

		if (crew_stopping(w) || (until_ns && now_ns() >= until_ns))
			return;
		bell_wait(&m->bell, bell, until_ns);
	}
}

/* Gone, or dead and waiting for a parent that may never look (proc_pid_stat(5)). */
static bool is_dead(pid_t pid)
{
	char *stat = procfile_read("", "/proc/%d/stat", pid);
	const char *state = stat ? strrchr(stat, ')') : NULL;
	bool dead = stat ? state && (state[2] == 'Z' || state[2] == 'X')
			 : errno == ENOENT || errno == ESRCH;

	free(stat);
	return dead;
}

/* How often to look for the dead: seldom where there are many to look at. */
static uint64_t look_every_ns(const struct board *b)
{
	return ns_per_s + b->total * ns_per_ms;
}

/* A process that was killed counts itself nowhere. While there is a parent it stops the run; of the
 * processes that go on alone one looks for itself and all others. */
static void cross_for_the_dead(struct board *b)
{
	uint64_t now = now_ns(), last = atomic_load(&b->counted_ns);

	if (!atomic_load(&b->leaving) || now < last + look_every_ns(b) ||
	    !atomic_compare_exchange_strong(&b->counted_ns, &last, now))
		return;
	for (unsigned first = 0; first < b->total; first += b->threads) {
		if (!is_dead(board_meeting(b, first)->pid))
			continue;
		for (unsigned id = first; id < first + b->threads; id++)
			board_cross(b, id);
	}
}

void crew_line_up(struct worker *w)
{
	struct meeting *m = meeting_of(w);
	struct board *b = w->board;

	crew_reached(w);
	board_cross(b, w->id);
	for (;;) {
		uint32_t bell = atomic_load(&m->bell);

		if (crew_stopping(w) || atomic_load(&b->crossed) == b->total)
			return;
		bell_wait(&m->bell, bell,
			  atomic_load(&b->leaving) ? now_ns() + look_every_ns(b) : 0);
		cross_for_the_dead(b);
	}
}
