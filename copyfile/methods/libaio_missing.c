// SPDX-License-Identifier: GPL-2.0-or-later
/* libaio_missing - the row of a build without libaio. */
#include "copyfile/methods.h"

static int aio_open(void *state, const struct target *t)
{
	(void)state;
	(void)t;
	return unsupported("method libaio: built without libaio");
}

const struct method method_libaio = { LIBAIO_ROW, .open = aio_open };
