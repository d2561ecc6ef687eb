// SPDX-License-Identifier: GPL-2.0-or-later
/* report - what a run says, as one tree, written as one JSON document. */
#include "common/report.h"

#include "common/environment.h"
#include "common/json.h"
#include "common/optkinds.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

struct report {
	json_t *root, *options, *metrics, *system, *workers, *intervals, *warnings;
	unsigned repetitions;
	unsigned system_repetitions; /* up to the last that has a row of the system */
};

/* Whole values stay whole. */
static json_t *json_value(double x)
{
	if (!isfinite(x))
		return json_null();
	if (x == floor(x) && fabs(x) < 9e15)
		return json_integer((json_int_t)x);
	return json_real(x);
}

/* "--file" -> "file", "--dry-run" -> "dry_run", a size -> "unit_bytes", a time -> "runtime_ns" */
static void option_key(const struct opt *o, char key[static 64])
{
	const char *unit = opt_kinds[o->kind].unit;

	snprintf(key, 64, "%s%s%s", o->name, unit ? "_" : "", unit ?: "");
	for (char *at = key; *at; at++)
		if (*at == '-')
			*at = '_';
}

static json_t *json_words(const struct words *words)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < words->count; i++)
		json_array_append_new(array, json_of_text(words->at[i]));
	return array;
}

static json_t *option_value(const struct opt *o)
{
	if (o->given && !*o->given)
		return json_null();
	switch (o->kind) {
	case OPT_KIND_FLAG:
		return json_boolean(*o->to.flag);
	case OPT_KIND_SET:
		return json_boolean(*o->to.count == o->value);
	case OPT_KIND_BIND:
		return *o->to.number == BIND_NODE ? json_string("node")
						  : json_of_count(*o->to.number);
	case OPT_KIND_TASKS:
		return json_integer(*o->to.count);
	case OPT_KIND_TEXT:
	case OPT_KIND_WORD:
	case OPT_KIND_MAYBE:
	case OPT_KIND_NEXT:
		return *o->to.text ? json_of_text(*o->to.text) : json_null();
	case OPT_KIND_LIST:
	case OPT_KIND_WORDS:
		return json_words(o->to.words);
	case OPT_KIND_CHOICE:
		return json_string(o->choices[*o->to.count]);
	case OPT_KIND_END:
	case OPT_KIND_ALIAS:
	case OPT_KIND_HELP:
	case OPT_KIND_VERSION:
		return NULL;
	case OPT_KIND_SLEEP:
		return *o->to.time == UINT64_MAX ? json_string("for ever")
						 : json_of_count(*o->to.time);
	default:
		return json_of_count(*o->to.number);
	}
}

static void record_options(json_t *options, const struct opt *table)
{
	char key[64];

	for (; table->kind != OPT_KIND_END; table++) {
		json_t *value = table->name ? option_value(table) : NULL;

		if (!value)
			continue;
		option_key(table, key);
		json_object_set_new(options, key, value);
	}
}

static json_t *json_started(void)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	return json_string(text);
}

static json_t *json_host(void)
{
	struct utsname u;

	uname(&u);
	return json_pack("{s:o, s:o, s:o, s:o}", "name", json_of_text(u.nodename),
			 "kernel", json_of_text(u.release), "kernel_version",
			 json_of_text(u.version), "machine", json_of_text(u.machine));
}

struct report *report_new(int argc, char *const *argv, const struct opt *own,
			  const struct opt *standard)
{
	struct report *r = calloc(1, sizeof(*r));
	json_t *words = json_array();

	if (!r)
		return NULL;
	for (int i = 0; i < argc; i++)
		json_array_append_new(words, json_of_text(argv[i]));
	r->root = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:{}, s:{}, s:{}, s:{}, "
			    "s:[], s:[], s:s, s:[], s:[]}",
			    "schema", "1", "program", program_invocation_short_name,
			    "version", PAGEMILL_VERSION, "argv", words, "started",
			    json_started(), "host", json_host(), "environment", "options",
			    "metrics", "system", "intervals", "workers", "outcome",
			    "failed", "warnings", "notes");
	r->options = json_object_get(r->root, "options");
	r->metrics = json_object_get(r->root, "metrics");
	r->system = json_object_get(r->root, "system");
	r->workers = json_object_get(r->root, "workers");
	r->intervals = json_object_get(r->root, "intervals");
	r->warnings = json_object_get(r->root, "warnings");
	record_options(r->options, own);
	record_options(r->options, standard);
	return r;
}

void report_free(struct report *r)
{
	if (r)
		json_decref(r->root);
	free(r);
}

void report_environment(struct report *r, const struct topo *topo,
			const struct limits *limits)
{
	environment_machine(json_object_get(r->root, "environment"), topo, limits);
}

