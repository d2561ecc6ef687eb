/* SPDX-License-Identifier: GPL-2.0-or-later */
/* foreman - the parent's side of one run of a crew; private to crew. */
#ifndef COMMON_FOREMAN_H
#define COMMON_FOREMAN_H

#include "common/board.h"

#include <signal.h>

struct process {
	pid_t pid;
	bool reaped; /* the pid may be somebody else's by now */
};

/* The parent's side of one run. */
struct foreman {
	const struct crew *crew;
	struct board *board;
	struct process *processes;
	unsigned *by_pid, mask; /* open hash table: index into processes + 1, 0: free */
	unsigned count, started, running;
	int ret, signal;
	bool left;               /* the processes go on alone */
	uint64_t interrupted_ns; /* when the signal came */
	uint64_t kill_at_ns;     /* 0: nothing to kill */
	uint64_t next_tick_ns, next_sample_ns;
	sigset_t watched, stops, old_mask; /* stops: those of watched that end a run */
	struct sigaction old_int, old_term, old_alarm, old_child, old_user, old_urgent;
};

/* RET is the first error; it stops all. */
void foreman_fail(struct foreman *f, int ret);
/* The slot of PID among the living, or the free one where it would go. */
unsigned *foreman_slot(struct foreman *f, pid_t pid);
/* Wait until AT_NS (0: not at all) for a signal, and do what signals and failures ask for. */
void foreman_heed(struct foreman *f, uint64_t at_ns);
/* Open the start line once all are ready, and see to them until all processes have ended. */
void foreman_watch(struct foreman *f);

#endif
