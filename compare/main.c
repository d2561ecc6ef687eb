// SPDX-License-Identifier: GPL-2.0-or-later
/* compare - say what differs between two sets of results, and whether that is real. */
#include "common/output.h"
#include "compare/ab.h"
#include "compare/options.h"
#include "compare/report.h"
#include "compare/sides.h"
#include "compare/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { STATUS_REGRESSION = 3, STATUS_UNDECIDED = 4 };

/* All of a report, and then one write: a reader sees the whole or nothing. */
static int write_report(const struct comparison *c,
			void (*write)(FILE *out, const struct comparison *c),
			struct output *file)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool lost;
	int ret;

	if (!out)
		return failed("memory for the report");
	write(out, c);
	lost = ferror(out);
	lost |= fclose(out) != 0;
	ret = lost ? failed("memory for the report") : output_write(file, text);
	free(text);
	return ret;
}

static int write_reports(const struct comparison *c, struct output *page)
{
	static void (*const forms[])(FILE * out, const struct comparison *c) = {
		[FORM_TEXT] = text_write,
		[FORM_MARKDOWN] = markdown_write,
		[FORM_JSON] = json_write,
	};
	struct output standard;
	int ret = output_open(&standard, "");

	if (!ret && c->config->html)
		ret = write_report(c, html_write, page);
	return ret ?: write_report(c, forms[c->config->form], &standard);
}

static bool is_open(const struct judgement *j)
{
	return j->verdict == VERDICT_UNDECIDED || j->verdict == VERDICT_SUGGESTED ||
	       j->verdict == VERDICT_SINGLE || j->verdict == VERDICT_ABSENT;
}

static void see_weighty(void *context, const char *text, bool weighty)
{
	(void)text;
	*(bool *)context |= weighty;
}

/* What --gate is for: a regression of any of the program's own metrics, against any head. Undecided is what the first
 * of them is, or any that were asked for by name; a head of which more runs went wrong than of the base; and sides
 * that cannot be compared. */
static int gate(const struct comparison *c)
{
	bool open = !c->table.at[0]->own;
	double of_base = (double)c->sides[0].valid / (double)c->sides[0].count;

	for (unsigned i = 0; i < c->table.count && c->table.at[i]->own; i++)
		for (unsigned h = 1; h < c->side_count; h++) {
			const struct judgement *j = judgement_of(c, i, h);

			if (j->verdict == VERDICT_CHANGED &&
			    is_regression(c->table.at[i], j))
				return STATUS_REGRESSION;
			open |= (!i || c->config->metrics.count) && is_open(j);
		}
	for (unsigned h = 1; h < c->side_count; h++)
		open |= (double)c->sides[h].valid / (double)c->sides[h].count < of_base;
	tell_differences(c, see_weighty, &open);
	return open ? STATUS_UNDECIDED : 0;
}

static int compare(const struct operands *operands, unsigned count, struct output *page)
{
	struct comparison c;
	int ret = comparison_make(&c, &cfg, operands, count);

	if (!ret)
		ret = write_reports(&c, page);
	ret = ret ? exit_status(ret) : cfg.gate ? gate(&c) : 0;
	comparison_free(&c);
	return ret;
}

static void results_of(const struct ab *ab, struct operands sides[static 2])
{
	for (unsigned s = 0; s < 2; s++)
		sides[s] = (struct operands){ (const char *const *)ab->sides[s].names,
					      ab->count };
}

/* Is the first metric known as well as --until asks? Three runs are the least that tell anything. The others, which would
 * take time, are not looked at once it is known which is the first. */
static int is_narrow(const struct ab *ab)
{
	static char first[256];
	static const char *first_name = first;
	struct config only = cfg;
	const struct judgement *j;
	struct operands sides[2];
	struct comparison c;
	double low, high, wanted;
	int ret;

	if (ab->count < 3 || parse_percent(cfg.until, &wanted))
		return 0;
	if (first[0])
		only.metrics = (struct words){ &first_name, 1 };
	results_of(ab, sides);
	ret = comparison_make(&c, &only, sides, 2);
	if (!ret) {
		snprintf(first, sizeof(first), "%s", c.table.at[0]->name);
		j = judgement_of(&c, 0, 1);
		low = share_of_base(j, fmin(j->interval.low, j->welch.low));
		high = share_of_base(j, fmax(j->interval.high, j->welch.high));
		ret = j->verdict == VERDICT_SAME || high - low <= wanted;
	}
	comparison_free(&c);
	return ret;
}

static int run_and_compare(const char *const commands[2], struct output *page)
{
	struct ab ab = { .keep = cfg.keep,
			 .pairs = cfg.pairs,
			 .seed = cfg.seed,
			 .enough = cfg.until ? is_narrow : NULL };
	static const char *const names[] = { "a", "b" };
	struct operands sides[2];
	int ret;

	for (unsigned s = 0; s < 2; s++)
		ab.sides[s] = (struct ab_side){ .command = commands[s],
						.setup = cfg.setup[s],
						.cleanup = cfg.cleanup[s] };
	if (!cfg.names.count)
		cfg.names = (struct words){ (const char **)names, 2 };
	ret = ab_run(&ab);
	results_of(&ab, sides);
	if (ab.signal)
		ret = 128 + ab.signal;
	else
		ret = ret ? exit_status(ret) : compare(sides, 2, page);
	ab_free(&ab);
	return ret;
}

int main(int argc, char **argv)
{
	struct operands *sides = NULL;
	struct output page;
	int count, ret;

	base_init();
	count = read_command_line(argc, argv, &sides);
	ret = count < 0 ? count : 0;
	/* Before anything is run: a wrong path costs no run. */
	if (!ret && cfg.html)
		ret = output_open(&page, cfg.html);
	if (ret)
		ret = exit_status(ret);
	else if (cfg.ab)
		ret = run_and_compare(sides[0].at, &page);
	else
		ret = compare(sides, (unsigned)count, &page);
	free(sides);
	return ret;
}
