// SPDX-License-Identifier: GPL-2.0-or-later
/* perf - tests of common/perf.c and perfrows.c: known counts, and the counters of this kernel. */
#include "common/perf.h"
#include "common/crew.h"
#include "tests/check.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
	const char *name;
	struct perf_reading reading;
	double want;
} scalings[] = {
	{ "all the time", { 1000, 50, 50 }, 1000 },
	{ "half of it", { 1000, 50, 25 }, 2000 },
	{ "a third of it", { 10, 3000000000, 1000000000 }, 30 },
	{ "nothing counted", { 0, 50, 50 }, 0 },
	{ "never", { 0, 50, 0 }, NAN },
	{ "never, with a count", { 7, 50, 0 }, NAN },
	{ "nobody ran", { 0, 0, 0 }, NAN },
	{ "large", { UINT64_C(1) << 62, 100, 50 }, 0x1p63 },
};

static void check_number(const char *what, double got, double want)
{
	if (isnan(want))
		CHECK_U64(what, isnan(got), 1);
	else
		CHECK_NEAR(what, got, want, 1e-12);
}

static void check_scalings(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(scalings); i++)
		check_number(scalings[i].name, perf_scale(&scalings[i].reading),
			     scalings[i].want);
	check_number("without", perf_without(10, 3), 7);
	check_number("without more than all", perf_without(10, 11), 0);
	check_number("of what is unknown", perf_without(NAN, 3), NAN);
}

/* Known counts, and the one line for each row that they must give. */
static const struct {
	const char *name;
	struct {
		enum perf_event event;
		double value;
		bool user_only;
	} known[5];
	uint64_t window_ns;
	const char *rows;
} tables[] = {
	{ "ipc",
	  { { .event = PERF_CYCLES, .value = 4e9 },
	    { .event = PERF_INSTRUCTIONS, .value = 1e9 } },
	  2000000000,
	  "i.cycles 2000000000\ni.instructions 500000000\noverall.ipc 0.25\n"
	  "overall.cpi 4\n" },
	{ "misses, not references",
	  { { .event = PERF_INSTRUCTIONS, .value = 1e6 },
	    { .event = PERF_CACHE_REFERENCES, .value = 4e4 },
	    { .event = PERF_CACHE_MISSES, .value = 3e3 } },
	  1000000000,
	  "i.instructions 1000000\ni.cache-references 40000\ni.cache-misses 3000\n"
	  "overall.MPKI 3\noverall.cache-miss-rate% 7.5\n" },
	{ "branches",
	  { { .event = PERF_BRANCHES, .value = 200 },
	    { .event = PERF_BRANCH_MISSES, .value = 5 } },
	  1000000000,
	  "i.branch-instructions 200\ni.branch-misses 5\noverall.branch-miss-rate% "
	  "2.5\n" },
	{ "the TLB's own loads",
	  { { .event = PERF_DTLB_LOADS, .value = 800 },
	    { .event = PERF_DTLB_LOAD_MISSES, .value = 2 },
	    { .event = PERF_ITLB_LOAD_MISSES, .value = 400 } },
	  500000000,
	  "i.dTLB-loads 1600\ni.dTLB-load-misses 4\ni.iTLB-load-misses 800\n"
	  "overall.dTLB-load-miss-rate% 0.25\n" },
	{ "nothing to divide by",
	  { { .event = PERF_CYCLES, .value = 0 },
	    { .event = PERF_INSTRUCTIONS, .value = 0 },
	    { .event = PERF_CACHE_REFERENCES, .value = 0 },
	    { .event = PERF_CACHE_MISSES, .value = 0 } },
	  1000000000,
	  "i.cycles 0\ni.instructions 0\ni.cache-references 0\ni.cache-misses 0\n" },
	{ "a divisor that is not known",
	  { { .event = PERF_INSTRUCTIONS, .value = 5 } },
	  1000000000,
	  "i.instructions 5\n" },
	{ "a dividend that is not known",
	  { { .event = PERF_CYCLES, .value = 5 } },
	  1000000000,
	  "i.cycles 5\n" },
	{ "no window",
	  { { .event = PERF_CYCLES, .value = 5 },
	    { .event = PERF_INSTRUCTIONS, .value = 5 } },
	  0,
	  "overall.ipc 1\noverall.cpi 1\n" },
	{ "without the kernel",
	  { { PERF_CYCLES, 8, true },
	    { PERF_INSTRUCTIONS, 4, true },
	    { PERF_CACHE_REFERENCES, 10, true },
	    { PERF_CACHE_MISSES, 1, true } },
	  1000000000,
	  "i.cycles:u 8\ni.instructions:u 4\ni.cache-references:u 10\ni.cache-misses:u "
	  "1\n"
	  "overall.ipc:u 0.5\noverall.cpi:u 2\noverall.MPKI:u 250\n"
	  "overall.cache-miss-rate:u% 10\n" },
	{ "one with it, one without",
	  { { .event = PERF_CYCLES, .value = 8 }, { PERF_INSTRUCTIONS, 4, true } },
	  1000000000,
	  "i.cycles 8\ni.instructions:u 4\n" },
	{ "software",
	  { { .event = PERF_TASK_CLOCK, .value = 1500 },
	    { .event = PERF_MAJOR_FAULTS, .value = 3 } },
	  3000000000,
	  "i.task-clock 500\ni.major-faults 1\n" },
	{ "nothing known", { { 0 } }, 1000000000, "" },
};

