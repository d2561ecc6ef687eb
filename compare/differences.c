// SPDX-License-Identifier: GPL-2.0-or-later
/* differences - what differs between the sides besides their numbers, and the rules they were judged by. */
#include "compare/circumstances.h"
#include "compare/verdict.h"

#include <stdlib.h>

struct teller {
	const char *base, *head;
	void (*each)(void *context, const char *text, bool weighty);
	void *context;
};

static void tell(void *context, const char *path, const char *a, const char *b,
		 bool weighty)
{
	const struct teller *t = context;
	char *text;

	if (asprintf(&text, "%s: %s in %s, %s in %s", path, a ?: "unknown", t->base,
		     b ?: "unknown", t->head) < 0)
		return;
	t->each(t->context, text, weighty);
	free(text);
}

void tell_differences(const struct comparison *c,
		      void (*each)(void *context, const char *text, bool weighty),
		      void *context)
{
	for (unsigned h = 1; h < c->side_count; h++) {
		struct teller teller = { c->sides[0].name, c->sides[h].name, each,
					 context };

		circumstances_differ(&c->sides[0], &c->sides[h], tell, &teller);
	}
}

void rules_write(FILE *out, const struct comparison *c)
{
	if (c->rules.rule == RULE_ROBOT)
		fputs("Rule: a change is real where the least of one side is above the "
		      "median of the other, and the greatest of that below the median of "
		      "the one; with less than three runs a side, where they do not "
		      "overlap.",
		      out);
	else
		fprintf(out,
			"Rule: a change is real where Mann and Whitney's test at 5 %% "
			"and the 95 %% interval agree. The interval is that of the "
			"median difference for the program's own metrics (bootstrap of "
			"%d resamples, seed %ju), Hodges and Lehmann's shift for the "
			"others. The first metric is tested alone; all others of the "
			"program, and those of the system, each with Holm's correction. "
			"Where there are too few runs for the test, ranges that are "
			"apart and Welch's interval only suggest a change.",
			RESAMPLES, (uintmax_t)c->rules.seed);
	fputs(" Rows: ", out);
	if (c->config->all)
		fputs("all.", out);
	else
		fputs("changes that are real or suggested, and at least the threshold.",
		      out);
	fputs(" Threshold:", out);
	if (!c->config->thresholds.count)
		fputs(" 2%", out);
	for (unsigned i = 0; i < c->config->thresholds.count; i++)
		fprintf(out, " %s", c->config->thresholds.at[i]);
	fputs(" of the base. %stddev: of the samples, where it is over 2 %.\n", out);
}
