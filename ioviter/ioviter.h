/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ioviter - what the command line asked for, and what the files of ioviter share. */
#ifndef IOVITER_IOVITER_H
#define IOVITER_IOVITER_H

#include "common/run.h"
#include "ioviter/kinds.h"

enum target_sort { TARGET_PAGECACHE, TARGET_ZERO, TARGET_NULL, TARGETS };
extern const char *const target_names[TARGETS + 1];
enum page_sort { PAGES_BASE, PAGES_HUGE, PAGES_SORTS };
extern const char *const pages_names[PAGES_SORTS + 1];

enum { MOST_VALUES = 16 };

/* What a comma separates. */
struct values {
	unsigned count;
	uint64_t at[MOST_VALUES];
};

struct config {
	const char *kinds_text, *targets_text, *sizes_text, *aligns_text, *pages_text;
	unsigned direction, buffer, form;
	uint64_t segments;
	uint64_t size_bytes, volume_bytes; /* of the file; moved in a sample */
	bool tile, file, verify;
	/* What follows from it: dimensions of the matrix, indices of kinds[] and of the enums. */
	struct values kinds, targets, sizes, aligns, pages;
	uint64_t page_bytes;
	unsigned samples, warmup;
	struct run run;
};

enum direction { DIRECTION_READ, DIRECTION_WRITE, DIRECTION_BOTH };
enum buffer { BUFFER_OWN, BUFFER_SMALL };
enum form { FORM_AUTO, FORM_LINES, FORM_TABLE };

extern struct config cfg;
extern const struct opt ioviter_options[];

/* Read the command line, apply defaults, and refuse what cannot be. May exit as run_parse() does.
 * RUN_DONE if that was all, 0, or -errno after saying so. */
must_check int read_command_line(int argc, char **argv);

/* One series of samples: a row of the table. */
struct cell {
	const struct kind *kind;
	bool write; /* from the iterator to the target */
	enum target_sort target;
	enum page_sort pages;
	uint64_t size_bytes, align_bytes;
	uint64_t call_bytes;      /* what one call moves of SIZE_BYTES */
	unsigned segments;        /* of a call */
	uint64_t sample_segments; /* of all calls of a sample, the short ones too */
	char name[96];            /* "ubuf_read", with what else tells it from others */
};

/* All of them; unreachable kinds have one each, which says so. 0 or -errno after saying so. */
must_check int cells_make(void);
extern struct cell *cells;
extern unsigned cell_count;

/* What came of a cell, in memory shared with ioviter. */
struct cell_record {
	char reason[256]; /* why there are no samples; "": there are */
	bool punted;      /* io_uring had worker threads do it */
	uint64_t samples; /* that are there, of cfg.samples */
	uint64_t ns[];
};
size_t cell_record_bytes(void);
struct cell_record *cell_record(void *records, unsigned i);

/* memory.c: where the process has its side of a call. */
struct area {
	char *memory; /* begins with a page, a huge one if it is huge; NULL: not to be had */
	uint64_t bytes;
	char reason[192]; /* why not */
};
/* The most that one call can have there. */
uint64_t area_most_bytes(void);
/* Room for calls of CALL_BYTES, of SORT, touched. What cannot be had is in area->reason. 0 or -errno after
 * saying so. */
must_check int area_open(struct area *area, enum page_sort sort, uint64_t call_bytes);
void area_close(struct area *area);

/* files.c: the other side. Once, in ioviter itself. 0 or -errno after saying so. */
must_check int files_open(void);
int file_of(enum target_sort sort);
const char *file_name(enum target_sort sort);

/* trial.c: CELL as a kind gets it, in AREA. */
void trial_make(struct trial *t, const struct cell *cell, const struct area *area);
/* Move the whole volume: its time, and how many calls it took. 0, -errno after saying so, or TRIAL_CUT:
 * worker W was told to stop meanwhile. */
must_check int trial_sample(const struct worker *w, const struct trial *t,
			    const struct kind *kind, void *state, uint64_t *ns,
			    uint64_t *calls);
enum { TRIAL_CUT = 1 };
/* Do a few calls move the right bytes? 0, or -errno after saying what is wrong. */
must_check int trial_verify(const struct trial *t, const struct kind *kind, void *state);

/* The crew's hooks. */
int task_setup(struct worker *w);
int task_work(struct worker *w);
void task_teardown(struct worker *w);

/* The figures, for JSON and as lines or a table. */
int collect_figures(struct report *r, const struct crew_result *result);

#endif
