/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage - CPU time, faults and switches, as getrusage(2) counts them, between two moments. */
#ifndef COMMON_USAGE_H
#define COMMON_USAGE_H

#include "common/base.h"

enum { USAGE_FIELDS = 9 };

struct usage {
	uint64_t at_ns;
	double values[USAGE_FIELDS];
};

/* Of this process, */
void usage_of_self(struct usage *u);
/* ... and with the children that it has waited for. */
void usage_of_all(struct usage *u);
/* Add what BEFORE to AFTER was to SUM; of the largest resident set, which is a level, the last. */
void usage_add(struct usage *sum, const struct usage *before, const struct usage *after);
/* Take that of BEFORE to AFTER off SUM again: what is not its own. */
void usage_take_off(struct usage *sum, const struct usage *before,
		    const struct usage *after);
/* It is not known, but for the time. */
void usage_forget(struct usage *u);
/* SUM as "PROGRAM.time.user_time" and so on, at_ns being the time that it is the use of. */
void usage_rows(const struct usage *sum, const char *program,
		void (*each)(void *context, const char *name, double value),
		void *context);

#endif
