// SPDX-License-Identifier: GPL-2.0-or-later
/* usage - tests of common/usage.c. */
#include "common/usage.h"
#include "tests/unit/rows.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 5000 };

static void touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED)
		abort();
	madvise(at, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += page)
		at[i] = 1;
	munmap(at, bytes);
}

static double row(const char *name)
{
	double value = -1;

	CHECK_U64(name, rows_named(name, &value), 1);
	return value;
}

/* A child counts once it has been waited for, and what was taken off does not. */
static void check_child(void)
{
	struct usage begun, own, own_end, end, sum = { 0 };
	struct rusage children;
	pid_t pid;

	usage_of_all(&begun);
	usage_of_self(&own);
	touch_pages();
	usage_of_self(&own_end);
	pid = fork();
	if (!pid) {
		touch_pages();
		_exit(0);
	}
	usage_of_all(&end);
	usage_add(&sum, &begun, &end);
	usage_take_off(&sum, &own, &own_end);
	usage_rows(&sum, "prog", rows_add, NULL);
	CHECK(row("prog.time.minor_page_faults") < PAGES);
	CHECK_U64("wait", waitpid(pid, NULL, 0), pid);
	sum = (struct usage){ 0 };
	usage_of_all(&end);
	usage_add(&sum, &begun, &end);
	usage_take_off(&sum, &own, &own_end);
	rows_count = 0;
	usage_rows(&sum, "prog", rows_add, NULL);
	CHECK(row("prog.time.minor_page_faults") >= PAGES);
	getrusage(RUSAGE_CHILDREN, &children);
	CHECK(row("prog.time.minor_page_faults") < (double)children.ru_minflt + PAGES);
	CHECK(row("prog.time.maximum_resident_set_size") >= (double)children.ru_maxrss);
	CHECK(row("prog.time.user_time") >= 0);
	CHECK(row("prog.time.elapsed_time") > 0);
}

/* With figures that can be reckoned. */
static void check_rows(void)
{
	static const char *const names[] = {
		"user_time",
		"system_time",
		"minor_page_faults",
		"major_page_faults",
		"voluntary_context_switches",
		"involuntary_context_switches",
		"file_system_inputs",
		"file_system_outputs",
		"maximum_resident_set_size",
	};
	struct usage before = { .at_ns = ns_per_s }, after = { .at_ns = 5 * ns_per_s };
	struct usage sum = { 0 };
	char name[96];

	for (unsigned i = 0; i < USAGE_FIELDS; i++) {
		before.values[i] = i + 1;
		after.values[i] = 3 * (i + 1);
	}
	usage_add(&sum, &before, &after);
	rows_count = 0;
	usage_rows(&sum, "prog", rows_add, NULL);
	CHECK_U64("rows", rows_count, USAGE_FIELDS + 2);
	for (unsigned i = 0; i < USAGE_FIELDS; i++) {
		snprintf(name, sizeof(name), "prog.time.%s", names[i]);
		rows_check("row", name, i < USAGE_FIELDS - 1 ? 2 * (i + 1) : 27);
	}
	rows_check("row", "prog.time.elapsed_time", 4);
	rows_check("row", "prog.time.percent_of_cpu_this_job_got", 150);
	usage_forget(&sum);
	rows_count = 0;
	usage_rows(&sum, "prog", rows_add, NULL);
	rows_check("forgotten", "prog.time.user_time", NAN);
	rows_check("forgotten", "prog.time.percent_of_cpu_this_job_got", NAN);
	rows_check("forgotten", "prog.time.elapsed_time", 4);
	sum = (struct usage){ 0 };
	rows_count = 0;
	usage_rows(&sum, "prog", rows_add, NULL);
	rows_check("no time", "prog.time.percent_of_cpu_this_job_got", NAN);
}

int main(void)
{
	check_child();
	check_rows();
	return check_result();
}
