/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bootstrap - how far the difference of two medians can be trusted. */
#ifndef COMPARE_BOOTSTRAP_H
#define COMPARE_BOOTSTRAP_H

#include "compare/ranks.h"

#include <stdint.h>

enum { RESAMPLES = 10000 };

struct interval {
	double low, high;
};

/* The 95 % interval of median(B) - median(A): the middle 95 % of what RESAMPLES pairs of sets give that
 * are drawn, with replacement, from the two (Efron 1979, percentiles). The same SEED draws the same. Neither
 * set is empty. 0, or -ENOMEM after saying so. */
must_check int bootstrap_medians(const struct two_sets *sets, uint64_t seed,
				 struct interval *out);

#endif
