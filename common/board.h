/* SPDX-License-Identifier: GPL-2.0-or-later */
/* board - the memory that the parent and the workers of a crew share; private to crew and worker. */
#ifndef COMMON_BOARD_H
#define COMMON_BOARD_H

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
		bell;                /* futex: rung after any change that ends a wait */
	_Atomic int state;           /* enum crew_state; written by the parent */
	_Atomic uint64_t started_ns; /* written by the parent before CREW_WORKING */
	_Atomic unsigned failures;   /* workers whose tally has an error */
	pid_t parent;
	unsigned total;
	size_t bytes, records_at, record_bytes, foreman_at;
	_Alignas(CACHE_PAIR) _Atomic unsigned ready; /* workers at the start line */
	_Alignas(
		CACHE_PAIR) _Atomic unsigned ended; /* workers whose work has ended; counted
							 * only where there is a run time */
	_Alignas(CACHE_PAIR) struct tally tallies[];
};

static inline void board_wait(struct board *b, uint32_t bell)
{
	syscall(SYS_futex, &b->bell, FUTEX_WAIT, bell, NULL, NULL, 0);
}

/* Safe in a signal handler. */
static inline void board_ring(struct board *b)
{
	atomic_fetch_add(&b->bell, 1);
	syscall(SYS_futex, &b->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
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
void worker_handlers(void);
/* The life of process number INDEX: its threads, their hooks, and its exit status: 0,
 * EXIT_WORKER_FAILED with an error in a tally, or EXIT_SIGNAL + N after signal N of its own. */
int worker_process(const struct crew *crew, struct board *board, unsigned index);

#endif
