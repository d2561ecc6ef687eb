// SPDX-License-Identifier: GPL-2.0-or-later
/* student - Student's t distribution, and Welch's comparison of two means by it. */
#include "compare/student.h"

#include <float.h>
#include <math.h>

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), from its front by Lentz's
 * method: C and D are the ratios of successive numerators and denominators. It converges fast for x
 * below the mean (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = DBL_MIN / DBL_EPSILON;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		for (int half = 0; half < 2; half++) {
			double step = half ? odd : even;

			d = 1 + step * d;
			c = 1 + step / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			f *= c * d;
		}
		if (fabs(c * d - 1) < DBL_EPSILON)
			break;
	}
	return f;
}

/* The regularized incomplete beta function of X and Y = 1 - X, which the caller knows better. */
static double beta_share(double x, double y, double a, double b)
{
	double front;

	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	front = exp(a * log(x) + b * log(y) + lgamma(a + b) - lgamma(a) - lgamma(b));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(y, b, a) / b;
}

double student_p(double t, double df)
{
	double square = t * t;

	if (isinf(square))
		return 0;
	return beta_share(df / (df + square), square / (df + square), df / 2, 0.5);
}

static double density(double t, double df)
{
	return exp(lgamma((df + 1) / 2) - lgamma(df / 2) -
		   (df + 1) / 2 * log1p(t * t / df)) /
	       sqrt(df * M_PI);
}

/* Newton's method between two bounds, which halves where it would leave them: near 0 it takes 4 steps or
 * so, and in the long tails of few degrees of freedom some more. */
double student_quantile(double p, double df)
{
	double low = 0, high = 1, t, step;

	while (1 - student_p(high, df) / 2 < p)
		high *= 2;
	t = low + (high - low) / 2;
	for (int i = 0; i < 200; i++) {
		double excess = 1 - student_p(t, df) / 2 - p;

		if (excess < 0)
			low = t;
		else
			high = t;
		step = excess / density(t, df);
		if (fabs(step) <= 1e-13 * t)
			break;
		t -= step;
		if (!(t > low && t < high))
			t = low + (high - low) / 2;
	}
	return t;
}

bool welch(const struct summary *a, const struct summary *b, struct welch *out)
{
	double square_a, square_b, error, wide, change = b->mean - a->mean;

	*out = (struct welch){ NAN, NAN, NAN, NAN, NAN };
	if (a->n < 2 || b->n < 2)
		return false;
	square_a = a->stddev * a->stddev / (double)a->n;
	square_b = b->stddev * b->stddev / (double)b->n;
	error = sqrt(square_a + square_b);
	if (error <= 0) {
		out->t = change == 0 ? 0 : copysign(INFINITY, change);
		out->p = change == 0;
		out->df = (double)(a->n + b->n - 2);
		out->low = out->high = change;
		return true;
	}
	/* In shares, which do not overflow where squares of squares would. */
	square_a /= error * error;
	square_b /= error * error;
	out->t = change / error;
	out->df = 1 / (square_a * square_a / (double)(a->n - 1) +
		       square_b * square_b / (double)(b->n - 1));
	out->p = student_p(out->t, out->df);
	wide = student_quantile(0.975, out->df) * error;
	out->low = change - wide;
	out->high = change + wide;
	return true;
}