static void add_line(void *context, const char *name, double value)
{
	static const char prefix[] = "perf-stat.";
	size_t len = strlen(context);

	CHECK_U64(name, strncmp(name, prefix, strlen(prefix)), 0);
	snprintf((char *)context + len, 1024 - len, "%s %.12g\n", name + strlen(prefix),
		 value);
}

static void check_tables(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		struct perf_counts c = { 0 };
		char lines[1024] = "";

		for (int e = 0; e < PERF_EVENTS; e++)
			c.value[e] = NAN;
		for (size_t k = 0; k < ARRAY_SIZE(tables[i].known) && tables[i].rows[0];
		     k++) {
			/* What a row leaves out is event 0, once it has been told of. */
			if (k && !tables[i].known[k].event)
				break;
			c.value[tables[i].known[k].event] = tables[i].known[k].value;
			c.user_only[tables[i].known[k].event] =
				tables[i].known[k].user_only;
		}
		perf_rows(&c, tables[i].window_ns, add_line, lines);
		CHECK_TEXT(tables[i].name, lines, tables[i].rows);
	}
}

static void check_absent(void)
{
	struct perf p = { 0 };
	char text[512];

	CHECK(!perf_describe_absent(&p, text, sizeof(text)));
	p.of[PERF_CYCLES].error = p.of[PERF_LLC_LOADS].error = ENOENT;
	p.of[PERF_INSTRUCTIONS].error = EACCES;
	CHECK(perf_describe_absent(&p, text, sizeof(text)));
	CHECK(strstr(text,
		     "perf counters absent: cycles, LLC-loads (ENOENT), instructions "
		     "(EACCES), perf_event_paranoid ") == text);
	for (int e = 0; e < PERF_EVENTS; e++)
		p.of[e].error = e + 1;
	CHECK(perf_describe_absent(&p, text, 40));
	CHECK_U64("cut", strlen(text), 39);
	perf_open(&p, PERF_WORKERS_MAX + 1);
	for (int e = 0; e < PERF_EVENTS; e++)
		CHECK_U64(perf_event_name(e), p.of[e].error, E2BIG);
	perf_close(&p);
}

/* Of this kernel. */
enum { PAGES = 500 };

static struct perf counters;
static uint64_t page_bytes;

static int touch_pages(struct worker *w)
{
	char *map = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || madvise(map, PAGES * page_bytes, MADV_NOHUGEPAGE))
		return failed("map");
	for (uint64_t i = 0; i < PAGES; i++)
		*(volatile char *)(map + i * page_bytes) = 1;
	munmap(map, PAGES * page_bytes);
	tally_add(w, 1, 1);
	return 0;
}

/* What this process does between the two moments is not the workers'. */
static int see(void *context, enum crew_moment moment)
{
	struct worker self = { .tally = &(struct tally){ 0 } };

	(void)context;
	if (moment == WINDOW_OPENS)
		perf_start(&counters);
	for (int i = 0; i < 20; i++)
		if (touch_pages(&self))
			abort();
	if (moment == WINDOW_CLOSES)
		perf_stop(&counters);
	return 0;
}

static const struct {
	const char *name;
	unsigned processes, threads;
} crews[] = {
	{ "one", 1, 1 },
	{ "processes", 3, 1 },
	{ "threads", 1, 3 },
	{ "both", 2, 2 },
};

static void check_crew(const char *name, unsigned processes, unsigned threads)
{
	struct crew crew = { .processes = processes,
			     .threads = threads,
			     .setup = touch_pages,
			     .work = touch_pages,
			     .window = see };
	double faults, wanted = (double)PAGES * processes * threads;
	struct rusage before, after;
	struct crew_result result;

	getrusage(RUSAGE_CHILDREN, &before);
	perf_open(&counters, processes * threads);
	CHECK_U64(name, crew_run(&crew, &result), 0);
	getrusage(RUSAGE_CHILDREN, &after);
	crew_result_free(&result);
	perf_close(&counters);
	faults = counters.counts.value[PERF_PAGE_FAULTS];
	/* Neither those of the workers' set-up, which are as many, nor those of this process, which are more. (How many a
	 * page takes is a sanitizer's affair.) */
	CHECK(faults >= wanted);
	CHECK(faults < 0.8 * (double)(after.ru_minflt - before.ru_minflt));
	CHECK(counters.counts.value[PERF_MINOR_FAULTS] >= wanted);
	CHECK(counters.counts.value[PERF_TASK_CLOCK] > 0);
}

static void check_kernel(void)
{
	page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	perf_open(&counters, 1);
	if (counters.of[PERF_PAGE_FAULTS].error || counters.of[PERF_TASK_CLOCK].error) {
		printf("skipped: the kernel's counters: %s\n",
		       strerrorname_np(counters.of[PERF_PAGE_FAULTS].error));
		perf_close(&counters);
		return;
	}
	perf_close(&counters);
	for (size_t i = 0; i < ARRAY_SIZE(crews); i++)
		check_crew(crews[i].name, crews[i].processes, crews[i].threads);
}

int main(void)
{
	check_scalings();
	check_tables();
	check_absent();
	check_kernel();
	return check_result();
}
