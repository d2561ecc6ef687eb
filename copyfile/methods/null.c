// SPDX-License-Identifier: GPL-2.0-or-later
/* null - copies nothing: what is left is the harness. */
#include "copyfile/methods.h"

static ssize_t null_pump(void *state, struct cursor *cursor)
{
	struct span block;

	(void)state;
	return cursor_next(cursor, &block) ? (ssize_t)block.len : 0;
}

const struct method method_null = {
	.name = "null",
	.help = "no call at all: the cost of what is around",
	.direct = CAN,
	.uncached = CAN,
	.no_data = true,
	.pump = null_pump,
};
