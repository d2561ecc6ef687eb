// SPDX-License-Identifier: GPL-2.0-or-later
/* buffer - what the methods share that read one block after the other into one buffer. */
#include "readtwice/methods/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void buffer_close(void *state)
{
	struct buffer *b = state;

	free(b->memory);
}

int buffer_open(void *state, const struct target *t)
{
	struct buffer *b = state;
	uint64_t step;
	int ret;

	b->target = t;
	b->offset = UINT64_MAX;
	b->memory = target_memory(t, 1, &step);
	if (!b->memory)
		return -ENOMEM;
	ret = target_probe(t, b->memory);
	if (ret)
		buffer_close(state);
	return ret;
}

int buffer_seek(struct buffer *b, uint64_t at)
{
	if (b->offset == at)
		return 0;
	if (lseek(b->target->fd, (off_t)at, SEEK_SET) < 0)
		return -1;
	b->offset = at;
	return 0;
}

int buffer_rest(struct buffer *b, const struct span *block, ssize_t n, read_fn *once,
		const char *call)
{
	const struct target *t = b->target;
	uint64_t done = 0, from = 0;

	for (;;) {
		if (n < 0 && errno != EINTR)
			return method_failed(t, call, block->at + from);
		/* O_DIRECT goes on from the last whole unit only, and so may bring bytes again. */
		if (n >= 0 && from + (uint64_t)n <= done)
			return method_ended_early(t, block->at + done);
		if (n > 0)
			done = from + (uint64_t)n;
		if (done >= block->len)
			return 0;
		from = done & -t->align_bytes;
		n = once(b, b->memory + from, target_request(t, block->len - from),
			 block->at + from);
	}
}
