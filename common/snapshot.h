/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot - what the system had counted at one moment, and rows of two such moments. */
#ifndef COMMON_SNAPSHOT_H
#define COMMON_SNAPSHOT_H

#include "common/counters.h"
#include "common/crew.h"
#include "common/sources.h"

struct snapshot {
	uint64_t at_ns;
	struct counters own, raw; /* as source_read() has them */
};

/* Two moments, and the levels that were seen at them and between. {0} is an empty one. */
struct window {
	struct snapshot first, sample, last;
	unsigned readings; /* of levels; 0: it never opened */
	bool closed;
};

/* Look at ALL: at everything at both ends of the window, where the kernel is first told to sum up what
 * its CPUs count apart (vm.stat_refresh, for root alone); at the levels in between. The memory of W is
 * used again when it opens again. */
void window_see(struct window *w, const struct stat_sources *all,
		enum crew_moment moment);
void window_free(struct window *w);

/* A row of the results; VALUE is NAN where it is not known. */
typedef void row_hook(void *context, const char *name, double value);

/* What stands under its own name: what a counter grew by, the mean of a level. NAN for what went
 * backwards, appeared or vanished. */
void window_rows(const struct window *w, row_hook *each, void *context);

#endif
