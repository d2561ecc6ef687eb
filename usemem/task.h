/* SPDX-License-Identifier: GPL-2.0-or-later */
/* task - one task at work: its units, and what it does with them. For the files of usemem that a
 * task runs through; all calls but take_unit() are for units that are there. */
#ifndef USEMEM_TASK_H
#define USEMEM_TASK_H

#include "usemem/pass.h"
#include "usemem/usemem.h"

/* What is known to be stored in a unit: the accesses that sequential passes got to. */
struct stored {
	uint64_t walked, written; /* by the walk, and later by a signal-driven write */
};

struct task {
	void **units; /* those that are allocated, in order */
	uint64_t unit_count;
	uint64_t *mapped;      /* bytes of each unit; NULL: unit_bytes() */
	struct stored *stored; /* of each unit; NULL: nobody asks */
	bool random_writes;    /* a signal-driven write went to random places */
	uint64_t pattern_base;
	struct rng rng;
	volatile uint64_t sink; /* what was read ends here */
};

/* What all passes of a phase have in common. */
struct phase {
	bool writes, random;
	bool allocates; /* take new units; else those that are there */
	bool checks;    /* what the pass before stored, where that is sequential */
	bool syncs;     /* msync after each pass, as asked for */
	bool verifies;  /* each word, against what is known to be stored */
	bool asks;      /* the menu after each unit */
	const struct pattern *pattern; /* of writes */
	uint64_t passes;
	uint64_t at_most; /* accesses of a pass over all units */
};

/* memory.c: units */
uint64_t unit_bytes(uint64_t unit);
uint64_t units_wanted(void);
/* The bytes that unit UNIT of TASK takes, whatever the menu did to it. */
uint64_t mapped_bytes(const struct task *task, uint64_t unit);
/* Map BYTES at AT and do what is asked for right after. W: NULL in usemem itself. */
must_check int allocate(const struct worker *w, uint64_t at, uint64_t bytes,
			void **memory);
must_check int take_unit(const struct worker *w);
must_check int lock_unit(struct task *task, uint64_t unit);
must_check int free_units(struct task *task);
/* madvise(2) of all units, and the bytes of the pages that it goes over. */
must_check int advise_units(struct task *task, int advice, const char *name);
uint64_t advised_bytes(const struct task *task);
/* Is page number PAGE of COUNT one that --punch-holes frees? */
static inline bool is_hole(uint64_t page, uint64_t count)
{
	return page % 2 == 0 && page + 1 < count;
}
/* The pages of a unit that --punch-holes goes over. */
struct pages unit_pages(const struct task *task, uint64_t unit);
must_check int punch_unit(struct task *task, uint64_t unit);

/* walk.c: passes over units. Both are cut by the deadline, but for the first access. */
/* All passes over each unit in turn. */
must_check int walk_units(struct worker *w, const struct phase *phase);
/* Pass after pass, each over all units. */
must_check int sweep_units(struct worker *w, const struct phase *phase);

/* fill.c: PATTERN, NULL for none, as it is in unit UNIT. */
struct pattern pattern_in_unit(const struct task *task, const struct pattern *pattern,
			       uint64_t unit);

/* verify.c: what a word should hold */
struct verified {
	const struct task *task;
	uint64_t unit;
};
/* As struct pass has it; CONTEXT is a struct verified. */
bool holds_right(const void *context, const struct touch *t, uint64_t i, uint64_t value);
/* The one value that word I most likely should hold. */
uint64_t expected_word(const struct verified *v, const struct touch *t, uint64_t i);

/* menu.c: ask on standard output what to do with UNIT, until the answer is to go on. The time of
 * it is no time of the walk. */
must_check int ask_menu(struct worker *w, uint64_t unit);

/* afterwards.c: all that follows the walk, up to freeing */
must_check int do_afterwards(struct worker *w);
/* rounds.c: the phases that wait for a signal */
must_check int make_rounds(struct worker *w);
/* "WHO PID is waiting signal" */
must_check int say_waiting(const char *who);
/* Wait for SIGUSR1 after that line. */
must_check int await_signal(struct worker *w, const char *who);

#endif
