// SPDX-License-Identifier: GPL-2.0-or-later
/* task - one worker: its files opened, blocks copied at random or whole files, pass after pass. */
#include "common/clock.h"
#include "common/rng.h"
#include "common/scratch.h"
#include "copyfile/copyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_refill(struct task *task)
{
	uint64_t step;

	if (!cfg.refill)
		return 0;
	task->block = target_memory(&task->target, 1, &step);
	if (!task->block)
		return -ENOMEM;
	block_prepare(task->block, task->target.block_bytes);
	task->refill_fd = scratch_reopen(task->pair->from,
					 O_RDWR | (cfg.direct ? O_DIRECT : 0));
	return MIN(task->refill_fd, 0);
}

/* What fails here ends with the process of the worker. */
static int open_task(struct task *task, struct copy_record *record)
{
	int ret = pair_target_open(&task->target, task->pair);

	if (!ret)
		ret = open_refill(task);
	if (ret)
		return ret;
	task->target.latency_ns = &record->latency_ns;
	return method_open(task->method, &task->target, &task->state);
}

int task_setup(struct worker *w)
{
	struct task *task = calloc(1, sizeof(*task));

	if (!task)
		return failed("memory for a task");
	w->data = task;
	task->pair = pair_of(w->id);
	task->method = cfg.method;
	complain_once(one_said);
	if (cfg.run.threads <= 1)
		files_leave_others(w->id);
	/* Its page faults come now, not in the first operations. */
	memset(w->record, 0, sizeof(struct copy_record));
	return open_task(task, w->record);
}

void task_teardown(struct worker *w)
{
	struct task *task = w->data;

	method_close(task->method, task->state);
	if (task->block)
		close(task->refill_fd);
	free(task->block);
	pair_target_close(&task->target);
	free(task);
}

static int copy_random(struct worker *w, struct task *task)
{
	struct rng rng = rng_stream(cfg.run.seed, w->id);
	struct cursor c = cursor_pairs(task->pair->size_bytes - cfg.base_bytes,
				       cfg.block_bytes, cfg.align_bytes, rng_next(&rng));
	int ret = copy_blocks(w, task, &c);

	return ret || cfg.flush_at != FLUSH_AT_END ? ret : flush_all(w, task);
}

/* The first BYTES of the target, and its length if they are all. */
static int verify_pass(struct worker *w, struct task *task, uint64_t bytes)
{
	struct stat st;
	int ret = verify_span(w, task, (struct span){ .len = bytes }, NULL);

	if (ret || bytes < task->pair->size_bytes)
		return ret;
	if (fstat(task->pair->to, &st))
		return failed("stat %s", task->pair->to_name);
	if ((uint64_t)st.st_size != bytes)
		return broken("worker %u: %s has %jd bytes after all %ju of %s were "
			      "copied",
			      w->id, task->pair->to_name, (intmax_t)st.st_size,
			      (uintmax_t)bytes, task->pair->from_name);
	return 0;
}

/* What is between two passes takes no time of the work. */
static int new_target(struct worker *w, struct task *task)
{
	int ret;

	pause_work(w, task);
	ret = pair_reset(task->pair);
	resume_work(w, task);
	return ret;
}

/* The byte before the blocks of --no-clone; it counts with the first of them, and its latency, which is
 * none of a block, nowhere. */
static int copy_first_byte(struct worker *w, struct task *task)
{
	struct cursor c = cursor_begin(1, 1, ORDER_SEQ, 0);
	struct hist *latency_ns = task->target.latency_ns;
	int ret;

	task->target.latency_ns = NULL;
	ret = copy_one(w, task, &c);
	task->target.latency_ns = latency_ns;
	if (!ret)
		tally_add(w, 0, 1);
	return ret;
}

/* From start to end, or to the stop; *DONE bytes. */
static int copy_file(struct worker *w, struct task *task, uint64_t *done)
{
	uint64_t base = cfg.base_bytes, rest = task->pair->size_bytes - base;
	struct cursor c;
	int ret = base ? copy_first_byte(w, task) : 0;

	*done = base;
	if (ret || !rest)
		return ret;
	c = cursor_begin(rest, task->target.block_bytes, ORDER_SEQ, 0);
	ret = copy_blocks(w, task, &c);
	*done += MIN(c.next * task->target.block_bytes, rest);
	return ret;
}

static int make_pass(struct worker *w, struct task *task)
{
	uint64_t bytes;
	int ret = copy_file(w, task, &bytes);

	if (!ret && cfg.flush_at == FLUSH_AT_END)
		ret = flush_all(w, task);
	return ret || !cfg.verify ? ret : verify_pass(w, task, bytes);
}

static int copy_seq(struct worker *w, struct task *task)
{
	int ret = 0;

	for (uint64_t pass = 0; !ret && keep_going(w); pass++) {
		if (cfg.passes && pass >= cfg.passes)
			break;
		if (pass)
			ret = new_target(w, task);
		if (!ret)
			ret = make_pass(w, task);
	}
	return ret;
}

int task_work(struct worker *w)
{
	struct task *task = w->data;
	int ret;

	begin_work(w, task);
	ret = cfg.pattern == PATTERN_RANDOM ? copy_random(w, task) : copy_seq(w, task);
	end_work(w);
	return ret;
}
