// SPDX-License-Identifier: GPL-2.0-or-later
/* mmap - one mapping of the whole file, each word of it loaded. */
#include "common/region.h"
#include "readtwice/methods.h"

#include <errno.h>
#include <sys/mman.h>

struct state {
	const struct target *target;
	const char *map;
	struct backing backing; /* what SIGBUS explains */
	uint64_t sum;           /* of all words, so that none is left out */
};

static int mmap_open(void *state, const struct target *t)
{
	struct state *s = state;
	void *map = mmap(NULL, t->size_bytes, PROT_READ, MAP_SHARED, t->fd, 0);

	if (map == MAP_FAILED && errno == ENODEV)
		return method_refused(t, "mmap", errno,
				      "its filesystem has no shared mappings: read it by "
				      "another method");
	if (map == MAP_FAILED)
		return failed("map %ju bytes of %s", (uintmax_t)t->size_bytes, t->name);
	s->target = t;
	s->map = map;
	s->backing =
		(struct backing){ .source = &source_file, .path = t->name, .fd = t->fd };
	explain_sigbus(&s->backing);
	return 0;
}

static void mmap_close(void *state)
{
	struct state *s = state;

	explain_sigbus(NULL);
	munmap((void *)s->map, s->target->size_bytes);
}

/* The words that BLOCK has a part of: a mapping ends with its page. */
static uint64_t sum_words(const char *map, const struct span *block)
{
	const uint64_t *word = (const uint64_t *)(map + block->at / 8 * 8);
	const uint64_t *end =
		(const uint64_t *)(map + (block->at + block->len + 7) / 8 * 8);
	uint64_t sum = 0;

	while (word < end)
		sum += *word++;
	return sum;
}

static ssize_t mmap_pump(void *state, struct cursor *c)
{
	struct state *s = state;
	struct span block;
	int ret = 0;

	if (!cursor_next(c, &block))
		return 0;
	s->sum += sum_words(s->map, &block);
	if (unlikely(s->target->check))
		ret = s->target->check(s->target->context, &block, s->map + block.at);
	return ret ?: (ssize_t)block.len;
}

const struct method method_mmap = {
	.name = "mmap",
	.help = "loads of each word from one mapping of the whole file",
	.state_bytes = sizeof(struct state),
	.maps = true,
	.open = mmap_open,
	.pump = mmap_pump,
	.close = mmap_close,
};
