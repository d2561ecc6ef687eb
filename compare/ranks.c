// SPDX-License-Identifier: GPL-2.0-or-later
/* ranks - is one set of samples above another, and by how much, whatever their distribution. */
#include "compare/ranks.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { EXACT_MAX = 20, MAX_U = EXACT_MAX * EXACT_MAX };

/* In how many ways can U come out as each value, of M samples and N? The count for (m, n, u) is that
 * where the largest is of the first set, and that where it is of the second: (m - 1, n, u - n) and (m,
 * n - 1, u). One row of n at a time. */
static void count_ways(size_t m, size_t n, double ways[MAX_U + 1])
{
	double rows[EXACT_MAX + 1][MAX_U + 1];

	memset(rows, 0, sizeof(rows));
	for (size_t j = 0; j <= n; j++)
		rows[j][0] = 1;
	for (size_t i = 1; i <= m; i++)
		for (size_t j = 1; j <= n; j++)
			for (size_t u = i * j + 1; u-- > 0;)
				rows[j][u] = (u >= j ? rows[j][u - j] : 0) +
					     rows[j - 1][u];
	memcpy(ways, rows[n], (m * n + 1) * sizeof(*ways));
}

/* The share of all orders in which U is at most each value. The same sizes come again and again. */
static const double *exact_shares(size_t m, size_t n)
{
	static double shares[MAX_U + 1];
	static size_t of_m, of_n;
	double all = 0, sum = 0;

	if (m == of_m && n == of_n)
		return shares;
	count_ways(m, n, shares);
	for (size_t u = 0; u <= m * n; u++)
		all += shares[u];
	for (size_t u = 0; u <= m * n; u++) {
		sum += shares[u];
		shares[u] = sum / all;
	}
	of_m = m;
	of_n = n;
	return shares;
}

/* Walks both sets upwards, one value a time. TIES: the sum of t^3 - t over runs of t equal samples. */
static double count_above(const struct two_sets *s, double *ties)
{
	double u = 0, t;
	size_t i = 0, j = 0;

	*ties = 0;
	while (i < s->a_count || j < s->b_count) {
		double x = i == s->a_count   ? s->b[j]
			   : j == s->b_count ? s->a[i]
					     : fmin(s->a[i], s->b[j]);
		size_t in_a = 0, in_b = 0;

		while (i + in_a < s->a_count && s->a[i + in_a] == x)
			in_a++;
		while (j + in_b < s->b_count && s->b[j + in_b] == x)
			in_b++;
		u += (double)in_b * ((double)i + (double)in_a / 2);
		t = (double)(in_a + in_b);
		*ties += t * t * t - t;
		i += in_a;
		j += in_b;
	}
	return u;
}

static double normal_deviation(double m, double n, double ties)
{
	double all = m + n;

	return sqrt(m * n / 12 * (all + 1 - ties / (all * (all - 1))));
}

static bool few(size_t m, size_t n)
{
	return m <= EXACT_MAX && n <= EXACT_MAX;
}

double rank_least_p(size_t m, size_t n)
{
	double product = (double)m * (double)n, p = 2;

	if (!m || !n)
		return 1;
	/* One order of all has the two apart, and one the other way round. */
	for (size_t i = 1; i <= m && few(m, n); i++)
		p *= (double)i / (double)(n + i);
	if (few(m, n))
		return fmin(1, p);
	return erfc((product / 2 - 0.5) / normal_deviation((double)m, (double)n, 0) /
		    M_SQRT2);
}

struct ranking rank_test(const struct two_sets *s)
{
	double m = (double)s->a_count, n = (double)s->b_count, ties, far, deviation;
	struct ranking r = { .u = count_above(s, &ties), .p = 1 };

	if (!s->a_count || !s->b_count)
		return r;
	r.exact = few(s->a_count, s->b_count) && ties == 0;
	if (r.exact) {
		size_t lower = (size_t)fmin(r.u, m * n - r.u);

		r.p = fmin(1, 2 * exact_shares(s->a_count, s->b_count)[lower]);
		return r;
	}
	far = fmax(fabs(r.u - m * n / 2) - 0.5, 0);
	deviation = normal_deviation(m, n, ties);
	r.p = deviation > 0 ? erfc(far / deviation / M_SQRT2) : 1;
	/* No order of so few is rarer than full separation, whatever a curve says. */
	r.p = fmax(r.p, rank_least_p(s->a_count, s->b_count));
	return r;
}

/* How many differences b - a are at most D? For each higher sample of B it takes no lower one of A. */
static uint64_t count_differences(const struct two_sets *s, double d)
{
	uint64_t above = 0;
	size_t i = 0;

	for (size_t j = 0; j < s->b_count; j++) {
		while (i < s->a_count && s->b[j] - s->a[i] > d)
			i++;
		above += i;
	}
	return (uint64_t)s->a_count * s->b_count - above;
}

/* Doubles in the order of these numbers. */
static int64_t order_of(double x)
{
	int64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits < 0 ? INT64_MIN - bits : bits;
}

static double of_order(int64_t order)
{
	int64_t bits = order < 0 ? INT64_MIN - order : order;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* The difference of rank K, from 1: the least that K of them do not exceed. By halving the doubles
 * between the outermost two, which takes at most 64 steps and no memory for them all. */
static double difference_of_rank(const struct two_sets *s, uint64_t k)
{
	int64_t low = order_of(s->b[0] - s->a[s->a_count - 1]);
	int64_t high = order_of(s->b[s->b_count - 1] - s->a[0]);

	while (low < high) {
		int64_t middle = (low & high) + ((low ^ high) >> 1);

		if (count_differences(s, of_order(middle)) >= k)
			high = middle;
		else
			low = middle + 1;
	}
	return of_order(low) + 0.0;
}

/* The rank of the interval's lower end: the least u whose share of all orders exceeds 2.5 %. */
static uint64_t interval_rank(size_t m, size_t n)
{
	double product = (double)m * (double)n;
	const double *shares;
	uint64_t u = 0;

	if (!few(m, n))
		return (uint64_t)fmax(
			1, floor(product / 2 -
				 1.959963984540054 *
					 normal_deviation((double)m, (double)n, 0)));
	shares = exact_shares(m, n);
	while (shares[u] <= 0.025)
		u++;
	return MAX(u, 1);
}

struct shift rank_shift(const struct two_sets *s)
{
	uint64_t all = (uint64_t)s->a_count * s->b_count;
	uint64_t rank = interval_rank(s->a_count, s->b_count);
	double below = difference_of_rank(s, (all + 1) / 2);
	double above = all % 2 ? below : difference_of_rank(s, all / 2 + 1);

	return (struct shift){ .middle = below + (above - below) / 2,
			       .low = difference_of_rank(s, rank),
			       .high = difference_of_rank(s, all + 1 - rank) };
}
