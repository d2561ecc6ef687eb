// SPDX-License-Identifier: GPL-2.0-or-later
/* text - a comparison for a terminal or a mail, and the same as Markdown. */
#include "compare/report.h"
#include "compare/table.h"
#include "compare/verdict.h"

/* How the parts of a report begin and end. */
struct form_of_text {
	const char *title, *item, *code, *code_end;
};

static const struct form_of_text plain = { "", "  ", "", "" };
static const struct form_of_text markdown = { "### ", "- ", "```\n", "```\n" };

struct part {
	FILE *out;
	const struct form_of_text *form;
	bool weighty; /* which of them are told */
	bool begun;
};

static void write_difference(void *context, const char *text, bool weighty)
{
	struct part *part = context;

	if (weighty != part->weighty)
		return;
	if (!part->begun)
		fprintf(part->out, "%s%s\n", part->form->title,
			weighty ? "NOT COMPARABLE as they stand: they differ in"
				: "What else differs");
	part->begun = true;
	fprintf(part->out, "%s%s\n", part->form->item, text);
}

static void write_differences(FILE *out, const struct comparison *c,
			      const struct form_of_text *form, bool weighty)
{
	struct part part = { .out = out, .form = form, .weighty = weighty };

	tell_differences(c, write_difference, &part);
	if (part.begun)
		fputc('\n', out);
}

static void write_sides(FILE *out, const struct comparison *c)
{
	for (unsigned s = 0; s < c->side_count; s++)
		fprintf(out, "%s%s: %s %s, kernel %s, %zu of %zu runs valid\n",
			s ? "head " : "base ", c->sides[s].name, c->sides[s].program,
			c->sides[s].version, c->sides[s].kernel, c->sides[s].valid,
			c->sides[s].count);
}

static void write_verdicts(FILE *out, const struct comparison *c,
			   const struct form_of_text *form, unsigned head)
{
	char text[SENTENCE_LEN];

	for (unsigned i = 1; i < c->table.count && c->table.at[i]->own; i++)
		if (judgement_of(c, i, head)->base.n + judgement_of(c, i, head)->head.n)
			fprintf(out, "%s%s: %s\n", form->item, c->table.at[i]->name,
				verdict_sentence(text, c, i, head));
	if (c->has_claim && c->table.count)
		fprintf(out, "%s%s: %s\n", form->item, c->table.at[0]->name,
			claim_sentence(text, c, 0, head));
}

static void write_in_form(FILE *out, const struct comparison *c,
			  const struct form_of_text *form)
{
	char text[HEADLINE_LEN];

	write_differences(out, c, form, true);
	for (unsigned h = 1; h < c->side_count; h++) {
		fprintf(out, "%s%s\n", form->title, headline(text, c, h));
		write_verdicts(out, c, form, h);
	}
	fputc('\n', out);
	if (c->notes.count) {
		fprintf(out, "%sWarnings\n", form->title);
		for (unsigned i = 0; i < c->notes.count; i++)
			fprintf(out, "%s%s\n", form->item, c->notes.at[i]);
		fputc('\n', out);
	}
	write_differences(out, c, form, false);
	fputs(form->code, out);
	write_sides(out, c);
	fputc('\n', out);
	table_write(out, c);
	fputs(form->code_end, out);
	fputc('\n', out);
	rules_write(out, c);
}

void text_write(FILE *out, const struct comparison *c)
{
	write_in_form(out, c, &plain);
}

void markdown_write(FILE *out, const struct comparison *c)
{
	write_in_form(out, c, &markdown);
}
