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
	for (unsigned i = 0; i < count; i++) {
		more[i] = (struct trial){ .file = d->name,
					  .repetition = i,
					  .fault = fault_of_figures(d, i) };
		snprintf(more[i].started, sizeof(more[i].started), "%s",
			 document_text(d, "started"));
	}
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

/* Take the values of each valid run: one, or as many as a program takes in one run. */
static int add_samples(struct series *s, unsigned number, const json_t *samples,
		       const struct trial *trials, unsigned count, double scale)
{
	size_t size = json_array_size(samples), each = MAX(size / MAX(count, 1U), 1);
	int ret = 0;

	if (!s)
		return -ENOMEM;
	s->sides[number].each = MAX(s->sides[number].each, each);
	for (size_t i = 0; i < MIN(size, each * count) && !ret; i++) {
		const json_t *x = json_array_get(samples, i);
		double value = json_number_value(x) * scale;

		/* Beyond that nothing can be reckoned with, nor was it measured. */
		if (!trials[i / each].fault && json_is_number(x) && fabs(value) < 1e100)
			ret = series_add(s, number, value);
	}
	return ret;
}

static int add_metric(struct series_table *table, unsigned number,
		      const struct document *d, const char *key, const json_t *metric,
		      const struct trial *trials, unsigned count)
{
	const char *name = key, *unit = text_of(metric, "unit") ?: "";
	const char *better = text_of(metric, "better") ?: "";
	char full[256];
	struct series *s;
	double scale = 1;

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
	snprintf(full, sizeof(full), "%s.%s", document_text(d, "program"), name);
	s = series_get(table, made_plain(full));
	if (s) {
		s->own = true;
		s->better = !strcmp(better, "higher")  ? BETTER_HIGHER
			    : !strcmp(better, "lower") ? BETTER_LOWER
						       : BETTER_NEITHER;
		snprintf(s->unit, sizeof(s->unit), "%s", unit);
		made_plain(s->unit);
	}
	return add_samples(s, number, json_object_get(metric, "samples"), trials, count,
			   scale);
}

static int add_system(struct series_table *table, unsigned number, const char *key,
		      const json_t *samples, const struct trial *trials, unsigned count)
{
	char full[256];

	snprintf(full, sizeof(full), "%s", key);
	return add_samples(series_get(table, made_plain(full)), number, samples, trials,
			   count, 1);
}

/* The series of --interval. */
static int add_progress(const struct document *d, struct trial *trials, unsigned count)
{
	const json_t *all = json_object_get(d->root, "intervals");

	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *point = json_array_get(all, i);
		json_int_t at = json_integer_value(json_object_get(point, "repetition"));
		struct trial *t;
		struct progress *more;

		if (at < 0 || at >= count)
			continue;
		t = &trials[at];
		more = realloc(t->progress, (t->progress_count + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->progress = more;
		more[t->progress_count++] = (struct progress){
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
	size_t before = side->count;
	const char *key;
	struct trial *trials;
	unsigned count;
	int ret = add_trials(side, d);

	if (ret)
		return ret;
	trials = side->trials + before;
	count = (unsigned)(side->count - before);
	for (unsigned i = 0; i < count; i++)
		side->valid += !trials[i].fault;
	json_object_foreach(metrics, key, value)
		ret = ret ?: add_metric(table, number, d, key, value, trials, count);
	json_object_foreach(system, key, value)
		ret = ret ?: add_system(table, number, key, value, trials, count);
	ret = ret ?: add_progress(d, trials, count);
	if (!ret && !side->circumstances)
		ret = circumstances_of(side, d->root);
	else if (!ret)
		ret = circumstances_mixed(side, d->root);
	return ret == -ENOMEM ? failed("memory for %s", d->name) : ret;
}
