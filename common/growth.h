/* SPDX-License-Identifier: GPL-2.0-or-later */
/* growth - what derived rows are made of; NAN is what is not known. For derived.c and disks.c. */
#ifndef COMMON_GROWTH_H
#define COMMON_GROWTH_H

#include "common/snapshot.h"

#include <math.h>

static inline bool is_there(const struct counters *first, const struct counters *last,
			    const char *name)
{
	return counters_find(first, name) || counters_find(last, name);
}

static inline double growth_of(const struct counters *first, const struct counters *last,
			       const char *name)
{
	return counter_growth(counters_find(first, name), counters_find(last, name));
}

static inline double seconds_of(const struct window *w)
{
	return w->last.at_ns > w->first.at_ns
		       ? (double)(w->last.at_ns - w->first.at_ns) / 1e9
		       : NAN;
}

static inline double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

#endif
