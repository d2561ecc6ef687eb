// SPDX-License-Identifier: GPL-2.0-or-later
/* perfrows - what performance counters say, as the rows that people know from perf and from the kernel test robot. */
#include "common/perf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_LEN = 64 };

/* The rows that are computed: OVER / UNDER x SCALE. */
static const struct {
	const char *name;
	enum perf_event over, under;
	double scale;
} ratios[] = {
	{ "ipc", PERF_INSTRUCTIONS, PERF_CYCLES, 1 },
	{ "cpi", PERF_CYCLES, PERF_INSTRUCTIONS, 1 },
	{ "MPKI", PERF_CACHE_MISSES, PERF_INSTRUCTIONS, 1000 },
	{ "cache-miss-rate%", PERF_CACHE_MISSES, PERF_CACHE_REFERENCES, 100 },
	{ "branch-miss-rate%", PERF_BRANCH_MISSES, PERF_BRANCHES, 100 },
	{ "dTLB-load-miss-rate%", PERF_DTLB_LOAD_MISSES, PERF_DTLB_LOADS, 100 },
};

static void name_row(char name[static NAME_LEN], const char *kind, const char *what,
		     bool user_only)
{
	/* Whoever reads "%" looks for it at the end. */
	size_t len = strlen(what) - (what[strlen(what) - 1] == '%');

	snprintf(name, NAME_LEN, "perf-stat.%s.%.*s%s%s", kind, (int)len, what,
		 user_only ? ":u" : "", what + len);
}

void perf_rows(const struct perf_counts *c, uint64_t window_ns,
	       void (*row)(void *context, const char *name, double value), void *context)
{
	char name[NAME_LEN];

	for (int e = 0; e < PERF_EVENTS; e++) {
		if (isnan(c->value[e]) || !window_ns)
			continue;
		name_row(name, "i", perf_event_name(e), c->user_only[e]);
		row(context, name, c->value[e] * 1e9 / (double)window_ns);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ratios); i++) {
		enum perf_event over = ratios[i].over, under = ratios[i].under;

		/* A comparison with NAN is false. */
		if (isnan(c->value[over]) || !(c->value[under] > 0) ||
		    c->user_only[over] != c->user_only[under])
			continue;
		name_row(name, "overall", ratios[i].name, c->user_only[over]);
		row(context, name, c->value[over] / c->value[under] * ratios[i].scale);
	}
}
