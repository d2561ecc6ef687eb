// SPDX-License-Identifier: GPL-2.0-or-later
/* copier - what the methods share that copy one block after the other. */
#include "copyfile/methods/copier.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int copier_open(void *state, const struct target *t)
{
	struct copier *c = state;

	c->target = t;
	c->from_offset = c->to_offset = UINT64_MAX;
	return 0;
}

int copier_open_buffer(void *state, const struct target *t)
{
	struct copier *c = state;
	uint64_t step;
	int ret = copier_open(state, t);

	if (ret)
		return ret;
	c->memory = target_memory(t, 1, &step);
	if (!c->memory)
		return -ENOMEM;
	ret = target_probe(t, c->memory);
	if (ret)
		copier_close(state);
	return ret;
}

void copier_close(void *state)
{
	struct copier *c = state;

	free(c->memory);
}

int copier_seek(int fd, uint64_t *known, uint64_t at)
{
	if (*known == at)
		return 0;
	if (lseek(fd, (off_t)at, SEEK_SET) < 0)
		return -1;
	*known = at;
	return 0;
}

int copier_rest(struct copier *c, const struct span *block, ssize_t n, copy_fn *once)
{
	struct span left = *block;

	for (;;) {
		if (n < 0 && errno != EINTR)
			return copy_failed(c->target, c->call, &left);
		if (!n)
			return copy_ended_early(c->target, left.at);
		if (n > 0) {
			left.at += (uint64_t)n;
			left.to += (uint64_t)n;
			left.len -= (uint64_t)n;
		}
		if (!left.len)
			return 0;
		n = once(c, left.at, left.to, left.len);
	}
}

ssize_t copier_no_room(struct copier *c, const char *call)
{
	errno = ENOSPC;
	return copier_fails(c, call);
}

ssize_t copier_write(struct copier *c, char *memory, uint64_t len, uint64_t to,
		     write_fn *once, const char *call)
{
	const struct target *t = c->target;
	uint64_t request = target_request(t, len), done = 0;

	while (done < request) {
		uint64_t whole;
		ssize_t n;

		c->call = call;
		n = once(c, memory + done, request - done, to + done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		/* O_DIRECT goes on from the last whole unit only. */
		whole = (done + (uint64_t)n) & -t->align_bytes;
		if (unlikely(whole == done))
			return copier_no_room(c, call);
		done = whole;
	}
	if (unlikely(request > len) && ftruncate(t->to, (off_t)t->size_bytes))
		return copier_fails(c, "ftruncate");
	return (ssize_t)len;
}
