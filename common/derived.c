// SPDX-License-Identifier: GPL-2.0-or-later
/* derived - rates and shares over a window, under the names that vmstat, mpstat and iostat are known for. */
#include "common/derived.h"

#include "common/growth.h"

#include <math.h>
#include <unistd.h>

/* What is not known stays so, which fmax() would not see to. */
static double at_least_0(double x)
{
	return x < 0 ? 0 : x;
}

/* A second. Block I/O is counted in KiB, swap in pages. */
static void rates(const struct window *w, row_hook *each, void *context)
{
	double page_kib = (double)sysconf(_SC_PAGESIZE) / 1024;
	const struct {
		const char *name, *of;
		bool raw;
		double scale;
	} rows[] = {
		{ "vmstat.io.bi", "proc-vmstat.pgpgin", false, 1 },
		{ "vmstat.io.bo", "proc-vmstat.pgpgout", false, 1 },
		{ "vmstat.swap.si", "proc-vmstat.pswpin", false, page_kib },
		{ "vmstat.swap.so", "proc-vmstat.pswpout", false, page_kib },
		{ "vmstat.system.in", "intr", true, 1 },
		{ "vmstat.system.cs", "ctxt", true, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct counters *first = rows[i].raw ? &w->first.raw
							   : &w->first.own;
		const struct counters *last = rows[i].raw ? &w->last.raw : &w->last.own;

		if (is_there(first, last, rows[i].of))
			each(context, rows[i].name,
			     growth_of(first, last, rows[i].of) * rows[i].scale /
				     seconds_of(w));
	}
}

/* As vmstat(8) shows them: in KiB, and of those that run all but the one that looks. */
static void levels(const struct window *w, row_hook *each, void *context)
{
	static const struct {
		const char *name, *of, *plus, *minus;
		bool raw;
		double less;
	} rows[] = {
		{ "vmstat.procs.r", "procs_running", NULL, NULL, true, 1 },
		{ "vmstat.procs.b", "procs_blocked", NULL, NULL, true, 0 },
		{ "vmstat.memory.free", "meminfo.MemFree", NULL, NULL, false, 0 },
		{ "vmstat.memory.buff", "meminfo.Buffers", NULL, NULL, false, 0 },
		{ "vmstat.memory.cache", "meminfo.Cached", "meminfo.SReclaimable", NULL,
		  false, 0 },
		{ "vmstat.memory.swpd", "meminfo.SwapTotal", NULL, "meminfo.SwapFree",
		  false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct counters *first = rows[i].raw ? &w->first.raw
							   : &w->first.own;
		double value = counter_mean(counters_find(first, rows[i].of),
					    w->readings);

		if (!is_there(first, rows[i].raw ? &w->last.raw : &w->last.own,
			      rows[i].of))
			continue;
		if (rows[i].plus)
			value += counter_mean(counters_find(first, rows[i].plus),
					      w->readings);
		if (rows[i].minus)
			value -= counter_mean(counters_find(first, rows[i].minus),
					      w->readings);
		each(context, rows[i].name, at_least_0(value - rows[i].less));
	}
}

/* What all CPUs together did, in ticks. Guests are in user and nice as well. The kernel's idle and
 * iowait can go back a little: such a one is not known, and counts nothing in the whole. */
static double cpu_total(const struct window *w)
{
	static const char *const fields[] = { "cpu.user",    "cpu.nice",   "cpu.system",
					      "cpu.idle",    "cpu.iowait", "cpu.irq",
					      "cpu.softirq", "cpu.steal" };
	double total = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		double growth = growth_of(&w->first.raw, &w->last.raw, fields[i]);

		total += isnan(growth) ? 0 : growth;
	}
	return total;
}

static void cpu_shares(const struct window *w, row_hook *each, void *context)
{
	static const struct {
		const char *name, *of[3], *minus;
	} rows[] = {
		{ "mpstat.cpu.all.usr%", { "cpu.user" }, "cpu.guest" },
		{ "mpstat.cpu.all.nice%", { "cpu.nice" }, "cpu.guest_nice" },
		{ "mpstat.cpu.all.sys%", { "cpu.system" }, NULL },
		{ "mpstat.cpu.all.iowait%", { "cpu.iowait" }, NULL },
		{ "mpstat.cpu.all.irq%", { "cpu.irq" }, NULL },
		{ "mpstat.cpu.all.soft%", { "cpu.softirq" }, NULL },
		{ "mpstat.cpu.all.steal%", { "cpu.steal" }, NULL },
		{ "mpstat.cpu.all.guest%", { "cpu.guest" }, NULL },
		{ "mpstat.cpu.all.gnice%", { "cpu.guest_nice" }, NULL },
		{ "mpstat.cpu.all.idle%", { "cpu.idle" }, NULL },
		{ "iostat.cpu.user", { "cpu.user" }, NULL },
		{ "iostat.cpu.nice", { "cpu.nice" }, NULL },
		{ "iostat.cpu.system", { "cpu.system", "cpu.irq", "cpu.softirq" }, NULL },
		{ "iostat.cpu.iowait", { "cpu.iowait" }, NULL },
		{ "iostat.cpu.steal", { "cpu.steal" }, NULL },
		{ "iostat.cpu.idle", { "cpu.idle" }, NULL },
	};
	const struct counters *first = &w->first.raw, *last = &w->last.raw;
	double total = cpu_total(w);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double ticks = 0;

		if (!is_there(first, last, rows[i].of[0]))
			continue;
		for (unsigned j = 0; j < 3 && rows[i].of[j]; j++)
			ticks += growth_of(first, last, rows[i].of[j]);
		if (rows[i].minus && is_there(first, last, rows[i].minus))
			ticks = at_least_0(ticks - growth_of(first, last, rows[i].minus));
		each(context, rows[i].name, ratio(100 * ticks, total));
	}
}

void derived_rows(const struct window *w, row_hook *each, void *context)
{
	rates(w, each, context);
	levels(w, each, context);
	cpu_shares(w, each, context);
}
