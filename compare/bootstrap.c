// SPDX-License-Identifier: GPL-2.0-or-later
/* bootstrap - how far the difference of two medians can be trusted. */
#include "compare/bootstrap.h"

#include "common/rng.h"
#include "common/stats.h"

#include <stdlib.h>
#include <string.h>

/* Of sorted samples only the ranks are drawn: how often each, in COUNTS, tells which is in the middle. */
static double drawn_median(const double *sorted, size_t n, struct rng *rng,
			   unsigned *counts)
{
	size_t i, passed;
	double low;

	memset(counts, 0, n * sizeof(*counts));
	for (i = 0; i < n; i++)
		counts[rng_scale(rng_next(rng), n)]++;
	for (i = 0, passed = counts[0]; passed <= (n - 1) / 2;)
		passed += counts[++i];
	low = sorted[i];
	while (passed <= n / 2)
		passed += counts[++i];
	return low + (sorted[i] - low) / 2;
}

int bootstrap_medians(const struct two_sets *s, uint64_t seed, struct interval *out)
{
	struct rng rng_a = rng_stream(seed, 0), rng_b = rng_stream(seed, 1);
	double *changes = malloc(RESAMPLES * sizeof(*changes));
	unsigned *counts = calloc(MAX(s->a_count, s->b_count), sizeof(*counts));
	int ret = 0;

	if (!changes || !counts) {
		ret = failed("memory for %d resamples", RESAMPLES);
	} else {
		for (size_t i = 0; i < RESAMPLES; i++)
			changes[i] = drawn_median(s->b, s->b_count, &rng_b, counts) -
				     drawn_median(s->a, s->a_count, &rng_a, counts);
		sort_samples(changes, RESAMPLES);
		out->low = quantile(changes, RESAMPLES, 0.025);
		out->high = quantile(changes, RESAMPLES, 0.975);
	}
	free(changes);
	free(counts);
	return ret;
}
