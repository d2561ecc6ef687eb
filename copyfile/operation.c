// SPDX-License-Identifier: GPL-2.0-or-later
/* operation - copy a block: refilled before, flushed and verified after it; or many, nothing but copied. */
#include "common/clock.h"
#include "copyfile/copyfile.h"

#include <errno.h>
#include <unistd.h>

static int refill(struct worker *w, struct task *task, const struct span *block)
{
	struct copy_record *record = w->record;
	/* O_DIRECT does not take the rest at the end of a file. */
	int fd = block->len % task->target.align_bytes ? task->pair->from
						       : task->refill_fd;
	uint64_t done = 0;

	block_stamp(task->block, block->len, w->id, ++task->op, block->at);
	while (done < block->len) {
		ssize_t n = pwrite(fd, task->block + done, block->len - done,
				   (off_t)(block->at + done));

		/* As for cp(1), what moves nothing is a full filesystem. */
		if (!n)
			errno = ENOSPC;
		if (n <= 0 && errno != EINTR)
			return failed("worker %u: refill %ju bytes at offset %ju of %s",
				      w->id, (uintmax_t)(block->len - done),
				      (uintmax_t)(block->at + done),
				      task->pair->from_name);
		done += (uint64_t)MAX(n, 0);
	}
	record->refill_ns += lap(task);
	record->refilled_bytes += done;
	return 0;
}

/* LEN bytes at AT of the target; LEN 0: all of it. A stop may cut it short. */
static int flush_target(struct worker *w, struct task *task, uint64_t at, uint64_t len)
{
	struct copy_record *record = w->record;
	uint64_t took_ns;
	int ret;

	do
		ret = flush_range(task->target.to, at, len);
	while (ret == -EINTR && keep_going(w));
	errno = -ret;
	if (ret && ret != -EINTR)
		return failed("worker %u: %s of %s", w->id, flush_call(),
			      task->pair->to_name);
	took_ns = lap(task);
	record->flush_ns += took_ns;
	if (!ret) {
		record->flushes++;
		hist_add(&record->flush_latency_ns, took_ns);
	}
	return 0;
}

/* A stop does not wait for what is in the page cache. */
int flush_all(struct worker *w, struct task *task)
{
	return cfg.flush == FLUSH_NONE || crew_stopping(w) ? 0
							   : flush_target(w, task, 0, 0);
}

int copy_one(struct worker *w, struct task *task, struct cursor *one)
{
	struct copy_record *record = w->record;
	ssize_t n = task->method->pump(task->state, one);
	uint64_t took_ns = lap(task);

	record->copy_ns += took_ns;
	if (!task->method->many && task->target.latency_ns)
		hist_add(task->target.latency_ns, took_ns);
	return (int)MIN(n, 0);
}

/* In pieces: a signal ends this between two of them. */
int verify_span(struct worker *w, struct task *task, struct span span,
		const void *expected)
{
	struct copy_record *record = w->record;
	const char *wanted = expected;
	int ret = 0;

	pause_work(w, task);
	while (span.len && !ret && !crew_stopping(w)) {
		struct span piece = { span.at, MIN(span.len, MiB), span.to };

		ret = verify_block(w->id, task->pair, &piece, wanted);
		record->verified_bytes += ret ? 0 : piece.len;
		span = (struct span){ span.at + piece.len, span.len - piece.len,
				      span.to + piece.len };
		wanted = wanted ? wanted + piece.len : NULL;
	}
	resume_work(w, task);
	return ret;
}

/* The next block of C, which has one. */
static int make_op(struct worker *w, struct task *task, struct cursor *c)
{
	struct cursor one = *c;
	struct span block = { 0 };
	int ret = 0;

	(void)cursor_next(c, &block);
	one.end = c->next;
	if (task->block)
		ret = refill(w, task, &block);
	if (!ret)
		ret = copy_one(w, task, &one);
	if (!ret && cfg.flush != FLUSH_NONE && cfg.flush_at == FLUSH_AT_OP)
		ret = flush_target(w, task, block.to, block.len);
	if (ret)
		return ret;
	tally_add(w, 1, block.len);
	if (cfg.verify && cfg.pattern == PATTERN_RANDOM)
		ret = verify_span(w, task, block, task->block);
	return ret;
}

static int copy_by_op(struct worker *w, struct task *task, struct cursor *c)
{
	int ret = 0;

	while (c->next < c->end && !ret && keep_going(w))
		ret = make_op(w, task, c);
	return ret;
}

/* Nothing but copies, one call after the other. */
static int copy_stream(struct worker *w, struct task *task, struct cursor *c)
{
	ssize_t (*pump)(void *, struct cursor *) = task->method->pump;
	struct copy_record *record = w->record;
	void *state = task->state;
	uint64_t began_ns = task->now_ns, at_ns = began_ns, ended_ns;
	ssize_t n = 0;

	while (keep_going(w) && (n = pump(state, c)) > 0) {
		ended_ns = now_ns();
		hist_add(&record->latency_ns, ended_ns - at_ns);
		at_ns = ended_ns;
		tally_add(w, 1, (uint64_t)n);
	}
	record->copy_ns += at_ns - began_ns;
	task->now_ns = at_ns;
	return (int)MIN(n, 0);
}

/* The same with requests in flight, which the method times; after a stop those end. */
static int copy_many(struct worker *w, struct task *task, struct cursor *c)
{
	struct copy_record *record = w->record;
	uint64_t block = task->target.block_bytes;
	ssize_t n = 1;

	while (n > 0) {
		if (!keep_going(w))
			c->end = c->next;
		n = task->method->pump(task->state, c);
		if (n > 0)
			tally_add(w, ((uint64_t)n + block - 1) / block, (uint64_t)n);
	}
	record->copy_ns += lap(task);
	return (int)n;
}

/* Blocks that --ops leaves. */
static uint64_t ops_left(const struct worker *w)
{
	uint64_t ops = atomic_load(&w->tally->ops);

	return !cfg.run.max_ops        ? UINT64_MAX
	       : ops < cfg.run.max_ops ? cfg.run.max_ops - ops
				       : 0;
}

int copy_blocks(struct worker *w, struct task *task, struct cursor *c)
{
	c->base = cfg.base_bytes;
	c->end = MIN(c->end, ops_left(w));
	if (one_by_one())
		return copy_by_op(w, task, c);
	return task->method->many ? copy_many(w, task, c) : copy_stream(w, task, c);
}
