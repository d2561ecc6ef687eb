// SPDX-License-Identifier: GPL-2.0-or-later
/* summary - what people otherwise compute by hand from the lines of all tasks. */
#include "common/cgroup.h"
#include "common/lines.h"
#include "common/procfile.h"
#include "common/stats.h"
#include "usemem/usemem.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Counters of the whole system, as they stood when set-up began; a kernel may lack some. */
static const struct {
	const char *key, *text;
} vmstat[] = {
	{ "pswpin", "pages in" },
	{ "pswpout", "pages out" },
	{ "swpout_zero", "pages of zeros kept out" },
};
/* Events of the memory cgroup: in memory.events of v2 (cgroup-v2.rst), and where v1 has them
 * (cgroup-v1/memory.rst). */
static const struct {
	const char *name;
	const char *v1_file; /* NULL: v1 does not count them */
	const char *v1_key;  /* NULL: the file holds one number */
} events[] = {
	{ "high", NULL, NULL },
	{ "max", "memory.failcnt", NULL },
	{ "oom", NULL, NULL },
	{ "oom_kill", "memory.oom_control", "oom_kill" },
};

struct counters {
	uint64_t swap[ARRAY_SIZE(vmstat)];
	bool have_swap[ARRAY_SIZE(vmstat)];
	uint64_t events[ARRAY_SIZE(events)];
	bool have_events, unified;
	bool refreshed; /* the counters of swapping are those of this moment */
	uint64_t minor_faults, major_faults; /* of usemem itself */
};

static struct counters before;

/* The counters of vmstat are kept for each CPU and summed up now and then; whoever may can have
 * it done at once (Documentation/admin-guide/sysctl/vm.rst, stat_refresh). */
static bool refresh_vmstat(void)
{
	int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY | O_CLOEXEC);
	bool refreshed = fd >= 0 && write(fd, "1", 1) == 1;

	if (fd >= 0)
		close(fd);
	return refreshed;
}

static uint64_t read_event(const struct cgroup *cgroup, size_t i)
{
	const char *const v2_keys[] = { events[i].name, NULL };
	const char *const v1_keys[] = { events[i].v1_key, NULL };

	if (cgroup->unified)
		return cgroup_sum(cgroup, "memory.events", v2_keys);
	if (!events[i].v1_file)
		return 0;
	return events[i].v1_key ? cgroup_sum(cgroup, events[i].v1_file, v1_keys)
				: cgroup_number(cgroup, events[i].v1_file, 0);
}

/* Neither the top cgroup of v2 nor one without the memory controller has any. */
static void read_events(struct counters *c)
{
	struct cgroup cgroup;

	if (!cgroup_find(&cgroup, "", "memory")) {
		c->unified = cgroup.unified;
		c->have_events = cgroup_has(
			&cgroup, cgroup.unified ? "memory.events" : "memory.oom_control");
	}
	for (size_t i = 0; i < ARRAY_SIZE(events) && c->have_events; i++)
		c->events[i] = read_event(&cgroup, i);
	cgroup_free(&cgroup);
}

static void read_counters(struct counters *c)
{
	struct rusage own;
	char *text;

	*c = (struct counters){ 0 };
	c->refreshed = refresh_vmstat();
	text = procfile_read("", "/proc/vmstat");
	for (size_t i = 0; i < ARRAY_SIZE(vmstat) && text; i++)
		c->have_swap[i] = procfile_number(text, vmstat[i].key, &c->swap[i]);
	free(text);
	read_events(c);
	if (getrusage(RUSAGE_SELF, &own))
		return;
	c->minor_faults = (uint64_t)own.ru_minflt;
	c->major_faults = (uint64_t)own.ru_majflt;
}

void summary_begin(void)
{
	if (cfg.summary)
		read_counters(&before);
}

/* "rate of a task: mean 10, min 9, max 11, stdev 1 KB/s" */
static void print_spread(FILE *out, const char *what, const double *x, size_t n,
			 const char *unit)
{
	char deviation[32] = "-";
	struct summary s;

	summarize(x, n, &s);
	if (isfinite(s.stddev))
		snprintf(deviation, sizeof(deviation), "%.0f", s.stddev);
	fprintf(out, "%s: mean %.0f, min %.0f, max %.0f, stdev %s %s\n", what, s.mean,
		s.min, s.max, deviation, unit);
}

