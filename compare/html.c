// SPDX-License-Identifier: GPL-2.0-or-later
/* html - a comparison as one page that needs nothing else: verdict, table, and a picture of each metric. */
#include "compare/chart.h"
#include "compare/page.h"
#include "compare/report.h"
#include "compare/table.h"
#include "compare/verdict.h"

#include <math.h>
#include <string.h>

void html_text(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
}

static const char *class_of(const struct series *s, const struct judgement *j)
{
	if (j->verdict != VERDICT_CHANGED && j->verdict != VERDICT_SUGGESTED)
		return "";
	if (s->better == BETTER_NEITHER)
		return "";
	return is_regression(s, j) ? " class=\"worse\"" : " class=\"better\"";
}

static void write_item(FILE *out, const char *text)
{
	fputs("<li>", out);
	html_text(out, text);
	fputs("</li>\n", out);
}

struct part {
	FILE *out;
	bool weighty, begun;
};

static void write_difference(void *context, const char *text, bool weighty)
{
	struct part *part = context;

	if (weighty != part->weighty)
		return;
	if (!part->begun && weighty)
		fputs("<section class=\"alarm\"><h2>Not comparable as they stand: they "
		      "differ in</h2>\n<ul>\n",
		      part->out);
	else if (!part->begun)
		fputs("<section><h2>What else differs</h2>\n<ul>\n", part->out);
	part->begun = true;
	write_item(part->out, text);
}

static void write_differences(FILE *out, const struct comparison *c, bool weighty)
{
	struct part part = { out, weighty, false };

	tell_differences(c, write_difference, &part);
	if (part.begun)
		fputs("</ul></section>\n", out);
}

static void write_verdicts(FILE *out, const struct comparison *c, unsigned head)
{
	char text[HEADLINE_LEN];

	fputs("<h2>", out);
	html_text(out, headline(text, c, head));
	fputs("</h2>\n<ul>\n", out);
	for (unsigned i = 1; i < c->table.count && c->table.at[i]->own; i++) {
		const struct series *s = c->table.at[i];
		const struct judgement *j = judgement_of(c, i, head);

		if (!j->base.n && !j->head.n)
			continue;
		fprintf(out, "<li%s>", class_of(s, j));
		html_text(out, s->name);
		fputs(": ", out);
		html_text(out, verdict_sentence(text, c, i, head));
		fputs("</li>\n", out);
	}
	if (c->has_claim)
		write_item(out, claim_sentence(text, c, 0, head));
	fputs("</ul>\n", out);
}

/* A cell, and the number it is sorted by. */
static void write_cell(FILE *out, const char *class, double x, const char *text)
{
	fprintf(out, "<td%s", class);
	if (isfinite(x))
		fprintf(out, " data-x=\"%.17g\"", x);
	fputc('>', out);
	html_text(out, text + strspn(text, " "));
	fputs("</td>", out);
}

static void write_set(FILE *out, const struct summary *s)
{
	char value[CELL_LEN], deviation[CELL_LEN], both[2 * CELL_LEN];

	snprintf(both, sizeof(both), "%s%s", format_mean(value, s),
		 format_deviation(deviation, s));
	write_cell(out, "", s->n ? s->mean : NAN, both);
}

static void write_row(FILE *out, const struct comparison *c, unsigned series)
{
	const struct series *s = c->table.at[series];
	char change[CELL_LEN];

	fputs("<tr><td data-x=\"", out);
	html_text(out, s->name);
	fputs("\">", out);
	html_text(out, s->name);
	fputs("</td>", out);
	write_set(out, &judgement_of(c, series, 1)->base);
	for (unsigned h = 1; h < c->side_count; h++) {
		const struct judgement *j = judgement_of(c, series, h);
		double percent = j->base.n && j->head.n && j->base.mean != 0
					 ? (j->head.mean - j->base.mean) /
						   fabs(j->base.mean)
					 : NAN;

		write_cell(out, class_of(s, j), percent,
			   format_change(change, s->name, &j->base, &j->head));
		write_set(out, &j->head);
		write_cell(out, class_of(s, j), isnan(j->p) ? 2 : j->p,
			   verdict_word(s, j));
	}
	fputs("</tr>\n", out);
}

static void write_column(FILE *out, const char *text)
{
	fputs("<th scope=\"col\"><button type=\"button\">", out);
	html_text(out, text);
	fputs("</button></th>", out);
}

static void write_table(FILE *out, const struct comparison *c)
{
	fputs("<section><h2>Means, and what changed</h2>\n<div class=\"wide\"><table>\n"
	      "<thead><tr>",
	      out);
	write_column(out, "metric");
	write_column(out, c->sides[0].name);
	for (unsigned h = 1; h < c->side_count; h++) {
		write_column(out, "change");
		write_column(out, c->sides[h].name);
		write_column(out, "verdict");
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	for (unsigned i = 0; i < c->table.count; i++)
		if (c->table.at[i]->own || has_row(c, i))
			write_row(out, c, i);
	fputs("</tbody></table></div></section>\n", out);
}

static void write_charts(FILE *out, const struct comparison *c, bool own)
{
	for (unsigned i = 0; i < c->table.count; i++)
		if (c->table.at[i]->own == own && (own || has_row(c, i)))
			chart_samples(out, c, i);
}

static void write_sides(FILE *out, const struct comparison *c)
{
	fputs("<ul class=\"dim\">\n", out);
	for (unsigned s = 0; s < c->side_count; s++) {
		const struct side *side = &c->sides[s];

		fputs("<li>", out);
		html_text(out, side->name);
		fprintf(out, ": kernel ");
		html_text(out, side->kernel);
		fprintf(out, ", %zu of %zu runs valid</li>\n", side->valid, side->count);
	}
	fputs("</ul>\n", out);
}

void html_write(FILE *out, const struct comparison *c)
{
	fputs(page_head, out);
	fputs("<title>", out);
	html_text(out, c->sides[0].program);
	fputs(": comparison</title>\n</head>\n<body>\n<h1>", out);
	html_text(out, c->sides[0].program);
	fputs(" ", out);
	html_text(out, c->sides[0].version);
	fputs("</h1>\n", out);
	write_differences(out, c, true);
	for (unsigned h = 1; h < c->side_count; h++)
		write_verdicts(out, c, h);
	write_sides(out, c);
	if (c->notes.count) {
		fputs("<section><h2>Warnings</h2>\n<ul>\n", out);
		for (unsigned i = 0; i < c->notes.count; i++)
			write_item(out, c->notes.at[i]);
		fputs("</ul></section>\n", out);
	}
	write_table(out, c);
	fputs("<section><h2>Samples, and the 95 % interval of their median</h2>\n", out);
	write_charts(out, c, true);
	fputs("</section>\n", out);
	chart_progress(out, c);
	fputs("<section>\n", out);
	write_charts(out, c, false);
	fputs("</section>\n", out);
	write_differences(out, c, false);
	fputs("<footer><p>", out);
	rules_write(out, c);
	fputs("</p></footer>\n", out);
	fputs(page_script, out);
	fputs("</body>\n</html>\n", out);
}
