// SPDX-License-Identifier: GPL-2.0-or-later
/* load - a JSON result becomes runs of a side and samples of its metrics. */
#include "compare/load.h"

#include "compare/circumstances.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The program's own metrics that have other names in tables, or other units. */
static const struct {
	const char *key, *name, *unit;
	double scale;
} known[] = {
	{ "throughput_bytes_per_s", "throughput", "KB/s", 1 / 1024.0 },
	{ "throughput_sum_bytes_per_s", "throughput_sum", "KB/s", 1 / 1024.0 },
	{ "copied_count", "ops", "", 1 },
	{ "ops_per_s", "ops_per_sec", "1/s", 1 },
	{ "free_ns", "free_time", "s", 1e-9 },
};

/* How many repetitions there were, those that went wrong included. Workers tell; where there were none,
 * samples do. */
static unsigned count_repetitions(const struct document *d)
{
	const json_t *workers = json_object_get(d->root, "workers"), *metric;
	json_t *metrics = json_object_get(d->root, "metrics");
	size_t most = 1;
	const char *key;

	for (size_t i = 0; i < json_array_size(workers); i++) {
		json_int_t at = json_integer_value(
			json_object_get(json_array_get(workers, i), "repetition"));

		if (at >= 0 && at < 1000000)
			most = MAX(most, (size_t)at + 1);
	}
	if (!json_array_size(workers))
		json_object_foreach(metrics, key, metric) most =
			MAX(most, json_array_size(json_object_get(metric, "samples")));
	return (unsigned)most;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static bool has_sample(const json_t *metrics, const char *key, unsigned i, double *value)
{
	const json_t *x = json_array_get(
		json_object_get(json_object_get(metrics, key), "samples"), i);

	*value = json_number_value(x);
	return json_is_number(x);
}

/* Why repetition I does not count, as far as its figures tell. */
static const char *fault_of_figures(const struct document *d, unsigned i)
{
	const json_t *metrics = json_object_get(d->root, "metrics");
	const char *outcome = text_of(d->root, "outcome");
	double bytes, ops;
	bool has_bytes = has_sample(metrics, "total_bytes", i, &bytes);

	if (json_object_size(metrics) == 0)
		return !strcmp(outcome, "skipped") ? "skipped" : "failed";
	if (json_object_get(metrics, "total_bytes") && !has_bytes)
		return "failed";
	if (has_bytes && bytes == 0 &&
	    !(has_sample(metrics, "copied_count", i, &ops) && ops > 0))
		return "did no work";
	return NULL;
}

/* The runs of D, and why some do not count: a worker that was lost or stopped, no figures, no work. */
static int add_trials(struct side *side, const struct document *d)
{
	const json_t *workers = json_object_get(d->root, "workers");
	unsigned count = count_repetitions(d);
	struct trial *more = realloc(side->trials, (side->count + count) * sizeof(*more));

	if (!more)
		return failed("memory for %u runs", count);
	side->trials = more;
	more += side->count;
	for (unsigned i = 0; i < count; i++)
		more[i] = (struct trial){ .file = side->file_count - 1,
					  .repetition = i,
					  .fault = fault_of_figures(d, i) };
	for (size_t i = 0; i < json_array_size(workers); i++) {
		const json_t *worker = json_array_get(workers, i);
		const char *outcome = text_of(worker, "outcome") ?: "";
		json_int_t at = json_integer_value(json_object_get(worker, "repetition"));

		if (at < 0 || at >= count || !strcmp(outcome, "ok"))
			continue;
		more[at].fault = !strcmp(outcome, "lost")          ? "lost a worker"
				 : !strcmp(outcome, "interrupted") ? "interrupted"
								   : "failed";
	}
	side->count += count;
	return 0;
}

/* A document that is taken in. */
struct intake {
	const struct document *d;
	struct series_table *table;
	unsigned number;            /* of the side */
	const struct trial *trials; /* the document's */
	size_t count;
};

/* Take the values of each valid run: one, or as many as a program takes in one run. */
static int add_samples(const struct intake *in, struct series *s, const json_t *samples,
		       double scale)
{
	size_t size = json_array_size(samples), whole = MAX(size, in->count);
	int ret = s ? 0 : -ENOMEM;

	for (size_t i = 0; i < size && !ret; i++) {
		const json_t *x = json_array_get(samples, i);
		const struct trial *trial = &in->trials[i * in->count / whole];
		double value = json_number_value(x) * scale;

		/* Beyond that nothing can be reckoned with, nor was it measured. */
		if (!trial->fault && json_is_number(x) && fabs(value) < 1e100)
			ret = series_add(s, in->number, trial->file, value);
	}
	return ret;
}

/* The series of that name, new if there is none; NULL without memory. */
static struct series *series_of(const struct intake *in, const char *prefix,
				const char *point, const char *name)
{
	struct series *s;
	char *full;

	if (asprintf(&full, "%s%s%s", prefix, point, name) < 0)
		return NULL;
	s = series_get(in->table, made_plain(full));
	free(full);
	return s;
}

/* What it is measured in is the same in all files. */
static int set_unit(const struct intake *in, struct series *s, const char *unit)
{
	char text[sizeof(s->unit)];

	snprintf(text, sizeof(text), "%s", unit);
	made_plain(text);
	if (s->own && strcmp(s->unit, text))
		return broken("%s has %s in '%s', other files in '%s'", in->d->name,
			      s->name, text, s->unit);
	memcpy(s->unit, text, sizeof(text));
	return 0;
}

static int add_metric(const struct intake *in, const char *key, const json_t *metric)
{
	const char *name = key, *unit = text_of(metric, "unit") ?: "";
	const char *better = text_of(metric, "better") ?: "";
	struct series *s;
	double scale = 1;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(key, known[i].key))
			continue;
		name = known[i].name;
		unit = known[i].unit;
		scale = known[i].scale;
	}
	/* A number says that by itself. */
	if (!strcmp(unit, "count") || !strcmp(unit, "share of 1"))
		unit = "";
	s = series_of(in, document_text(in->d, "program"), ".", name);
	if (!s)
		return -ENOMEM;
	ret = set_unit(in, s, unit);
	s->own = true;
	s->better = !strcmp(better, "higher")  ? BETTER_HIGHER
		    : !strcmp(better, "lower") ? BETTER_LOWER
					       : BETTER_NEITHER;
	return ret ?: add_samples(in, s, json_object_get(metric, "samples"), scale);
}

