// SPDX-License-Identifier: GPL-2.0-or-later
/* report - tests of common/report.c: the document, read back. */
#include "common/report.h"
#include "tests/check.h"
#include "tests/unit/document.h"
#include "tests/unit/hear.h"

#include <errno.h>
#include <signal.h>
#include <sys/utsname.h>
#include <time.h>

static const struct opt no_options[] = { OPT_END };

static struct report *new_report(void)
{
	static char prog[] = "prog";
	char *const argv[] = { prog, NULL };

	return report_new(1, argv, no_options, no_options);
}

/* Write R, which ends here, to standard output, and read it back. */
static json_t *read_back(struct report *r)
{
	static struct heard heard;
	struct output out;
	int ret;

	hear_begin(&heard, STDOUT_FILENO);
	ret = output_open(&out, "") ?: report_write(r, &out);
	hear_end(&heard);
	report_free(r);
	CHECK_U64("write", ret, 0);
	CHECK_U64("writes", heard.writes, 1);
	return document_parse(heard.text);
}

/* The members of every document, by the design, and of which kind they are. */
static const struct {
	const char *key;
	json_type type;
} members[] = {
	{ "schema", JSON_STRING },      { "program", JSON_STRING },
	{ "version", JSON_STRING },     { "argv", JSON_ARRAY },
	{ "started", JSON_STRING },     { "host", JSON_OBJECT },
	{ "environment", JSON_OBJECT }, { "options", JSON_OBJECT },
	{ "metrics", JSON_OBJECT },     { "system", JSON_OBJECT },
	{ "workers", JSON_ARRAY },      { "outcome", JSON_STRING },
	{ "warnings", JSON_ARRAY },     { "intervals", JSON_ARRAY },
	{ "notes", JSON_ARRAY },
};

static void check_host(json_t *root)
{
	struct utsname u;
	const char *name, *kernel, *version, *machine;

	CHECK_U64("uname", uname(&u), 0);
	CHECK_U64("host",
		  json_unpack(root, "{s:{s:s, s:s, s:s, s:s}}", "host", "name", &name,
			      "kernel", &kernel, "kernel_version", &version, "machine",
			      &machine),
		  0);
	CHECK_TEXT("name", name, u.nodename);
	CHECK_TEXT("kernel", kernel, u.release);
	CHECK_TEXT("kernel version", version, u.version);
	CHECK_TEXT("machine", machine, u.machine);
}

/* Started between two looks at the clock; in UTC, whatever the time zone. */
static void check_started(json_t *root, time_t before)
{
	const char *text = json_string_value(document_at(root, "started"));
	struct tm tm = { 0 };
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;
	time_t started;

	CHECK(end && !*end);
	CHECK_U64("length", text ? strlen(text) : 0, 20);
	started = timegm(&tm);
	CHECK(started >= before && started <= time(NULL));
}

static void check_members(void)
{
	time_t before = time(NULL);
	json_t *root;

	setenv("TZ", "XYZ+7", 1);
	tzset();
	root = read_back(new_report());
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		json_t *value = json_object_get(root, members[i].key);

		CHECK_U64(members[i].key, value ? (int)json_typeof(value) : -1,
			  members[i].type);
	}
	CHECK_U64("members", json_object_size(root), ARRAY_SIZE(members));
	document_check("", root, "schema", "\"1\"");
	document_check("", root, "program", "\"prog\"");
	document_check("", root, "version", "\"" PAGEMILL_VERSION "\"");
	/* Until somebody says otherwise. */
	document_check("", root, "outcome", "\"failed\"");
	check_host(root);
	check_started(root, before);
	json_decref(root);
}

/* A word of the command line, and how the document has it. */
static const struct {
	const char *word, *json;
} argv_words[] = {
	{ "usemem", "usemem" },
	{ "", "" },
	{ "-f", "-f" },
	{ "a b\"c\\d", "a b\"c\\d" },
	{ "tab\t, newline\n, bell\a", "tab\t, newline\n, bell\a" },
	{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe",
	  "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe" },
	{ "caf\xe9", "caf\\xe9" },
	{ "\xff", "\\xff" },
	{ "\x80/\xc3\xa9", "\\x80/\\xc3\\xa9" },
	{ "cut \xc3", "cut \\xc3" },
	{ "overlong \xc0\xaf", "overlong \\xc0\\xaf" },
	{ "surrogate \xed\xa0\x80", "surrogate \\xed\\xa0\\x80" },
	{ "too high \xf4\x90\x80\x80", "too high \\xf4\\x90\\x80\\x80" },
};

