/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader - reads a file by a method, and looks at each block that comes. */
#ifndef TESTS_UNIT_READER_H
#define TESTS_UNIT_READER_H

#include "common/scratch.h"
#include "readtwice/methods.h"
#include "tests/check.h"

#include <errno.h>
#include <unistd.h>

/* One target, and what came of it. */
struct reader {
	struct target target;
	const struct method *method;
	void *state;
	unsigned char *seen; /* one a block */
	uint64_t blocks,
		wrong;  /* that came; at a wrong place, twice, or with wrong data */
	char text[128]; /* names the row */
};

/* A row without its library can only say so. */
static inline bool reader_built(const struct method *m)
{
	return m->pump;
}

/* The first MiB of what scratch_word() has, once for all blocks. */
static inline const char *reader_pattern(void)
{
	static uint64_t words[MiB / 8];

	if (!words[0])
		for (uint64_t i = 0; i < ARRAY_SIZE(words); i++)
			words[i] = scratch_word(i);
	return (const char *)words;
}

/* Is DATA what scratch_word() has for the file from AT on? */
static inline bool reader_data_right(uint64_t at, uint64_t len, const char *data)
{
	if (at + len <= MiB)
		return !memcmp(reader_pattern() + at, data, len);
	while (len) {
		uint64_t word = scratch_word(at / 8), skip = at % 8;
		uint64_t n = MIN(8 - skip, len);

		if (memcmp(data, (char *)&word + skip, n))
			return false;
		at += n;
		data += n;
		len -= n;
	}
	return true;
}

static inline int reader_check(void *context, const struct span *block, const void *data)
{
	struct reader *r = context;
	const struct target *t = &r->target;
	uint64_t i = block->at / t->block_bytes;

	r->blocks++;
	if (block->at % t->block_bytes || block->at >= t->size_bytes || r->seen[i]++ ||
	    block->len != MIN(t->block_bytes, t->size_bytes - block->at) ||
	    !reader_data_right(block->at, block->len, data))
		r->wrong++;
	return 0;
}

/* Open TARGET, but for its fd, which is opened from FD. 0 or -errno. */
static inline int reader_open(struct reader *r, const struct method *m, int fd)
{
	struct target *t = &r->target;
	int ret;

	r->method = m;
	r->seen = calloc(t->size_bytes / t->block_bytes + 1, 1);
	r->blocks = r->wrong = 0;
	t->context = r;
	t->name = "FILE";
	t->depth = t->depth ?: 1;
	snprintf(r->text, sizeof(r->text), "%s%s%s, blocks of %ju, %ju bytes", m->name,
		 t->direct ? " direct" : "", t->uncached ? " uncached" : "",
		 (uintmax_t)t->block_bytes, (uintmax_t)t->size_bytes);
	ret = target_open(t, fd);
	if (!ret)
		ret = method_open(m, t, &r->state);
	if (ret)
		free(r->seen);
	return ret;
}

static inline void reader_close(struct reader *r)
{
	method_close(r->method, r->state);
	close(r->target.fd);
	free(r->seen);
}

/* To the end of C: bytes, or -errno. */
static inline int64_t reader_pump(struct reader *r, struct cursor *c)
{
	int64_t bytes = 0;
	ssize_t n;

	while ((n = r->method->pump(r->state, c)) > 0)
		bytes += n;
	return n < 0 ? n : bytes;
}

/* A whole pass, of which each byte has to come once. */
static inline void reader_pass(struct reader *r, enum order order, uint64_t seed)
{
	struct target *t = &r->target;
	struct cursor c = cursor_begin(t->size_bytes, t->block_bytes, order, seed);

	r->blocks = r->wrong = 0;
	memset(r->seen, 0, c.blocks);
	CHECK_U64(r->text, reader_pump(r, &c), t->size_bytes);
	CHECK_U64(r->text, c.next, c.blocks);
	CHECK_U64(r->text, r->wrong, 0);
	if (t->check && !r->method->no_data)
		CHECK_U64(r->text, r->blocks, c.blocks);
	/* And it stays at the end. */
	CHECK_U64(r->text, r->method->pump(r->state, &c), 0);
}

#endif
