// SPDX-License-Identifier: GPL-2.0-or-later
/* mmap - memcpy(3) between a mapping of each of the files. */
#include "common/region.h"
#include "copyfile/methods/mapping.h"

#include <string.h>
#include <sys/mman.h>

struct state {
	struct mapping from, to;
};

static void mmap_close(void *state)
{
	struct state *s = state;

	explain_sigbus(NULL);
	mapping_close(&s->to);
	mapping_close(&s->from);
}

static int mmap_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ret = mapping_open(&s->from, t->fd, t->name, t->size_bytes, PROT_READ);

	if (ret)
		return ret;
	ret = mapping_open(&s->to, t->to, t->to_name, t->size_bytes,
			   PROT_READ | PROT_WRITE);
	if (ret) {
		mapping_close(&s->from);
		return ret;
	}
	s->from.backing.next = &s->to.backing;
	explain_sigbus(&s->from.backing);
	return 0;
}

static ssize_t mmap_pump(void *state, struct cursor *cursor)
{
	struct state *s = state;
	struct span block;

	if (!cursor_next(cursor, &block))
		return 0;
	memcpy(s->to.memory + block.to, s->from.memory + block.at, block.len);
	return (ssize_t)block.len;
}

const struct method method_mmap = {
	.name = "mmap",
	.help = "memcpy(3) between mappings of both files",
	.state_bytes = sizeof(struct state),
	.maps = true,
	.fallback = "readwrite",
	.open = mmap_open,
	.pump = mmap_pump,
	.close = mmap_close,
};
