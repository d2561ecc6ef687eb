// SPDX-License-Identifier: GPL-2.0-or-later
/* perf - the kernel's performance counters, of hardware and software, over the workers of a crew. */
#include "common/perf.h"

#include "common/procfile.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENT(of_type, of_config) .type = (of_type), .config = (of_config)
#define HARDWARE(what)            EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_##what)
#define SOFTWARE(what)            EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##what)
#define CACHE(which, op, result)                                             \
	EVENT(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##which |              \
					  PERF_COUNT_HW_CACHE_OP_##op << 8 | \
					  PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
	const char *name; /* as perf prints it */
	uint32_t type;
	uint64_t config;
	bool of_kernel; /* without the kernel's part nothing is left */
	bool is_clock;  /* in nanoseconds; perf prints milliseconds */
} events[PERF_EVENTS] = {
	[PERF_CYCLES] = { "cycles", HARDWARE(CPU_CYCLES) },
	[PERF_INSTRUCTIONS] = { "instructions", HARDWARE(INSTRUCTIONS) },
	[PERF_CACHE_REFERENCES] = { "cache-references", HARDWARE(CACHE_REFERENCES) },
	[PERF_CACHE_MISSES] = { "cache-misses", HARDWARE(CACHE_MISSES) },
	[PERF_BRANCHES] = { "branch-instructions", HARDWARE(BRANCH_INSTRUCTIONS) },
	[PERF_BRANCH_MISSES] = { "branch-misses", HARDWARE(BRANCH_MISSES) },
	[PERF_DTLB_LOADS] = { "dTLB-loads", CACHE(DTLB, READ, ACCESS) },
	[PERF_DTLB_LOAD_MISSES] = { "dTLB-load-misses", CACHE(DTLB, READ, MISS) },
	[PERF_ITLB_LOAD_MISSES] = { "iTLB-load-misses", CACHE(ITLB, READ, MISS) },
	[PERF_NODE_LOADS] = { "node-loads", CACHE(NODE, READ, ACCESS) },
	[PERF_NODE_STORES] = { "node-stores", CACHE(NODE, WRITE, ACCESS) },
	[PERF_LLC_LOADS] = { "LLC-loads", CACHE(LL, READ, ACCESS) },
	[PERF_LLC_LOAD_MISSES] = { "LLC-load-misses", CACHE(LL, READ, MISS) },
	[PERF_TASK_CLOCK] = { "task-clock", SOFTWARE(TASK_CLOCK), .is_clock = true },
	[PERF_PAGE_FAULTS] = { "page-faults", SOFTWARE(PAGE_FAULTS) },
	[PERF_MINOR_FAULTS] = { "minor-faults", SOFTWARE(PAGE_FAULTS_MIN) },
	[PERF_MAJOR_FAULTS] = { "major-faults", SOFTWARE(PAGE_FAULTS_MAJ) },
	[PERF_CONTEXT_SWITCHES] = { "context-switches", SOFTWARE(CONTEXT_SWITCHES),
				    .of_kernel = true },
	[PERF_CPU_MIGRATIONS] = { "cpu-migrations", SOFTWARE(CPU_MIGRATIONS),
				  .of_kernel = true },
};

const char *perf_event_name(enum perf_event e)
{
	return events[e].name;
}

static int open_event(enum perf_event e, bool inherit, bool user_only)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = events[e].type,
		.config = events[e].config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = true,
		.inherit = inherit,
		.exclude_kernel = user_only,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void perf_open(struct perf *p, unsigned workers)
{
	*p = (struct perf){ 0 };
	for (int e = 0; e < PERF_EVENTS; e++) {
		bool user_only = false;
		int fd = -1;

		errno = E2BIG;
		if (workers <= PERF_WORKERS_MAX)
			fd = open_event(e, true, false);
		if (fd < 0 && (errno == EACCES || errno == EPERM) &&
		    !events[e].of_kernel) {
			int error = errno;

			fd = open_event(e, true, true);
			user_only = fd >= 0;
			errno = error;
		}
		p->of[e].fd = fd;
		p->of[e].own_fd = -1;
		p->of[e].error = fd < 0 ? errno : 0;
		p->of[e].user_only = user_only;
	}
}

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* This process's own share is taken off, and counted from here on only: had it such a counter before, its
 * children's would not be copies of all it has, and the kernel could not just pass them on from one worker to
 * the next that runs. */
