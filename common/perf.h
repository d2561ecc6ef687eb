/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf - the kernel's performance counters, of hardware and software, over the workers of a crew. */
#ifndef COMMON_PERF_H
#define COMMON_PERF_H

#include "common/base.h"

enum perf_event {
	PERF_CYCLES,
	PERF_INSTRUCTIONS,
	PERF_CACHE_REFERENCES,
	PERF_CACHE_MISSES,
	PERF_BRANCHES,
	PERF_BRANCH_MISSES,
	PERF_DTLB_LOADS,
	PERF_DTLB_LOAD_MISSES,
	PERF_ITLB_LOAD_MISSES,
	PERF_NODE_LOADS,
	PERF_NODE_STORES,
	PERF_LLC_LOADS,
	PERF_LLC_LOAD_MISSES,
	PERF_TASK_CLOCK,
	PERF_PAGE_FAULTS,
	PERF_MINOR_FAULTS,
	PERF_MAJOR_FAULTS,
	PERF_CONTEXT_SWITCHES,
	PERF_CPU_MIGRATIONS,
	PERF_EVENTS
};

/* What read(2) gives of one counter: the times are those that it should and could count in. */
struct perf_reading {
	uint64_t count, enabled_ns, running_ns;
};

/* One window. */
struct perf_counts {
	double value[PERF_EVENTS];   /* of the workers; a clock in ms; NAN: not known */
	bool user_only[PERF_EVENTS]; /* the kernel's part is left out */
};

struct perf {
	struct {
		int fd, own_fd; /* of all, and of this process alone; -1: none */
		int error;      /* 0, or the errno for which there is no counter */
		bool user_only;
	} of[PERF_EVENTS];
	struct perf_counts counts; /* of the last window */
};

/* Beyond that many workers there are no counters: each has a kilobyte of the kernel's memory for each of
 * them. */
enum { PERF_WORKERS_MAX = 4096 };

/* Open what can be opened: for this thread and all processes and threads that come from it from here on,
 * WORKERS of them. Nothing counts yet. Where there is no counter, or where only the kernel's part may not be
 * counted, perf_describe_absent() has it and the rows leave it out or say so: it is no failure. */
void perf_open(struct perf *p, unsigned workers);
void perf_start(struct perf *p);
/* Stop, and fill p->counts with what all but this process did since perf_start(). */
void perf_stop(struct perf *p);
void perf_close(struct perf *p);

/* "perf counters absent: cycles, instructions (ENOENT), perf_event_paranoid 2", in TEXT of ROOM bytes. False: none
 * is absent. */
bool perf_describe_absent(const struct perf *p, char *text, size_t room);

/* As perf prints it. */
const char *perf_event_name(enum perf_event e);
/* The count that there would have been, had the counter run all the time; NAN: it never did. */
double perf_scale(const struct perf_reading *r);
/* ALL without OWN; NAN where ALL is. What was estimated too high leaves no less than nothing. */
double perf_without(double all, double own);
/* Each row that can be had of C, counted in WINDOW_NS, as perf-stat.i.NAME, a second, and
 * perf-stat.overall.NAME. A counter without the kernel's part has ":u" in its name, as perf writes it, and so has
 * what is computed of such. */
void perf_rows(const struct perf_counts *c, uint64_t window_ns,
	       void (*row)(void *context, const char *name, double value), void *context);

#endif
