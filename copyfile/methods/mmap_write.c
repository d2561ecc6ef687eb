// SPDX-License-Identifier: GPL-2.0-or-later
/* mmap_write - write(2) from a mapping of the source. */
#include "copyfile/methods/copier.h"
#include "copyfile/methods/mapping.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct state {
	struct copier copier; /* the first: so copier_pump() has it */
	struct mapping from;
};

static int mmap_write_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ret = copier_open(state, t);

	return ret ?: mapping_open(&s->from, t->fd, t->name, t->size_bytes, PROT_READ);
}

static void mmap_write_close(void *state)
{
	struct state *s = state;

	mapping_close(&s->from);
	copier_close(state);
}

/* The kernel faults the pages in; what is no longer in the source it cannot read (EFAULT). */
static bool is_cut(const struct state *s, uint64_t at)
{
	struct stat st;

	return errno == EFAULT && !fstat(s->copier.target->fd, &st) &&
	       at >= (uint64_t)st.st_size / base_page_bytes() * base_page_bytes();
}

static ssize_t mmap_write_once(struct copier *c, uint64_t at, uint64_t to, uint64_t len)
{
	struct state *s = (struct state *)c;
	ssize_t n = pwrite(c->target->to, s->from.memory + at, len, (off_t)to);

	if (n < 0 && is_cut(s, at))
		return 0;
	if (unlikely(!n))
		return copier_no_room(c, "write from a mapping");
	return n < 0 ? copier_fails(c, "write from a mapping") : n;
}

static ssize_t mmap_write_pump(void *state, struct cursor *cursor)
{
	return copier_pump(state, cursor, mmap_write_once);
}

const struct method method_mmap_write = {
	.name = "mmap_write",
	.help = "pwrite(2) from a mapping of the source",
	.state_bytes = sizeof(struct state),
	.maps = true,
	.fallback = "readwrite",
	.open = mmap_write_open,
	.pump = mmap_write_pump,
	.close = mmap_write_close,
};
