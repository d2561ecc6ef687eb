/* SPDX-License-Identifier: GPL-2.0-or-later */
/* notes - sentences that a report has besides its figures. */
#ifndef COMPARE_NOTES_H
#define COMPARE_NOTES_H

#include "compare/side.h"

struct notes {
	char **at;
	unsigned count;
};

/* One more sentence. What does not fit into memory is left out. */
void notes_add(struct notes *notes, const char *fmt, ...) printf_like(2, 3);
void notes_free(struct notes *notes);

/* What in the runs of SIDE, whose first metric has these SAMPLES, speaks against trusting them, each with
 * what to do about it. */
void notes_on_side(struct notes *notes, const struct side *side,
		   const struct series *first, const struct samples *samples);

#endif
