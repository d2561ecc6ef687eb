/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copyfile - what the command line asked for, and what the files of copyfile share. */
#ifndef COPYFILE_COPYFILE_H
#define COPYFILE_COPYFILE_H

#include "common/hist.h"
#include "common/method.h"
#include "common/run.h"

enum pattern { PATTERN_RANDOM, PATTERN_SEQ };
enum flush { FLUSH_NONE, FLUSH_FSYNC, FLUSH_FDATASYNC, FLUSH_RANGE, FLUSH_SYNCFS };
enum flush_at { FLUSH_AT_OP, FLUSH_AT_END };

struct config {
	const char *method_name; /* as given */
	unsigned pattern, refill, flush, flush_at, source_written;
	uint64_t size_bytes, block_bytes;
	uint64_t align_bytes; /* what random offsets are multiples of */
	uint64_t depth, passes;
	bool direct, uncached, no_clone, fallback, verify, metrics;
	struct words
		from;   /* existing files, dealt over the workers; none: they are made */
	const char *to; /* the targets' directory; NULL: --dir, as of all that is made */
	/* What follows from it. */
	bool direct_asked;          /* DIRECT is also set by a method that is always so */
	const struct method *asked; /* for, by --method */
	const struct method *method; /* the one that runs */
	uint64_t base_bytes; /* 1 with --no-clone: off every block's grid; else 0 */
	struct run run;
};

extern struct config cfg;
extern const struct opt copyfile_options[];

/* Read the command line, apply defaults, and refuse what cannot be. May exit as run_parse() does.
 * RUN_DONE if that was all, 0, or -errno after saying so. */
must_check int read_command_line(int argc, char **argv);
/* Must an operation have come to its end before the next begins? */
bool one_by_one(void);
/* Open the files of --from, before anything is mounted. 0 or -errno after saying so. */
must_check int sources_look(void);
/* What will be done, in a line; malloc'ed. The same. */
must_check int plan_text(char **text);

/* A worker's source and target, opened in copyfile itself and inherited. */
struct pair {
	int from, to; /* both for buffered I/O; FROM only for reading if it is not ours */
	const char *to_dir;
	const char *from_name, *to_name; /* what messages call them */
	uint64_t size_bytes;             /* of the source */
};

/* What stops one worker mostly stops all: in memory that all share, for complain_once(). */
extern _Atomic bool *one_said;

/* Once, in copyfile itself: the files of all workers; and in each repetition what makes the targets as
 * new. 0 or -errno after saying so. */
must_check int files_open(void);
const struct pair *pair_of(unsigned worker);
/* In a process of its own: worker WORKER needs the files made for the others no more. Each of N processes
 * with the files of all N is slow to look at (/proc/PID/fd), and to end. */
void files_leave_others(unsigned worker);
/* The size of worker WORKER's source, also before there is a pair. */
uint64_t source_bytes(unsigned worker);
/* Of --from; -1: it is to be made. */
int source_fd(unsigned worker);
/* The directory that its target is made in. */
const char *target_dir(unsigned worker);
/* The target as it is before a pass: empty, or as long as the source where it is written anywhere. */
must_check int pair_reset(const struct pair *pair);
/* What a method gets to copy PAIR: descriptors of its own, alignment. The same; pair_target_close()
 * closes them. */
must_check int pair_target_open(struct target *t, const struct pair *pair);
void pair_target_close(struct target *t);
must_check int files_keep(void);
/* Sources and directories are dealt over the workers: from this one on they come in the same pairs. */
unsigned distinct_pairs(void);
/* What the files lie on: warn of memory, note what is no local disk. The same. */
must_check int media_check(struct report *r);
/* Is there the memory, and the space for what is written? 0, or -errno after saying so. */
must_check int room_check(void);
/* Lines such as "medium: from xfs on /dev/loop0 (/var/tmp) to ext4 on /dev/vda (/home)". The same. */
must_check int media_print(void);

/* cfg.method as the files and this machine let it: a block is copied by it, and with --fallback by the
 * next ones, until one is not refused. 0 or -errno after saying so. */
must_check int method_choose(void);

