// SPDX-License-Identifier: GPL-2.0-or-later
/* run - tests of common/run.c: workloads of a few lines, each run as a program of its own. */
#include "common/run.h"
#include "common/lines.h"
#include "tests/check.h"
#include "tests/unit/child.h"
#include "tests/unit/document.h"
#include "tests/unit/tempdir.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* In place of libc's: a worker stops its clock where its row says that its work has ended. */
static _Thread_local uint64_t stopped_ns;

int clock_gettime(clockid_t id, struct timespec *t)
{
	if (id != CLOCK_MONOTONIC || !stopped_ns)
		return (int)syscall(SYS_clock_gettime, id, t);
	t->tv_sec = (time_t)(stopped_ns / ns_per_s);
	t->tv_nsec = (long)(stopped_ns % ns_per_s);
	return 0;
}

/* Of each worker in each repetition: 10^6 KB/s in a second. */
#define WORK_BYTES UINT64_C(1024000000)

enum warning { W_SHORT = 1, W_TASKS = 2, W_SLOW = 4, W_SPREAD = 8, W_FIRST = 16 };

static const char *const warnings[] = {
	"a run took less than 100 ms",         "more tasks than CPUs",
	"the slowest task has less than 80 %", "the runs spread by more than 5 %",
	"the first run is unlike the rest",
};

/* A program: its command line, what its workers do, and what is to be seen. */
struct row {
	const char *name;
	const char *args[10];
	int (*work)(struct worker *w);
	unsigned ms[6];    /* what each repetition takes; 0: as the one before */
	unsigned slow_ms;  /* what worker 2 takes; 0: like the others */
	unsigned fails_in; /* repetition, from 1; 0: none */
	int (*set_up)(void);
	bool full, without_hooks, set_up_counts;
	int status;
	const char *out;   /* NULL: the document */
	unsigned warnings; /* of enum warning, in the document and on stderr */
	const char *said;  /* on stderr too; NULL: no more */
};

static const struct row *row;
static struct run run = { .has = RUN_TASKS, .longer = "do more" };
static unsigned repetition;
static char file_path[128];

static int describe(struct report *r)
{
	report_option(r, "described", 42);
	return 0;
}

static int set_up(void)
{
	repetition++;
	note("set up");
	return row->set_up ? row->set_up() : 0;
}

static int collect(struct report *r, const struct crew_result *result)
{
	static const struct metric metric = { "collected", UNIT_NS, false };

	report_sample(r, &metric, result->workers);
	return 0;
}

static void tear_down(void)
{
	note("tear down");
}

static unsigned work_ms(unsigned id)
{
	unsigned ms = 0;

	for (unsigned i = 0; i < repetition; i++)
		ms = row->ms[i] ? row->ms[i] : ms;
	return id == 2 && row->slow_ms ? row->slow_ms : ms;
}

static int work(struct worker *w)
{
	for (unsigned piece = 0; piece < 10; piece++)
		tally_add(w, 1, WORK_BYTES / 10);
	stopped_ns = w->tally->began_ns + work_ms(w->id) * ns_per_ms;
	if (row->fails_in && row->fails_in == repetition)
		return broken("wrong data");
	return 0;
}

static int finish(struct worker *w)
{
	if (!run_prints_lines(&run))
		return 0;
	return print_bandwidth("", w->tally->work_bytes,
			       w->tally->ended_ns - w->tally->began_ns);
}

static const struct opt no_options[] = { OPT_END };
static const struct usage usage = { .operands = "", .purpose = "Run" };

static char *argv[12] = { (char *)"prog" };

static int parse_args(const char *const *args)
{
	int argc = 1;

	while (args[argc - 1]) {
		argv[argc] = (char *)args[argc - 1];
		argc++;
	}
	return run_parse(&run, &usage, no_options, argc, argv);
}

static int program(const void *arg)
{
	/* Whoever spins for ever is killed, and by that its workers are. */
	const struct rlimit seconds = { 5, 5 };
	struct run_hooks hooks = { .describe = describe,
				   .set_up = set_up,
				   .collect = collect,
				   .tear_down = tear_down };
	const struct run_hooks none = { .set_up = NULL };
	struct crew crew = { .finish = finish };

	row = arg;
	hooks.set_up_counts = row->set_up_counts;
	setrlimit(RLIMIT_CPU, &seconds);
	if (row->full)
		dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
	base_init();
	parse_args(row->args);
	crew.work = row->work ? row->work : work;
	return run_repeat(&run, &crew, row->without_hooks ? &none : &hooks);
}