static void check_argv(void)
{
	char *argv[ARRAY_SIZE(argv_words)];
	json_t *root, *words;

	for (size_t i = 0; i < ARRAY_SIZE(argv_words); i++)
		argv[i] = (char *)argv_words[i].word;
	root = read_back(report_new(ARRAY_SIZE(argv), argv, no_options, no_options));
	words = json_object_get(root, "argv");
	CHECK_U64("words", json_array_size(words), ARRAY_SIZE(argv_words));
	for (size_t i = 0; i < ARRAY_SIZE(argv_words); i++)
		CHECK_TEXT(argv_words[i].word,
			   json_string_value(json_array_get(words, i)),
			   argv_words[i].json);
	json_decref(root);
}

static struct {
	bool on, off;
	unsigned sync, tasks;
	uint64_t count, most, beyond, stride, number, size, time;
	const char *text, *null, *maybe, *latin;
} cfg = { .on = true,
	  .sync = 4,
	  .tasks = 3,
	  .count = 7,
	  .most = INT64_MAX,
	  .beyond = UINT64_C(1) << 63,
	  .stride = 2,
	  .number = 16,
	  .size = 64 * MiB,
	  .time = 1500 * ns_per_ms,
	  .text = "/var/tmp",
	  .maybe = "",
	  .latin = "caf\xe9" };

static const struct opt own[] = {
	OPT_FLAG('O', "on", &cfg.on, "h"),
	OPT_FLAG(0, "off-by-default", &cfg.off, "h"),
	OPT_SET('S', "msync", &cfg.sync, 4, "h"),
	OPT_SET('A', "msync-async", &cfg.sync, 1, "h"),
	OPT_COUNT(0, "count", &cfg.count, "h"),
	OPT_COUNT(0, "most", &cfg.most, "h"),
	OPT_COUNT(0, "beyond", &cfg.beyond, "h"),
	OPT_SIZE('u', "unit", &cfg.size, "h"),
	OPT_TEXT(0, "file-name", &cfg.text, "h"),
	OPT_TEXT(0, "null", &cfg.null, "h"),
	OPT_TEXT(0, "latin", &cfg.latin, "h"),
	OPT_COUNT('m', NULL, &cfg.count, "h"),
	OPT_END,
};
static const struct opt standard[] = {
	OPT_TASKS('n', "nproc", &cfg.tasks, "h"),
	OPT_BIND('b', "bind", &cfg.stride, "h"),
	OPT_NUMBER(0, "data", &cfg.number, "h"),
	OPT_TIME('T', "run-time", &cfg.time, "h"),
	OPT_LATER(MAYBE, 0, "json", text, &cfg.maybe, "h"),
	OPT_HELP('h', "help", "h"),
	{ .kind = OPT_KIND_VERSION, .name = "version" },
	OPT_END,
};

static const struct {
	const char *path, *value;
} options[] = {
	{ "options.on", "true" },
	{ "options.off_by_default", "false" },
	{ "options.msync", "true" },
	{ "options.msync_async", "false" },
	{ "options.count", "7" },
	{ "options.most", "9223372036854775807" },
	{ "options.beyond", "\"9223372036854775808\"" },
	{ "options.unit_bytes", "67108864" },
	{ "options.file_name", "\"/var/tmp\"" },
	{ "options.null", "null" },
	{ "options.latin", "\"caf\\\\xe9\"" },
	{ "options.nproc", "3" },
	{ "options.bind", "2" },
	{ "options.data", "16" },
	{ "options.run_time_ns", "1500000000" },
	{ "options.json", "\"\"" },
	{ "options.seed", "42" },
	{ "options.no_limit", "\"18446744073709551615\"" },
	{ "options.help", "-" },
	{ "options.version", "-" },
};

static void check_options(void)
{
	struct report *r = report_new(0, NULL, own, standard);
	json_t *root;

	report_option(r, "seed", 42);
	report_option(r, "no_limit", NO_LIMIT);
	root = read_back(r);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		document_check("", root, options[i].path, options[i].value);
	CHECK_U64("options", json_object_size(json_object_get(root, "options")),
		  ARRAY_SIZE(options) - 2);
	json_decref(root);
}

static unsigned ids[] = { 3, 0, 1, 2, 8 };

