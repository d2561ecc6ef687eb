// SPDX-License-Identifier: GPL-2.0-or-later
/* choose - the method that runs: what is refused here is found before the start. */
#include "copyfile/copyfile.h"
#include "copyfile/methods.h"

/* More is copied in pieces that are as much of a multiple as a block is. */
#define MOST_TRIED MiB

/* What is tried of PAIR: a block, or a piece of it. */
static uint64_t tried_bytes(const struct pair *pair)
{
	uint64_t block = cfg.block_bytes;

	if (block > MOST_TRIED)
		block = MIN(block & -block, MOST_TRIED);
	return MIN(block, pair->size_bytes - cfg.base_bytes);
}

static int try_block(const struct target *t, const struct pair *pair)
{
	struct cursor c;
	uint64_t bytes;
	void *state;
	ssize_t n = 1;
	int ret = method_open(cfg.method, t, &state);

	if (ret)
		return ret;
	if (pair->size_bytes > cfg.base_bytes) {
		bytes = tried_bytes(pair);
		c = cursor_begin(bytes, bytes, ORDER_SEQ, 0);
		c.base = cfg.base_bytes;
		while (n > 0)
			n = cfg.method->pump(state, &c);
	}
	method_close(cfg.method, state);
	return (int)MIN(n, 0);
}

static int try_pair(const struct pair *pair)
{
	struct target t;
	int ret = pair_reset(pair), again;

	if (!ret)
		ret = pair_target_open(&t, pair);
	if (ret)
		return ret;
	ret = try_block(&t, pair);
	pair_target_close(&t);
	again = pair_reset(pair);
	return ret ?: again;
}

static int try_pairs(void)
{
	int ret = method_check(cfg.method, &(struct target){ .direct = cfg.direct,
							     .uncached = cfg.uncached });

	for (unsigned i = 0; i < distinct_pairs() && !ret; i++)
		ret = try_pair(pair_of(i));
	return ret;
}

/* Can M do what was asked for besides? */
static bool is_able(const struct method *m)
{
	return !(cfg.direct_asked && m->direct == CANNOT) &&
	       !(cfg.uncached && m->uncached == CANNOT);
}

int method_choose(void)
{
	int ret = try_pairs();

	while (exit_status(ret) == 77 && cfg.fallback && cfg.method->fallback) {
		const struct method *next = method_find(copy_methods,
							cfg.method->fallback);

		if (!is_able(next))
			return ret;
		cfg.method = next;
		cfg.method_name = next->name;
		cfg.direct = cfg.direct_asked || next->direct == ALWAYS;
		note("falling back to %s", next->name);
		ret = try_pairs();
	}
	return ret;
}
