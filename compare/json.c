// SPDX-License-Identifier: GPL-2.0-or-later
/* json - a comparison as one JSON document. */
#include "compare/report.h"
#include "compare/verdict.h"

#include "common/json.h"

#include <jansson.h>
#include <math.h>

/* null for what is not known. */
static json_t *number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *interval(double low, double high)
{
	return json_pack("[o, o]", number(low), number(high));
}

static json_t *text(const char *string)
{
	return json_of_text(string);
}

static json_t *set_of(const struct summary *s, const struct samples *samples)
{
	json_t *values = json_array();

	for (size_t i = 0; i < samples->n; i++)
		json_array_append_new(values, number(samples->x[i]));
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "n", (json_int_t)s->n,
			 "median", s->n ? number(s->median) : json_null(), "mean",
			 s->n ? number(s->mean) : json_null(), "stddev",
			 number(s->n > 1 ? s->stddev : NAN), "min",
			 s->n ? number(s->min) : json_null(), "max",
			 s->n ? number(s->max) : json_null(), "samples", values);
}

static json_t *judgement(const struct comparison *c, unsigned series, unsigned head)
{
	const struct series *s = c->table.at[series];
	const struct judgement *j = judgement_of(c, series, head);
	char sentence[SENTENCE_LEN];

	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "head",
		text(c->sides[head].name), "verdict", text(verdict_word(s, j)),
		"sentence", text(verdict_sentence(sentence, c, series, head)), "change",
		number(j->change), "change_share", number(share_of_base(j, j->change)),
		"interval", interval(j->interval.low, j->interval.high), "mean_interval",
		interval(j->welch.low, j->welch.high), "p", number(j->p),
		"mann_whitney_p", isnan(j->p) ? json_null() : number(j->ranking.p),
		"more_runs", (json_int_t)j->more_runs, "set",
		set_of(&j->head, &s->sides[head]));
}

static json_t *metric(const struct comparison *c, unsigned series)
{
	static const char *const better[] = { "neither", "higher", "lower" };
	const struct series *s = c->table.at[series];
	json_t *heads = json_array();

	for (unsigned h = 1; h < c->side_count; h++)
		json_array_append_new(heads, judgement(c, series, h));
	return json_pack(
		"{s:o, s:o, s:s, s:b, s:o, s:o, s:o}", "name", text(s->name), "unit",
		text(s->unit), "better", better[s->better], "own", s->own, "threshold",
		number(judgement_of(c, series, 1)->threshold), "base",
		set_of(&judgement_of(c, series, 1)->base, &s->sides[0]), "heads", heads);
}

static json_t *side(const struct side *s)
{
	json_t *faults = json_array();

	for (size_t i = 0; i < s->count; i++)
		if (s->trials[i].fault)
			json_array_append_new(
				faults, json_pack("{s:o, s:i, s:s}", "file",
						  text(s->files[s->trials[i].file].name),
						  "repetition", s->trials[i].repetition,
						  "fault", s->trials[i].fault));
	return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "name", text(s->name),
			 "program", text(s->program), "version", text(s->version),
			 "kernel", text(s->kernel), "runs", (json_int_t)s->count, "valid",
			 (json_int_t)s->valid, "faults", faults);
}

static void add_difference(void *context, const char *sentence, bool weighty)
{
	json_array_append_new(context, json_pack("{s:o, s:b}", "text", text(sentence),
						 "not_comparable", weighty));
}

void json_write(FILE *out, const struct comparison *c)
{
	json_t *root = json_pack("{s:s, s:s, s:s, s:[], s:[], s:[], s:[], s:[]}",
				 "schema", "compare-1", "program", "compare", "version",
				 PAGEMILL_VERSION, "sides", "metrics", "differences",
				 "warnings", "claims");
	char sentence[SENTENCE_LEN];

	for (unsigned s = 0; s < c->side_count; s++)
		json_array_append_new(json_object_get(root, "sides"), side(&c->sides[s]));
	for (unsigned i = 0; i < c->table.count; i++)
		json_array_append_new(json_object_get(root, "metrics"), metric(c, i));
	tell_differences(c, add_difference, json_object_get(root, "differences"));
	for (unsigned i = 0; i < c->notes.count; i++)
		json_array_append_new(json_object_get(root, "warnings"),
				      text(c->notes.at[i]));
	for (unsigned h = 1; c->has_claim && h < c->side_count; h++)
		json_array_append_new(json_object_get(root, "claims"),
				      text(claim_sentence(sentence, c, 0, h)));
	json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	fputc('\n', out);
	json_decref(root);
}
