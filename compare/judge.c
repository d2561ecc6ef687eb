// SPDX-License-Identifier: GPL-2.0-or-later
/* judge - what the samples of a metric say about a change, and what they do not. */
#include "compare/judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.05

/* One head against the base. */
struct session {
	const struct series_table *table;
	unsigned head, stride;
	const struct judge_rules *rules;
	struct judgement *out;
	double *sorted; /* room for the samples of both sides */
	unsigned *order;
};

static struct judgement *judgement_at(const struct session *s, unsigned series)
{
	return &s->out[(size_t)series * s->stride];
}

double share_of_base(const struct judgement *j, double x)
{
	return j->base.median != 0 ? x / fabs(j->base.median) : NAN;
}

static struct two_sets sorted_sets(const struct session *s, const struct series *series)
{
	const struct samples *a = &series->sides[0], *b = &series->sides[s->head];

	memcpy(s->sorted, a->x, a->n * sizeof(double));
	memcpy(s->sorted + a->n, b->x, b->n * sizeof(double));
	sort_samples(s->sorted, a->n);
	sort_samples(s->sorted + a->n, b->n);
	return (struct two_sets){ s->sorted, s->sorted + a->n, a->n, b->n };
}

bool robot_apart(const struct two_sets *s)
{
	const double *a = s->a, *b = s->b;
	size_t last_a = s->a_count - 1, last_b = s->b_count - 1;
	double middle_a = quantile(a, s->a_count, 0.5),
	       middle_b = quantile(b, s->b_count, 0.5);

	if (s->a_count < 3 || s->b_count < 3)
		return a[last_a] < b[0] || b[last_b] < a[0];
	return (a[0] > middle_b && b[last_b] < middle_a) ||
	       (b[0] > middle_a && a[last_a] < middle_b);
}

/* The change and what surrounds it. The verdict that needs no test, or UNDECIDED. */
static int measure(const struct session *s, const struct series *series,
		   struct judgement *j)
{
	struct two_sets sets = sorted_sets(s, series);
	struct shift shift;

	if (series->own) {
		j->change = j->head.median - j->base.median;
	} else {
		shift = rank_shift(&sets);
		j->change = shift.middle;
		j->interval = (struct interval){ shift.low, shift.high };
	}
	if (!welch(&j->base, &j->head, &j->welch)) {
		j->verdict = VERDICT_SINGLE;
		j->interval = (struct interval){ NAN, NAN };
		return 0;
	}
	if (j->base.min == j->base.max && j->head.min == j->head.max &&
	    j->base.min == j->head.min) {
		j->verdict = VERDICT_SAME;
		j->interval = (struct interval){ 0, 0 };
		return 0;
	}
	j->verdict = VERDICT_UNDECIDED;
	j->ranking = rank_test(&sets);
	j->p = j->ranking.p;
	return series->own ? bootstrap_medians(&sets, s->rules->seed, &j->interval) : 0;
}

static int look_at(const struct session *s, unsigned i)
{
	const struct series *series = s->table->at[i];
	const struct samples *a = &series->sides[0], *b = &series->sides[s->head];
	struct judgement *j = judgement_at(s, i);

	*j = (struct judgement){ .verdict = VERDICT_ABSENT,
				 .change = 0,
				 .interval = { NAN, NAN },
				 .welch = { NAN, NAN, NAN, NAN, NAN },
				 .p = NAN };
	j->threshold = s->rules->threshold(s->rules->context, series->name);
	summarize(a->x, a->n, &j->base);
	summarize(b->x, b->n, &j->head);
	return a->n && b->n ? measure(s, series, j) : 0;
}

/* Holm's correction of the COUNT series in s->order, which are a family: the Kth least p times the number
 * of those not less, but no less than the one before. */
static void correct(const struct session *s, unsigned count)
{
	double least = 0;

	for (unsigned k = 0; k < count; k++) {
		struct judgement *j = judgement_at(s, s->order[k]);

		least = fmax(least, fmin(1, (count - k) * j->p));
		j->p = least;
	}
}

static int compare_p(const void *a, const void *b, void *session)
{
	double x = judgement_at(session, *(const unsigned *)a)->p,
	       y = judgement_at(session, *(const unsigned *)b)->p;

	return (x > y) - (x < y);
}

static bool excludes_zero(double low, double high)
{
	return low > 0 || high < 0;
}

/* How far the change may be from what it seems, by the wider of the two intervals: that of medians
 * knows nothing beyond the samples, which is little where they are few. */
