// SPDX-License-Identifier: GPL-2.0-or-later
/* disks - what iostat(1) makes of diskstats, over a window. */
#include "common/derived.h"

#include "common/growth.h"

#include <stdio.h>

enum { NAME_LEN = 192, TERMS = 3 };

/* A sector is 512 bytes, whatever the disk's are. */
#define KIB_PER_SECTOR 0.5

static double growth_of_disk(const struct window *w, const char *disk, const char *field)
{
	char name[NAME_LEN];

	snprintf(name, sizeof(name), "%s.%s", disk, field);
	return growth_of(&w->first.raw, &w->last.raw, name);
}

static bool has_field(const struct window *w, const char *disk, const char *field)
{
	char name[NAME_LEN];

	snprintf(name, sizeof(name), "%s.%s", disk, field);
	return is_there(&w->first.raw, &w->last.raw, name);
}

static void say(const char *disk, const char *name, double value, row_hook *each,
		void *context)
{
	char full[NAME_LEN];

	snprintf(full, sizeof(full), "iostat.%s.%s", disk, name);
	each(context, full, value);
}

/* The sum over those of FIELDS that this kernel has. */
static double sum_of(const struct window *w, const char *disk,
		     const char *const fields[static TERMS])
{
	double sum = 0;

	for (unsigned i = 0; i < TERMS && fields[i]; i++)
		if (has_field(w, disk, fields[i]))
			sum += growth_of_disk(w, disk, fields[i]);
	return sum;
}

static void disk_rates(const struct window *w, const char *disk, row_hook *each,
		       void *context)
{
	static const struct {
		const char *name, *field;
		double scale;
	} rows[] = {
		{ "r/s", "reads", 1 },
		{ "w/s", "writes", 1 },
		{ "d/s", "discards", 1 },
		{ "f/s", "flushes", 1 },
		{ "rkB/s", "read_sectors", KIB_PER_SECTOR },
		{ "wkB/s", "written_sectors", KIB_PER_SECTOR },
		{ "dkB/s", "discarded_sectors", KIB_PER_SECTOR },
		{ "rrqm/s", "reads_merged", 1 },
		{ "wrqm/s", "writes_merged", 1 },
		{ "aqu-sz", "queue_ms", 1e-3 },
		{ "util", "busy_ms", 100e-3 }, /* in percent */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (has_field(w, disk, rows[i].field))
			say(disk, rows[i].name,
			    growth_of_disk(w, disk, rows[i].field) * rows[i].scale /
				    seconds_of(w),
			    each, context);
}

/* Milliseconds a request, and KiB; of no request at all they are not known. */
static void disk_ratios(const struct window *w, const char *disk, row_hook *each,
			void *context)
{
	static const struct {
		const char *name, *parts[TERMS], *of[TERMS];
		double scale;
	} rows[] = {
		{ "await",
		  { "read_ms", "write_ms", "discard_ms" },
		  { "reads", "writes", "discards" },
		  1 },
		{ "r_await", { "read_ms" }, { "reads" }, 1 },
		{ "w_await", { "write_ms" }, { "writes" }, 1 },
		{ "d_await", { "discard_ms" }, { "discards" }, 1 },
		{ "f_await", { "flush_ms" }, { "flushes" }, 1 },
		{ "rareq-sz", { "read_sectors" }, { "reads" }, KIB_PER_SECTOR },
		{ "wareq-sz", { "written_sectors" }, { "writes" }, KIB_PER_SECTOR },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (has_field(w, disk, rows[i].of[0]))
			say(disk, rows[i].name,
			    ratio(sum_of(w, disk, rows[i].parts) * rows[i].scale,
				  sum_of(w, disk, rows[i].of)),
			    each, context);
}

void disk_rows(const struct window *w, const char *disk, row_hook *each, void *context)
{
	disk_rates(w, disk, each, context);
	disk_ratios(w, disk, each, context);
}
