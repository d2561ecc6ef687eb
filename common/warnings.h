/* SPDX-License-Identifier: GPL-2.0-or-later */
/* warnings - what speaks against a run's figures, each with what to do about it; private to run. */
#ifndef COMMON_WARNINGS_H
#define COMMON_WARNINGS_H

#include "common/run.h"

/* What the repetitions of a run were like. */
struct repetitions {
	double *rates; /* of each, in KB/s as the lines have it */
	unsigned count;
	uint64_t shortest_window_ns;
	double slowest_share; /* of the slowest worker in its repetition's median */
};

/* Into R; and on stderr, but for those who run it as scripts have always done. */
void warnings_add(const struct run *run, struct report *r,
		  const struct repetitions *seen);

#endif
