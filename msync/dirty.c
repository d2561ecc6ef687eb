// SPDX-License-Identifier: GPL-2.0-or-later
/* dirty - which pages a pass dirties, and the stamps that it gives them. */
#include "common/cursor.h"
#include "msync/msync.h"
#include "msync/stamp.h"

/* Between two looks at whether to stop. The first store to a page since it was flushed is a fault
 * in which the filesystem takes part: some microseconds. */
enum { PIECE_PAGES = 16 };

/* The pages of one pass. */
struct picks {
	struct cursor order;
	uint64_t count;
	bool spread; /* fewer than there are, evenly spread over them */
};

static struct picks pick_pages(const struct worker *w, const struct task *task)
{
	uint64_t seed = rng_stream(cfg.run.seed, w->id).counter + task->pass;
	struct picks p = { .order = cursor_begin(cfg.size_bytes, cfg.step_bytes,
						 cfg.random ? ORDER_RANDOM : ORDER_SEQ,
						 seed) };

	p.count = p.order.blocks / 100 * cfg.dirty_percent +
		  p.order.blocks % 100 * cfg.dirty_percent / 100;
	if (cfg.dirty_percent)
		p.count = MAX(p.count, 1);
	p.spread = !cfg.random && p.count < p.order.blocks;
	return p;
}

/* Where page number I of the pass is. */
static uint64_t place_of(const struct picks *p, uint64_t i)
{
	struct cursor c = p->order;
	struct span page = { 0 };

	c.next = p->spread ? (uint64_t)((unsigned __int128)i * c.blocks / p->count) : i;
	(void)cursor_next(&c, &page);
	return page.at;
}

static void stamp_pages(const struct worker *w, const struct task *task,
			const struct picks *p, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		uint64_t at = place_of(p, i);
		struct stamp *stamp = (struct stamp *)(task->memory + at);

		*stamp = stamp_make(w->id, task->slice->at + at, task->pass);
	}
}

/* In which piece of the pass page number I is. */
static uint64_t piece_of(const struct picks *p, uint64_t i)
{
	return place_of(p, i) / cfg.range_bytes;
}

static void count_pages(struct task *task, const struct picks *p, uint64_t from,
			uint64_t to)
{
	uint64_t first = piece_of(p, from);

	/* Mostly so, and then it needs no division for each page. */
	if (cfg.pieces == 1 || (!cfg.random && first == piece_of(p, to - 1)))
		task->dirtied[first] += to - from;
	else
		for (uint64_t i = from; i < to; i++)
			task->dirtied[piece_of(p, i)]++;
}

static void remember_pages(const struct task *task, const struct picks *p, uint64_t from,
			   uint64_t to)
{
	struct history *history = task->slice->history;

	for (uint64_t i = from; i < to; i++)
		history->stamped[place_of(p, i) / cfg.page_bytes] = (uint32_t)task->pass;
}

bool dirty_pass(struct worker *w, struct task *task)
{
	struct picks picks = pick_pages(w, task);
	struct flush_record *record = w->record;

	for (uint64_t from = 0, to; from < picks.count && keep_going(w); from = to) {
		to = MIN(from + PIECE_PAGES, picks.count);
		stamp_pages(w, task, &picks, from, to);
		record->dirtied_bytes += (to - from) * cfg.page_bytes;
		if (cfg.verify)
			remember_pages(task, &picks, from, to);
		if (cfg.pieces)
			count_pages(task, &picks, from, to);
		else
			tally_add(w, 0, (to - from) * cfg.page_bytes);
	}
	return keep_going(w);
}
