// SPDX-License-Identifier: GPL-2.0-or-later
/* pread - pread(2): each call says where. */
#include "readtwice/methods.h"
#include "readtwice/methods/buffer.h"

#include <unistd.h>

static ssize_t pread_once(struct buffer *b, char *to, size_t len, uint64_t at)
{
	return pread(b->target->fd, to, len, (off_t)at);
}

static ssize_t pread_pump(void *state, struct cursor *c)
{
	return buffer_pump(state, c, pread_once, "pread");
}

const struct method method_pread = {
	.name = "pread",
	.help = "pread(2) of a block",
	.state_bytes = sizeof(struct buffer),
	.direct = CAN,
	.copies = true,
	.open = buffer_open,
	.pump = pread_pump,
	.close = buffer_close,
};