static const struct {
	const char *path, *value;
} environment[] = {
	{ "environment.cpus_online", "5" },
	{ "environment.cpus_allowed", "4" },
	{ "environment.nodes", "2" },
	{ "environment.cpus_allowed_list", "\"0-3\"" },
	{ "environment.nodes_list", "\"0,3\"" },
	{ "environment.memory_nodes_list", "\"3\"" },
	{ "environment.page_bytes", "4096" },
	{ "environment.hugepage_bytes", "2097152" },
	{ "environment.memory_bytes", "17179869184" },
	{ "environment.memory_available_bytes", "8589934592" },
	{ "environment.swap_bytes", "101" },
	{ "environment.swap_free_bytes", "0" },
	{ "environment.cgroup_memory_max_bytes", "null" },
	{ "environment.cgroup_memory_high_bytes", "102" },
	{ "environment.cgroup_memory_room_bytes", "103" },
	{ "environment.cgroup_cpu_millicpus", "1500" },
	{ "environment.cgroup_pids_max", "null" },
	{ "environment.rlimit_memlock_bytes", "104" },
	{ "environment.rlimit_as_bytes", "null" },
	{ "environment.rlimit_nproc", "105" },
	{ "environment.rlimit_nofile", "106" },
	{ "environment.rlimit_sigpending", "107" },
	{ "environment.rlimit_fsize_bytes", "null" },
	{ "environment.max_map_count", "65530" },
};

static void check_environment(void)
{
	const struct topo topo = { .online = { ids, 5, 5 },
				   .allowed = { ids, 4, 5 },
				   .nodes = { ids, 2, 5 },
				   .memory_nodes = { ids, 1, 5 } };
	const struct limits limits = { .page_bytes = 4096,
				       .hugepage_bytes = 2 * MiB,
				       .memory_bytes = 16 * GiB,
				       .memory_available_bytes = 8 * GiB,
				       .swap_bytes = 101,
				       .cgroup_max_bytes = NO_LIMIT,
				       .cgroup_high_bytes = 102,
				       .cgroup_room_bytes = 103,
				       .cgroup_millicpus = 1500,
				       .cgroup_pids_max = NO_LIMIT,
				       .memlock_bytes = 104,
				       .address_space_bytes = NO_LIMIT,
				       .processes = 105,
				       .open_files = 106,
				       .pending_signals = 107,
				       .file_bytes = NO_LIMIT,
				       .max_map_count = 65530 };
	struct report *r = new_report();
	json_t *root;

	report_environment(r, &topo, &limits);
	root = read_back(r);
	for (size_t i = 0; i < ARRAY_SIZE(environment); i++)
		document_check("", root, environment[i].path, environment[i].value);
	json_decref(root);
}

static const struct {
	double value;
	const char *json;
} numbers[] = {
	{ 0, "0" },
	{ 1, "1" },
	{ -5, "-5" },
	{ 1.5, "1.5" },
	{ 0.1, "0.10000000000000001" },
	{ 1e9 / 3, "333333333.33333331" },
	{ 1234567890123.0, "1234567890123" },
	{ 8999999999999999.0, "8999999999999999" },
	{ 1e300, "1.0000000000000001e300" },
	{ NAN, "null" },
	{ INFINITY, "null" },
	{ -INFINITY, "null" },
};

static void check_numbers(void)
{
	static const struct metric metric = { "x", UNIT_NS, false };
	struct report *r = new_report();
	char path[64];
	json_t *root;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		report_sample(r, &metric, numbers[i].value);
	root = read_back(r);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		snprintf(path, sizeof(path), "metrics.x_ns.samples.%zu", i);
		document_check("", root, path, numbers[i].json);
	}
	json_decref(root);
}

static const struct metric throughput = { "throughput", UNIT_BYTES_PER_S, true };
static const struct metric bytes = { "bytes", UNIT_BYTES, true };
static const struct metric walk_bytes = { "walk", UNIT_BYTES, false };
static const struct metric walk_ns = { "walk", UNIT_NS, false };

static const struct {
	const char *path, *value;
} metrics[] = {
	{ "metrics.throughput_bytes_per_s.unit", "\"bytes/s\"" },
	{ "metrics.throughput_bytes_per_s.better", "\"higher\"" },
	{ "metrics.throughput_bytes_per_s.samples", "[100,200]" },
	{ "metrics.throughput_bytes_per_s.per_worker", "[[10,null,30],[1.5]]" },
	{ "metrics.bytes_bytes.unit", "\"bytes\"" },
	{ "metrics.bytes_bytes.samples", "[7]" },
	{ "metrics.bytes_bytes.per_worker", "[]" },
	{ "metrics.walk_bytes.better", "\"lower\"" },
	{ "metrics.walk_bytes.samples", "[]" },
	{ "metrics.walk_bytes.per_worker", "[[]]" },
	{ "metrics.walk_ns.unit", "\"ns\"" },
	{ "metrics.walk_ns.better", "\"lower\"" },
	{ "metrics.walk_ns.samples", "[null]" },
};

