/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options - compare's command line. */
#ifndef COMPARE_OPTIONS_H
#define COMPARE_OPTIONS_H

#include "compare/sides.h"

extern struct config cfg;

/* Read the command line into cfg; may exit as opts_parse() does. SIDES, malloc'ed, gets the arguments of each
 * side, or with --ab the two commands. Their number, at least two, or refused(). */
must_check int read_command_line(int argc, char **argv, struct operands **sides);

/* "-16.9%" as a share. 0 or -EINVAL in silence. */
must_check int parse_percent(const char *text, double *share);
/* Is the metric of that name one that the user wants to hear of (--metric)? */
bool is_wanted(const void *config, const char *name);
/* What --threshold says for that metric: the last that fits. */
double threshold_of(const void *config, const char *name);

#endif
