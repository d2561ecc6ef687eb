// SPDX-License-Identifier: GPL-2.0-or-later
/* verdict - judgements in plain sentences. */
#include "compare/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool is_regression(const struct series *s, const struct judgement *j)
{
	return (s->better == BETTER_HIGHER && j->change < 0) ||
	       (s->better == BETTER_LOWER && j->change > 0);
}

static const char *direction(const struct series *s, const struct judgement *j)
{
	if (s->better == BETTER_NEITHER)
		return j->change > 0 ? "increase" : "decrease";
	return is_regression(s, j) ? "regression" : "improvement";
}

const char *verdict_word(const struct series *s, const struct judgement *j)
{
	switch (j->verdict) {
	case VERDICT_ABSENT:
		return "no samples";
	case VERDICT_SINGLE:
		return "single run";
	case VERDICT_SAME:
	case VERDICT_NONE:
		return "no change";
	case VERDICT_CHANGED:
		return direction(s, j);
	case VERDICT_SMALL:
		return "small change";
	case VERDICT_SUGGESTED:
		return is_regression(s, j)           ? "regression?"
		       : s->better == BETTER_NEITHER ? "change?"
						     : "improvement?";
	default:
		return "undecided";
	}
}

/* Six digits where there is a fraction, all where there is none; times in the unit that suits them. */
char *format_value(char text[static 48], const struct series *s, double x)
{
	static const struct {
		const char *name;
		double ns;
	} times[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 0 } };
	bool is_whole = (x == trunc(x) || fabs(x) >= 1e5) && fabs(x) < 1e15;
	size_t i = 0;

	if (!strcmp(s->unit, "ns")) {
		while (fabs(x) < times[i].ns)
			i++;
		snprintf(text, 48, "%.6g %s",
			 x / (times[i].ns > 0 ? times[i].ns : 1) + 0.0, times[i].name);
		return text;
	}
	snprintf(text, 48, is_whole ? "%.0f%s%s" : "%.6g%s%s", x + 0.0,
		 s->unit[0] ? " " : "", s->unit);
	return text;
}

/* Without "-0.0". */
static double in_tenths(double percent)
{
	double tenths = round(percent * 10) / 10;

	return tenths == 0 ? 0 : tenths;
}

char *format_share(char text[static 48], const struct series *s,
		   const struct judgement *j, double x)
{
	double percent = 100 * share_of_base(j, x);

	if (isnan(percent))
		snprintf(text, 48, "%+.6g%s%s", x + 0.0, s->unit[0] ? " " : "", s->unit);
	else if (fabs(percent) < 0.05 && x != 0)
		snprintf(text, 48, "%+.2g %%", isfinite(percent) ? percent : 0);
	else
		snprintf(text, 48, fabs(percent) < 1e6 ? "%+.1f %%" : "%+.3g %%",
			 fabs(percent) < 1e6 ? in_tenths(percent)
			 : isfinite(percent) ? percent
					     : copysign(1e300, percent));
	return text;
}

/* Both intervals, since the one may be narrow for lack of samples. */
static const char *intervals_text(char text[static 256], const struct series *s,
				  const struct judgement *j)
{
	char low[48], high[48], mean_low[48], mean_high[48];
	/* Of so few there is no such interval of medians: what there is, is as far as they go. */
	bool known = rank_least_p(j->base.n, j->head.n) <= 0.05;

	snprintf(text, 256,
		 known ? "95 %% interval %s to %s; of the mean %s to %s"
		       : "between runs %s to %s; 95 %% interval of the mean %s to %s",
		 format_share(low, s, j, j->interval.low),
		 format_share(high, s, j, j->interval.high),
		 format_share(mean_low, s, j, j->welch.low),
		 format_share(mean_high, s, j, j->welch.high));
	return text;
}

/* The furthest from none that either interval lets the change be. */
static double furthest(const struct judgement *j)
{
	double x = fmax(fabs(j->interval.low), fabs(j->interval.high));

	return fmax(x, fmax(fabs(j->welch.low), fabs(j->welch.high)));
}

static const char *runs_text(char text[static 48], unsigned runs, const char *about)
{
	if (runs > 1000)
		snprintf(text, 48, "more than 1000 more runs");
	else
		snprintf(text, 48, "%s%u more run%s", about, runs, runs == 1 ? "" : "s");
	return text;
}

/* What a sentence is made of. */
struct phrases {
	char change[48], from[48], to[48], intervals[256], test[48], runs[48];
};

static void phrase(struct phrases *w, const struct comparison *c, const struct series *s,
		   const struct judgement *j)
{
	const char *about = j->verdict == VERDICT_UNDECIDED ? "about " : "";

	format_share(w->change, s, j, j->change);
	format_value(w->from, s, j->base.median);
	format_value(w->to, s, j->head.median);
	intervals_text(w->intervals, s, j);
	runs_text(w->runs, j->more_runs, about);
	if (c->rules.rule == RULE_ROBOT)
		snprintf(w->test, sizeof(w->test), "apart by the robot's rule");
	else
		snprintf(w->test, sizeof(w->test), "p = %.2g", j->p);
}

