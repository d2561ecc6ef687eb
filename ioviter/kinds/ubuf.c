// SPDX-License-Identifier: GPL-2.0-or-later
/* ubuf - ITER_UBUF: read(2) and write(2) at an offset, one piece of memory. */
#include "ioviter/kinds.h"

#include <errno.h>
#include <unistd.h>

struct state {
	const struct trial *trial;
	ssize_t (*once)(const struct trial *t, char *memory, uint64_t len, uint64_t at);
};

static ssize_t pread_once(const struct trial *t, char *memory, uint64_t len, uint64_t at)
{
	return pread(t->fd, memory, len, (off_t)at);
}

static ssize_t pwrite_once(const struct trial *t, char *memory, uint64_t len, uint64_t at)
{
	return pwrite(t->fd, memory, len, (off_t)at);
}

/* read(2) and write(2) of /dev/zero and /dev/null know a way without an iterator; calls that take an
 * iovec do not, and of one segment the kernel makes an ITER_UBUF (since Linux 6.4). */
static ssize_t device_once(const struct trial *t, char *memory, uint64_t len, uint64_t at)
{
	struct iovec iov = { memory, len };

	return t->write ? pwritev2(t->fd, &iov, 1, (off_t)at, 0)
			: preadv2(t->fd, &iov, 1, (off_t)at, 0);
}

static int ubuf_open(void *state, const struct trial *t)
{
	struct state *s = state;

	s->trial = t;
	s->once = !t->file_bytes ? device_once : t->write ? pwrite_once : pread_once;
	return 0;
}

/* What is missing of BLOCK after a call that ended with N. */
static ssize_t finish(const struct state *s, const struct span *block, ssize_t n)
{
	const struct trial *t = s->trial;
	uint64_t done = 0;

	for (;;) {
		if (n < 0 ? errno != EINTR : !n)
			return trial_failed(t, t->write ? "pwrite" : "pread",
					    block->at + done, n);
		done += (uint64_t)MAX(n, 0);
		if (done == block->len)
			return (ssize_t)block->len;
		n = s->once(t, t->memory + done, block->len - done, block->at + done);
	}
}

static ssize_t ubuf_pump(void *state, struct cursor *c)
{
	const struct state *s = state;
	struct span block;
	ssize_t n;

	if (!cursor_next(c, &block))
		return 0;
	n = s->once(s->trial, s->trial->memory, block.len, block.at);
	return n == (ssize_t)block.len ? n : finish(s, &block, n);
}

const struct kind kind_ubuf = {
	.name = "ubuf",
	.help = "pread(2), pwrite(2): one piece of memory",
	.state_bytes = sizeof(struct state),
	.lay = lay_one,
	.open = ubuf_open,
	.pump = ubuf_pump,
};