static double task_rate(const struct task_record *record)
{
	return (double)line_kb_per_s(record->walk.bytes, record->walk.ns);
}

static double task_access(const struct task_record *record)
{
	return (double)line_usecs(record->walk.ns);
}

static double task_free(const struct task_record *record)
{
	return (double)line_usecs(record->free_ns);
}

/* Of each task that ended its walk; X has room for all. Returns how many they are. */
static size_t gather(const struct crew_result *result,
		     double (*of_task)(const struct task_record *), double *x)
{
	size_t n = 0;

	for (unsigned i = 0; i < result->workers; i++)
		if (result->tallies[i].ended_ns)
			x[n++] = of_task(crew_record(result, i));
	return n;
}

static void print_rates(FILE *out, const struct crew_result *result, double *x)
{
	size_t n = gather(result, task_rate, x);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	fprintf(out, "tasks: %zu\n", n);
	fprintf(out, "sum of the tasks' rates: %.0f KB/s\n", sum);
	fprintf(out, "rate over their common window: %ju KB/s, %ju for each task\n",
		(uintmax_t)line_kb_per_s(result->bytes, result->window_ns),
		(uintmax_t)line_kb_per_s(result->bytes / MAX(n, 1), result->window_ns));
	print_spread(out, "rate of a task", x, n, "KB/s");
	fprintf(out, "set-up: %ju usecs\n", (uintmax_t)line_usecs(cfg.setup_ns));
	n = gather(result, task_access, x);
	print_spread(out, "access", x, n, "usecs");
	n = gather(result, task_free, x);
	if (cfg.frees && !result->left)
		print_spread(out, "free", x, n, "usecs");
}

static void print_swap(FILE *out, const struct counters *now)
{
	const char *between = "";

	fprintf(out, "swap of the whole system: ");
	for (size_t i = 0; i < ARRAY_SIZE(vmstat); i++) {
		if (!now->have_swap[i])
			continue;
		fprintf(out, "%s%ju %s", between,
			(uintmax_t)(now->swap[i] - before.swap[i]), vmstat[i].text);
		between = ", ";
	}
	fprintf(out, "%s\n", now->refreshed ? "" : " (not refreshed: only root may)");
}

static void print_events(FILE *out, const struct counters *now)
{
	fprintf(out, "events of the memory cgroup:");
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (now->unified || events[i].v1_file)
			fprintf(out, " %s %ju", events[i].name,
				(uintmax_t)(now->events[i] - before.events[i]));
	fputc('\n', out);
}

static void print_counters(FILE *out, const struct crew_result *result)
{
	struct counters now;
	uint64_t minor, major;

	read_counters(&now);
	minor = now.minor_faults - before.minor_faults;
	major = now.major_faults - before.major_faults;
	for (unsigned i = 0; i < result->workers; i++) {
		const struct task_record *record = crew_record(result, i);

		minor += record->minor_faults;
		major += record->major_faults;
	}
	fprintf(out, "faults: %ju minor, %ju major\n", (uintmax_t)minor,
		(uintmax_t)major);
	if (cfg.run.limits.swap_bytes)
		print_swap(out, &now);
	if (now.have_events)
		print_events(out, &now);
}

int print_summary(const struct crew_result *result)
{
	double *x = calloc(result->workers, sizeof(*x));
	char *text = NULL;
	size_t len = 0;
	FILE *out = x ? open_memstream(&text, &len) : NULL;
	int ret = 0;

	if (out) {
		print_rates(out, result, x);
		print_counters(out, result);
	}
	free(x);
	if (!out || fclose(out))
		ret = failed("memory for the summary");
	else if (run_prints_lines(&cfg.run))
		ret = print_text(text, len);
	else
		ret = write_all(STDERR_FILENO, text, len);
	free(text);
	return ret;
}
