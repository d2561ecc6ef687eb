// SPDX-License-Identifier: GPL-2.0-or-later
/* read - read(2): from where the last call ended, as dd has it. */
#include "readtwice/methods.h"
#include "readtwice/methods/buffer.h"

#include <unistd.h>

static ssize_t read_once(struct buffer *b, char *to, size_t len, uint64_t at)
{
	ssize_t n;

	if (unlikely(buffer_seek(b, at)))
		return -1;
	n = read(b->target->fd, to, len);
	if (n > 0)
		b->offset += (uint64_t)n;
	return n;
}

static ssize_t read_pump(void *state, struct cursor *c)
{
	return buffer_pump(state, c, read_once, "read");
}

const struct method method_read = {
	.name = "read",
	.help = "read(2) of a block; lseek(2) where the next does not follow",
	.state_bytes = sizeof(struct buffer),
	.direct = CAN,
	.copies = true,
	.open = buffer_open,
	.pump = read_pump,
	.close = buffer_close,
};
