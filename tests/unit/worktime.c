// SPDX-License-Identifier: GPL-2.0-or-later
/* worktime - tests of copyfile/worktime.c: whose CPU time a worker is charged with, and that pauses are left
 * out. */
#include "copyfile/copyfile.h"
#include "tests/check.h"

#include <string.h>
#include <sys/resource.h>

struct config cfg;

/* In microseconds; of a process, those of all its threads, also of the kernel's. */
static struct used {
	suseconds_t user, system;
	long rss;
} process, thread;

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	const struct used *used = who == RUSAGE_THREAD ? &thread : &process;

	memset(usage, 0, sizeof(*usage));
	usage->ru_utime = (struct timeval){ 1, used->user };
	usage->ru_stime = (struct timeval){ 2, used->system };
	usage->ru_maxrss = used->rss;
	return 0;
}

static void use(suseconds_t user, suseconds_t system)
{
	process.user += user;
	process.system += system;
	thread.user += user / 2;
	thread.system += system / 10;
}

static const struct row {
	unsigned threads;
	uint64_t user_ns, system_ns, max_rss_kib;
} rows[] = {
	{ 0, 6000, 700000, 5000 },
	{ 1, 6000, 700000, 5000 },
	{ 2, 3000, 70000, 4000 },
};

static void check_row(const struct row *row)
{
	struct copy_record record = { 0 };
	struct tally tally = { 0 };
	struct worker w = { .tally = &tally, .record = &record };
	struct task task = { 0 };

	process = (struct used){ 100, 200, 5000 };
	thread = (struct used){ 10, 20, 4000 };
	cfg.run.threads = row->threads;
	begin_work(&w, &task);
	use(4, 500);
	pause_work(&w, &task);
	use(1000, 10000);
	resume_work(&w, &task);
	use(2, 200);
	end_work(&w);
	use(1000, 10000);
	CHECK_U64("user", record.user_ns, row->user_ns);
	CHECK_U64("system", record.system_ns, row->system_ns);
	CHECK_U64("resident", record.max_rss_kib, row->max_rss_kib);
}

int main(void)
{
	base_init();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i]);
	return check_result();
}