static void check_metrics(void)
{
	static const double workers[] = { 10, NAN, 30 }, one[] = { 1.5 };
	struct report *r = new_report();
	json_t *root;

	report_sample(r, &throughput, 100);
	report_per_worker(r, &throughput, workers, 3);
	report_sample(r, &bytes, 7);
	report_sample(r, &throughput, 200);
	report_per_worker(r, &throughput, one, 1);
	report_per_worker(r, &walk_bytes, NULL, 0);
	report_sample(r, &walk_ns, NAN);
	root = read_back(r);
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
		document_check("", root, metrics[i].path, metrics[i].value);
	CHECK_U64("metrics", json_object_size(json_object_get(root, "metrics")), 4);
	json_decref(root);
}

static const struct {
	const char *path, *value;
} workers[] = {
	{ "workers.0", "{\"repetition\":0,\"id\":0,\"outcome\":\"ok\"}" },
	{ "workers.1",
	  "{\"repetition\":0,\"id\":1,\"outcome\":\"failed\",\"errno\":\"ENOMEM\"}" },
	{ "workers.2",
	  "{\"repetition\":0,\"id\":2,\"outcome\":\"lost\",\"signal\":\"KILL\"}" },
	{ "workers.3", "{\"repetition\":0,\"id\":3,\"outcome\":\"interrupted\"}" },
	{ "workers.4", "{\"repetition\":0,\"id\":4,\"outcome\":\"stopped\"}" },
	{ "workers.5",
	  "{\"repetition\":0,\"id\":5,\"outcome\":\"failed\",\"errno\":\"?\"}" },
	{ "workers.6",
	  "{\"repetition\":0,\"id\":6,\"outcome\":\"lost\",\"signal\":\"?\"}" },
	{ "workers.7", "{\"repetition\":1,\"id\":0,\"outcome\":\"ok\"}" },
	{ "workers.8", "-" },
};

static void check_workers(void)
{
	static struct tally tallies[] = {
		{ .outcome = OUTCOME_OK },
		{ .outcome = OUTCOME_FAILED, .error = -ENOMEM },
		{ .outcome = OUTCOME_LOST, .signal = SIGKILL },
		{ .outcome = OUTCOME_INTERRUPTED },
		{ .outcome = OUTCOME_NONE },
		{ .outcome = OUTCOME_FAILED, .error = -99999 },
		{ .outcome = OUTCOME_LOST, .signal = 999 },
	};
	const struct crew_result first = { .workers = ARRAY_SIZE(tallies),
					   .tallies = tallies },
				 second = { .workers = 1, .tallies = tallies };
	struct report *r = new_report();
	json_t *root;

	report_workers(r, &first);
	report_workers(r, &second);
	root = read_back(r);
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++)
		document_check("", root, workers[i].path, workers[i].value);
	json_decref(root);
}

/* Rows of four repetitions, the last of which has none. */
static void check_system(void)
{
	static const struct {
		unsigned repetition;
		const char *name;
		double value;
	} told[] = {
		{ 0, "a", 1 },       { 0, "b.x/s", 2.5 }, { 1, "a", NAN },
		{ 1, "late", 5 },    { 2, "b.x/s", 7 },   { 2, "caf\xe9", 1 },
		{ 2, "huge", 1e30 },
	};
	const struct crew_result result = { .workers = 0 };
	struct report *r = new_report();
	json_t *root;

	for (unsigned repetition = 0; repetition < 4; repetition++) {
		report_workers(r, &result);
		for (size_t i = 0; i < ARRAY_SIZE(told); i++)
			if (told[i].repetition == repetition)
				report_system(r, told[i].name, told[i].value);
	}
	root = read_back(r);
	document_check("", root, "system",
		       "{\"a\":[1,null,null],\"b.x/s\":[2.5,null,7],"
		       "\"late\":[null,5,null],\"huge\":[null,null,1e30]}");
	json_decref(root);
}

static void check_the_rest(void)
{
	struct report *r = new_report();
	json_t *root;

	report_interval(r, 0, 1000, 5);
	report_interval(r, 1, INT64_MAX, UINT64_MAX);
	report_warning(r, "quiet the machine");
	report_warning(r, "caf\xe9");
	root = read_back(r);
	document_check("", root, "intervals",
		       "[{\"repetition\":0,\"elapsed_ns\":1000,\"bytes\":5},"
		       "{\"repetition\":1,\"elapsed_ns\":9223372036854775807,"
		       "\"bytes\":\"18446744073709551615\"}]");
	document_check("", root, "warnings", "[\"quiet the machine\",\"caf\\\\xe9\"]");
	json_decref(root);
}

