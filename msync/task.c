// SPDX-License-Identifier: GPL-2.0-or-later
/* task - one worker: map its part, dirty it, flush it, pass after pass. */
#include "common/clock.h"
#include "common/parse.h"
#include "msync/msync.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Ends with a SIGBUS, which is explained, at the first that cannot be had. */
static void read_pages(const struct task *task)
{
	for (uint64_t at = 0; at < cfg.size_bytes; at += cfg.page_bytes)
		(void)*(volatile const char *)(task->memory + at);
}

static int lock_memory(const struct task *task)
{
	char size[FORMAT_LEN], most[FORMAT_LEN];

	if (!mlock(task->memory, cfg.size_bytes))
		return 0;
	/* The limit is the same for pages that may come later. */
	if (errno == ENOMEM && !mlock2(task->memory, cfg.size_bytes, MLOCK_ONFAULT)) {
		read_pages(task);
		errno = ENOMEM;
		return failed("mlock %s", format_size(size, cfg.size_bytes));
	}
	format_size(size, cfg.size_bytes);
	if (cfg.run.limits.memlock_bytes == NO_LIMIT)
		return failed("mlock %s", size);
	return failed("mlock %s, where 'ulimit -l' allows %s in all", size,
		      format_size(most, cfg.run.limits.memlock_bytes));
}

static int map_slice(struct task *task)
{
	const struct slice *slice = task->slice;
	void *memory;
	int ret;

	task->backing = (struct backing){
		.source = &source_file,
		.path = slice->name,
		.fd = slice->fd,
		.writable = true,
		.shared = true,
		.populate = cfg.populate,
	};
	explain_sigbus(&task->backing);
	ret = region_map(&task->backing, slice->at, cfg.size_bytes, &memory);
	if (ret)
		return ret;
	task->memory = memory;
	return cfg.lock ? lock_memory(task) : 0;
}

/* What fails here ends with the process of the worker. */
int task_setup(struct worker *w)
{
	struct task *task = calloc(1, sizeof(*task));
	int ret;

	if (!task)
		return failed("memory for a task");
	w->data = task;
	task->slice = slice_of(w->id);
	task->pass = task->slice->history->passes;
	task->dirtied = calloc(cfg.pieces + 1, sizeof(*task->dirtied));
	if (!task->dirtied)
		return failed("memory for %ju ranges", (uintmax_t)cfg.pieces);
	ret = map_slice(task);
	if (!ret && cfg.verify)
		ret = verifier_open(task->slice, &task->verifier);
	return ret;
}

/* 0 or -errno in silence; -EINTR: told to stop meanwhile. */
static int call_flush(const struct worker *w, const struct range *r)
{
	int ret;

	do
		ret = modes[cfg.mode].flush(r) ? -errno : 0;
	while (ret == -EINTR && keep_going(w));
	return ret;
}

static int say_failed(const struct worker *w, const struct task *task,
		      const struct range *r, int ret)
{
	errno = -ret;
	return failed("worker %u: %s of %ju bytes at offset %ju of %s", w->id,
		      modes[cfg.mode].call, (uintmax_t)r->bytes, (uintmax_t)r->at,
		      task->slice->name);
}

/* The time of it, from *BEGAN_NS on, is no time of the work. */
static int verify_piece(struct worker *w, struct task *task, uint64_t at, uint64_t bytes,
			uint64_t *began_ns)
{
	int ret = verify_range(w, task, at, bytes);
	uint64_t ended_ns = now_ns();

	w->tally->paused_ns += ended_ns - *began_ns;
	*began_ns = ended_ns;
	return ret;
}

/* BEGAN_NS is the time by now, before and after: a call's end is the next one's beginning, since
 * reading the clock costs a part of the shortest calls. */
static int flush_piece(struct worker *w, struct task *task, uint64_t piece,
		       uint64_t *began_ns)
{
	const struct mode *mode = &modes[cfg.mode];
	struct flush_record *record = w->record;
	uint64_t at = piece * cfg.range_bytes, ended_ns, bytes;
	const struct range range = {
		.fd = task->slice->fd,
		.memory = task->memory + at,
		.at = task->slice->at + at,
		.bytes = MIN(cfg.range_bytes, cfg.size_bytes - at),
	};
	int ret;

	ret = call_flush(w, &range);
	ended_ns = now_ns();
	if (!ret)
		hist_add(&record->latency_ns, ended_ns - *began_ns);
	*began_ns = ended_ns;
	if (ret == -EINTR)
		return 0;
	if (ret && !(ret == -EBUSY && mode->may_be_busy))
		return say_failed(w, task, &range, ret);
	bytes = ret ? 0 : task->dirtied[piece] * cfg.page_bytes;
	task->dirtied[piece] = 0;
	record->calls++;
	record->busy += ret != 0;
	record->flushed_bytes += mode->writes_out ? bytes : 0;
	tally_add(w, 1, bytes);
	return task->verifier && !ret ? verify_piece(w, task, at, range.bytes, began_ns)
				      : 0;
}

static int make_pass(struct worker *w, struct task *task)
{
	uint64_t began_ns;
	int ret = 0;

	task->pass++;
	task->slice->history->passes = task->pass;
	if (!dirty_pass(w, task))
		return 0;
	if (!cfg.pieces)
		tally_add(w, 1, 0);
	began_ns = now_ns();
	for (uint64_t piece = 0; piece < cfg.pieces && !ret && keep_going(w); piece++)
		ret = flush_piece(w, task, piece, &began_ns);
	return ret;
}

/* Those so far are taken off, or added. */
static void count_faults(struct flush_record *record, int sign)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		return;
	record->minor_faults += (uint64_t)(sign * usage.ru_minflt);
	record->major_faults += (uint64_t)(sign * usage.ru_majflt);
	/* In units of 512 bytes (getrusage(2), ru_oublock). */
	record->charged_bytes += (uint64_t)(sign * usage.ru_oublock) * 512;
}

int task_work(struct worker *w)
{
	struct flush_record *record = w->record;
	int ret = 0;

	count_faults(record, -1);
	for (uint64_t passes = 0;
	     !ret && keep_going(w) && (!cfg.passes || passes < cfg.passes); passes++)
		ret = make_pass(w, w->data);
	count_faults(record, 1);
	return ret;
}

void task_teardown(struct worker *w)
{
	struct task *task = w->data;

	explain_sigbus(NULL);
	munmap(task->memory, cfg.size_bytes);
	verifier_close(task->verifier);
	free(task->dirtied);
	free(task);
}