static int work_until_deadline(struct worker *w)
{
	while (keep_going(w))
		sched_yield();
	tally_add(w, 1, WORK_BYTES);
	stopped_ns = w->tally->began_ns + ns_per_s;
	return 0;
}

static int work_until_signal(struct worker *w)
{
	tally_add(w, 1, WORK_BYTES);
	kill(getppid(), strstr(row->name, "SIGINT") ? SIGINT : SIGTERM);
	while (keep_going(w))
		sched_yield();
	stopped_ns = w->tally->began_ns + ns_per_s;
	return 0;
}

static int die_at_work(struct worker *w)
{
	(void)w;
	raise(SIGKILL);
	return 0;
}

static int refuse_work(struct worker *w)
{
	(void)w;
	return refused("no");
}

static int lack_something(struct worker *w)
{
	(void)w;
	return unsupported("no");
}

static int work_bound(struct worker *w)
{
	if (w->cpu != sched_getcpu() || w->cpu != (int)run.topo.allowed.ids[0])
		return broken("not bound");
	return work(w);
}

static int work_unbound(struct worker *w)
{
	return w->cpu == -1 ? work(w) : broken("bound");
}

static int refuse_set_up(void)
{
	return refused("no");
}

static int lack_set_up(void)
{
	return unsupported("no");
}

#define LINE_1S "1024000000 bytes / 1000000 usecs = 1000000 KB/s\n"
#define LINE_2S "1024000000 bytes / 2000000 usecs = 500000 KB/s\n"
#define LINE_4S "1024000000 bytes / 4000000 usecs = 250000 KB/s\n"
#define FIVE(count, total, range, mean, stdev)                               \
	"Count: " count "\nTotal: " total "\nRange: " range "\nMean : " mean \
	"\nStdev: " stdev "\n"
#define EVEN_3 FIVE("3", "3000000", "1000000...1000000", "1000000", "0")

