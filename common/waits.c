// SPDX-License-Identifier: GPL-2.0-or-later
/* waits - what the workers of a crew wait for after their work: a signal, time, each other. */
#include "common/board.h"
#include "common/procfile.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

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

/* A process that was killed counts itself nowhere. While there is a parent it stops the run; the
 * processes that go on alone look for themselves, one of them each second. */
static void cross_for_the_dead(struct board *b)
{
	uint64_t now = now_ns(), last = atomic_load(&b->counted_ns);

	if (!atomic_load(&b->leaving) || now < last + ns_per_s ||
	    !atomic_compare_exchange_strong(&b->counted_ns, &last, now))
		return;
	for (unsigned id = 0; id < b->total; id++)
		if (!atomic_load(&b->tallies[id].crossed) &&
		    is_dead(board_meeting(b, id)->pid))
			board_cross(b, id);
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
			  atomic_load(&b->leaving) ? now_ns() + ns_per_s : 0);
		cross_for_the_dead(b);
	}
}
