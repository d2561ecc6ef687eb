/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usemem - what the command line asked for, and what set-up made of it. */
#ifndef USEMEM_USEMEM_H
#define USEMEM_USEMEM_H

#include "common/region.h"
#include "common/run.h"
#include "usemem/segment.h"
#include "usemem/touch.h"

struct config {
	/* memory */
	uint64_t size_bytes; /* of each task */
	uint64_t size_mib;   /* -m */
	bool size_mib_given;
	uint64_t unit_asked; /* 0: size_bytes */
	uint64_t unit_bytes; /* what follows: at least 1, at most size_bytes */
	const char *file;
	bool heap, anonymous, memfd, prefault, open_rw;
	bool heap_off; /* by --punch-holes */
	bool huge;     /* of huge_bytes; 0: the system's default */
	uint64_t huge_bytes;
	bool madv_thp, touch_alloc, show_addr;
	bool numa_cpu_given, numa_memory_given;
	uint64_t numa_cpu, numa_memory;
	/* set-up and start */
	bool prealloc, remap, lock_segment, mincore, mincore_huge;
	const char *advise; /* NULL: not; "": the file of --file */
	bool init_time, signal_fork, sync_rw;
	/* walk */
	uint64_t step_bytes, passes;
	uint64_t seed; /* 0: not given; then one is taken */
	bool seed_taken;
	bool readonly, random, no_check;
	bool main_data_given;
	uint64_t main_data;
	const char *fill;
	uint64_t hold_ns;
	unsigned msync_flags; /* MS_SYNC, MS_ASYNC or 0 */
	bool menu, first_access_speed;
	/* afterwards */
	bool read_again, detach, mlock;
	const char *pid_file;
	bool punch_holes, signal_punch_holes, fallocate_punch_holes;
	bool madv_pageout, signal_read, signal_write, signal_madvise;
	uint64_t signal_count; /* accesses; 0: all */
	bool signal_random, signal_verify, signal_loop;
	bool signal_data_given, signal_times_given;
	uint64_t signal_data, signal_times;
	uint64_t sleep_ns; /* UINT64_MAX: for ever */
	bool sync_free, summary;
	/* What follows from it. */
	bool frees;           /* tasks free what they walked */
	bool rounds;          /* there is something to do in rounds */
	bool signal_accesses; /* some signal-driven phase reads or writes */
	struct pattern walk_pattern, signal_pattern;
	struct run run;
	struct backing backing;
	/* Set-up. */
	void *shared; /* the memory of --prealloc; NULL: tasks have their own */
	uint64_t shared_bytes;
	uint64_t setup_began_ns, setup_ns;
	struct residency residency; /* of --mincore, --mincore-hgpg */
};

extern struct config cfg;
extern const struct opt usemem_options[];

/* What a task measured, in memory that it shares with usemem. */
struct measured {
	uint64_t bytes, ns;
};

enum { SIGNAL_READ, SIGNAL_WRITE, SIGNAL_MADVISE, SIGNAL_PHASES };

struct task_record {
	struct measured walk, again;
	struct measured signal[SIGNAL_PHASES]; /* of all rounds */
	uint64_t free_ns;
	uint64_t minor_faults, major_faults;
};

/* Read the command line, apply defaults, and refuse what cannot be. May exit as run_parse() does.
 * 0 or -errno after saying so. */
must_check int read_command_line(int argc, char **argv);
/* fill.c: make patterns of --fill, --main-write-data and --signal-write-data: 0 or refused(). */
must_check int read_patterns(void);
/* Does the walk print its line? */
bool walk_has_line(void);

/* The rules of the command line, once SIZE is known: 0 or refused(). */
must_check int check_options(void);
/* Those that need to know what is behind the memory. */
must_check int check_pages(void);
/* Refuse what cannot end well: more memory to be written than memory and swap can hold, more
 * mappings than a process may have, more page tables than half of the memory. */
must_check int check_room(void);

/* Once a repetition, in usemem itself. */
int set_up(void);
void tear_down(void);
/* Refuse NODEs that are not there, and keep to them. */
must_check int bind_to_nodes(void);

/* The crew's hooks: a task's life. */
int task_setup(struct worker *w);
int task_walk(struct worker *w);
int task_finish(struct worker *w);
void task_teardown(struct worker *w);
/* Does what is timed begin before the start line, in set_up() or task_setup()? */
bool time_begins_early(void);
/* holders.c: the processes that detach */
/* Open the pid file, if there is to be one. */
must_check int holders_open(void);
/* Write their pids to it. */
int holders_leave(const pid_t *pids, unsigned count);
/* After a failure none stays, and no pid: end all that were left. */
void holders_end(void);

/* The figures of one repetition, for JSON and for --summary. */
int collect_figures(struct report *r, const struct crew_result *result);
must_check int print_summary(const struct crew_result *result);
/* Note where the counters of --summary stand. */
void summary_begin(void);

#endif