void report_filesystem(struct report *r, const struct medium *m,
		       const struct fs_made *made)
{
	environment_filesystem(json_object_get(r->root, "environment"), m, made);
}

void report_options(struct report *r, const struct opt *own)
{
	record_options(r->options, own);
}

void report_option(struct report *r, const char *name, uint64_t value)
{
	json_object_set_new(r->options, name, json_of_count(value));
}

static json_t *metric_object(struct report *r, const struct metric *metric)
{
	static const struct {
		const char *suffix, *name;
	} units[] = {
		[UNIT_BYTES] = { "bytes", "bytes" },
		[UNIT_BYTES_PER_S] = { "bytes_per_s", "bytes/s" },
		[UNIT_NS] = { "ns", "ns" },
		[UNIT_PAGES] = { "pages", "pages" },
		[UNIT_FAULTS] = { "faults", "faults" },
		[UNIT_COUNT] = { "count", "count" },
		[UNIT_PER_S] = { "per_s", "1/s" },
		[UNIT_SHARE] = { "share", "share of 1" },
	};
	char key[64];
	json_t *object;

	snprintf(key, sizeof(key), "%s_%s", metric->name, units[metric->unit].suffix);
	object = json_object_get(r->metrics, key);
	if (object)
		return object;
	object = json_pack("{s:s, s:s, s:[], s:[]}", "unit", units[metric->unit].name,
			   "better", metric->higher_is_better ? "higher" : "lower",
			   "samples", "per_worker");
	json_object_set_new(r->metrics, key, object);
	return object;
}

void report_sample(struct report *r, const struct metric *metric, double value)
{
	json_array_append_new(json_object_get(metric_object(r, metric), "samples"),
			      json_value(value));
}

void report_per_worker(struct report *r, const struct metric *metric, const double *x,
		       size_t n)
{
	json_t *values = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(values, json_value(x[i]));
	json_array_append_new(json_object_get(metric_object(r, metric), "per_worker"),
			      values);
}

void report_workers(struct report *r, const struct crew_result *result)
{
	for (unsigned i = 0; i < result->workers; i++) {
		const struct tally *t = &result->tallies[i];
		json_t *worker = json_pack("{s:i, s:i, s:s}", "repetition",
					   r->repetitions, "id", i, "outcome",
					   outcome_name((enum outcome)t->outcome));

		if (t->error)
			json_object_set_new(
				worker, "errno",
				json_of_text(strerrorname_np(-t->error) ?: "?"));
		if (t->signal)
			json_object_set_new(worker, "signal",
					    json_of_text(sigabbrev_np(t->signal) ?: "?"));
		json_array_append_new(r->workers, worker);
	}
	r->repetitions++;
}

void report_interval(struct report *r, unsigned repetition, uint64_t elapsed_ns,
		     uint64_t bytes)
{
	json_array_append_new(r->intervals,
			      json_pack("{s:i, s:o, s:o}", "repetition", repetition,
					"elapsed_ns", json_of_count(elapsed_ns), "bytes",
					json_of_count(bytes)));
}

/* Make it LEN long. */
static void fill_with_null(json_t *array, size_t len)
{
	while (json_array_size(array) < len)
		if (json_array_append_new(array, json_null()))
			return;
}

void report_system(struct report *r, const char *name, double value)
{
	json_t *array = json_object_get(r->system, name);

	if (!array) {
		array = json_array();
		/* A name that is no UTF-8 is no name that anybody looks for. */
		if (json_object_set_new(r->system, name, array))
			return;
	}
	r->system_repetitions = r->repetitions;
	fill_with_null(array, MAX(r->repetitions, 1) - 1);
	json_array_append_new(array, json_value(value));
}

void report_note(struct report *r, const char *text)
{
	json_array_append_new(json_object_get(r->root, "notes"), json_of_text(text));
}

void report_warning(struct report *r, const char *text)
{
	json_array_append_new(r->warnings, json_of_text(text));
}

void report_outcome(struct report *r, int ret, int signal)
{
	const char *outcome = exit_status(ret) == 77 ? "skipped"
			      : ret                  ? "failed"
			      : signal               ? "interrupted"
						     : "ok";

	json_object_set_new(r->root, "outcome", json_string(outcome));
}

int report_write(struct report *r, struct output *out)
{
	const char *name;
	json_t *array;
	char *text;
	char *line = NULL;
	int ret = -ENOMEM;

	json_object_foreach(r->system, name, array)
		fill_with_null(array, r->system_repetitions);
	text = json_dumps(r->root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	if (text && asprintf(&line, "%s\n", text) > 0)
		ret = output_write(out, line);
	else
		failed("memory for the JSON result");
	free(line);
	free(text);
	return ret;
}