static const struct row rows[] = {
	/* what is run, and how often */
	{ .name = "one", .args = { NULL }, .ms = { 1000 }, .out = LINE_1S },
	{ .name = "no hooks",
	  .args = { NULL },
	  .ms = { 1000 },
	  .out = "1024000000 bytes / 1 usecs = 1000000000000 KB/s\n",
	  .without_hooks = true },
	{ .name = "2 processes",
	  .args = { "-n2" },
	  .ms = { 1000 },
	  .out = LINE_1S LINE_1S },
	{ .name = "2 threads",
	  .args = { "-t2" },
	  .ms = { 1000 },
	  .out = LINE_1S LINE_1S },
	{ .name = "2 x 2",
	  .args = { "-n2", "-t2" },
	  .ms = { 1000 },
	  .out = LINE_1S LINE_1S LINE_1S LINE_1S },
	{ .name = "0 x 0", .args = { "-n0", "-t0" }, .ms = { 1000 }, .out = LINE_1S },
	{ .name = "1 sample",
	  .args = { "--samples", "1" },
	  .ms = { 1000 },
	  .out = LINE_1S FIVE("1", "1000000", "1000000...1000000", "1000000", "-") },
	{ .name = "3 samples",
	  .args = { "--samples", "3" },
	  .ms = { 1000, 2000, 4000 },
	  .out = LINE_1S LINE_2S LINE_4S FIVE("3", "1750000", "250000...1000000",
					      "583333", "381881"),
	  .warnings = W_SPREAD },
	{ .name = "2 warm-ups and 3 samples",
	  .args = { "--samples=3", "--warmup=2" },
	  .ms = { 5000, 4000, 1000 },
	  .out = LINE_1S LINE_1S LINE_1S EVEN_3 },
	{ .name = "a warm-up",
	  .args = { "--warmup=1" },
	  .ms = { 5000, 2000 },
	  .out = LINE_2S },
	{ .name = "0 samples",
	  .args = { "--samples=0" },
	  .ms = { 1000 },
	  .out = LINE_1S },
	{ .name = "bound",
	  .args = { "-b1" },
	  .work = work_bound,
	  .ms = { 1000 },
	  .out = LINE_1S },
	{ .name = "bound, 2",
	  .args = { "-b3", "-t2" },
	  .work = work_bound,
	  .ms = { 1000 },
	  .out = LINE_1S LINE_1S },
	{ .name = "not bound",
	  .args = { "-bnone" },
	  .work = work_unbound,
	  .ms = { 1000 },
	  .out = LINE_1S },
	{ .name = "run time",
	  .args = { "-T1ms" },
	  .work = work_until_deadline,
	  .out = LINE_1S },
	/* warnings, only where somebody asked for more than the lines */
	{ .name = "99 ms",
	  .args = { "--samples=1" },
	  .ms = { 99 },
	  .out = "1024000000 bytes / 99000 usecs = 10101010 KB/s\n" FIVE(
		  "1", "10101010", "10101010...10101010", "10101010", "-"),
	  .warnings = W_SHORT },
	{ .name = "100 ms",
	  .args = { "--samples=1" },
	  .ms = { 100 },
	  .out = "1024000000 bytes / 100000 usecs = 10000000 KB/s\n" FIVE(
		  "1", "10000000", "10000000...10000000", "10000000", "-") },
	{ .name = "99 ms, as ever",
	  .args = { NULL },
	  .ms = { 99 },
	  .out = "1024000000 bytes / 99000 usecs = 10101010 KB/s\n" },
	{ .name = "the last is short",
	  .args = { "--json" },
	  .ms = { 99 },
	  .warnings = W_SHORT },
	{ .name = "a short warm-up",
	  .args = { "--json", "--warmup=1" },
	  .ms = { 9, 1000 } },
	{ .name = "2 on one CPU",
	  .args = { "-n2", "--json" },
	  .ms = { 1000 },
	  .warnings = W_TASKS },
	{ .name = "2 threads on one CPU",
	  .args = { "-t2", "--json" },
	  .ms = { 1000 },
	  .warnings = W_TASKS },
	{ .name = "one at 79 %",
	  .args = { "-n3", "--json" },
	  .ms = { 790 },
	  .slow_ms = 1000,
	  .warnings = W_TASKS | W_SLOW },
	{ .name = "one at 80 %",
	  .args = { "-n3", "--json" },
	  .ms = { 800 },
	  .slow_ms = 1000,
	  .warnings = W_TASKS },
	{ .name = "one is faster",
	  .args = { "-n3", "--json" },
	  .ms = { 1000 },
	  .slow_ms = 100,
	  .warnings = W_TASKS },
	{ .name = "spread",
	  .args = { "--json", "--samples=4" },
	  .ms = { 1000, 1100, 1000, 1100 },
	  .warnings = W_SPREAD },
	{ .name = "little spread",
	  .args = { "--json", "--samples=4" },
	  .ms = { 1000, 1050, 1000, 1050 } },
	{ .name = "first",
	  .args = { "--json", "--samples=4" },
	  .ms = { 1080, 1000 },
	  .warnings = W_FIRST },
	{ .name = "the first is a warm-up",
	  .args = { "--json", "--samples=4", "--warmup=1" },
	  .ms = { 1080, 1000 } },
	{ .name = "2 say nothing of the first",
	  .args = { "--json", "--samples=2" },
	  .ms = { 2000, 1000 } },
	/* how it ends */
	{ .name = "failed",
	  .args = { NULL },
	  .fails_in = 1,
	  .status = 1,
	  .out = "",
	  .said = "prog: wrong data\n" },
	{ .name = "failed, with the document",
	  .args = { "--json" },
	  .fails_in = 1,
	  .status = 1,
	  .said = "prog: wrong data\n" },
	{ .name = "the second of 3 failed",
	  .args = { "--samples=3" },
	  .ms = { 1000 },
	  .fails_in = 2,
	  .status = 1,
	  .out = LINE_1S,
	  .said = "prog: wrong data\n" },
	{ .name = "the warm-up failed",
	  .args = { "--warmup=1" },
	  .fails_in = 1,
	  .status = 1,
	  .out = "",
	  .said = "prog: wrong data\n" },
	{ .name = "killed",
	  .args = { NULL },
	  .work = die_at_work,
	  .status = 1,
	  .out = "",
	  .said = "was killed by SIGKILL\n" },
	{ .name = "refused",
	  .args = { NULL },
	  .work = refuse_work,
	  .status = 2,
	  .out = "",
	  .said = "prog: no\n" },
	{ .name = "unsupported",
	  .args = { NULL },
	  .work = lack_something,
	  .status = 77,
	  .out = "",
	  .said = "prog: no\n" },
	{ .name = "set-up refused",
	  .args = { NULL },
	  .set_up = refuse_set_up,
	  .status = 2,
	  .out = "",
	  .said = "prog: no\n" },
	{ .name = "set-up unsupported",
	  .args = { "--samples=2" },
	  .set_up = lack_set_up,
	  .status = 77,
	  .out = "",
	  .said = "prog: no\n" },
	{ .name = "SIGTERM",
	  .args = { NULL },
	  .work = work_until_signal,
	  .status = 128 + SIGTERM,
	  .out = LINE_1S },
	{ .name = "SIGINT",
	  .args = { NULL },
	  .work = work_until_signal,
	  .status = 128 + SIGINT,
	  .out = LINE_1S },
	{ .name = "SIGINT in the first of 3",
	  .args = { "--samples=3" },
	  .work = work_until_signal,
	  .status = 128 + SIGINT,
	  .out = LINE_1S },
	{ .name = "SIGTERM in the warm-up",
	  .args = { "--warmup=1", "--samples=3" },
	  .work = work_until_signal,
	  .status = 128 + SIGTERM,
	  .out = "" },
	/* output that is lost */
	{ .name = "full, a line",
	  .args = { NULL },
	  .ms = { 1000 },
	  .full = true,
	  .status = 1,
	  .out = "",
	  .said = "prog: write results to standard output: No space left on device\n" },
	{ .name = "full, the document",
	  .args = { "--json" },
	  .ms = { 1000 },
	  .full = true,
	  .status = 1,
	  .out = "",
	  .said = "prog: write results to standard output: No space left on "
		  "device\n" },
};

