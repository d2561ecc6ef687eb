// SPDX-License-Identifier: GPL-2.0-or-later
/* figures - tests of common/figures.c: sums over the workers, and latencies, in JSON and as a line. */
#include "common/figures.h"
#include "tests/check.h"
#include "tests/unit/document.h"
#include "tests/unit/hear.h"
#include "tests/unit/records.h"

#include <stddef.h>

enum { WORKERS = 3 };
struct record {
	uint64_t calls, bytes;
	struct hist idle_ns, busy_ns;
};

static const struct opt no_options[] = { OPT_END };
static const bool asked = true, not_asked = false;
static const struct figure figures[] = {
	{ { "call", UNIT_COUNT, true }, NULL, offsetof(struct record, calls) },
	{ { "moved", UNIT_BYTES, true }, &asked, offsetof(struct record, bytes) },
	{ { "silent", UNIT_BYTES, true }, &not_asked, offsetof(struct record, bytes) },
};
static const struct latency busy = { "busy", offsetof(struct record, busy_ns) };
static const struct latency idle = { "idle", offsetof(struct record, idle_ns) };

static struct hist all;
static struct crew_result result;

/* Values below 64 are told exactly: 1 to 40 by worker 0, 41 to 50 by worker 2, none by worker 1. */
static void fill(void)
{
	for (unsigned i = 0; i < WORKERS; i++) {
		struct record *record = crew_record(&result, i);

		record->calls = i + 1;
		record->bytes = UINT64_C(1) << (40 + i);
	}
	for (uint64_t ns = 1; ns <= 50; ns++) {
		struct record *record = crew_record(&result, ns <= 40 ? 0 : 2);

		hist_add(&record->busy_ns, ns);
	}
}

static void check_sums(void)
{
	CHECK_U64("of one", figure_of(&result, 2, offsetof(struct record, calls)), 3);
	CHECK_U64("of all", figure_total(&result, offsetof(struct record, calls)), 6);
	CHECK_U64("of all, large", figure_total(&result, offsetof(struct record, bytes)),
		  UINT64_C(7) << 40);
	latency_merge(&busy, &result, &all);
	CHECK_U64("merged", all.count, 50);
	/* What was there before goes. */
	latency_merge(&busy, &result, &all);
	CHECK_U64("merged again", all.count, 50);
}

/* Two repetitions. */
static json_t *report_all(void)
{
	static char prog[] = "prog";
	char *const argv[] = { prog, NULL };
	struct report *r = report_new(1, argv, no_options, no_options);
	static struct heard heard;
	struct output out;
	double x[WORKERS];

	for (int i = 0; i < 2; i++) {
		figures_report(r, figures, ARRAY_SIZE(figures), &result, x);
		latency_merge(&busy, &result, &all);
		latency_report(r, &busy, &result, &all, x);
		latency_merge(&idle, &result, &all);
		latency_report(r, &idle, &result, &all, x);
	}
	hear_begin(&heard, STDOUT_FILENO);
	CHECK_U64("write", output_open(&out, "") ?: report_write(r, &out), 0);
	hear_end(&heard);
	report_free(r);
	return document_parse(heard.text);
}

static void check_document(void)
{
	static const char *const rows[][2] = {
		{ "call_count.samples", "[6,6]" },
		{ "call_count.per_worker", "[[1,2,3],[1,2,3]]" },
		{ "call_count.better", "\"higher\"" },
		{ "moved_bytes.samples", "[7696581394432,7696581394432]" },
		{ "silent_bytes", "-" },
		{ "busy_latency_min_ns.samples", "[1,1]" },
		{ "busy_latency_min_ns.per_worker", "[[1,0,41],[1,0,41]]" },
		{ "busy_latency_min_ns.better", "\"lower\"" },
		{ "busy_latency_median_ns.samples", "[25,25]" },
		{ "busy_latency_median_ns.per_worker", "[[20,0,45],[20,0,45]]" },
		{ "busy_latency_p90_ns.samples", "[45,45]" },
		{ "busy_latency_p90_ns.per_worker", "[[36,0,49],[36,0,49]]" },
		{ "busy_latency_p99_ns.samples", "[50,50]" },
		{ "busy_latency_p99_9_ns.samples", "[50,50]" },
		{ "busy_latency_max_ns.samples", "[50,50]" },
		{ "busy_latency_max_ns.per_worker", "[[40,0,50],[40,0,50]]" },
		{ "idle_latency_min_ns", "-" },
		{ "idle_latency_max_ns", "-" },
	};
	json_t *root = report_all();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		document_check("", json_object_get(root, "metrics"), rows[i][0],
			       rows[i][1]);
	json_decref(root);
}

static void check_line(const char *row, const struct latency *l, const char *want)
{
	static struct heard heard;
	int ret;

	hear_begin(&heard, STDOUT_FILENO);
	ret = latency_print(l, &all);
	hear_end(&heard);
	CHECK_U64(row, ret, 0);
	CHECK_TEXT(row, heard.text, want);
	CHECK_U64(row, heard.writes, *want ? 1 : 0);
}

static void check_lines(void)
{
	latency_merge(&idle, &result, &all);
	check_line("no call", &idle, "");
	hist_add(&all, 1549);
	check_line("one call", &busy,
		   "busy latency: min 1.5 us, median 1.5 us, 90 % 1.5 us, 99 % 1.5 us, "
		   "99.9 % 1.5 us, max 1.5 us\n");
	hist_add(&all, UINT64_MAX);
	check_line("the longest there are", &busy,
		   "busy latency: min 1.5 us, median 1.5 us, "
		   "90 % 18446744073709552.0 us, 99 % 18446744073709552.0 us, "
		   "99.9 % 18446744073709552.0 us, max 18446744073709552.0 us\n");
}

int main(void)
{
	base_init();
	result = records_make(WORKERS, sizeof(struct record));
	fill();
	check_sums();
	check_document();
	check_lines();
	records_free(&result);
	return check_result();
}
