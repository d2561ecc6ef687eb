/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run - the options every program has, and "warm up, repeat, measure, warn". */
#ifndef COMMON_RUN_H
#define COMMON_RUN_H

#include "common/crew.h"
#include "common/limits.h"
#include "common/opts.h"
#include "common/report.h"
#include "common/topo.h"

struct run {
	/* The standard options; a program may set defaults before run_parse(). */
	unsigned processes, threads; /* 0: as if not given, one */
	uint64_t bind_stride;        /* 0: do not bind; BIND_NODE: by node */
	uint64_t runtime_ns;         /* 0: no limit */
	uint64_t samples,
		warmup; /* samples 0: not asked for, one run and no summary of runs */
	uint64_t interval_ns;
	const char *json; /* NULL: classic lines; "": standard output */
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
	const struct opt *own;
	struct opt standard[16];
	int argc;
	char **argv; /* as typed: parsing permutes the other */
};

enum { RUN_DONE = 1 };

/* What a program adds to a repetition. Each hook may be NULL. */
struct run_hooks {
	void (*describe)(struct report *r); /* once: what no option row holds */
	/* Before the fan-out, in the parent: 0, -errno, or RUN_DONE if that was all. */
	int (*set_up)(void);
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
/* Keep this process and all workers to the CPUs of NODE that they may use. 0 or -errno after saying
 * so. */
must_check int run_on_node(struct run *run, uint64_t node);
/* Do results go to standard output as lines? Not if the JSON document goes there, nor while
 * warming up. */
bool run_prints_lines(const struct run *run);
/* Run CREW, whose fan-out, binding and run time come from RUN, as often as was asked for, and
 * write the results. Stops at the first repetition that fails or is interrupted. Returns the
 * exit status of the program. */
must_check int run_repeat(struct run *run, const struct crew *crew,
			  const struct run_hooks *hooks);

#endif