static unsigned count_of(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static bool has_warnings(const struct row *r)
{
	return !r->out || count_of(r->out, "Count:");
}

/* Each warning is there, or not, as the row says. */
static void check_warnings(const struct row *r, const char *text, const char *what)
{
	char name[128];

	for (unsigned i = 0; i < ARRAY_SIZE(warnings); i++) {
		snprintf(name, sizeof(name), "%s: %s: %s", r->name, what, warnings[i]);
		CHECK_U64(name, count_of(text, warnings[i]), r->warnings >> i & 1);
	}
}

static void check_document_of(const struct row *r, const char *text)
{
	json_t *root = document_parse(text), *said = json_object_get(root, "warnings");
	char *copy = json_dumps(said, 0);

	check_warnings(r, copy ? copy : "", "document");
	CHECK_U64(r->name, json_array_size(said), __builtin_popcount(r->warnings));
	document_check(r->name, root, "outcome",
		       r->status == 1 ? "\"failed\"" : "\"ok\"");
	free(copy);
	json_decref(root);
}

static void check_row(const struct row *r)
{
	static struct child child;
	unsigned lines = 0;

	child_run(&child, program, r);
	CHECK_U64(r->name, child.status, r->status);
	if (r->out)
		CHECK_TEXT(r->name, child.out, r->out);
	else
		check_document_of(r, child.out);
	check_warnings(r, child.err, "stderr");
	CHECK_U64(r->name, count_of(child.err, "warning: "),
		  has_warnings(r) ? __builtin_popcount(r->warnings) : 0);
	if (r->said)
		CHECK_U64(r->name, count_of(child.err, r->said), 1);
	/* Nothing else. What was set up was torn down. */
	lines = count_of(child.err, "prog: set up\n");
	CHECK_U64(r->name, count_of(child.err, "prog: tear down\n"), lines);
	CHECK_U64(r->name, count_of(child.err, "\n"),
		  2 * lines + (unsigned)__builtin_popcount(r->warnings) +
			  (r->said != NULL));
	CHECK(lines || r->without_hooks);
}

/* Documents of whole runs. */
static const struct {
	struct row row;
	struct {
		const char *path, *value;
	} values[20];
} documents[] = {
	{ { .name = "3 samples, 2 workers",
	    .args = { "--samples", "3", "--warmup=1", "--json", "-n2" },
	    .ms = { 4000, 1000, 2000, 1000 },
	    .warnings = W_TASKS },
	  { { "outcome", "\"ok\"" },
	    { "argv",
	      "[\"prog\",\"--samples\",\"3\",\"--warmup=1\",\"--json\",\"-n2\"]" },
	    { "options.samples", "3" },
	    { "options.nproc", "2" },
	    { "options.thread", "1" },
	    { "options.described", "42" },
	    { "options.json", "\"\"" },
	    { "metrics.throughput_bytes_per_s.samples",
	      "[2048000000,1024000000,2048000000]" },
	    { "metrics.throughput_bytes_per_s.per_worker",
	      "[[1024000000,1024000000],[512000000,512000000],[1024000000,1024000000]]" },
	    { "metrics.throughput_sum_bytes_per_s.samples",
	      "[2048000000,1024000000,2048000000]" },
	    { "metrics.total_bytes.samples", "[2048000000,2048000000,2048000000]" },
	    { "metrics.window_ns.samples", "[1000000000,2000000000,1000000000]" },
	    { "metrics.collected_ns.samples", "[2,2,2]" },
	    { "workers.0", "{\"repetition\":0,\"id\":0,\"outcome\":\"ok\"}" },
	    { "workers.5", "{\"repetition\":2,\"id\":1,\"outcome\":\"ok\"}" },
	    { "workers.6", "-" },
	    { "intervals", "[]" } } },
	{ { .name = "workers apart",
	    .args = { "-n3", "--json=-" },
	    .ms = { 1000 },
	    .slow_ms = 2000 },
	  { { "outcome", "\"ok\"" },
	    { "options.json", "\"-\"" },
	    { "metrics.window_ns.samples", "[2000000000]" },
	    { "metrics.throughput_bytes_per_s.samples", "[1536000000]" },
	    { "metrics.throughput_sum_bytes_per_s.samples", "[2560000000]" },
	    { "metrics.throughput_bytes_per_s.per_worker",
	      "[[1024000000,1024000000,512000000]]" } } },
	{ { .name = "the second failed",
	    .args = { "--samples=3", "--json" },
	    .ms = { 1000 },
	    .fails_in = 2,
	    .status = 1 },
	  { { "outcome", "\"failed\"" },
	    { "metrics.throughput_bytes_per_s.samples", "[1024000000]" },
	    { "metrics.collected_ns.samples", "[1]" },
	    { "workers.0.outcome", "\"ok\"" },
	    { "workers.1",
	      "{\"repetition\":1,\"id\":0,\"outcome\":\"failed\",\"errno\":\"EIO\"}" },
	    { "workers.2", "-" },
	    { "warnings", "[]" } } },
	{ { .name = "killed", .args = { "--json" }, .work = die_at_work, .status = 1 },
	  { { "outcome", "\"failed\"" },
	    { "metrics", "{}" },
	    { "workers.0", "{\"repetition\":0,\"id\":0,\"outcome\":\"lost\",\"signal\":"
			   "\"KILL\"}" } } },
	{ { .name = "unsupported",
	    .args = { "--json" },
	    .work = lack_something,
	    .status = 77 },
	  { { "outcome", "\"skipped\"" }, { "metrics", "{}" } } },
	{ { .name = "set-up unsupported",
	    .args = { "--json" },
	    .set_up = lack_set_up,
	    .status = 77 },
	  { { "outcome", "\"skipped\"" }, { "metrics", "{}" }, { "workers", "[]" } } },
	{ { .name = "SIGTERM",
	    .args = { "--json", "--samples=3" },
	    .work = work_until_signal,
	    .status = 128 + SIGTERM },
	  { { "outcome", "\"interrupted\"" },
	    { "workers", "[{\"repetition\":0,\"id\":0,\"outcome\":\"interrupted\"}]" },
	    { "metrics.throughput_bytes_per_s.samples", "[1024000000]" },
	    { "metrics.collected_ns.samples", "[1]" },
	    { "warnings", "[]" } } },
};

static void check_documents(void)
{
	static struct child child;
	json_t *root;

	for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
		const struct row *r = &documents[i].row;

		child_run(&child, program, r);
		CHECK_U64(r->name, child.status, r->status);
		root = document_parse(child.out);
		for (size_t v = 0; documents[i].values[v].path; v++)
			document_check(r->name, root, documents[i].values[v].path,
				       documents[i].values[v].value);
		json_decref(root);
	}
}

