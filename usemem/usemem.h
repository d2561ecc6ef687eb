/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usemem - what the command line asked for, and what set-up made of it. */
#ifndef USEMEM_USEMEM_H
#define USEMEM_USEMEM_H

#include "common/region.h"
#include "common/run.h"

struct config {
	/* The command line. */
	uint64_t size_bytes; /* of each task */
	uint64_t size_mib;   /* -m */
	uint64_t unit_bytes; /* 0: size_bytes */
	uint64_t step_bytes;
	uint64_t passes;
	uint64_t seed; /* 0: not given; then one is taken */
	bool seed_taken;
	uint64_t index_mask, data; /* a write stores (word index & index_mask) + data */
	unsigned msync_flags;      /* MS_SYNC, MS_ASYNC or 0 */
	const char *file;
	bool heap, anonymous, memfd;
	bool readonly, open_rw, random;
	bool prefault, prealloc, sync_rw, init_time, read_again;
	/* Set-up. */
	struct run run;
	struct backing backing;
	void *shared; /* the memory of --prealloc; NULL: tasks have their own */
	uint64_t setup_began_ns, setup_ns;
};

extern struct config cfg;

/* What a task measured, in memory that it shares with usemem. */
struct task_record {
	uint64_t walk_ns;
	uint64_t again_bytes, again_ns;
	uint64_t free_ns;
};

/* The crew's hooks: a task's life. */
int task_setup(struct worker *w);
int task_walk(struct worker *w);
int task_finish(struct worker *w);
void task_teardown(struct worker *w);

/* The figures of one repetition. */
void collect_figures(struct report *r, const struct crew_result *result);

/* The rules of the command line, once SIZE is known: 0 or refused(). */
int check_options(void);
/* Refuse what cannot end well: more memory to be written than memory and swap can hold. */
int check_memory(void);
/* The same of more units than a process may have mappings. */
int check_mappings(void);

#endif
