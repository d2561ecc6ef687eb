// SPDX-License-Identifier: GPL-2.0-or-later
/* memory - the units of a task: allocated, locked, punched and freed. */
#include "common/limits.h"
#include "common/parse.h"
#include "usemem/task.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Since Linux 5.18: MADV_DONTNEED that takes locked pages as well. */
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/* Bytes that are written between two looks at whether to stop. */
#define PIECE_BYTES (4 * MiB)

uint64_t unit_bytes(uint64_t unit)
{
	uint64_t at = unit * cfg.unit_bytes;

	return MIN(cfg.unit_bytes, cfg.size_bytes - at);
}

uint64_t units_wanted(void)
{
	return cfg.size_bytes / cfg.unit_bytes + (cfg.size_bytes % cfg.unit_bytes != 0);
}

uint64_t mapped_bytes(const struct task *task, uint64_t unit)
{
	return task->mapped && task->mapped[unit] ? task->mapped[unit] : unit_bytes(unit);
}

/* Write every word, its index in its unit. */
static void write_all_words(const struct worker *w, char *memory, uint64_t bytes)
{
	struct touch t = { .step = 1, .pattern = { .index_mask = UINT64_MAX } };
	const struct touch_kind *kind = touch_find(&t, true, false, false);
	uint64_t count;

	for (uint64_t at = 0; at < bytes; at += cfg.unit_bytes) {
		t.words = (word *)(memory + at);
		count = MIN(cfg.unit_bytes, bytes - at) / sizeof(word);
		for (uint64_t from = 0; from < count && !(w && crew_stopping(w));
		     from += PIECE_BYTES / sizeof(word))
			kind->touch(&t, from,
				    MIN(PIECE_BYTES / sizeof(word), count - from));
	}
}

int allocate(const struct worker *w, uint64_t at, uint64_t bytes, void **memory)
{
	void *got;
	int ret = region_map(&cfg.backing, at, bytes, &got);

	if (ret)
		return ret;
	if (cfg.show_addr && run_prints_lines(&cfg.run))
		ret = print_line("%d %#jx-%#jx", getpid(), (uintmax_t)(uintptr_t)got,
				 (uintmax_t)((uintptr_t)got + bytes));
	if (!ret && cfg.madv_thp)
		ret = region_advise(&cfg.backing, got, bytes, MADV_HUGEPAGE,
				    "MADV_HUGEPAGE");
	if (!ret && cfg.touch_alloc)
		write_all_words(w, got, bytes);
	*memory = got;
	return ret;
}

/* The next unit: a piece of what all share, or memory of the task's own. */
int take_unit(const struct worker *w)
{
	struct task *task = w->data;
	uint64_t unit = task->unit_count, at = unit * cfg.unit_bytes;
	int ret = 0;

	if (cfg.shared)
		task->units[unit] = (char *)cfg.shared + at;
	else
		ret = allocate(w, at, unit_bytes(unit), &task->units[unit]);
	task->unit_count += !ret;
	return ret;
}

int lock_unit(struct task *task, uint64_t unit)
{
	uint64_t bytes = unit_bytes(unit);
	struct rlimit limit;
	char size[FORMAT_LEN], most[FORMAT_LEN];
	int error;

	if (!mlock(task->units[unit], bytes))
		return 0;
	error = errno;
	format_size(size, bytes);
	getrlimit(RLIMIT_MEMLOCK, &limit);
	errno = error;
	if (limit.rlim_cur == RLIM_INFINITY)
		return failed("mlock %s", size);
	return failed("mlock %s, where 'ulimit -l' allows %s in all", size,
		      format_size(most, limit.rlim_cur));
}

int free_units(struct task *task)
{
	int ret = 0;

	for (uint64_t unit = 0; unit < task->unit_count && !ret; unit++)
		ret = region_unmap(&cfg.backing, task->units[unit],
				   mapped_bytes(task, unit));
	return ret;
}

/* The range of all tasks is advised as one, or pages that two pieces share would count twice; the
 * menu may have moved pieces out of it. */
static bool is_one_range(void)
{
	return cfg.shared && !cfg.menu;
}

uint64_t advised_bytes(const struct task *task)
{
	uint64_t sum = 0;

	if (is_one_range())
		return region_pages(&cfg.backing, cfg.shared, cfg.size_bytes).bytes;
	for (uint64_t unit = 0; unit < task->unit_count; unit++)
		sum += region_pages(&cfg.backing, task->units[unit], unit_bytes(unit))
			       .bytes;
	return sum;
}

int advise_units(struct task *task, int advice, const char *name)
{
	int ret = 0;

	if (is_one_range())
		return region_advise(&cfg.backing, cfg.shared, cfg.size_bytes, advice,
				     name);
	for (uint64_t unit = 0; unit < task->unit_count && !ret; unit++)
		ret = region_advise(&cfg.backing, task->units[unit], unit_bytes(unit),
				    advice, name);
	return ret;
}

/* Of a piece of the shared range those that are its own; the last piece has the range's end. */
struct pages unit_pages(const struct task *task, uint64_t unit)
{
	uint64_t page = region_page_bytes(&cfg.backing), bytes = unit_bytes(unit);
	uintptr_t first = (uintptr_t)task->units[unit], end = first + bytes;
	bool last = unit + 1 == units_wanted();

	first = (first + page - 1) / page * page;
	end = (!cfg.shared || last ? end + page - 1 : end) / page * page;
	return (struct pages){ (void *)first, end > first ? end - first : 0 };
}

static int punch(const struct task *task, uint64_t unit, char *start)
{
	uint64_t page = region_page_bytes(&cfg.backing);
	off_t at = (off_t)(cfg.backing.offset + unit * cfg.unit_bytes +
			   (uint64_t)(start - (char *)task->units[unit]));
	bool locked = cfg.mlock || cfg.menu;

	if (cfg.fallocate_punch_holes) {
		if (!fallocate(cfg.backing.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			       at, (off_t)page))
			return 0;
		return failed("punch a hole at offset %jd of %s", (intmax_t)at,
			      cfg.backing.path ?: cfg.backing.source->name);
	}
	if (!madvise(start, page, locked ? MADV_DONTNEED_LOCKED : MADV_DONTNEED))
		return 0;
	return failed("madvise(%s)", locked ? "MADV_DONTNEED_LOCKED" : "MADV_DONTNEED");
}

int punch_unit(struct task *task, uint64_t unit)
{
	struct pages pages = unit_pages(task, unit);
	uint64_t page = region_page_bytes(&cfg.backing), count = pages.bytes / page;
	int ret = 0;

	for (uint64_t i = 0; i < count && !ret; i++)
		if (is_hole(i, count))
			ret = punch(task, unit, (char *)pages.start + i * page);
	return ret;
}
