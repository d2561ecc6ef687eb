/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bvec - the rows that need io_uring: what a build without liburing has as well. */
#ifndef IOVITER_KINDS_BVEC_H
#define IOVITER_KINDS_BVEC_H

#include "ioviter/kinds.h"

#define BVEC_ROW        \
	.name = "bvec", \
	.help = "io_uring's READ_FIXED and WRITE_FIXED: a registered buffer"
#define BVEC_SPLIT_ROW        \
	.name = "bvec_split", \
	.help = "the same: from odd offsets of the buffer, another in each call"

#endif
