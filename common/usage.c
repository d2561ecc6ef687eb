// SPDX-License-Identifier: GPL-2.0-or-later
/* usage - CPU time, faults and switches, as getrusage(2) counts them, between two moments. */
#include "common/usage.h"

#include "common/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum field {
	USER,
	SYSTEM,
	MINOR,
	MAJOR,
	VOLUNTARY,
	INVOLUNTARY,
	INPUTS,
	OUTPUTS,
	RESIDENT
};

static const char *const names[USAGE_FIELDS] = {
	[USER] = "user_time",
	[SYSTEM] = "system_time",
	[MINOR] = "minor_page_faults",
	[MAJOR] = "major_page_faults",
	[VOLUNTARY] = "voluntary_context_switches",
	[INVOLUNTARY] = "involuntary_context_switches",
	[INPUTS] = "file_system_inputs",
	[OUTPUTS] = "file_system_outputs",
	[RESIDENT] = "maximum_resident_set_size",
};

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void add_use_of(struct usage *u, int who)
{
	struct rusage r = { 0 };

	/* It cannot fail: WHO is one of those that there are. */
	getrusage(who, &r);
	u->values[USER] += seconds(r.ru_utime);
	u->values[SYSTEM] += seconds(r.ru_stime);
	u->values[MINOR] += (double)r.ru_minflt;
	u->values[MAJOR] += (double)r.ru_majflt;
	u->values[VOLUNTARY] += (double)r.ru_nvcsw;
	u->values[INVOLUNTARY] += (double)r.ru_nivcsw;
	u->values[INPUTS] += (double)r.ru_inblock;
	u->values[OUTPUTS] += (double)r.ru_oublock;
	u->values[RESIDENT] = fmax(u->values[RESIDENT], (double)r.ru_maxrss);
}

void usage_of_self(struct usage *u)
{
	*u = (struct usage){ .at_ns = now_ns() };
	add_use_of(u, RUSAGE_SELF);
}

void usage_of_all(struct usage *u)
{
	usage_of_self(u);
	add_use_of(u, RUSAGE_CHILDREN);
}

void usage_add(struct usage *sum, const struct usage *before, const struct usage *after)
{
	sum->at_ns += after->at_ns - before->at_ns;
	for (unsigned i = 0; i < RESIDENT; i++)
		sum->values[i] += after->values[i] - before->values[i];
	sum->values[RESIDENT] = after->values[RESIDENT];
}

void usage_take_off(struct usage *sum, const struct usage *before,
		    const struct usage *after)
{
	sum->at_ns -= after->at_ns - before->at_ns;
	for (unsigned i = 0; i < RESIDENT; i++)
		sum->values[i] -= after->values[i] - before->values[i];
}

void usage_forget(struct usage *u)
{
	for (unsigned i = 0; i < USAGE_FIELDS; i++)
		u->values[i] = NAN;
}

void usage_rows(const struct usage *sum, const char *program,
		void (*each)(void *context, const char *name, double value),
		void *context)
{
	double elapsed = (double)sum->at_ns / 1e9;
	double used = sum->values[USER] + sum->values[SYSTEM];
	char name[192];
	int len = snprintf(name, sizeof(name) / 2, "%s.time.", program);
	char *rest = name + MIN((size_t)len, sizeof(name) / 2 - 1);
	size_t room = sizeof(name) / 2;

	for (unsigned i = 0; i < USAGE_FIELDS; i++) {
		snprintf(rest, room, "%s", names[i]);
		each(context, name, sum->values[i]);
	}
	snprintf(rest, room, "elapsed_time");
	each(context, name, elapsed);
	snprintf(rest, room, "percent_of_cpu_this_job_got");
	each(context, name, elapsed > 0 ? 100 * used / elapsed : NAN);
}