static double half_width(const struct judgement *j)
{
	double low = fmin(j->interval.low, j->welch.low),
	       high = fmax(j->interval.high, j->welch.high);

	return fmax(high - j->change, j->change - low);
}

static unsigned runs_that_can(double family)
{
	unsigned n = 2;

	while (rank_least_p(n, n) * family > LEVEL)
		n++;
	return n;
}

/* How many runs make an interval of that half WIDTH as narrow as WANTED: widths shrink with the square
 * root of the runs. */
static double runs_for(double n, double width, double wanted)
{
	return wanted > 0 ? n * (width / wanted) * (width / wanted) : 1e9;
}

/* If the change is what it seems: to tell it from none, or from one that matters. */
static unsigned more_runs(const struct judgement *j, double family)
{
	double n = (double)MIN(j->base.n, j->head.n), width = half_width(j);
	double least = j->threshold * fabs(j->base.median), far = fabs(j->change);
	double real = fmax(runs_for(n, width, far), runs_that_can(family));
	double none = runs_for(n, width, least - far);

	return (unsigned)fmin(fmax(ceil(fmin(real, none) - n), 1), 1e9);
}

static bool apart(const struct judgement *j)
{
	return j->base.max < j->head.min || j->head.max < j->base.min;
}

static bool is_real(const struct session *s, unsigned i)
{
	const struct judgement *j = judgement_at(s, i);
	struct two_sets sets;

	if (s->rules->rule == RULE_ROBOT) {
		sets = sorted_sets(s, s->table->at[i]);
		return robot_apart(&sets);
	}
	return j->p <= LEVEL && excludes_zero(j->interval.low, j->interval.high);
}

static void decide(const struct session *s, unsigned i, double family)
{
	struct judgement *j = judgement_at(s, i);
	double share = fabs(share_of_base(j, j->change));
	double possible = rank_least_p(j->base.n, j->head.n) * family;

	if (is_real(s, i)) {
		j->verdict = share < j->threshold ? VERDICT_SMALL : VERDICT_CHANGED;
	} else if (s->rules->rule == RULE_TESTS && possible > LEVEL && apart(j) &&
		   excludes_zero(j->welch.low, j->welch.high) &&
		   !(share < j->threshold)) {
		j->verdict = VERDICT_SUGGESTED;
		j->more_runs = runs_that_can(family) -
			       (unsigned)MIN(j->base.n, j->head.n);
	} else if (share_of_base(j, fabs(j->change) + half_width(j)) <= j->threshold) {
		j->verdict = VERDICT_NONE;
	} else {
		j->verdict = VERDICT_UNDECIDED;
		j->more_runs = more_runs(j, family);
	}
}

/* The series FROM..TO, of which only those count that were tested. */
static void judge_family(struct session *s, unsigned from, unsigned to)
{
	unsigned count = 0;

	for (unsigned i = from; i < to; i++)
		if (judgement_at(s, i)->verdict == VERDICT_UNDECIDED)
			s->order[count++] = i;
	qsort_r(s->order, count, sizeof(*s->order), compare_p, s);
	correct(s, count);
	for (unsigned k = 0; k < count; k++)
		decide(s, s->order[k], count);
}

static bool session_open(struct session *s)
{
	size_t most = 0;

	for (unsigned i = 0; i < s->table->count; i++) {
		const struct samples *sides = s->table->at[i]->sides;

		most = MAX(most, sides[0].n + sides[s->head].n);
	}
	s->sorted = calloc(most + 1, sizeof(*s->sorted));
	s->order = calloc(s->table->count + 1, sizeof(*s->order));
	return s->sorted && s->order;
}

static int judge_all(struct session *s)
{
	const struct series_table *table = s->table;
	unsigned own = 0;
	int ret = 0;

	while (own < table->count && table->at[own]->own)
		own++;
	for (unsigned i = 0; i < table->count && !ret; i++)
		ret = look_at(s, i);
	if (ret)
		return ret;
	judge_family(s, 0, MIN(own, 1));
	judge_family(s, MIN(own, 1), own);
	judge_family(s, own, table->count);
	return 0;
}

int judge(const struct series_table *table, unsigned head,
	  const struct judge_rules *rules, struct judgement *out, unsigned stride)
{
	struct session s = {
		.table = table, .head = head, .stride = stride, .rules = rules, .out = out
	};
	int ret;

	if (session_open(&s))
		ret = judge_all(&s);
	else
		ret = failed("memory for the samples");
	free(s.sorted);
	free(s.order);
	return ret;
}
