/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows - rows of the system, collected to be looked up. */
#ifndef TESTS_UNIT_ROWS_H
#define TESTS_UNIT_ROWS_H

#include "tests/check.h"

#include <stdio.h>

static struct {
	char name[96];
	double value;
} rows_seen[512];
static unsigned rows_count;

/* For the hooks of the rows. */
static inline void rows_add(void *context, const char *name, double value)
{
	(void)context;
	if (rows_count == sizeof(rows_seen) / sizeof(rows_seen[0]))
		return;
	snprintf(rows_seen[rows_count].name, sizeof(rows_seen[0].name), "%s", name);
	rows_seen[rows_count++].value = value;
}

static inline unsigned rows_named(const char *name, double *value)
{
	unsigned count = 0;

	for (unsigned i = 0; i < rows_count; i++) {
		if (strcmp(rows_seen[i].name, name))
			continue;
		*value = rows_seen[i].value;
		count++;
	}
	return count;
}

#define ABSENT INFINITY

/* The row NAME must be there once and be WANT; NAN: be there, unknown; ABSENT: not be there. */
static inline void rows_check(const char *what, const char *name, double want)
{
	char text[256];
	double got = 0;
	unsigned count = rows_named(name, &got);

	snprintf(text, sizeof(text), "%s: %s", what, name);
	CHECK_U64(text, count, want == ABSENT ? 0 : 1);
	if (want == ABSENT || !count)
		return;
	if (isnan(want))
		CHECK_U64(text, isnan(got), 1);
	else
		CHECK_NEAR(text, got, want, 1e-12);
}

#endif
