/* SPDX-License-Identifier: GPL-2.0-or-later */
/* readtwice - what the command line asked for, and the files that are read. */
#ifndef READTWICE_READTWICE_H
#define READTWICE_READTWICE_H

#include "common/cursor.h"
#include "common/method.h"
#include "common/region.h"
#include "common/residency.h"
#include "common/run.h"

#include <stdio.h>

enum then { THEN_NOTHING, THEN_UNLINK, THEN_TRUNCATE, THEN_DONTNEED };
enum fill { FILL_HOLE, FILL_WRITTEN };

struct config {
	unsigned files;   /* that are made; 0: not given, one for each CPU */
	uint64_t readers; /* of each file */
	const char *method_name;
	const struct method *method;
	bool direct, uncached;
	uint64_t depth;
	uint64_t block_bytes;
	uint64_t size_bytes;        /* of each file; 0: not given */
	bool size_chosen;           /* by the memory, and the space if it is written */
	unsigned order, fill, then; /* enum order, fill, then */
	const char *gap;
	uint64_t gap_bytes, gap_ns;
	bool passes_given;
	uint64_t passes; /* 0: no limit */
	bool cold, residency, verify;
	char **paths; /* existing files to read instead: file_count of them */
	unsigned file_count;
	struct run run;
};

/* A file to be read. */
struct file {
	int fd;           /* -1: not there, or removed */
	const char *name; /* for messages */
	uint64_t size_bytes;
};

/* What a reader keeps in memory that all share: its place, for those before and behind it. */
struct place {
	_Alignas(CACHE_PAIR) _Atomic uint64_t blocks; /* read so far, of all passes */
	_Atomic bool ended;
	_Atomic uint32_t
		bell; /* of a file's first reader: rung when any of its readers changes */
	_Atomic bool refused; /* of the very first: one said why it cannot be set up */
	uint64_t nearest,
		furthest; /* blocks from the one before it; by its worker only */
};

extern const char *const then_names[];
extern struct config cfg;
extern const struct opt readtwice_options[];
extern struct file *files;   /* cfg.file_count */
extern struct place *places; /* one for each reader */

/* options.c: read the command line and refuse what cannot be. May exit as run_parse() does. 0 or
 * -errno after saying so. */
must_check int read_command_line(int argc, char **argv);

/* files.c, in the parent. 0 or -errno after saying so. */
/* Once: what the directories and the existing files are; refuse what they cannot be read for. */
must_check int files_look(void);
/* Besides, into the report, with warnings, and the plan on stderr. */
int files_describe(struct report *r);
/* Make or open what is not there, and push it out of the page cache if asked for. */
int files_open(void);
/* Give each a name in its directory. */
must_check int files_keep(void);
/* Bytes of all files. */
uint64_t files_bytes(void);
void files_close(void);
/* Blocks of F as they are read: no larger than it needs, which suit O_DIRECT; and how many may be in
 * flight. */
uint64_t block_of(const struct file *f);
unsigned depth_of(const struct file *f);
/* Worker ID reads this one. */
struct file *file_of(unsigned id);

/* media.c: what the files lie on, each filesystem and device once. */
/* That of FD, where the file NAME lies, which must stay. 0 or -errno after saying so. */
must_check int media_add(int fd, const char *name);
/* Refuse tmpfs unless that is allowed: 0 or refused(). */
must_check int media_check(void);
/* Warn, and tell R of all. */
void media_report(struct report *r);
bool media_in_memory(void);
/* "ext4 (/dev/vda), tmpfs (tmpfs)" */
void media_write(FILE *out);
void media_free(void);

/* plan.c: what will be done, in a line; malloc'ed. 0 or -errno after saying so. */
must_check int plan_text(char **text);
/* What media_write() writes; malloc'ed, NULL without memory. */
char *media_text(void);
/* Do all files fit into the memory that this process may use? */
bool files_fit(void);
/* Do the files' pages stay in the page cache once they are read? */
bool reads_through_cache(void);

/* room.c: is there the memory, and the space for what is written? 0, or -errno after saying so. */
must_check int check_room(void);
/* The size that was chosen for files that are written is to leave a tenth of the space. */
void fit_size(void);

/* data.c: bytes of all files, as far as they are read, that were ever written; the rest are holes. */
uint64_t data_bytes(void);
/* What a run over holes measures. */
const char *cost_of_holes(void);

/* cold.c: push all files out of the page cache and look whether they are. */
struct coldness {
	uint64_t evict_ns;
	struct residency left; /* what stayed */
	bool known;
};
extern struct coldness coldness;
must_check int files_evict(void);

/* gate.c: how far a reader may go. */
must_check int places_open(void);
/* Before each repetition. */
void places_reset(void);
void places_close(void);
/* Wait until reader W has its turn to begin. */
void gate_begin(struct worker *w);
/* Wait until there is room, and give the block up to which W may read: at most ALL. PASSED: of
 * earlier passes. */
uint64_t gate_open(struct worker *w, uint64_t passed, uint64_t next, uint64_t all);
/* W goes no further. */
void gate_leave(struct worker *w);

/* reader.c: the crew's hooks */
int reader_setup(struct worker *w);
int reader_work(struct worker *w);
void reader_teardown(struct worker *w);

/* check.c: is what was read what was written? */
struct check;
must_check int check_open(const struct file *f, struct check **check);
/* A new pass begins. */
void check_begin(struct check *c);
/* As target.check. */
int check_block(void *check, const struct span *block, const void *data);
/* The pass is over, uncut: has each block come? 0, or -errno after saying so. */
must_check int check_end(struct check *c);
void check_close(struct check *c);

/* after.c: --then and --residency, in the parent. */
struct afterwards {
	uint64_t bytes; /* of what was read of the files, each once */
	uint64_t began_ns, ended_ns;
};
must_check int do_then(struct afterwards *a);
/* After a repetition that is not counted: it leaves the files as the others do. */
void then_in_warm_up(void);

/* figures.c: lines, summary and metrics of one repetition. */
int collect_figures(struct report *r, const struct crew_result *result);

#endif
