/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats - what a set of samples says. */
#ifndef COMMON_STATS_H
#define COMMON_STATS_H

#include "common/base.h"

struct summary {
	/* outliers: further from the median than 5 scaled MAD, and than 1 % of the
	 * median; where the MAD is 0, further than 5 % of it. */
	size_t n, outliers;
	double min, median, max, mean, stddev, mad, total;
	/* 95 % interval of the median, from order statistics; min..max where n is too
	 * small. */
	double low, high;
};

/* Summarize X[0..n), all finite, which stays as it is. n == 0 gives all zeros. stddev is
 * the sample's (n - 1; NAN for one sample), mad the median of the absolute distances from
 * the median, unscaled. Does not fail; allocates and frees n doubles (without memory
 * median, mad, low, high are NAN and outliers 0). */
void summarize(const double *x, size_t n, struct summary *out);

/* Sort X[0..n), none of them NAN, upwards. */
void sort_samples(double *x, size_t n);
/* What a SHARE of 0 to 1 of SORTED[0..n) lies below, n > 0: between two samples in proportion (R's
 * type 7). */
double quantile(const double *sorted, size_t n, double share);

/* The five lines "Count: 27" ... "Stdev: 1984" that kernel mails use, ended by
 * newlines: integers, all rounded to nearest, "-" for the deviation of a single sample.
 * Returns BUF. */
#define FIVE_LINES_LEN 256
char *format_five_lines(char buf[static FIVE_LINES_LEN], const struct summary *s);

#endif
