/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pass - one pass over a unit, in pieces between which the deadline is looked at. */
#ifndef USEMEM_PASS_H
#define USEMEM_PASS_H

#include "common/crew.h"
#include "usemem/touch.h"

/* Make the pass, or as much of it as the worker's deadline leaves, at least one piece, and count
 * it in the worker's tally. Returns the access at which a check found wrong data, which is then
 * still there; else UINT64_MAX. */
must_check uint64_t pass_over(struct worker *w, struct touch *t,
			      const struct touch_kind *kind);

#endif