enum { SET_UP_PAGES = 20000 };

static int touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = SET_UP_PAGES * page;
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED)
		return failed("map pages");
	madvise(at, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += page)
		at[i] = 1;
	munmap(at, bytes);
	return 0;
}

static int touch_pages_and_end(void)
{
	int ret = touch_pages();

	return ret ?: RUN_DONE;
}

/* What the system did, once for each repetition that counts. */
static const struct {
	struct row row;
	size_t values;
	bool faults; /* the pages of set_up are in the window */
} systems[] = {
	{ { .name = "one", .args = { "--json" }, .ms = { 1000 } }, 1, false },
	{ { .name = "warm-up",
	    .args = { "--json", "--samples=3", "--warmup=2" },
	    .ms = { 1000 } },
	  3,
	  false },
	{ { .name = "set-up counts",
	    .args = { "--json", "--samples=2", "--warmup=1" },
	    .ms = { 1000 },
	    .set_up = touch_pages,
	    .set_up_counts = true },
	  2,
	  true },
	{ { .name = "set-up is all",
	    .args = { "--json" },
	    .set_up = touch_pages_and_end,
	    .set_up_counts = true },
	  1,
	  true },
	{ { .name = "set-up is all, and does not count",
	    .args = { "--json" },
	    .set_up = touch_pages_and_end },
	  0,
	  false },
	{ { .name = "failed in the second",
	    .args = { "--json", "--samples=3" },
	    .ms = { 1000 },
	    .fails_in = 2,
	    .status = 1 },
	  1,
	  false },
	{ { .name = "killed", .args = { "--json" }, .work = die_at_work, .status = 1 },
	  0,
	  false },
	{ { .name = "stopped",
	    .args = { "--json" },
	    .work = work_until_signal,
	    .status = 128 + SIGTERM },
	  1,
	  false },
};

