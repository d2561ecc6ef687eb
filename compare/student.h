/* SPDX-License-Identifier: GPL-2.0-or-later */
/* student - Student's t distribution, and Welch's comparison of two means by it. */
#ifndef COMPARE_STUDENT_H
#define COMPARE_STUDENT_H

#include "common/stats.h"

/* How likely |T| or more is with DF degrees of freedom, which need not be whole. */
double student_p(double t, double df);
/* The T that a share P of 0.5 to 1 of the distribution lies below. */
double student_quantile(double p, double df);

struct welch {
	double t, df, p;  /* p: two-sided */
	double low, high; /* 95 % interval of the difference of the means */
};

/* The mean of B less that of A. False, and all NAN, where either has less than two samples. Without
 * any deviation t is infinite, or 0 where the means are equal, and the interval a point. (Welch 1947.) */
bool welch(const struct summary *a, const struct summary *b, struct welch *out);

#endif