/* What a worker measured, in memory that it shares with copyfile. */
struct copy_record {
	uint64_t copy_ns, refill_ns, flush_ns; /* of the timed part, apart */
	uint64_t refilled_bytes, flushes, verified_bytes;
	uint64_t user_ns, system_ns, max_rss_kib; /* getrusage(2), during the work */
	struct hist latency_ns;                   /* of copying a block */
	struct hist flush_latency_ns;
};

/* What a block carries, at its start and at every 4096th byte of it: by whom it was written, as which
 * of his operations (0: before the run), and where in the source. */
struct stamp {
	uint64_t worker, op, offset;
	uint64_t check; /* of the three */
};
#define STAMP_STEP 4096
struct stamp stamp_make(uint64_t worker, uint64_t op, uint64_t offset);
/* Anything else has no check that fits. */
bool stamp_is_one(const struct stamp *s);
/* Make the BLOCK_BYTES of BLOCK what operation OP of WORKER writes at OFFSET; of a buffer that
 * block_prepare() has filled only the stamps change. Short blocks carry what fits. */
void block_prepare(void *block, uint64_t bytes);
void block_stamp(void *block, uint64_t bytes, uint64_t worker, uint64_t op,
		 uint64_t offset);

/* Compare what lies in the target of PAIR, of worker WORKER, at BLOCK, with EXPECTED, or with what lies
 * in the source (NULL). 0, or -errno after saying worker, offset, what was expected and what was found
 * (stamps are decoded). Through buffered descriptors; takes no time of the work. */
must_check int verify_block(unsigned worker, const struct pair *pair,
			    const struct span *block, const void *expected);

/* flush.c: by cfg.flush, LEN bytes at AT of FD; LEN 0: all there is. 0 or -errno in silence. */
must_check int flush_range(int fd, uint64_t at, uint64_t len);
/* "fsync()"; "no flush". */
const char *flush_call(void);

/* A worker at work. */
struct task {
	struct target target;
	const struct pair *pair;
	const struct method *method;
	void *state;
	char *block;     /* what the source is refilled with; NULL: it is not */
	int refill_fd;   /* of the source, for writing */
	uint64_t op;     /* that it was last refilled by */
	uint64_t now_ns; /* the end of one part of the work is the next one's beginning */
};

/* worktime.c: the CPU's time of the work is that between these two. */
void begin_work(struct worker *w, struct task *task);
void end_work(struct worker *w);
/* What lies between these two is no part of the work, neither its time nor that of the CPU. */
void pause_work(struct worker *w, struct task *task);
void resume_work(struct worker *w, struct task *task);
/* The time since this was last asked, or the work began or was resumed. */
uint64_t lap(struct task *task);

/* operation.c: copy the blocks of C until it is empty, --ops are done or the worker is stopped, each
 * with what belongs to it, and count them. 0 or -errno after saying so. */
must_check int copy_blocks(struct worker *w, struct task *task, struct cursor *c);
/* The one block of ONE, uncounted: the same. */
must_check int copy_one(struct worker *w, struct task *task, struct cursor *one);
/* Compare what was copied, in a pause of the work: with EXPECTED, or with the source (NULL). The same. */
must_check int verify_span(struct worker *w, struct task *task, struct span span,
			   const void *expected);
/* Flush the whole target: the same. */
must_check int flush_all(struct worker *w, struct task *task);

/* The crew's hooks. */
int task_setup(struct worker *w);
int task_work(struct worker *w);
void task_teardown(struct worker *w);

/* How much of a target shares its extents with its source. */
struct sharing {
	uint64_t bytes, shared_bytes; /* of data in the targets; of these */
	uint64_t guessed_bytes;       /* of BYTES: where only free space tells */
	bool known;                   /* else SHARED_BYTES are at least so many */
};
/* Before the work (free space as it is), and after it, of all targets. 0 or -errno after saying so. */
must_check int sharing_begin(void);
must_check int sharing_end(struct sharing *s);

/* The figures of one repetition, for JSON and as lines. */
int collect_figures(struct report *r, const struct crew_result *result);
/* The operations table, in place of the lines. 0 or -errno after saying so. */
must_check int print_metrics(const struct crew_result *result);

#endif