static void check_systems(void)
{
	static struct child child;
	const char *name;
	json_t *root, *values;

	if (access("/proc/vmstat", R_OK))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++) {
		const struct row *r = &systems[i].row;

		child_run(&child, program, r);
		CHECK_U64(r->name, child.status, r->status);
		root = document_parse(child.out);
		json_object_foreach(json_object_get(root, "system"), name, values)
			CHECK_U64(name, json_array_size(values), systems[i].values);
		values = json_object_get(json_object_get(root, "system"),
					 "proc-vmstat.pgfault");
		CHECK_U64(r->name, json_array_size(values), systems[i].values);
		for (size_t v = 0; systems[i].faults && v < systems[i].values; v++)
			CHECK(json_integer_value(json_array_get(values, v)) >=
			      SET_UP_PAGES);
		json_decref(root);
	}
}

/* The document to a file: the lines are where they always were. */
static void check_document_file(void)
{
	static struct child child;
	static char text[1024 * 1024];
	char option[160];
	const struct row r = { .args = { option, "--samples=1" }, .ms = { 1000 } };
	json_t *root;
	int fd;

	snprintf(option, sizeof(option), "--json=%s", file_path);
	child_run(&child, program, &r);
	CHECK_U64("file", child.status, 0);
	CHECK_TEXT("file", child.out,
		   LINE_1S FIVE("1", "1000000", "1000000...1000000", "1000000", "-"));
	fd = open(file_path, O_RDONLY | O_CLOEXEC);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	root = document_parse(text);
	document_check("file", root, "metrics.throughput_bytes_per_s.samples",
		       "[1024000000]");
	json_decref(root);
	unlink(file_path);
	/* A wrong path costs no run. */
	snprintf(option, sizeof(option), "--json=%s", tempdir);
	child_run(&child, program, &r);
	CHECK_U64("wrong path", child.status, 1);
	CHECK_TEXT("wrong path", child.out, "");
	CHECK(strstr(child.err, ": Is a directory\n"));
	CHECK(!strstr(child.err, "set up"));
}

