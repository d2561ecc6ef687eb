/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compare - what its parts share: the two or more sets of runs, and what is thought of them. */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include "common/opts.h"
#include "compare/judge.h"
#include "compare/notes.h"
#include "compare/side.h"

#include <stdio.h>

enum form { FORM_TEXT, FORM_MARKDOWN, FORM_JSON };

struct config {
	bool all;
	struct words metrics;    /* globs; none: all */
	struct words thresholds; /* "2%", "GLOB=5%" */
	struct words names;      /* of the sides, in place of those from their files */
	const char *claim, *html;
	unsigned rule, form;
	bool gate, no_warn;
	uint64_t seed;
	/* compare --ab */
	bool ab;
	uint64_t pairs;
	const char *until;
	const char *keep;
	const char *setup[2], *cleanup[2];
};

/* All that a report needs. */
struct comparison {
	const struct config *config;
	struct side *sides; /* the first is the base */
	unsigned side_count;
	struct series_table table;
	struct judge_rules rules;
	/* Of series i against head h (from 1): judgements[i * (side_count - 1) + h - 1]. */
	struct judgement *judgements;
	bool has_claim;
	double claim; /* a share: -0.169 */
	struct notes notes;
};

const struct judgement *judgement_of(const struct comparison *c, unsigned series,
				     unsigned head);
/* Does the table have a row for it? */
bool has_row(const struct comparison *c, unsigned series);

#endif
