/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crew - processes x threads that start, stop and fail together.
 *
 * Promises: nobody starts before all are ready; a worker that fails or dies stops everyone, and
 * its error is the return value; the death of the parent kills the workers; the window is last
 * end minus first start, so that a rate is total bytes over one common window. */
#ifndef COMMON_CREW_H
#define COMMON_CREW_H

#include "common/base.h"
#include "common/topo.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* Two 64-byte lines: x86 prefetches lines in pairs. */
#define CACHE_PAIR 128

/* Each takes a pid, and those end below PID_MAX_LIMIT (proc(5), pid_max). */
#define MAX_WORKERS (1 << 22)

enum outcome {
	OUTCOME_NONE, /* never got as far as its end */
	OUTCOME_OK,
	OUTCOME_INTERRUPTED, /* stopped by a signal; what it counted is true */
	OUTCOME_FAILED,      /* error says why */
	OUTCOME_LOST,        /* its process was killed by signal */
};

/* What the threads of one process share to wait by; crew's own. */
struct meeting {
	_Atomic uint32_t bell;    /* futex: rung after any change that ends a wait here */
	_Atomic unsigned present; /* threads that have come to wait for a signal */
	_Atomic unsigned rounds;  /* such waits that are over */
	_Atomic int stopped_by;   /* the signal that stopped this process */
	_Atomic bool signalled;   /* a SIGUSR1 came; the next wait takes it */
	_Atomic bool gave_up;     /* a worker of this process failed */
	_Atomic bool released;    /* the parent's death no longer concerns it */
	pid_t pid;                /* written by the process, once */
};

/* One worker's counters, in shared memory, on cache lines of its own. */
struct tally {
	_Alignas(CACHE_PAIR) _Atomic uint64_t ops; /* written by its worker only */
	_Atomic uint64_t bytes;                    /* likewise */
	/* Zeroed to stop the worker: by its own timer, its own signal handler, the parent. */
	_Atomic uint64_t limit;
	uint64_t began_ns, ended_ns; /* of the work; began: the start line, or by setup */
	uint64_t paused_ns;          /* of the work's time, not counted: by work */
	uint64_t work_ops, work_bytes; /* ops and bytes as they stood at ended_ns */
	_Atomic int error;             /* 0 or -errno of the hook that failed */
	_Atomic int outcome;  /* by its worker; by the parent once its process is dead */
	int signal;           /* with OUTCOME_LOST: the parent writes it */
	_Atomic bool crossed; /* counted at the second line */
	struct meeting meeting; /* in that of a process's first worker */
};

struct worker {
	unsigned id, total; /* id: process x threads + thread */
	int cpu;            /* the CPU it is bound to; -1: not bound */
	struct tally *tally;
	void *record; /* crew->record_bytes of zeroed shared memory, all its own */
	void *data;   /* whatever setup leaves here */
	/* crew's own */
	const struct crew *crew;
	struct board *board;
	timer_t timer;
	bool has_timer, reached;
};

/* What the parent sees while the workers work. */
struct crew_view {
	uint64_t elapsed_ns; /* since the start line */
	uint64_t ops, bytes; /* sums over all workers, so far */
	unsigned workers;
	bool last; /* all have ended: the sums are final */
};

/* What the parent is told of the window: from the start line to the end of all work. */
enum crew_moment { WINDOW_OPENS, WINDOW_LASTS, WINDOW_CLOSES };

struct crew {
	unsigned processes, threads; /* threads in each process; 0 counts as 1 */
	/* NULL: do not bind; else worker i gets the one of rank i x cpu_stride modulo
	 * their count. */
	const struct cpus *cpus;
	uint64_t cpu_stride;
	/* Instead: worker i is bound to all CPUs of set i modulo cpu_sets_count; 0: not. */
	const struct cpus *cpu_sets;
	unsigned cpu_sets_count;
	uint64_t runtime_ns, max_ops; /* 0: no limit */
	size_t record_bytes;          /* shared memory for each worker's own results */
	/* Hooks in the worker's process; 0 or -errno, NULL is skipped. */
	int (*setup)(struct worker *); /* before the start line, untimed */
	int (*work)(struct worker *);  /* timed */
	int (*finish)(
		struct worker *); /* after its work went well or was cut by a signal */
	void (*teardown)(struct worker *); /* always, if setup went well */
	/* In the parent, once every worker has called crew_reached(): with the pids of all
	 * processes. If it returns 0 they go on alone, and crew_run() returns; else all are
	 * stopped. NULL: crew_run() stays until all have ended. */
	int (*leave)(const pid_t *pids, unsigned count);
	/* In the parent: about every tick_ns and once at the end; 0: never. */
	uint64_t tick_ns;
	void (*tick)(void *context, const struct crew_view *view);
	/* In the parent: when the start line is about to open, about every sample_ns from there on
	 * (0: never), and once all work has ended, well or not. The last worker to end waits for
	 * that before it frees anything. 0 or -errno after saying so, which ends the run: before
	 * its start line, if that was about to open. NULL: nobody is told. */
	int (*window)(void *context, enum crew_moment moment);
	uint64_t sample_ns;
	void *context; /* of tick and window */
};

