// SPDX-License-Identifier: GPL-2.0-or-later
/* stats - what a set of samples says. */
#include "common/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sort_samples(double *x, size_t n)
{
	qsort(x, n, sizeof(*x), compare);
}

static double middle(const double *sorted, size_t n)
{
	double low = sorted[(n - 1) / 2], high = sorted[n / 2];

	return low + (high - low) / 2;
}

/* How many of n sorted samples lie outside the 95 % interval of the median at either end,
 * counting its own end: the largest k with P(B < k) <= 2.5 %, B binomial, n tosses of a
 * fair coin. 0: even min..max holds the median less often (n < 6). Logarithms, since 2^-n
 * underflows. */
static size_t interval_rank(size_t n)
{
	double log_p = -(double)n * M_LN2, below = 0;
	size_t k;

	for (k = 0; k < n; k++) {
		below += exp(log_p);
		if (below > 0.025)
			break;
		log_p += log((double)(n - k) / (double)(k + 1));
	}
	return k;
}

/* The mean first, then the distances from it: no difference of large squares. The sum of
 * the distances would be 0 but for rounding; it corrects the mean. */
static void moments(const double *x, size_t n, struct summary *out)
{
	double mean, d, sum = 0, squares = 0;

	out->min = out->max = x[0];
	for (size_t i = 0; i < n; i++) {
		out->min = MIN(out->min, x[i]);
		out->max = MAX(out->max, x[i]);
		out->total += x[i];
	}
	mean = out->total / n;
	for (size_t i = 0; i < n; i++) {
		d = x[i] - mean;
		sum += d;
		squares += d * d;
	}
	out->mean = mean + sum / n;
	out->stddev = n > 1 ? sqrt(MAX(squares - sum * sum / n, 0) / (n - 1)) : NAN;
}

/* How far from the median is far. Below 1 % there is nothing to act on, however equal the
 * rest. A MAD of 0 says that most samples are the same, as a coarse counter makes them,
 * and one step of it may be some percent. */
static double outlier_distance(const struct summary *s)
{
	const double scale =
		1.4826; /* makes the MAD of a normal distribution its deviation */

	if (s->mad > 0)
		return MAX(5 * scale * s->mad, 0.01 * fabs(s->median));
	return 0.05 * fabs(s->median);
}

/* SORTED is used up: it becomes the distances from the median. */
static void order_statistics(double *sorted, size_t n, struct summary *out)
{
	size_t rank = interval_rank(n);

	sort_samples(sorted, n);
	out->median = middle(sorted, n);
	out->low = sorted[rank ? rank - 1 : 0];
	out->high = sorted[rank ? n - rank : n - 1];
	for (size_t i = 0; i < n; i++)
		sorted[i] = fabs(sorted[i] - out->median);
	sort_samples(sorted, n);
	out->mad = middle(sorted, n);
	for (size_t i = 0; i < n; i++)
		out->outliers += sorted[i] > outlier_distance(out);
}

void summarize(const double *x, size_t n, struct summary *out)
{
	double *sorted;

	*out = (struct summary){ .n = n };
	if (!n)
		return;
	moments(x, n, out);
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted) {
		out->median = out->mad = out->low = out->high = NAN;
		return;
	}
	memcpy(sorted, x, n * sizeof(*sorted));
	order_statistics(sorted, n, out);
	free(sorted);
}

double quantile(const double *sorted, size_t n, double share)
{
	double at = share * (double)(n - 1);
	size_t i = (size_t)at;

	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

/* Adding 0 turns -0 into 0. */
static double whole(double x)
{
	return round(x) + 0.0;
}

char *format_five_lines(char buf[static FIVE_LINES_LEN], const struct summary *s)
{
	char stdev[32] = "-";

	if (s->n > 1)
		snprintf(stdev, sizeof(stdev), "%.0f", whole(s->stddev));
	snprintf(buf, FIVE_LINES_LEN,
		 "Count: %zu\nTotal: %.0f\nRange: %.0f...%.0f\nMean : %.0f\nStdev: %s\n",
		 s->n, whole(s->total), whole(s->min), whole(s->max), whole(s->mean),
		 stdev);
	return buf;
}
