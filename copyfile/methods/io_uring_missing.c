// SPDX-License-Identifier: GPL-2.0-or-later
/* io_uring_missing - the row of a build without liburing. */
#include "copyfile/methods.h"

static int uring_method_open(void *state, const struct target *t)
{
	(void)state;
	(void)t;
	return unsupported("method io_uring: built without liburing");
}

const struct method method_io_uring = { IO_URING_ROW, .open = uring_method_open };
