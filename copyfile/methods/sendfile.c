// SPDX-License-Identifier: GPL-2.0-or-later
/* sendfile - sendfile(2) from the source to the target's own offset. */
#include "copyfile/methods/copier.h"

#include <sys/sendfile.h>

static ssize_t sendfile_once(struct copier *c, uint64_t at, uint64_t to, uint64_t len)
{
	const struct target *t = c->target;
	off_t from_at = (off_t)at;
	ssize_t n;

	if (unlikely(copier_seek(t->to, &c->to_offset, to)))
		return copier_fails(c, "lseek");
	n = sendfile(t->to, t->fd, &from_at, len);
	if (n < 0)
		return copier_fails(c, "sendfile");
	c->to_offset += (uint64_t)n;
	return n;
}

static ssize_t sendfile_pump(void *state, struct cursor *cursor)
{
	return copier_pump(state, cursor, sendfile_once);
}

const struct method method_sendfile = {
	.name = "sendfile",
	.help = "sendfile(2): the kernel copies, page by page through a pipe of its own",
	.state_bytes = sizeof(struct copier),
	.fallback = "readwrite",
	.open = copier_open,
	.pump = sendfile_pump,
	.close = copier_close,
};