/* Nothing was tested. */
static void say_known(char *text, const struct comparison *c, const struct judgement *j,
		      const struct phrases *w, unsigned head)
{
	if (j->verdict == VERDICT_ABSENT)
		snprintf(text, SENTENCE_LEN, "%s has no valid run with it",
			 c->sides[j->base.n ? head : 0].name);
	else if (j->verdict == VERDICT_SAME)
		snprintf(text, SENTENCE_LEN, "no change, %s in every run", w->from);
	else
		snprintf(text, SENTENCE_LEN,
			 "%s, %s -> %s; with one run on a side nothing can be said about "
			 "noise",
			 w->change, w->from, w->to);
}

static void say_change(char *text, const struct series *s, const struct judgement *j,
		       const struct phrases *w)
{
	const char *way = direction(s, j);

	if (j->verdict == VERDICT_CHANGED)
		snprintf(text, SENTENCE_LEN, "%s of %s (%s), %s -> %s, %s", way,
			 w->change, w->intervals, w->from, w->to, w->test);
	else if (j->verdict == VERDICT_SMALL)
		snprintf(text, SENTENCE_LEN,
			 "a real but small change of %s (%s), below the threshold of %g "
			 "%%, %s",
			 w->change, w->intervals, 100 * j->threshold, w->test);
	else
		snprintf(text, SENTENCE_LEN,
			 "the data suggests %s %s of %s (%s), %s -> %s; %s a side would "
			 "settle it, if they stay as far apart",
			 strchr("aei", way[0]) ? "an" : "a", way, w->change, w->intervals,
			 w->from, w->to, w->runs);
}

char *verdict_sentence(char text[static SENTENCE_LEN], const struct comparison *c,
		       unsigned series, unsigned head)
{
	const struct series *s = c->table.at[series];
	const struct judgement *j = judgement_of(c, series, head);
	struct phrases w;
	char most[48];

	phrase(&w, c, s, j);
	switch (j->verdict) {
	case VERDICT_ABSENT:
	case VERDICT_SINGLE:
	case VERDICT_SAME:
		say_known(text, c, j, &w, head);
		break;
	case VERDICT_CHANGED:
	case VERDICT_SMALL:
	case VERDICT_SUGGESTED:
		say_change(text, s, j, &w);
		break;
	case VERDICT_NONE:
		format_share(most, s, j, furthest(j));
		snprintf(text, SENTENCE_LEN, "no change larger than %s (%s)", most + 1,
			 w.intervals);
		break;
	case VERDICT_UNDECIDED:
		snprintf(text, SENTENCE_LEN,
			 "undecided, %s (%s); %s a side would presumably decide it",
			 w.change, w.intervals, w.runs);
		break;
	}
	return text;
}

/* Excluded is what neither interval holds, supported what both hold of a change that is real. Where no run of a
 * side differs from another the noise is not known. */
static const char *claim_word(const struct comparison *c, const struct judgement *j)
{
	double low = share_of_base(j, j->interval.low),
	       high = share_of_base(j, j->interval.high),
	       mean_low = share_of_base(j, j->welch.low),
	       mean_high = share_of_base(j, j->welch.high);
	bool in_one = c->claim >= low && c->claim <= high,
	     in_other = c->claim >= mean_low && c->claim <= mean_high;
	bool is_real = j->verdict == VERDICT_CHANGED || j->verdict == VERDICT_SMALL ||
		       j->verdict == VERDICT_SUGGESTED;

	if (isnan(low) || isnan(mean_low) ||
	    (j->base.min == j->base.max && j->head.min == j->head.max))
		return "does not settle";
	if (!in_one && !in_other)
		return "excludes";
	return in_one && in_other && is_real && (c->claim > 0) == (j->change > 0)
		       ? "supports"
		       : "does not settle";
}

char *claim_sentence(char text[static SENTENCE_LEN], const struct comparison *c,
		     unsigned series, unsigned head)
{
	const struct series *s = c->table.at[series];
	const struct judgement *j = judgement_of(c, series, head);
	char intervals[256] = "it has no interval";

	if (!isnan(j->interval.low) && !isnan(j->welch.low))
		intervals_text(intervals, s, j);
	snprintf(text, SENTENCE_LEN, "the data %s a change of %+g %% (%s)",
		 claim_word(c, j), 100 * c->claim, intervals);
	return text;
}

char *headline(char text[static HEADLINE_LEN], const struct comparison *c, unsigned head)
{
	const char *name = c->sides[head].name;
	char sentence[SENTENCE_LEN];

	if (c->table.at[0]->own)
		snprintf(text, HEADLINE_LEN, "%.100s: %.255s: %s", name,
			 c->table.at[0]->name, verdict_sentence(sentence, c, 0, head));
	else
		snprintf(text, HEADLINE_LEN, "%.100s: no metric of the program's own",
			 name);
	return text;
}
