// SPDX-License-Identifier: GPL-2.0-or-later
/* bvec_missing - the rows of a build without liburing. */
#include "ioviter/kinds/bvec.h"

static int missing_open(void *state, const struct trial *t)
{
	(void)state;
	(void)t;
	return unsupported("built without liburing");
}

const struct kind kind_bvec = { BVEC_ROW, .lay = lay_one, .open = missing_open };
const struct kind kind_bvec_split = { BVEC_SPLIT_ROW, .lay = lay_one,
				      .open = missing_open };