void perf_start(struct perf *p)
{
	for (int e = 0; e < PERF_EVENTS; e++) {
		if (p->of[e].fd < 0)
			continue;
		p->of[e].own_fd = open_event(e, false, p->of[e].user_only);
		if (p->of[e].own_fd < 0) {
			p->of[e].error = errno;
			drop(&p->of[e].fd);
		}
	}
	for (int e = 0; e < PERF_EVENTS; e++) {
		if (p->of[e].fd < 0)
			continue;
		ioctl(p->of[e].own_fd, PERF_EVENT_IOC_ENABLE, 0);
		ioctl(p->of[e].fd, PERF_EVENT_IOC_ENABLE, 0);
	}
}

double perf_scale(const struct perf_reading *r)
{
	if (!r->running_ns)
		return NAN;
	return (double)r->count * ((double)r->enabled_ns / (double)r->running_ns);
}

double perf_without(double all, double own)
{
	/* fmax() would make a number of NAN. */
	return isnan(all) ? NAN : fmax(all - own, 0);
}

static struct perf_reading read_counter(int fd)
{
	struct perf_reading r;

	return read(fd, &r, sizeof(r)) == sizeof(r) ? r : (struct perf_reading){ 0 };
}

static double workers_count(int fd, int own_fd)
{
	struct perf_reading all = read_counter(fd), own = read_counter(own_fd);

	/* This process runs so little that its turn with a shared counter may never have come: then
	 * there is next to nothing to take off. */
	return perf_without(perf_scale(&all), own.running_ns ? perf_scale(&own) : 0);
}

void perf_stop(struct perf *p)
{
	struct perf_counts *c = &p->counts;

	for (int e = 0; e < PERF_EVENTS; e++) {
		if (p->of[e].fd < 0)
			continue;
		ioctl(p->of[e].own_fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(p->of[e].fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	for (int e = 0; e < PERF_EVENTS; e++) {
		c->value[e] = NAN;
		c->user_only[e] = p->of[e].user_only;
		if (p->of[e].fd < 0)
			continue;
		c->value[e] = workers_count(p->of[e].fd, p->of[e].own_fd);
		if (isnan(c->value[e]))
			p->of[e].error = ENODATA;
		else if (events[e].is_clock)
			c->value[e] /= 1e6;
	}
}

void perf_close(struct perf *p)
{
	for (int e = 0; e < PERF_EVENTS; e++) {
		drop(&p->of[e].fd);
		drop(&p->of[e].own_fd);
	}
}

/* Has a counter before E the same error? */
static bool told_before(const struct perf *p, int e)
{
	for (int i = 0; i < e; i++)
		if (p->of[i].error == p->of[e].error)
			return true;
	return false;
}

bool perf_describe_absent(const struct perf *p, char *text, size_t room)
{
	char *paranoid = procfile_read("", "/proc/sys/kernel/perf_event_paranoid");
	FILE *out = fmemopen(text, room, "w");
	const char *between = "perf counters absent: ";
	bool any = false;

	for (int e = 0; out && e < PERF_EVENTS; e++) {
		if (!p->of[e].error || told_before(p, e))
			continue;
		for (int i = e; i < PERF_EVENTS; i++) {
			if (p->of[i].error != p->of[e].error)
				continue;
			fprintf(out, "%s%s", between, events[i].name);
			between = ", ";
		}
		fprintf(out, " (%s)", strerrorname_np(p->of[e].error) ?: "?");
		any = true;
	}
	if (out) {
		fprintf(out, ", perf_event_paranoid %.*s",
			(int)strcspn(paranoid ?: "unknown", "\n"), paranoid ?: "unknown");
		fclose(out);
	}
	free(paranoid);
	return any;
}