struct crew_result {
	unsigned workers;
	int signal;          /* the SIGINT or SIGTERM that ended the run; 0: none */
	bool left;           /* the workers go on alone */
	uint64_t started_ns; /* when the start line opened; 0: it never did */
	uint64_t window_ns;  /* of the work: last end - first start, less pauses */
	uint64_t ops, bytes; /* of the work, of all workers */
	struct tally *tallies;
	struct board *board; /* holds tallies and records; crew's own */
};

/* Run the crew once. 0, also when a signal ended it (result->signal); else the error of the
 * first worker that failed, -ECHILD for one that was killed, or of the fan-out itself, all of
 * them said on stderr. RESULT is valid either way and is given back by crew_result_free().
 * Hooks run in child processes. SIGCHLD, SIGINT, SIGTERM, SIGALRM, SIGUSR1 and SIGURG are the
 * crew's meanwhile, also where they were ignored, as a shell leaves SIGINT for background jobs;
 * there must be no other children but those that an earlier run left. */
must_check int crew_run(const struct crew *crew, struct crew_result *result);
void *crew_record(const struct crew_result *result, unsigned id);
void crew_result_free(struct crew_result *result);
const char *outcome_name(enum outcome outcome);

/* For the worker's own thread. One writer, so load, add, store: no lock prefix. */
static inline void tally_add(struct worker *w, uint64_t ops, uint64_t bytes)
{
	struct tally *t = w->tally;

	atomic_store_explicit(&t->ops,
			      atomic_load_explicit(&t->ops, memory_order_relaxed) + ops,
			      memory_order_relaxed);
	atomic_store_explicit(
		&t->bytes, atomic_load_explicit(&t->bytes, memory_order_relaxed) + bytes,
		memory_order_relaxed);
}

/* Not yet stopped, by deadline, count or signal? Ask once per piece of about 100 us at most. */
static inline bool keep_going(const struct worker *w)
{
	return atomic_load_explicit(&w->tally->ops, memory_order_relaxed) <
	       atomic_load_explicit(&w->tally->limit, memory_order_relaxed);
}

/* Give the phase that begins here the crew's whole run time and count anew, its clock having
 * started at FROM_NS. The work's own phase is begun by the crew, at the start line or where
 * setup put tally->began_ns. 0 or -errno after saying so. */
must_check int phase_begin(struct worker *w, uint64_t from_ns);
/* Has a signal or a failure told the run, or this process, to stop? */
bool crew_stopping(const struct worker *w);
/* The time of the work without its pauses; 0: it never ended. */
static inline uint64_t tally_work_ns(const struct tally *t)
{
	return t->ended_ns ? t->ended_ns - t->began_ns - t->paused_ns : 0;
}

/* For the work: wait while *BELL, in memory shared with whoever rings it, is VALUE; until UNTIL_NS
 * (0: no limit) or a stop of this worker at the latest. */
void crew_wait(struct worker *w, _Atomic uint32_t *bell, uint32_t value,
	       uint64_t until_ns);
/* Change *BELL, and wake all that wait for that. */
void crew_ring(_Atomic uint32_t *bell);

/* Waits, for the finish hook. Each ends at once when crew_stopping().
 *
 * Wait with all threads of this process for one SIGUSR1. One that came since the last such wait,
 * or since the process began, counts: it is kept. The last thread to come calls SAY(WHAT) before
 * it waits. 0, or what SAY returned. */
must_check int crew_await_signal(struct worker *w, int (*say)(const char *what),
				 const char *what);
/* Sleep NS; UINT64_MAX: for ever. */
void crew_sleep(struct worker *w, uint64_t ns);
/* Wait until each worker of the crew has come here or has ended. */
void crew_line_up(struct worker *w);
/* This worker has done all that crew->leave waits for. The waits above imply it. */
void crew_reached(struct worker *w);

#endif
