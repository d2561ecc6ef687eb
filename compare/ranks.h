/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranks - is one set of samples above another, and by how much, whatever their distribution. */
#ifndef COMPARE_RANKS_H
#define COMPARE_RANKS_H

#include "common/base.h"

#include <stdbool.h>

/* Both sets sorted upwards. */
struct two_sets {
	const double *a, *b;
	size_t a_count, b_count;
};

struct ranking {
	double u; /* Mann and Whitney's U of B: pairs in which B is above A, half of those that tie */
	double p;   /* two-sided */
	bool exact; /* counted out: at most 20 samples each, and no ties */
};

/* The test of Mann and Whitney (1947): exact, else by the normal distribution with corrections for
 * ties and for continuity. */
struct ranking rank_test(const struct two_sets *sets);
/* The least p that sets of these sizes can have: the one of full separation. */
double rank_least_p(size_t a_count, size_t b_count);

struct shift {
	double middle; /* the median of all differences between a sample of B and one of A */
	double low,
		high; /* 95 % interval of the shift: two of those differences; the outermost ones
			   * where there are too few samples for that */
};

/* Hodges and Lehmann's (1963) estimate, whose interval belongs to the test above. Neither set is
 * empty. Takes memory for nothing, and time as the sum of the counts. */
struct shift rank_shift(const struct two_sets *sets);

#endif
