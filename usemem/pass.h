/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pass - one pass over a unit, in pieces between which the deadline is looked at. */
#ifndef USEMEM_PASS_H
#define USEMEM_PASS_H

#include "common/crew.h"
#include "usemem/touch.h"

struct pass {
	const struct touch_kind *kind;
	uint64_t at_most;    /* accesses; UINT64_MAX: all */
	uint64_t page_bytes; /* of the memory */
	uint64_t hold_ns;    /* to stay on each page that the pass comes to; 0: not */
	/* Is VALUE what word I should hold before it is accessed? NULL: nobody asks. */
	bool (*right)(const void *context, const struct touch *t, uint64_t i,
		      uint64_t value);
	const void *context;
	uint64_t made; /* accesses: by pass_over() */
};

/* Make the pass, or as much of it as the worker's deadline leaves, at least one piece, and count
 * it in the worker's tally: what is accessed again to stay on a page is not counted. Returns the
 * word that a check finds wrong, which is then still there; else UINT64_MAX. */
must_check uint64_t pass_over(struct worker *w, struct touch *t, struct pass *pass);

#endif
