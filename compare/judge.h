/* SPDX-License-Identifier: GPL-2.0-or-later */
/* judge - what the samples of a metric say about a change, and what they do not. */
#ifndef COMPARE_JUDGE_H
#define COMPARE_JUDGE_H

#include "compare/bootstrap.h"
#include "compare/ranks.h"
#include "compare/side.h"
#include "compare/student.h"

enum rule { RULE_TESTS, RULE_ROBOT };

enum verdict {
	VERDICT_ABSENT,    /* a side has no sample */
	VERDICT_SINGLE,    /* one sample on a side: nothing can be said about noise */
	VERDICT_SAME,      /* the same value in every run of both sides */
	VERDICT_CHANGED,   /* real, and at least the threshold */
	VERDICT_SMALL,     /* real, and below it */
	VERDICT_SUGGESTED, /* too few runs for the test, but apart */
	VERDICT_NONE,      /* no change as large as the threshold */
	VERDICT_UNDECIDED,
};

struct judgement {
	enum verdict verdict;
	struct summary base, head;
	/* Head less base, in the metric's unit: of the medians for the program's own metrics, else the
	 * shift of Hodges and Lehmann. */
	double change;
	struct interval interval; /* 95 %; NAN with a single sample */
	struct welch welch;       /* of the means */
	struct ranking ranking;
	double p; /* after Holm's correction in its family; NAN where nothing was tested */
	double threshold;
	unsigned
		more_runs; /* a side, that would presumably decide it; 0: not known, or decided */
};

struct judge_rules {
	enum rule rule;
	uint64_t seed;
	/* The share of the base that matters, for the metric of that name. */
	double (*threshold)(const void *context, const char *name);
	const void *context;
};

/* Judge head number HEAD against side 0: a judgement for each series of the table, at OUT[i * STRIDE]. The
 * first series is tested alone, since it is what was asked; all other ones of the program, and all of
 * the system, are a family each (Holm 1979). WANTED: those that take part; NULL: all. 0 or -ENOMEM after
 * saying so. */
must_check int judge(const struct series_table *table, unsigned head,
		     const struct judge_rules *rules, struct judgement *out,
		     unsigned stride);

/* X as a share of the base's middle: NAN where that is 0. */
double share_of_base(const struct judgement *j, double x);

/* Are the two apart by the robot's rule: with three runs a side, the least of one above the median of
 * the other, and the greatest of that below the median of the one; with fewer, no overlap at all. */
bool robot_apart(const struct two_sets *sets);

#endif
