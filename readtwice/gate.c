// SPDX-License-Identifier: GPL-2.0-or-later
/* gate - how far a reader may go: a size behind the one before it, and no further ahead of the one
 * after it. */
#include "common/clock.h"
#include "readtwice/readtwice.h"

#include <sys/mman.h>

struct place *places;

int places_open(void)
{
	size_t bytes = cfg.run.workers * sizeof(*places);
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);

	if (map == MAP_FAILED)
		return failed("memory for %u readers", cfg.run.workers);
	places = map;
	return 0;
}

void places_reset(void)
{
	for (unsigned i = 0; i < cfg.run.workers; i++)
		places[i] = (struct place){ .nearest = UINT64_MAX };
}

void places_close(void)
{
	if (places)
		munmap(places, cfg.run.workers * sizeof(*places));
	places = NULL;
}

/* The readers of a file are neighbours: the first of them has none before it, the last none
 * behind. */
static struct place *before(const struct worker *w)
{
	return w->id % cfg.readers ? &places[w->id - 1] : NULL;
}

static struct place *behind(const struct worker *w)
{
	return (w->id + 1) % cfg.readers ? &places[w->id + 1] : NULL;
}

/* One for all readers of a file. */
static _Atomic uint32_t *bell_of(const struct worker *w)
{
	return &places[w->id - w->id % cfg.readers].bell;
}

void gate_begin(struct worker *w)
{
	uint64_t began_ns = w->tally->began_ns, wait_ns;

	if (!cfg.gap_ns || !before(w))
		return;
	if (__builtin_mul_overflow(cfg.gap_ns, w->id % cfg.readers, &wait_ns))
		wait_ns = INT64_MAX;
	while (keep_going(w) && now_ns() - began_ns < wait_ns)
		crew_wait(w, bell_of(w), atomic_load(bell_of(w)), began_ns + wait_ns);
	w->tally->began_ns = now_ns();
}

/* Blocks from FROM on that W may read now: it stays at least the gap less SLACK behind the one
 * before it, and at most the gap ahead of the one behind it. */
static uint64_t room_from(const struct worker *w, uint64_t from, uint64_t gap,
			  uint64_t slack)
{
	struct place *lead = before(w), *tail = behind(w);
	uint64_t until = UINT64_MAX;

	if (lead && !atomic_load(&lead->ended)) {
		uint64_t at = atomic_load(&lead->blocks) + slack;

		until = at > gap ? at - gap : 0;
	}
	if (tail && !atomic_load(&tail->ended))
		until = MIN(until, atomic_load(&tail->blocks) + gap);
	return until > from ? until - from : 0;
}

/* W stands at block FROM, for all to see. */
static void publish(struct worker *w, uint64_t from)
{
	struct place *mine = &places[w->id], *lead = before(w);

	atomic_store(&mine->blocks, from);
	crew_ring(bell_of(w));
	if (lead && from && !atomic_load(&lead->ended)) {
		uint64_t ahead = atomic_load(&lead->blocks) - from;

		mine->nearest = MIN(mine->nearest, ahead);
		mine->furthest = MAX(mine->furthest, ahead);
	}
}

uint64_t gate_open(struct worker *w, uint64_t passed, uint64_t next, uint64_t all)
{
	uint64_t gap = cfg.gap_bytes / cfg.block_bytes, slack = MAX(gap / 8, 2), wanted,
		 room;

	if (!cfg.gap_bytes)
		return all;
	publish(w, passed + next);
	/* Half the slack at least, so that nobody is woken for each block. No two wait for each
	 * other: one of them has more than that. */
	wanted = MIN(slack / 2, all - next);
	for (;;) {
		uint32_t bell = atomic_load(bell_of(w));

		room = room_from(w, passed + next, gap, slack);

		if (room >= wanted || !keep_going(w))
			break;
		crew_wait(w, bell_of(w), bell, 0);
	}
	/* Until it had its turn, a reader has not begun. */
	if (before(w) && !passed && !next)
		w->tally->began_ns = now_ns();
	return next + MIN(room, all - next);
}

void gate_leave(struct worker *w)
{
	atomic_store(&places[w->id].ended, true);
	crew_ring(bell_of(w));
}
