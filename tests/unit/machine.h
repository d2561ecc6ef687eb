/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine - the recorded machines of tests/fixtures, and facts that are known of them. */
#ifndef TESTS_UNIT_MACHINE_H
#define TESTS_UNIT_MACHINE_H

#include "common/fact.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>

/* Root of the tree NAME, good until the next call. */
static inline const char *machine(const char *name)
{
	static char root[4096];
	const char *fixtures = getenv("PAGEMILL_FIXTURES");

	snprintf(root, sizeof(root), "%s/%s", fixtures ?: "tests/fixtures", name);
	return root;
}

/* The fact KEY must be WANT; "-": not known. */
static inline void check_fact(const char *row, const struct fact *facts, unsigned count,
			      const char *key, const char *want)
{
	char what[256];

	snprintf(what, sizeof(what), "%s: %s", row, key);
	CHECK_TEXT(what, fact_text(facts, count, key) ?: "-", want);
}

#endif
