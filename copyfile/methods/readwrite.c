// SPDX-License-Identifier: GPL-2.0-or-later
/* readwrite - read(2) into a buffer, write(2) from it. */
#include "copyfile/methods/copier.h"

#include <unistd.h>

static ssize_t write_once(struct copier *c, char *memory, uint64_t len, uint64_t to)
{
	ssize_t n;

	if (unlikely(copier_seek(c->target->to, &c->to_offset, to)))
		return copier_fails(c, "lseek");
	n = write(c->target->to, memory, len);
	if (n > 0)
		c->to_offset += (uint64_t)n;
	return n;
}

static ssize_t readwrite_once(struct copier *c, uint64_t at, uint64_t to, uint64_t len)
{
	const struct target *t = c->target;
	ssize_t n;

	if (unlikely(copier_seek(t->fd, &c->from_offset, at)))
		return copier_fails(c, "lseek");
	n = read(t->fd, c->memory, target_request(t, len));
	if (n < 0)
		return copier_fails(c, "read");
	c->from_offset += (uint64_t)n;
	n = copier_usable(c, n, len);
	return n > 0 ? copier_write(c, c->memory, (uint64_t)n, to, write_once, "write")
		     : n;
}

static ssize_t readwrite_pump(void *state, struct cursor *cursor)
{
	return copier_pump(state, cursor, readwrite_once);
}

const struct method method_readwrite = {
	.name = "readwrite",
	.help = "read(2) into a buffer, write(2) from it",
	.state_bytes = sizeof(struct copier),
	.direct = CAN,
	.copies = true,
	.open = copier_open_buffer,
	.pump = readwrite_pump,
	.close = copier_close,
};