/* Go on until another three lines or so are on stderr: what the parent says at each interval. */
static int work_until_lines(struct worker *w)
{
	struct stat before, now;

	if (fstat(STDERR_FILENO, &before))
		return failed("stat");
	do {
		tally_add(w, 1, 8);
		sched_yield();
		if (fstat(STDERR_FILENO, &now))
			return failed("stat");
	} while (!run.warming && now.st_size < before.st_size + 120 && keep_going(w));
	return 0;
}

static uint64_t sum_of_samples(json_t *root, const char *path)
{
	json_t *samples = document_at(root, path), *value;
	uint64_t sum = 0;
	size_t i;

	json_array_foreach(samples, i, value) sum += (uint64_t)json_integer_value(value);
	return sum;
}

/* Each point of the series is the next line on stderr; a repetition's points grow up to its
 * bytes. Returns the sum over the repetitions. */
static uint64_t check_series(json_t *root, char *lines)
{
	json_t *points = json_object_get(root, "intervals"), *point;
	json_int_t at, ns, bytes, last_at = -1, last_ns = 0, last_bytes = 0, sum = 0;
	char line[128];
	size_t i;

	json_array_foreach(points, i, point)
	{
		CHECK_U64("point",
			  json_unpack(point, "{s:I, s:I, s:I}", "repetition", &at,
				      "elapsed_ns", &ns, "bytes", &bytes),
			  0);
		if (at != last_at) {
			CHECK_U64("repetition", at, last_at + 1);
			sum += last_bytes;
			last_ns = last_bytes = 0;
		}
		CHECK(ns > last_ns && bytes >= last_bytes);
		snprintf(line, sizeof(line), "prog: %.3f s: %ju bytes, %ju KB/s",
			 (double)ns / 1e9, (uintmax_t)(bytes - last_bytes),
			 (uintmax_t)line_kb_per_s((uint64_t)(bytes - last_bytes),
						  (uint64_t)(ns - last_ns)));
		CHECK_TEXT("line", strsep(&lines, "\n"), line);
		last_at = at;
		last_ns = ns;
		last_bytes = bytes;
	}
	CHECK_U64("repetitions", last_at, 1);
	return (uint64_t)(sum + last_bytes);
}

/* The lines of TEXT that are said at an interval, the others taken out. */
static unsigned keep_interval_lines(char *text)
{
	char *rest = strdup(text), *first = rest, *line;
	unsigned n = 0;

	*text = '\0';
	while ((line = strsep(&rest, "\n")))
		if (strstr(line, " bytes, ")) {
			text = stpcpy(stpcpy(text, line), "\n");
			n++;
		}
	free(first);
	return n;
}

static void check_interval(void)
{
	static const struct row r = { .args = { "--interval=1ms", "--samples=2",
						"--warmup=1", "-n2", "--json" },
				      .work = work_until_lines };
	static struct child child;
	unsigned lines;
	json_t *root;

	child_run(&child, program, &r);
	CHECK_U64("interval", child.status, 0);
	root = document_parse(child.out);
	lines = keep_interval_lines(child.err);
	CHECK(lines >= 4);
	CHECK_U64("points", json_array_size(json_object_get(root, "intervals")), lines);
	CHECK_U64("sum", check_series(root, child.err),
		  sum_of_samples(root, "metrics.total_bytes.samples"));
	json_decref(root);
}

/* Shorter than a look at the clock takes. */
static void check_short_interval(void)
{
	static const struct row r = { .args = { "--interval=1ns" },
				      .work = work_until_lines };
	static struct child child;

	child_run(&child, program, &r);
	CHECK_U64("--interval=1ns", child.status, 0);
	CHECK_U64("--interval=1ns", child.signal, -1);
}