/* The series of --interval, of the last COUNT runs of SIDE. */
static int add_progress(struct side *side, const json_t *all, size_t count)
{
	size_t room = side->progress_count + json_array_size(all);
	struct progress *more = realloc(side->progress, (room + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	side->progress = more;
	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *point = json_array_get(all, i);
		json_int_t at = json_integer_value(json_object_get(point, "repetition"));

		if (at < 0 || (size_t)at >= count)
			continue;
		more[side->progress_count++] = (struct progress){
			side->count - count + (size_t)at,
			json_number_value(json_object_get(point, "elapsed_ns")) / 1e9,
			json_number_value(json_object_get(point, "bytes"))
		};
	}
	return 0;
}

int document_add(const struct document *d, struct side *side, struct series_table *table,
		 unsigned number)
{
	json_t *metrics = json_object_get(d->root, "metrics"),
	       *system = json_object_get(d->root, "system"), *value;
	struct intake in = { d, table, number, NULL, side->count };
	const char *key;
	int ret = add_trials(side, d);

	if (ret)
		return ret;
	in.trials = side->trials + in.count;
	in.count = side->count - in.count;
	for (size_t i = 0; i < in.count; i++)
		side->valid += !in.trials[i].fault;
	json_object_foreach(metrics, key, value) ret = ret ?: add_metric(&in, key, value);
	json_object_foreach(system, key, value)
		ret = ret ?: add_samples(&in, series_of(&in, "", "", key), value, 1);
	ret = ret ?: add_progress(side, json_object_get(d->root, "intervals"), in.count);
	if (!ret)
		ret = side->circumstances ? circumstances_mixed(side, d->root)
					  : circumstances_of(side, d->root);
	return ret == -ENOMEM ? failed("memory for %s", d->name) : ret;
}