static const struct {
	int ret, signal;
	const char *outcome;
} outcomes[] = {
	{ 0, 0, "\"ok\"" },
	{ 0, SIGINT, "\"interrupted\"" },
	{ -EIO, 0, "\"failed\"" },
	{ -EIO, SIGINT, "\"failed\"" },
	{ -EBADRQC, 0, "\"failed\"" },
	{ -ECHILD, 0, "\"failed\"" },
	{ -EOPNOTSUPP, 0, "\"skipped\"" },
	{ -ENOSYS, 0, "\"skipped\"" },
};

static void check_outcomes(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		struct report *r = new_report();
		json_t *root;

		report_outcome(r, outcomes[i].ret, outcomes[i].signal);
		root = read_back(r);
		document_check("", root, "outcome", outcomes[i].outcome);
		json_decref(root);
	}
}

static void check_full(void)
{
	static struct heard heard;
	struct report *r = new_report();
	struct output out;
	int ret;

	hear_begin(&heard, STDERR_FILENO);
	ret = output_open(&out, "/dev/full") ?: report_write(r, &out);
	hear_end(&heard);
	report_free(r);
	CHECK_U64("full", ret, -ENOSPC);
	CHECK_TEXT("full", heard.text,
		   "prog: write results to /dev/full: No space left on device\n");
}

/* Unknown is null; what was there before has no keys of what was made; told twice is told once. */
static void check_filesystems(void)
{
	static const struct {
		const char *name;
		struct medium medium;
		bool made;
		struct fs_made how;
		const char *want;
	} rows[] = {
		{ "was there",
		  { .type = "ext4",
		    .options = "rw",
		    .device = "/dev/a",
		    .block_bytes = 4096 },
		  false,
		  { .size_bytes = 1 },
		  "{\"type\":\"ext4\",\"options\":\"rw\",\"device\":\"/dev/"
		  "a\",\"block_bytes\":4096,\"queue\":null}" },
		{ "unknown",
		  { .block_bytes = 512 },
		  false,
		  { .size_bytes = 1 },
		  "{\"type\":null,\"options\":null,\"device\":null,\"block_bytes\":"
		  "512,\"queue\":null}" },
		{ "no UTF-8",
		  { .type = "x", .options = "rw", .device = "/\xff", .block_bytes = 1 },
		  false,
		  { .size_bytes = 1 },
		  "{\"type\":\"x\",\"options\":\"rw\",\"device\":\"/"
		  "\\\\xff\",\"block_bytes\":1,\"queue\":null}" },
		{ "an image",
		  { .type = "xfs",
		    .options = "rw",
		    .device = "/dev/loop0",
		    .block_bytes = 1 },
		  true,
		  { .size_bytes = 7,
		    .allocation_groups = 4,
		    .reflink = 1,
		    .image_on = "/d",
		    .loop_direct_io = true },
		  "{\"type\":\"xfs\",\"options\":\"rw\",\"device\":\"/dev/"
		  "loop0\",\"block_bytes\":1,\"queue\":null,"
		  "\"size_bytes\":7,\"allocation_groups\":4,\"reflink\":true,\"image_"
		  "on\":\"/d\","
		  "\"loop_direct_io\":true}" },
		{ "no image",
		  { .type = "tmpfs",
		    .options = "rw",
		    .device = "tmpfs",
		    .block_bytes = 1 },
		  true,
		  { .size_bytes = 8, .reflink = -1 },
		  "{\"type\":\"tmpfs\",\"options\":\"rw\",\"device\":\"tmpfs\",\"block_"
		  "bytes\":1,\"queue\":null,"
		  "\"size_bytes\":8,\"allocation_groups\":null,\"reflink\":null,\"image_"
		  "on\":null,"
		  "\"loop_direct_io\":null}" },
	};
	struct report *r = new_report();
	char path[64];
	json_t *root;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++)
		report_filesystem(r, &rows[i / 2].medium,
				  rows[i / 2].made ? &rows[i / 2].how : NULL);
	root = read_back(r);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(path, sizeof(path), "environment.filesystems.%zu", i);
		document_check(rows[i].name, root, path, rows[i].want);
	}
	document_check("told twice", root, "environment.filesystems.5", "-");
	json_decref(root);
}

int main(void)
{
	static char prog[] = "prog";

	program_invocation_short_name = prog;
	check_members();
	check_argv();
	check_options();
	check_environment();
	check_filesystems();
	check_numbers();
	check_metrics();
	check_workers();
	check_system();
	check_the_rest();
	check_outcomes();
	check_full();
	report_free(NULL);
	return check_result();
}