/* The options of every program. */
static const struct {
	const char *args[10];
	int status;
	const char *said;
} parses[] = {
	{ { NULL }, 0, "1 workers, bind 0, 0 ns, 0 + 0, every 0, json -, :" },
	{ { "-n2", "-t3", "x" },
	  0,
	  "6 workers, bind 0, 0 ns, 0 + 0, every 0, json -, : x" },
	{ { "-n", "0", "-t", "0" },
	  0,
	  "1 workers, bind 0, 0 ns, 0 + 0, every 0, json -, :" },
	{ { "--nproc=3x", "--thread=auto" },
	  0,
	  "3 workers, bind 0, 0 ns, 0 + 0, every 0, json -, :" },
	{ { "a", "-b2", "-T10", "b", "--samples=5", "--warmup=4", "--interval=1s" },
	  0,
	  "1 workers, bind 2, 10000000000 ns, 4 + 5, every 1000000000, json -, : a b" },
	{ { "--json", "--force", "--dry-run" },
	  0,
	  "1 workers, bind 0, 0 ns, 0 + 0, every 0, json , force, dry run, :" },
	{ { "--json=x" }, 0, "1 workers, bind 0, 0 ns, 0 + 0, every 0, json x, :" },
	{ { "--samples=1000000", "--warmup=1000000" },
	  0,
	  "1 workers, bind 0, 0 ns, 1000000 + 1000000, every 0, json -, :" },
	{ { "--samples=1000001" },
	  2,
	  "prog: --samples, --warmup: expected at most 1000000\n" },
	{ { "--warmup=1000001" },
	  2,
	  "prog: --samples, --warmup: expected at most 1000000\n" },
	{ { "--samples=18446744073709551615" },
	  2,
	  "prog: --samples, --warmup: expected at most 1000000\n" },
	{ { "-n2048", "-t2048" },
	  0,
	  "4194304 workers, bind 0, 0 ns, 0 + 0, every 0, json -, :" },
	{ { "-n4194305" },
	  2,
	  "prog: --nproc x --thread is 4194305: expected at most 4194304 tasks\n" },
	{ { "-n65536", "-t65536" },
	  2,
	  "prog: --nproc x --thread is 4294967296: expected at most 4194304 tasks\n" },
	{ { "--interval=0" }, 0, "1 workers, bind 0, 0 ns, 0 + 0, every 0, json -, :" },
};

static int parse(const void *arg)
{
	int operand = parse_args(arg);

	printf("%u workers, bind %ju, %ju ns, %ju + %ju, every %ju, json %s, %s%s:",
	       run.workers, (uintmax_t)run.bind_stride, (uintmax_t)run.runtime_ns,
	       (uintmax_t)run.warmup, (uintmax_t)run.samples, (uintmax_t)run.interval_ns,
	       run.json ? run.json : "-", run.force ? "force, " : "",
	       run.dry_run ? "dry run, " : "");
	for (int i = operand; i < run.argc; i++)
		printf(" %s", argv[i]);
	fflush(stdout);
	return run.topo.allowed.count == 1 && run.limits.page_bytes && !run.argv[run.argc]
		       ? 0
		       : 3;
}

static void check_parses(void)
{
	static struct child child;

	for (size_t i = 0; i < ARRAY_SIZE(parses); i++) {
		child_run(&child, parse, parses[i].args);
		CHECK_U64(parses[i].said, child.status, parses[i].status);
		CHECK_TEXT("parse", parses[i].status ? child.err : child.out,
			   parses[i].said);
	}
}

static void check_prints_lines(void)
{
	static const struct {
		const char *json;
		bool warming, prints;
	} cases[] = {
		{ NULL, false, true }, { NULL, true, false }, { "", false, false },
		{ "-", false, false }, { "", true, false },   { "x", false, true },
		{ "x", true, false },  { "-x", false, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *json = cases[i].json;
		struct run r = { .lines = !json || !output_is_stdout(json),
				 .warming = cases[i].warming };

		CHECK_U64(cases[i].json ? cases[i].json : "none", run_prints_lines(&r),
			  cases[i].prints);
	}
}

/* To one CPU: what more tasks than CPUs are does then not depend on the machine. */
static void stay_on_one_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		SKIP("cannot stay on one CPU: %s", strerror(errno));
}

int main(void)
{
	static char prog[] = "prog";

	program_invocation_short_name = prog;
	tempdir_make();
	tempdir_path(file_path, "result.json");
	stay_on_one_cpu();
	check_prints_lines();
	check_parses();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i]);
	check_documents();
	check_systems();
	check_document_file();
	check_interval();
	check_short_interval();
	CHECK_U64("names left", tempdir_names(0), 0);
	tempdir_remove();
	return check_result();
}
