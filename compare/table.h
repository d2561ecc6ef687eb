/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table - the comparison in the form of the kernel test robot's mails. */
#ifndef COMPARE_TABLE_H
#define COMPARE_TABLE_H

#include "compare/compare.h"

/* A cell is at most this long, its end included. */
#define CELL_LEN 32

/* The mean of a set, 10 wide, and its deviation, 6 wide; blank for a set without samples. */
char *format_mean(char cell[static CELL_LEN], const struct summary *s);
char *format_deviation(char cell[static CELL_LEN], const struct summary *s);
/* What lies between the means of two sets, 11 wide: in percent of the base, or, for a metric that is a
 * share itself, in points. */
char *format_change(char cell[static CELL_LEN], const char *name,
		    const struct summary *base, const struct summary *head);
/* Is the metric a share, of which points are told apart? */
bool is_share(const char *name);

/* The failures, where there are any, the head of the table, and its rows. */
void table_write(FILE *out, const struct comparison *c);

/* How many of a side's runs have the fault; FAULT goes through all of them from NULL to NULL. */
const char *next_fault(const struct comparison *c, const char *fault);
size_t count_faults(const struct side *side, const char *fault);

#endif
