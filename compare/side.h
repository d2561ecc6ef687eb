/* SPDX-License-Identifier: GPL-2.0-or-later */
/* side - the runs of one side of a comparison, and the series of samples they make. */
#ifndef COMPARE_SIDE_H
#define COMPARE_SIDE_H

#include "common/base.h"

#include <stdint.h>

/* One result: one start of the program. */
struct result_file {
	char *name;
	char started[24]; /* "2024-05-01T12:00:00Z" */
};

/* One run: a repetition of a result. */
struct trial {
	unsigned file, repetition;
	const char *fault; /* why it does not count; NULL: it does */
};

/* Of --interval: how far a run had come, when. */
struct progress {
	size_t trial;
	double elapsed_s, bytes;
};

/* Something a result depends on besides the program: "options.size_bytes", and its value as JSON. */
struct circumstance {
	char *path, *value;
};

struct side {
	char *name;
	char *program, *version, *kernel, *kernel_version;
	struct result_file *files;
	unsigned file_count;
	struct trial *trials; /* as they were given */
	size_t count, valid;
	struct progress *progress; /* run by run */
	size_t progress_count;
	struct circumstance *circumstances; /* of its first file, by path */
	size_t circumstance_count;
	char *mixed; /* what its files do not agree on, "options.nproc, environment.governor"; NULL: nothing */
};

enum better { BETTER_NEITHER, BETTER_HIGHER, BETTER_LOWER };

/* The valid runs' samples of one metric; runs that do not have it are left out. */
struct samples {
	double *x;
	unsigned *file; /* which of the side's each is of */
	size_t n, room;
};

struct series {
	char *name;    /* as the table has it: "usemem.throughput" */
	char unit[16]; /* "" for a plain number */
	enum better better;
	bool own; /* the program's own figure, not the system's */
	struct samples *sides;
};

/* All series, found by their names. */
struct series_table {
	struct series **at;
	unsigned *slots; /* open hash table: index + 1, 0 is free */
	unsigned count, room, mask, sides;
};

must_check int series_table_init(struct series_table *t, unsigned sides);
void series_table_free(struct series_table *t);
/* The series of that name, new if there is none; NULL without memory, in silence. */
struct series *series_get(struct series_table *t, const char *name);
/* One more sample of a side, of its file number FILE. 0 or -ENOMEM in silence. */
must_check int series_add(struct series *s, unsigned side, unsigned file, double value);
/* Where a side has samples of several files, and several of any of them: a file's median stands for it, since
 * what one start of the program does again and again does not tell how starts differ. */
void series_by_file(struct series *s, unsigned side);
/* Drop the series that WANTED does not want. */
void series_keep(struct series_table *t,
		 bool (*wanted)(const void *context, const char *name),
		 const void *context);
/* Into the order of a report: own ones as they came, then by subsystem and name. */
void series_sort(struct series_table *t);

/* Read the results that ARGUMENTS name, files, directories of them, or "-", as side number SIDE.
 * 0; -EIO after saying which file is no result of ours; refused() where they do not belong together. */
must_check int side_load(struct side *side, struct series_table *table, unsigned number,
			 const char *const *arguments, unsigned count);
/* One more result joins SIDE. Likewise. */
struct document;
must_check int side_add(struct side *side, struct series_table *table, unsigned number,
			const struct document *d);
void side_free(struct side *side);

/* Text for people: what would move a terminal's cursor or break a line becomes '?'. In place. */
char *made_plain(char *text);

#endif
