/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs - ratios in one run: the median of interleaved pairs, and that of noise beside it. */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include "common/clock.h"
#include "common/stats.h"

#include <stdio.h>

enum { PAIRS = 15 };

/* Nanoseconds that OURS, BARE and BARE again took, in each round. */
struct pairs {
	double ours[PAIRS], noise[PAIRS]; /* bare time / ours; bare time / bare time */
	double ours_ns[PAIRS], bare_ns[PAIRS];
	unsigned count;
};

static inline void pairs_add(struct pairs *p, uint64_t ours_ns, uint64_t bare_ns,
			     uint64_t again_ns)
{
	p->ours[p->count] = (double)bare_ns / (double)ours_ns;
	p->noise[p->count] = (double)bare_ns / (double)again_ns;
	p->ours_ns[p->count] = (double)ours_ns;
	p->bare_ns[p->count] = (double)bare_ns;
	p->count++;
}

static inline double median_of(const double *x, unsigned n)
{
	struct summary s;

	summarize(x, n, &s);
	return s.median;
}

/* "write sequential: 0.98 of the bare loop (wanted 0.90; bare against itself 1.00), ..." */
static inline void pairs_print(const struct pairs *p, const char *name, double wanted,
			       double work, const char *work_per_ns)
{
	struct summary ours, noise;

	summarize(p->ours, p->count, &ours);
	summarize(p->noise, p->count, &noise);
	printf("%-24s %.3f of the bare loop's rate (%.3f to %.3f; wanted %.2f; bare "
	       "against itself "
	       "%.3f, %.3f to %.3f): %.2f and %.2f %s\n",
	       name, ours.median, ours.min, ours.max, wanted, noise.median, noise.min,
	       noise.max, work / median_of(p->ours_ns, p->count),
	       work / median_of(p->bare_ns, p->count), work_per_ns);
	fflush(stdout);
}

#endif
