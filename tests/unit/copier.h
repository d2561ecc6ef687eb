/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copier - copies a file by a method, and looks at what is in the target then. */
#ifndef TESTS_UNIT_COPIER_H
#define TESTS_UNIT_COPIER_H

#include "common/scratch.h"
#include "copyfile/methods.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A source, a target, and a method between them. */
struct copier_test {
	struct target target;
	const struct method *method;
	void *state;
	int from, to;   /* buffered */
	char text[160]; /* names the row */
};

/* A row without its library can only say so. */
static inline bool copier_built(const struct method *m)
{
	return m->pump;
}

/* Open the files of C once more for M. 0 or -errno. */
static inline int copier_begin(struct copier_test *c, const struct method *m)
{
	struct target *t = &c->target;
	int ret;

	c->method = m;
	t->name = "SOURCE";
	t->to_name = "TARGET";
	t->depth = t->depth ?: 1;
	snprintf(c->text, sizeof(c->text), "%s%s, blocks of %ju, %ju bytes", m->name,
		 t->direct ? " direct" : "", (uintmax_t)t->block_bytes,
		 (uintmax_t)t->size_bytes);
	ret = target_open(t, c->from);
	if (ret)
		return ret;
	t->to = scratch_reopen(c->to, O_RDWR | (t->direct ? O_DIRECT : 0));
	return t->to < 0 ? t->to : method_open(m, t, &c->state);
}

static inline void copier_end(struct copier_test *c)
{
	method_close(c->method, c->state);
	close(c->target.fd);
	close(c->target.to);
}

/* To the end of CURSOR: bytes, or -errno. */
static inline int64_t copier_pump_all(struct copier_test *c, struct cursor *cursor)
{
	int64_t bytes = 0;
	ssize_t n;

	while ((n = c->method->pump(c->state, cursor)) > 0)
		bytes += n;
	return n < 0 ? n : bytes;
}

/* LEN bytes at AT of FD; malloc'ed. Bytes behind the end are 0xee. */
static inline char *copier_bytes(int fd, uint64_t at, uint64_t len)
{
	char *data = malloc(len + 1);
	uint64_t done = 0;
	ssize_t n;

	if (!data)
		abort();
	memset(data, 0xee, len + 1);
	while (done < len &&
	       (n = pread(fd, data + done, len - done, (off_t)(at + done))) > 0)
		done += (uint64_t)n;
	return data;
}

/* Does the target hold at TO what the source holds at AT? */
static inline bool copier_same(const struct copier_test *c, uint64_t at, uint64_t to,
			       uint64_t len)
{
	char *from_data = copier_bytes(c->from, at, len),
	     *to_data = copier_bytes(c->to, to, len);
	bool same = !memcmp(from_data, to_data, len);

	free(from_data);
	free(to_data);
	return same;
}

#endif
