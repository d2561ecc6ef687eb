/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buffer - what the methods share that read one block after the other into one buffer. */
#ifndef READTWICE_METHODS_BUFFER_H
#define READTWICE_METHODS_BUFFER_H

#include "common/method.h"

/* Their state, or its first member. */
struct buffer {
	const struct target *target;
	char *memory;
	uint64_t offset; /* where the descriptor's own offset is; UINT64_MAX: not known */
};

/* One system call: as read(2). */
typedef ssize_t read_fn(struct buffer *b, char *to, size_t len, uint64_t at);

/* The hooks of a row whose state is a struct buffer, or begins with one. */
must_check int buffer_open(void *state, const struct target *t);
void buffer_close(void *state);

/* Read what is missing of BLOCK after a first call, whose result was N (errno is still its). 0, or
 * -errno after saying so: the message names CALL. */
must_check int buffer_rest(struct buffer *b, const struct span *block, ssize_t n,
			   read_fn *once, const char *call);

/* lseek(2) to AT, unless the offset is there already. 0, or -1 and errno. */
int buffer_seek(struct buffer *b, uint64_t at);

/* The body of a pump(). ONCE is known where it is compiled, so that the call is the method's own. */
static inline __attribute__((always_inline)) ssize_t buffer_pump(struct buffer *b,
								 struct cursor *c,
								 read_fn *once,
								 const char *call)
{
	const struct target *t = b->target;
	struct span block;
	ssize_t n;
	int ret = 0;

	if (!cursor_next(c, &block))
		return 0;
	n = once(b, b->memory, target_request(t, block.len), block.at);
	if (unlikely(n < (ssize_t)block.len))
		ret = buffer_rest(b, &block, n, once, call);
	if (unlikely(!ret && t->check))
		ret = t->check(t->context, &block, b->memory);
	return ret ?: (ssize_t)block.len;
}

#endif
