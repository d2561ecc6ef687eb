/* SPDX-License-Identifier: GPL-2.0-or-later */
/* board - the memory that the parent and the workers of a crew share; private to crew and worker. */
#ifndef COMMON_BOARD_H
#define COMMON_BOARD_H

#include "common/clock.h"
#include "common/crew.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum crew_state {
	CREW_GATHERING, /* before the start line */
	CREW_WORKING,
	CREW_INTERRUPTED, /* by a signal to the parent: end early, print what was done */
	CREW_FAILED,      /* end early, in silence */
};

/* Three lines apart: what all only read, what each writes once before the start line, and what
 * each writes once at a common deadline. */
struct board {
	_Alignas(CACHE_PAIR) _Atomic uint32_t
		bell; /* futex: rung when the start line opens, when all have ended, and
		       * to stop */
	_Atomic int state;           /* enum crew_state; written by the parent */
	_Atomic uint64_t started_ns; /* written by the parent before CREW_WORKING */
	_Atomic unsigned failures;   /* workers whose tally has an error */
	pid_t parent;
	unsigned total, threads; /* threads in each process, at least 1 */
	bool leaves;             /* crew->leave is there */
	_Atomic bool leaving;    /* the parent lets the processes go */
	size_t bytes, records_at, record_bytes, foreman_at;
	_Alignas(CACHE_PAIR) _Atomic unsigned ready; /* workers at the start line */
	_Alignas(
		CACHE_PAIR) _Atomic unsigned ended; /* workers whose work has ended; counted
							 * only where there is a run time */
	_Atomic unsigned
		worked;      /* workers whose work has ended; only with crew->window */
	_Atomic bool closed; /* the parent has been told that all have */
	_Atomic unsigned reached; /* workers that may be left alone; only with leaves */
	_Atomic unsigned crossed; /* workers that came to the second line, or ended */
	_Atomic uint64_t counted_ns; /* when somebody last looked for dead ones there */
	_Alignas(CACHE_PAIR) struct tally tallies[];
};

/* Wait while *BELL is VALUE, until the absolute time UNTIL_NS (0: for ever) or a signal. */
static inline void bell_wait(_Atomic uint32_t *bell, uint32_t value, uint64_t until_ns)
{
	struct timespec until = timespec_of(until_ns);

	syscall(SYS_futex, bell, FUTEX_WAIT_BITSET, value, until_ns ? &until : NULL, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

/* Safe in a signal handler. */
static inline void bell_ring(_Atomic uint32_t *bell)
{
	atomic_fetch_add(bell, 1);
	syscall(SYS_futex, bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The meeting of worker ID's process. */
static inline struct meeting *board_meeting(struct board *b, unsigned id)
{
	return &b->tallies[id - id % b->threads].meeting;
}

static inline struct meeting *meeting_of(const struct worker *w)
{
	return board_meeting(w->board, w->id);
}

/* Wake whoever waits for anything. */
static inline void board_ring_all(struct board *b)
{
	bell_ring(&b->bell);
	for (unsigned id = 0; id < b->total; id += b->threads)
		bell_ring(&board_meeting(b, id)->bell);
}

/* Count worker ID, once, as one that the second line need not wait for. */
static inline void board_cross(struct board *b, unsigned id)
{
	if (!atomic_exchange(&b->tallies[id].crossed, true) &&
	    atomic_fetch_add(&b->crossed, 1) + 1 == b->total)
		board_ring_all(b);
}

static inline void *board_record(struct board *b, unsigned id)
{
	return (char *)b + b->records_at + id * b->record_bytes;
}

static inline void stop_tallies(struct tally *first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		atomic_store(&first[i].limit, 0);
}

/* How a worker's process tells of its end: an error is in a tally or was said; of a signal it
 * says the number. */
enum { EXIT_WORKER_FAILED = 1, EXIT_SIGNAL = 128 };

/* Install the workers' signal handlers, to be inherited over fork. */
void handlers_install(void);
/* In this thread they are for worker W. */
void handlers_serve(struct worker *w);
/* Stop all that W's process does, and wake whoever waits in it. Safe in a signal handler. */
void handlers_stop(const struct worker *w);
/* The life of process number INDEX: its threads, their hooks, and its exit status: 0,
 * EXIT_WORKER_FAILED with an error in a tally, or EXIT_SIGNAL + N after signal N of its own. */
int worker_process(const struct crew *crew, struct board *board, unsigned index);

#endif
