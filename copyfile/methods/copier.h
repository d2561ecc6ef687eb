/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copier - what the methods share that copy one block after the other. */
#ifndef COPYFILE_METHODS_COPIER_H
#define COPYFILE_METHODS_COPIER_H

#include "copyfile/methods.h"

/* Their state, or its first member. */
struct copier {
	const struct target *target;
	char *memory;                    /* of a block, for those that copy through it */
	uint64_t from_offset, to_offset; /* the descriptors' own; UINT64_MAX: not known */
	const char *call;                /* the one that failed last */
};

/* One call, or one of each kind: copy up to LEN bytes from AT to TO. Bytes that arrived, 0 if there is
 * nothing at AT, or -1, errno and c->call. What is interrupted is begun again by the caller. */
typedef ssize_t copy_fn(struct copier *c, uint64_t at, uint64_t to, uint64_t len);

/* The hooks of a row whose state is a struct copier, or begins with one: without memory, and with. */
must_check int copier_open(void *state, const struct target *t);
must_check int copier_open_buffer(void *state, const struct target *t);
void copier_close(void *state);

/* Copy what is missing of BLOCK after a first call, whose result was N (errno is still its). 0, or
 * -errno after saying so. */
must_check int copier_rest(struct copier *c, const struct span *block, ssize_t n,
			   copy_fn *once);

/* lseek(2) of FD to AT, unless its offset, *KNOWN, is there already. 0, or -1 and errno. */
int copier_seek(int fd, uint64_t *known, uint64_t at);

/* One write to TO of LEN bytes of the buffer from MEMORY on: as write(2). If another call failed, c->call
 * is that one. */
typedef ssize_t write_fn(struct copier *c, char *memory, uint64_t len, uint64_t to);

/* Write the LEN bytes of MEMORY, all of them, by ONCE; with O_DIRECT the last ones of the file as a
 * whole unit, and the file is cut again. LEN, or -1, errno and c->call. */
ssize_t copier_write(struct copier *c, char *memory, uint64_t len, uint64_t to,
		     write_fn *once, const char *call);

/* How many of N bytes that were read at AT, of LEN wanted, can be written: with O_DIRECT whole units,
 * but for the end of the file. */
static inline ssize_t copier_usable(const struct copier *c, ssize_t n, uint64_t len)
{
	if (n < 0 || (uint64_t)n >= len)
		return n < 0 ? n : (ssize_t)len;
	return n & (ssize_t)-c->target->align_bytes;
}

/* CALL failed, with errno. */
static inline ssize_t copier_fails(struct copier *c, const char *call)
{
	c->call = call;
	return -1;
}

/* CALL, a write, moved nothing that counts, and gave no reason: for cp(1), too, a full filesystem. */
ssize_t copier_no_room(struct copier *c, const char *call);

/* The body of a pump(). ONCE is known where it is compiled, so that the call is the method's own. */
static inline __attribute__((always_inline)) ssize_t copier_pump(struct copier *c,
								 struct cursor *cursor,
								 copy_fn *once)
{
	struct span block;
	ssize_t n;
	int ret = 0;

	if (!cursor_next(cursor, &block))
		return 0;
	n = once(c, block.at, block.to, block.len);
	if (unlikely(n != (ssize_t)block.len))
		ret = copier_rest(c, &block, n, once);
	return ret ?: (ssize_t)block.len;
}

#endif
