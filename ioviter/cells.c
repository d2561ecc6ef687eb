// SPDX-License-Identifier: GPL-2.0-or-later
/* cells - the matrix: each kind by everything that was asked for. */
#include "common/parse.h"
#include "ioviter/ioviter.h"

#include <stdio.h>
#include <stdlib.h>

struct cell *cells;
unsigned cell_count;

/* The kind and its direction, then each dimension that has more than one value. */
static void name_cell(struct cell *cell)
{
	char size[FORMAT_LEN];
	int len = snprintf(cell->name, sizeof(cell->name), "%s", cell->kind->name);

	if (cell->kind->unreachable)
		return;
	len += snprintf(cell->name + len, sizeof(cell->name) - (size_t)len, "_%s",
			cell->write ? "write" : "read");
	if (cfg.targets.count > 1)
		len += snprintf(cell->name + len, sizeof(cell->name) - (size_t)len, "_%s",
				target_names[cell->target]);
	if (cfg.sizes.count > 1)
		len += snprintf(cell->name + len, sizeof(cell->name) - (size_t)len, "_%s",
				format_size(size, cell->size_bytes));
	if (cfg.aligns.count > 1)
		len += snprintf(cell->name + len, sizeof(cell->name) - (size_t)len,
				"_align%ju", (uintmax_t)cell->align_bytes);
	if (cfg.pages.count > 1)
		snprintf(cell->name + len, sizeof(cell->name) - (size_t)len, "_%s",
			 pages_names[cell->pages]);
}

/* The Ith of all combinations of the dimensions but the kind; the last dimension turns fastest. */
static struct cell combination(const struct kind *kind, unsigned i)
{
	struct cell cell = { .kind = kind };
	unsigned ways = cfg.direction == DIRECTION_BOTH ? 2 : 1;

	cell.pages = (enum page_sort)cfg.pages.at[i % cfg.pages.count];
	i /= cfg.pages.count;
	cell.align_bytes = cfg.aligns.at[i % cfg.aligns.count];
	i /= cfg.aligns.count;
	cell.size_bytes = cfg.sizes.at[i % cfg.sizes.count];
	i /= cfg.sizes.count;
	cell.target = (enum target_sort)cfg.targets.at[i % cfg.targets.count];
	i /= cfg.targets.count;
	cell.write = ways == 2 ? i % 2 : cfg.direction == DIRECTION_WRITE;
	return cell;
}

/* Of a walk through BYTES in calls as T has them: the last may be shorter. */
static uint64_t walk_segments(const struct kind *kind, const struct trial *t,
			      uint64_t bytes)
{
	struct trial last = *t;

	last.call_bytes = bytes % t->call_bytes;
	return bytes / t->call_bytes * kind_segments(kind, t) +
	       (last.call_bytes ? kind_segments(kind, &last) : 0);
}

static void fit_call(struct cell *cell)
{
	struct trial t = { .page_bytes = cfg.page_bytes,
			   .most_segments = (unsigned)cfg.segments };
	uint64_t walk = cfg.volume_bytes, most;

	if (cell->target == TARGET_PAGECACHE)
		walk = MIN(walk, cfg.size_bytes);
	most = MIN(cell->size_bytes, walk);
	if (cfg.tile)
		most = MIN(most, area_most_bytes());
	t.call_bytes = cell->call_bytes = kind_call_bytes(cell->kind, &t, most);
	cell->segments = kind_segments(cell->kind, &t);
	cell->sample_segments = cfg.volume_bytes / walk *
					walk_segments(cell->kind, &t, walk) +
				walk_segments(cell->kind, &t, cfg.volume_bytes % walk);
}

int cells_make(void)
{
	unsigned ways = cfg.direction == DIRECTION_BOTH ? 2 : 1,
		 each = ways * cfg.targets.count * cfg.sizes.count * cfg.aligns.count *
			cfg.pages.count;

	cells = calloc((size_t)cfg.kinds.count * each, sizeof(*cells));
	if (!cells)
		return failed("memory for %u series", cfg.kinds.count * each);
	for (unsigned k = 0; k < cfg.kinds.count; k++) {
		const struct kind *kind = kinds[cfg.kinds.at[k]];

		for (unsigned i = 0; i < (kind->unreachable ? 1 : each); i++) {
			struct cell *cell = &cells[cell_count++];

			*cell = combination(kind, i);
			name_cell(cell);
			if (!kind->unreachable)
				fit_call(cell);
		}
	}
	return 0;
}

static size_t record_step(void)
{
	return sizeof(struct cell_record) + cfg.samples * sizeof(uint64_t);
}

size_t cell_record_bytes(void)
{
	return cell_count * record_step();
}

struct cell_record *cell_record(void *records, unsigned i)
{
	return (struct cell_record *)((char *)records + i * record_step());
}
