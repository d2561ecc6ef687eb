/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run - the options every program has, and "warm up, repeat, measure, warn". */
#ifndef COMMON_RUN_H
#define COMMON_RUN_H

#include "common/crew.h"
#include "common/fs.h"
#include "common/limits.h"
#include "common/medium.h"
#include "common/opts.h"
#include "common/report.h"
#include "common/topo.h"

/* Which of the standard options a program has, besides those that all have. */
enum {
	RUN_TASKS = 1, /* --nproc, --thread */
	RUN_OPS = 2,   /* --ops, --seed */
	RUN_FS = 4,    /* --dir, --fs and what belongs to it */
	RUN_FILES = 8, /* --keep, --allow-tmpfs: it makes scratch files */
	RUN_ONCE = 16, /* one fan-out, in which the program itself takes its samples */
};

struct run {
	unsigned has; /* RUN_ bits */
	/* What makes a run longer, for the warning about one that was too short. */
	const char *longer;
	/* The standard options; a program may set defaults before run_parse(). */
	unsigned processes, threads; /* 0: as if not given, one */
	uint64_t bind_stride;        /* 0: do not bind; BIND_NODE: by node */
	uint64_t runtime_ns;         /* 0: no limit */
	uint64_t samples,
		warmup; /* samples 0: not asked for, one run and no summary of runs */
	uint64_t interval_ns;
	const char *json; /* NULL: classic lines; "": standard output */
	uint64_t max_ops; /* of each worker; 0: no limit */
	uint64_t seed;    /* one is taken where it is not given */
	bool seed_given;
	struct words dirs; /* for scratch files: one at least */
	bool dir_given;
	bool keep, allow_tmpfs;
	struct fs_config fs;
	bool no_perf, profile;
	const char *perf_control; /* NULL: no perf is told */
	bool force, dry_run;
	bool quiet; /* no live line */
	/* What run_parse() found. */
	struct topo topo;
	struct limits limits;
	unsigned workers;       /* processes x threads */
	bool warming;           /* the repetition that runs now is not counted */
	struct cpus *node_cpus; /* with --bind node: the allowed CPUs of each node */
	unsigned node_count;
	bool lines; /* standard output is for lines, not for JSON */
	struct fs_made fs_made;
	struct probe *probe;   /* what counts its workers */
	struct system *system; /* what it does is watched; NULL: nobody asked for that */
	const struct opt *own;
	struct opt standard[32];
	int argc;
	char **argv; /* as typed: parsing permutes the other */
};

enum { RUN_DONE = 1 };

/* What a program adds to a repetition. Each hook may be NULL. */
struct run_hooks {
	/* Once, when a scratch filesystem is there: what no option row holds. 0 or -errno after
	 * saying so. */
	int (*describe)(struct report *r);
	/* Before the fan-out, in the parent: 0, -errno, or RUN_DONE if that was all. */
	int (*set_up)(void);
	/* Some of set_up, or of the workers' setup, is part of what is timed: what the system does is
	 * counted from there on, not from the start line. */
	bool set_up_counts;
	/* Figures of a repetition that went well or was interrupted; after RUN_DONE without
	 * workers. 0 or -errno after saying so. */
	int (*collect)(struct report *r, const struct crew_result *result);
	void (*tear_down)(void); /* always */
};

/* Fill RUN's table of standard options, whose targets are in RUN. run_parse() does so. */
void run_fill_standard(struct run *run);
/* Parse ARGV; may exit as opts_parse() does, and does so too when the machine cannot be looked
 * at. Returns the index of the first operand in ARGV. */
int run_parse(struct run *run, const struct usage *usage, const struct opt *own, int argc,
	      char **argv);
/* A size: as parse_size() has it, or "25%" of the memory that this process may use, shared among
 * the tasks, in whole pages. NAME is what refused() calls it. 0 or -errno after saying so. */
must_check int run_size(struct run *run, const char *name, const char *text,
			uint64_t *bytes);
/* The Ith directory for scratch files, over and over; on the scratch filesystem if there is one. */
const char *run_dir(const struct run *run, uint64_t i);
/* Give the Ith scratch file, FD, the name PROGRAM-PID-I in its directory, and say so. 0 or -errno
 * after saying so. */
must_check int run_keep_file(const struct run *run, int fd, unsigned i);
/* Run COUNT processes of one task each, whatever --nproc is. 0 or refused(), which names WHAT. */
must_check int run_set_workers(struct run *run, const char *what, uint64_t count);
/* A seed where none was given: small enough to be typed, never 0. */
uint64_t run_take_seed(void);
/* Keep this process and all workers to the CPUs of NODE that they may use. 0 or -errno after saying
 * so. */
must_check int run_on_node(struct run *run, uint64_t node);
/* Do results go to standard output as lines? Not if the JSON document goes there, nor while
 * warming up. */
bool run_prints_lines(const struct run *run);
/* What --fs made, if M is that; NULL: it is another. */
const struct fs_made *run_made(const struct run *run, const struct medium *m);
/* Tell R what the file NAME lies on, with a warning if that is no local filesystem. */
void run_tell_medium(const struct run *run, struct report *r, const char *name,
		     const struct medium *m);
/* What is going on before the start line, as the live line: only on a terminal. NULL clears it. */
void run_live_line(const struct run *run, const char *fmt, ...) printf_like(2, 3);
/* "warning: ..." on stderr, and into the results. */
void run_warning(struct report *r, const char *fmt, ...) printf_like(2, 3);
/* Run CREW, whose fan-out, binding and run time come from RUN, as often as was asked for, and
 * write the results. Stops at the first repetition that fails or is interrupted. Returns the
 * exit status of the program. */
must_check int run_repeat(struct run *run, const struct crew *crew,
			  const struct run_hooks *hooks);

#endif
