/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chart - pictures of samples and of progress, as inline SVG. */
#ifndef COMPARE_CHART_H
#define COMPARE_CHART_H

#include "compare/compare.h"

/* TEXT, with what HTML would take for markup written otherwise. */
void html_text(FILE *out, const char *text);
/* A figure with the samples of a metric as dots, a row for each side, over the 95 % interval of its
 * median; nothing for a metric without samples. */
void chart_samples(FILE *out, const struct comparison *c, unsigned series);
/* The rate of each run over its time, from --interval; nothing where no run has that. */
void chart_progress(FILE *out, const struct comparison *c);

#endif
