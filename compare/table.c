// SPDX-License-Identifier: GPL-2.0-or-later
/* table - the comparison in the form of the kernel test robot's mails. */
#include "compare/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What rounds to nothing has no sign. */
static char *without_sign_of_zero(char *text, char sign)
{
	char *minus = strchr(text, '-');

	if (minus && strtod(text, NULL) == 0)
		*minus = sign;
	return text;
}

char *format_mean(char cell[static CELL_LEN], const struct summary *s)
{
	double x = s->mean;

	if (!s->n)
		snprintf(cell, CELL_LEN, "%10s", "");
	else if (fabs(x) < 1000)
		snprintf(cell, CELL_LEN, "%10.2f", x);
	else if (fabs(x) > 1e8)
		snprintf(cell, CELL_LEN, "%10.4g", x);
	else
		snprintf(cell, CELL_LEN, "%10.0f", trunc(x));
	return without_sign_of_zero(cell, ' ');
}

/* The deviation of the samples themselves, not that of what they are drawn from, as the robot has it. */
char *format_deviation(char cell[static CELL_LEN], const struct summary *s)
{
	double percent = 0;

	if (s->n > 1 && s->mean != 0)
		percent = 100 * s->stddev * sqrt((double)(s->n - 1) / (double)s->n) /
			  fabs(s->mean);
	if (percent > 2)
		snprintf(cell, CELL_LEN, " ±%3.0f%%", fmin(percent, 999));
	else
		snprintf(cell, CELL_LEN, "%6s", "");
	return cell;
}

bool is_share(const char *name)
{
	size_t len = strlen(name);

	return (len && name[len - 1] == '%') ||
	       !strncmp(name, "perf-profile.", strlen("perf-profile."));
}

char *format_change(char cell[static CELL_LEN], const char *name,
		    const struct summary *base, const struct summary *head)
{
	double change = head->mean - base->mean;

	if (!base->n || !head->n) {
		snprintf(cell, CELL_LEN, "%11s", "");
	} else if (is_share(name)) {
		snprintf(cell, CELL_LEN, fabs(change) < 1e5 ? "%+10.1f " : "%+10.2g ",
			 change);
	} else if (base->mean == 0 && change != 0) {
		snprintf(cell, CELL_LEN, "%11s", "new");
	} else {
		change = change == 0 ? 0 : 100 * (change / fabs(base->mean));
		if (!isfinite(change))
			change = copysign(1e300, change);
		snprintf(cell, CELL_LEN, fabs(change) < 1e5 ? "%+10.1f%%" : "%+10.2g%%",
			 change);
	}
	return without_sign_of_zero(cell, '+');
}

const char *next_fault(const struct comparison *c, const char *fault)
{
	const char *next = NULL;

	for (unsigned s = 0; s < c->side_count; s++)
		for (size_t i = 0; i < c->sides[s].count; i++) {
			const char *this = c->sides[s].trials[i].fault;

			if (this && (!fault || strcmp(this, fault) > 0) &&
			    (!next || strcmp(this, next) < 0))
				next = this;
		}
	return next;
}

size_t count_faults(const struct side *side, const char *fault)
{
	size_t count = 0;

	for (size_t i = 0; i < side->count; i++)
		count += side->trials[i].fault && !strcmp(side->trials[i].fault, fault);
	return count;
}

static double fault_share(const struct side *side, size_t faults)
{
	return side->count ? (double)faults / (double)side->count : 0;
}

/* "5" or nothing for none. */
static const char *faults_text(char text[static 24], size_t faults)
{
	snprintf(text, 24, "%zu", faults);
	return faults ? text : "";
}

static void write_fault(FILE *out, const struct comparison *c, const char *fault)
{
	size_t in_base = count_faults(&c->sides[0], fault);
	char text[24];

	fprintf(out, "%11s:%-4zu", faults_text(text, in_base), c->sides[0].count);
	for (unsigned h = 1; h < c->side_count; h++) {
		size_t in_head = count_faults(&c->sides[h], fault);

		fprintf(out, "%10.0f%%%12s:%-4zu",
			/* Adding 0 turns -0 into 0. */
			round(100 * (fault_share(&c->sides[h], in_head) -
				     fault_share(&c->sides[0], in_base))) +
				0.0,
			faults_text(text, in_head), c->sides[h].count);
	}
	fprintf(out, "  %s.", c->sides[0].program);
	for (; *fault; fault++)
		fputc(*fault == ' ' ? '_' : *fault, out);
	fputc('\n', out);
}

static void write_faults(FILE *out, const struct comparison *c)
{
	const char *fault = next_fault(c, NULL);

	if (!fault)
		return;
	fputs("       fail:runs", out);
	for (unsigned h = 1; h < c->side_count; h++)
		fputs("  %reproduction    fail:runs", out);
	fputs("\n           |    ", out);
	for (unsigned h = 1; h < c->side_count; h++)
		fputs(h + 1 < c->side_count ? "         |             |    "
					    : "         |             |",
		      out);
	fputc('\n', out);
	for (; fault; fault = next_fault(c, fault))
		write_fault(out, c, fault);
}

static void write_head(FILE *out, const struct comparison *c)
{
	for (unsigned s = 0; s < c->side_count; s++)
		fprintf(out, "%*.*s ", s ? 27 : 16, s ? 27 : 16, c->sides[s].name);
	fputs("\n----------------", out);
	for (unsigned h = 1; h < c->side_count; h++)
		fputs(" ---------------------------", out);
	fputc('\n', out);
}

static void write_row(FILE *out, const struct comparison *c, unsigned series)
{
	const struct judgement *j = judgement_of(c, series, 1);
	const char *name = c->table.at[series]->name;
	char value[CELL_LEN], deviation[CELL_LEN], change[CELL_LEN];

	fprintf(out, "%s%s", format_mean(value, &j->base),
		format_deviation(deviation, &j->base));
	for (unsigned h = 1; h < c->side_count; h++) {
		j = judgement_of(c, series, h);
		fprintf(out, "%s %s%s", format_change(change, name, &j->base, &j->head),
			format_mean(value, &j->head),
			format_deviation(deviation, &j->head));
	}
	fprintf(out, "  %s\n", name);
}

static bool is_suggested(const struct comparison *c, unsigned series)
{
	for (unsigned h = 1; h < c->side_count; h++)
		if (judgement_of(c, series, h)->verdict == VERDICT_SUGGESTED)
			return true;
	return false;
}

/* Rows are as the robot has them, without a place for a mark. */
static void write_suggested(FILE *out, const struct comparison *c)
{
	const char *before = "\nOnly suggested, with too few runs for the test: ";

	for (unsigned i = 0; i < c->table.count; i++) {
		if (!is_suggested(c, i))
			continue;
		fprintf(out, "%s%s", before, c->table.at[i]->name);
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', out);
}

void table_write(FILE *out, const struct comparison *c)
{
	write_head(out, c);
	write_faults(out, c);
	fputs("         %stddev", out);
	for (unsigned h = 1; h < c->side_count; h++)
		fputs("     %change         %stddev", out);
	fputs("\n             \\", out);
	for (unsigned h = 1; h < c->side_count; h++)
		fputs("          |                \\", out);
	fputc('\n', out);
	for (unsigned i = 0; i < c->table.count; i++)
		if (has_row(c, i))
			write_row(out, c, i);
	write_suggested(out, c);
}
