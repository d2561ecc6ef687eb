// SPDX-License-Identifier: GPL-2.0-or-later
/* figures - what the cells took: into the report, as lines, as a table, and what follows from two. */
#include "common/host.h"
#include "common/parse.h"
#include "common/stats.h"
#include "ioviter/ioviter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUNTED "by io_uring's worker threads"

/* A cell and its samples. */
struct series {
	const struct cell *cell;
	struct cell_record *record;
	struct summary ns;
};

static bool is_measured(const struct series *s)
{
	return s->record->samples > 1;
}

static bool wants_table(void)
{
	if (cfg.form != FORM_AUTO)
		return cfg.form == FORM_TABLE;
	return cfg.targets.count > 1 || cfg.sizes.count > 1 || cfg.aligns.count > 1 ||
	       cfg.pages.count > 1;
}

static const char *reason_of(const struct series *s)
{
	return s->record->reason[0] ? s->record->reason : "not measured: too little time";
}

static int print_series_line(const struct series *s)
{
	if (!is_measured(s)) {
		note("%s: %s", s->cell->name, reason_of(s));
		return 0;
	}
	if (s->record->punted)
		note("%s: " PUNTED, s->cell->name);
	return print_line(" iov_iter_benchmark_%s: avg %.0f uS, stddev %.0f uS",
			  s->cell->name, s->ns.mean / 1e3, s->ns.stddev / 1e3);
}

static const char table_head[] = "%-12s %-5s %-9s %6s %5s %-5s %7s %5s %9s %8s %9s %8s "
				 "%10s";

static int print_head(void)
{
	return print_line(table_head, "kind", "dir", "target", "size", "align", "pages",
			  "call", "segs", "avg uS", "stddev", "min uS", "GB/s",
			  "ns/segment");
}

static int print_row(const struct series *s)
{
	const struct cell *c = s->cell;
	char size[FORMAT_LEN], call[FORMAT_LEN], row[128];

	if (c->kind->unreachable)
		return print_line("%-12s %s", c->kind->name, reason_of(s));
	snprintf(row, sizeof(row), "%-12s %-5s %-9s %6s %5ju %-5s %7s %5u", c->kind->name,
		 c->write ? "write" : "read", target_names[c->target],
		 format_size(size, c->size_bytes), (uintmax_t)c->align_bytes,
		 pages_names[c->pages], format_size(call, c->call_bytes), c->segments);
	if (!is_measured(s))
		return print_line("%s n/a: %s", row, reason_of(s));
	return print_line("%s %9.0f %8.0f %9.0f %8.2f %10.1f%s", row, s->ns.mean / 1e3,
			  s->ns.stddev / 1e3, s->ns.min / 1e3,
			  (double)cfg.volume_bytes / s->ns.mean,
			  s->ns.mean / (double)c->sample_segments,
			  s->record->punted ? " " PUNTED
			  : c->kind->segment_bytes && c->segments == 1
				  ? " one segment: a ubuf to the kernel"
				  : "");
}

/* The series like S but with TARGET; NULL: not measured. */
static const struct series *with_target(const struct series *all, const struct series *s,
					enum target_sort target)
{
	const struct cell *c = s->cell;

	for (unsigned i = 0; i < cell_count; i++) {
		const struct cell *o = all[i].cell;

		if (o->kind == c->kind && o->write == c->write && o->target == target &&
		    o->pages == c->pages && o->size_bytes == c->size_bytes &&
		    o->align_bytes == c->align_bytes && is_measured(&all[i]))
			return &all[i];
	}
	return NULL;
}

/* What is left of the time in the page cache without that of a device, to which nothing is copied. */
static int print_difference(const struct series *all, const struct series *s)
{
	bool write = s->cell->write;
	const struct series *device = with_target(all, s,
						  write ? TARGET_NULL : TARGET_ZERO);

	if (s->cell->target != TARGET_PAGECACHE || !is_measured(s) || !device)
		return 0;
	/* A hand-over is neither; and what a pipe gets from /dev/zero was cleared and is copied then. */
	if (s->record->punted || device->record->punted || s->cell->kind->copies_twice)
		return 0;
	if (write)
		return print_line("%s: copying %.0f uS (the rest, with the page cache), "
				  "calling and iterating %.0f uS (/dev/null)",
				  s->cell->name, (s->ns.mean - device->ns.mean) / 1e3,
				  device->ns.mean / 1e3);
	return print_line("%s: copying %.0f uS more than clearing, which with "
			  "calling and iterating is %.0f uS (/dev/zero)",
			  s->cell->name, (s->ns.mean - device->ns.mean) / 1e3,
			  device->ns.mean / 1e3);
}

