/* SPDX-License-Identifier: GPL-2.0-or-later */
/* msync - what the command line asked for, and what the files of msync share. */
#ifndef MSYNC_MSYNC_H
#define MSYNC_MSYNC_H

#include "common/hist.h"
#include "common/region.h"
#include "common/run.h"
#include "msync/modes.h"

struct config {
	uint64_t size_bytes;        /* of each worker's part */
	uint64_t range_bytes;       /* flushed in one call; 0: everything */
	unsigned mode;              /* of modes[] */
	unsigned populate, written; /* 0: no, hole */
	const char *dirty, *order;  /* as given */
	uint64_t passes;            /* 0: no limit */
	bool shared, reserve, lock, verify;
	/* What follows from it. */
	uint64_t page_bytes;
	uint64_t pieces;        /* in which a pass is flushed; 0: it is not */
	uint64_t step_bytes;    /* a page to be dirtied at most every so many bytes */
	uint64_t dirty_percent; /* of these pages */
	bool random;
	bool buffered; /* the check reads through the page cache: O_DIRECT does not work */
	struct run run;
};

extern struct config cfg;
extern const struct opt msync_options[];

/* Read the command line, apply defaults, and refuse what cannot be. May exit as run_parse() does.
 * 0 or -errno after saying so. */
must_check int read_command_line(int argc, char **argv);

/* What was done to a worker's part, kept from one repetition to the next. */
struct history {
	uint64_t passes;    /* begun so far */
	uint32_t stamped[]; /* --verify, of each page: the last pass to do so; 0: none */
};

/* A worker's part of a file. */
struct slice {
	int fd;
	const char *dir;
	uint64_t at;             /* in the file */
	struct history *history; /* in memory that all processes share */
	char *name;              /* what messages call the file */
};

/* Once, in msync itself: the files of all workers. 0 or -errno after saying so. */
must_check int files_open(void);
const struct slice *slice_of(unsigned worker);
/* Give each file a name in its directory, and say which. 0 or -errno after saying so. */
must_check int files_keep(void);
/* What the directories lie on: warn of memory, note what is no local disk. The same. */
must_check int media_check(struct report *r);
/* A line for each directory: "medium: ext4 on /dev/vda (/var/tmp)". The same. */
must_check int media_print(void);

/* What a worker measured, in memory that it shares with msync. */
struct flush_record {
	uint64_t dirtied_bytes, flushed_bytes, verified_bytes;
	uint64_t calls, busy; /* of the flush; those that found locked pages */
	uint64_t minor_faults, major_faults;
	uint64_t charged_bytes; /* that it dirtied, as the kernel counts: whole folios */
	struct hist latency_ns; /* of calls that went well */
};

/* A worker at work. */
struct task {
	const struct slice *slice;
	struct backing backing;
	char *memory;
	uint64_t pass;
	uint64_t *dirtied;         /* pages in each piece, since it was last flushed */
	struct verifier *verifier; /* NULL: nothing is checked */
};

/* dirty.c: stamp the pages of one pass. False: told to stop before it was complete. */
bool dirty_pass(struct worker *w, struct task *task);

/* verify.c: read back what was flushed. */
must_check int verifier_open(const struct slice *slice, struct verifier **v);
void verifier_close(struct verifier *v);
/* Compare BYTES from AT on, counted in the worker's part, with what they must be. 0, or -errno
 * after saying what is different. */
must_check int verify_range(struct worker *w, struct task *task, uint64_t at,
			    uint64_t bytes);
/* Can SLICE be read with O_DIRECT? 1, 0, or -errno after saying so. */
must_check int verify_direct(const struct slice *slice);

/* The crew's hooks. */
int task_setup(struct worker *w);
int task_work(struct worker *w);
void task_teardown(struct worker *w);

/* The figures of one repetition, for JSON and as lines. */
int collect_figures(struct report *r, const struct crew_result *result);

#endif
