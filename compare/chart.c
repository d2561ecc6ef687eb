// SPDX-License-Identifier: GPL-2.0-or-later
/* chart - pictures of samples and of progress, as inline SVG. */
#include "compare/chart.h"

#include "common/parse.h"
#include "compare/verdict.h"

#include <math.h>

/* Units of a drawing, which is scaled to its place. */
enum { WIDTH = 420, LEFT = 96, RIGHT = 16, ROW = 30, GRAPH = 180, AXIS = 26 };

struct scale {
	double low, high, from, to; /* values, and where they lie */
};

static double place(const struct scale *s, double x)
{
	return s->from + (x - s->low) / (s->high - s->low) * (s->to - s->from);
}

/* What is all the same lies in the middle. */
static void widen(struct scale *s)
{
	double room = (s->high - s->low) * 0.03;

	if (room <= 0)
		room = fmax(fabs(s->low) * 0.01, 1e-12);
	s->low -= room;
	s->high += room;
}

static void write_label(FILE *out, double x, double y, const char *anchor,
			const char *text)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	html_text(out, text);
	fputs("</text>\n", out);
}

static void write_ends(FILE *out, const struct scale *x, double low, double high,
		       double y, const struct series *unit)
{
	char text[48];

	write_label(out, x->from, y, "start", format_value(text, unit, low));
	write_label(out, x->to, y, "end", format_value(text, unit, high));
}

static void write_row(FILE *out, const struct side *side, const struct samples *samples,
		      const struct summary *s, const struct scale *x, double y)
{
	char name[24];

	snprintf(name, sizeof(name), "%.13s", side->name);
	write_label(out, LEFT - 8, y + 4, "end", name);
	fprintf(out,
		"<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
		LEFT, WIDTH - RIGHT, y, y);
	if (!s->n)
		return;
	fprintf(out,
		"<line class=\"span\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
		"y2=\"%.1f\"/>\n",
		place(x, s->low), place(x, s->high), y, y);
	fprintf(out,
		"<line class=\"span\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
		"y2=\"%.1f\"/>\n",
		place(x, s->median), place(x, s->median), y - 8, y + 8);
	for (size_t i = 0; i < samples->n; i++)
		fprintf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n",
			place(x, samples->x[i]), y);
}

static const struct summary *summary_of(const struct comparison *c, unsigned series,
					unsigned side)
{
	return side ? &judgement_of(c, series, side)->head
		    : &judgement_of(c, series, 1)->base;
}

void chart_samples(FILE *out, const struct comparison *c, unsigned series)
{
	const struct series *s = c->table.at[series];
	struct scale x = { INFINITY, -INFINITY, LEFT, WIDTH - RIGHT };
	double low, high;

	for (unsigned i = 0; i < c->side_count; i++) {
		const struct summary *of = summary_of(c, series, i);

		if (of->n) {
			x.low = fmin(x.low, of->min);
			x.high = fmax(x.high, of->max);
		}
	}
	if (!(x.low <= x.high))
		return;
	low = x.low;
	high = x.high;
	widen(&x);
	fputs("<figure><figcaption>", out);
	html_text(out, s->name);
	fprintf(out,
		"</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-label=\"samples of ",
		WIDTH, (int)c->side_count * ROW + AXIS);
	html_text(out, s->name);
	fputs("\">\n", out);
	for (unsigned i = 0; i < c->side_count; i++)
		write_row(out, &c->sides[i], &s->sides[i], summary_of(c, series, i), &x,
			  (i + 0.5) * ROW);
	write_ends(out, &x, low, high, c->side_count * ROW + 14, s);
	fputs("</svg></figure>\n", out);
}

/* The rate between a point and the one before it in the same run, in bytes a second. */
static double rate_at(const struct side *s, size_t i)
{
	const struct progress *now = &s->progress[i], *last = now - 1;
	bool first = !i || last->trial != now->trial;
	double time = now->elapsed_s - (first ? 0 : last->elapsed_s);
	double bytes = now->bytes - (first ? 0 : last->bytes);

	return time > 0 && bytes >= 0 ? bytes / time : 0;
}

static void write_runs(FILE *out, const struct side *s, bool head, const struct scale *x,
		       const struct scale *y)
{
	for (size_t i = 0; i < s->progress_count; i++) {
		if (!i || s->progress[i].trial != s->progress[i - 1].trial)
			fprintf(out, "%s<polyline class=\"run%s\" points=\"",
				i ? "\"/>\n" : "", head ? " head" : "");
		fprintf(out, "%.1f,%.1f ", place(x, s->progress[i].elapsed_s),
			place(y, rate_at(s, i)));
	}
	if (s->progress_count)
		fputs("\"/>\n", out);
}

static void find_ends(const struct comparison *c, struct scale *x, struct scale *y)
{
	for (unsigned s = 0; s < c->side_count; s++)
		for (size_t i = 0; i < c->sides[s].progress_count; i++) {
			x->high = fmax(x->high, c->sides[s].progress[i].elapsed_s);
			y->high = fmax(y->high, rate_at(&c->sides[s], i));
		}
}

void chart_progress(FILE *out, const struct comparison *c)
{
	static const struct series time = { .unit = "s" };
	struct scale x = { 0, 0, LEFT, WIDTH - RIGHT }, y = { 0, 0, GRAPH, 12 };
	char text[48], amount[FORMAT_LEN];

	find_ends(c, &x, &y);
	if (x.high <= 0 || y.high <= 0)
		return;
	fprintf(out,
		"<section><h2>Rate over the time of each run</h2>\n<figure><figcaption "
		"class=\"dim\">");
	html_text(out, c->sides[0].name);
	fprintf(out,
		" in the colour of the dots, the heads in red</figcaption>\n<svg "
		"viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"rate over time\">\n",
		WIDTH, GRAPH + AXIS);
	snprintf(text, sizeof(text), "%s/s", format_bytes(amount, y.high));
	write_label(out, LEFT - 8, 16, "end", text);
	write_label(out, LEFT - 8, GRAPH, "end", "0");
	fprintf(out, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n",
		LEFT, WIDTH - RIGHT, GRAPH, GRAPH);
	for (unsigned s = 0; s < c->side_count; s++)
		write_runs(out, &c->sides[s], s > 0, &x, &y);
	write_ends(out, &x, 0, x.high, GRAPH + 16, &time);
	fputs("</svg></figure></section>\n", out);
}