/* What decides how fast memory is copied; the JSON result has more. */
static int print_cpu(void)
{
	struct fact facts[HOST_FACTS];
	const char *smap;
	int ret;

	host_read(facts, "", &CPUS_EMPTY);
	smap = fact_text(facts, HOST_FACTS, "smap");
	ret = print_line("cpu: %s; string-copy flags: %s; SMAP %s",
			 fact_text(facts, HOST_FACTS, "cpu_model") ?: "unknown",
			 fact_text(facts, HOST_FACTS, "string_copy_flags") ?: "unknown",
			 !smap          ? "unknown"
			 : *smap == '1' ? "on"
					: "off");
	facts_free(facts, HOST_FACTS);
	return ret;
}

static int print_all(const struct series *all)
{
	bool table = wants_table();
	int ret = table ? print_head() : 0;

	for (unsigned i = 0; i < cell_count && !ret; i++)
		ret = table ? print_row(&all[i]) : print_series_line(&all[i]);
	for (unsigned i = 0; i < cell_count && !ret; i++)
		ret = print_difference(all, &all[i]);
	return ret ?: print_cpu();
}

static void report_series(struct report *r, const struct series *s)
{
	const struct metric time = { s->cell->name, UNIT_NS, false };
	char text[sizeof(s->cell->name) + sizeof(s->record->reason) + 4];

	for (uint64_t i = 0; i < s->record->samples; i++)
		report_sample(r, &time, (double)s->record->ns[i]);
	if (is_measured(s) && !s->record->punted)
		return;
	snprintf(text, sizeof(text), "%s: %s", s->cell->name,
		 is_measured(s) ? PUNTED : reason_of(s));
	report_warning(r, text);
}

/* One line each, however many series there are. */
static void warn(struct report *r, const struct series *all)
{
	unsigned refused = 0, punted = 0, cut = 0;

	for (unsigned i = 0; i < cell_count; i++) {
		const struct cell *c = all[i].cell;

		refused += !is_measured(&all[i]) && !c->kind->unreachable;
		punted += all[i].record->punted;
		cut += cfg.tile && c->call_bytes >= area_most_bytes();
	}
	if (refused)
		run_warning(r, "%u series are not measured: they say why", refused);
	if (punted)
		run_warning(r,
			    "%u series were done by worker threads of io_uring, since "
			    "the file cannot be had without waiting: each call has a "
			    "hand-over in it (--fs xfs has fewest)",
			    punted);
	if (cut)
		run_warning(r, "--tile: vm.max_map_count has calls be smaller than "
			       "--sizes says");
}

/* Nothing at all could be measured: then there is no result. */
static int judge(const struct series *all, bool stopped)
{
	bool any = false;

	for (unsigned i = 0; i < cell_count; i++) {
		if (is_measured(&all[i]))
			return 0;
		any |= !all[i].record->reason[0];
	}
	if (stopped)
		return 0;
	if (any)
		return broken("no series has two samples: a longer --runtime, or a "
			      "smaller --volume");
	for (unsigned i = 0; i < cell_count; i++)
		note("%s: %s", all[i].cell->name, reason_of(&all[i]));
	return unsupported("none of these kinds can be had here");
}

/* X has room for the samples of a series. */
static int collect_into(struct report *r, const struct crew_result *result,
			struct series *all, double *x)
{
	int ret;

	for (unsigned i = 0; i < cell_count; i++) {
		struct series *s = &all[i];

		s->cell = &cells[i];
		s->record = cell_record(crew_record(result, 0), i);
		for (uint64_t k = 0; k < s->record->samples; k++)
			x[k] = (double)s->record->ns[k];
		summarize(x, s->record->samples, &s->ns);
	}
	ret = judge(all, result->signal);
	if (ret)
		return ret;
	for (unsigned i = 0; i < cell_count; i++)
		report_series(r, &all[i]);
	warn(r, all);
	return run_prints_lines(&cfg.run) ? print_all(all) : 0;
}

int collect_figures(struct report *r, const struct crew_result *result)
{
	struct series *all = calloc(cell_count, sizeof(*all));
	double *x = calloc(cfg.samples, sizeof(*x));
	int ret;

	if (all && x)
		ret = collect_into(r, result, all, x);
	else
		ret = failed("memory for %u series", cell_count);
	free(x);
	free(all);
	return ret;
}
