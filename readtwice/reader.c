// SPDX-License-Identifier: GPL-2.0-or-later
/* reader - a reader's life: it opens its file by the method, and reads it pass after pass. */
#include "common/rng.h"
#include "readtwice/readtwice.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct reader {
	struct target target;
	const struct method *method;
	void *state;
	struct check *check;
};

static int open_method(struct reader *r, const struct file *f)
{
	int ret;

	r->target = (struct target){
		.name = f->name,
		.size_bytes = f->size_bytes,
		.block_bytes = block_of(f),
		.depth = depth_of(f),
		.direct = cfg.direct,
		.uncached = cfg.uncached,
		.check = r->check ? check_block : NULL,
		.context = r->check,
	};
	ret = target_open(&r->target, f->fd);
	if (ret)
		return ret;
	ret = method_open(r->method, &r->target, &r->state);
	if (ret)
		close(r->target.fd);
	return ret;
}

int reader_setup(struct worker *w)
{
	const struct file *f = file_of(w->id);
	struct reader *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return failed("memory for a reader");
	/* What the kernel or the filesystem refuses, it refuses to all. */
	complain_once(&places->refused);
	r->method = cfg.method;
	ret = cfg.verify ? check_open(f, &r->check) : 0;
	if (!ret)
		ret = open_method(r, f);
	complain_once(NULL);
	w->data = r;
	if (ret) {
		check_close(r->check);
		free(r);
	}
	return ret;
}

void reader_teardown(struct worker *w)
{
	struct reader *r = w->data;

	method_close(r->method, r->state);
	check_close(r->check);
	close(r->target.fd);
	free(r);
}

/* Count N bytes; those of the last block of a file may be fewer than a block. */
static inline void count(struct worker *w, uint64_t n)
{
	uint64_t block = cfg.block_bytes;

	tally_add(w, n <= block ? 1 : (n + block - 1) / block, n);
}

/* Pump until the cursor is empty; after a stop only what is in flight. 0 or -errno. */
static int pump_all(struct worker *w, struct reader *r, struct cursor *c)
{
	ssize_t (*pump)(void *, struct cursor *) = r->method->pump;
	void *state = r->state;
	ssize_t n = 1;

	while (keep_going(w) && (n = pump(state, c)) > 0)
		count(w, (uint64_t)n);
	c->end = MIN(c->end, c->next);
	while (n > 0 && (n = pump(state, c)) > 0)
		count(w, (uint64_t)n);
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

/* The readers of a file go in the same order, so that each comes to what the one before it read. */
static struct cursor begin_pass(const struct worker *w, uint64_t pass)
{
	uint64_t file = w->id / cfg.readers;
	struct rng rng = rng_stream(cfg.run.seed + pass, file);

	return cursor_begin(file_of(w->id)->size_bytes, cfg.block_bytes,
			    (enum order)cfg.order, rng_next(&rng));
}

static int read_pass(struct worker *w, struct reader *r, uint64_t pass)
{
	struct cursor c = begin_pass(w, pass);
	uint64_t all = c.blocks;
	int ret;

	if (r->check)
		check_begin(r->check);
	do {
		c.end = gate_open(w, pass * all, c.next, all);
		c.end = MIN(c.end - c.next, ops_left(w)) + c.next;
		ret = pump_all(w, r, &c);
	} while (!ret && c.next < all && keep_going(w));
	if (!ret && r->check && c.next == all)
		ret = check_end(r->check);
	return ret;
}

int reader_work(struct worker *w)
{
	struct reader *r = w->data;
	int ret = 0;

	gate_begin(w);
	for (uint64_t pass = 0; !ret && keep_going(w); pass++) {
		if (cfg.passes && pass >= cfg.passes)
			break;
		ret = read_pass(w, r, pass);
	}
	gate_leave(w);
	return ret;
}
