// SPDX-License-Identifier: GPL-2.0-or-later
/* options - ioviter's command line, and what follows from it. */
#include "common/parse.h"
#include "ioviter/ioviter.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SAMPLES = 1000 };

struct config cfg = {
	.kinds_text = "all",
	.targets_text = "pagecache",
	.sizes_text = "64k",
	.aligns_text = "0",
	.pages_text = "base",
	.direction = DIRECTION_BOTH,
	.segments = MOST_SEGMENTS,
	.size_bytes = 256 * MiB,
	.volume_bytes = 256 * MiB,
	.run = { .has = RUN_FS | RUN_FILES | RUN_ONCE,
		 .longer = "a larger --volume, or more --samples",
		 .samples = 16,
		 .warmup = 1 },
};

const char *const target_names[] = { [TARGET_PAGECACHE] = "pagecache",
				     [TARGET_ZERO] = "zero",
				     [TARGET_NULL] = "null",
				     NULL };
const char *const pages_names[] = { [PAGES_BASE] = "base", [PAGES_HUGE] = "huge", NULL };
static const char *const direction_names[] = { [DIRECTION_READ] = "read",
					       [DIRECTION_WRITE] = "write",
					       [DIRECTION_BOTH] = "both",
					       NULL };
static const char *const buffer_names[] = {
	[BUFFER_OWN] = "own", [BUFFER_SMALL] = "small", NULL
};
static const char *const form_names[] = {
	[FORM_AUTO] = "auto", [FORM_LINES] = "lines", [FORM_TABLE] = "table", NULL
};

const struct opt ioviter_options[] = {
	/* what is measured: each a dimension of the matrix */
	{ OPT_ROW(WORD, 'k', "kinds", text, &cfg.kinds_text,
		  "of iterators, commas between them; list: print them") },
	OPT_CHOICE(0, "direction", &cfg.direction, direction_names,
		   "read: to the iterator; write: from it"),
	{ OPT_ROW(WORD, 0, "targets", text, &cfg.targets_text,
		  "of pagecache, zero (/dev/zero), null (/dev/null)") },
	{ OPT_ROW(WORD, 0, "sizes", text, &cfg.sizes_text,
		  "of a call, such as 4k,64k,256m") },
	{ OPT_ROW(WORD, 0, "align", text, &cfg.aligns_text,
		  "bytes behind the start of a page, where memory begins") },
	{ OPT_ROW(WORD, 0, "pages", text, &cfg.pages_text, "of the memory: base, huge") },
	/* how */
	OPT_COUNT(0, "segments", &cfg.segments, "of a call by iovec, at most"),
	OPT_CHOICE(0, "buffer", &cfg.buffer, buffer_names,
		   "each segment has pages of its own, or all share a few"),
	OPT_FLAG(0, "tile", &cfg.tile,
		 "the memory is one page, mapped over and over: it stays in the cache"),
	OPT_SIZE('s', "size", &cfg.size_bytes, "of the file in the page cache"),
	OPT_FLAG(0, "file", &cfg.file,
		 "a scratch file, not a memfd; so it is with --dir, --fs"),
	OPT_SIZE(0, "volume", &cfg.volume_bytes, "moved in each sample"),
	OPT_FLAG(0, "verify", &cfg.verify, "look first whether the right bytes move"),
	OPT_CHOICE(0, "form", &cfg.form, form_names,
		   "of the results; auto: a table if any list has two values"),
	OPT_FLAG('q', "quiet", &cfg.run.quiet,
		 "neither the line before the start nor a live line"),
	OPT_END
};

static const struct usage usage = {
	.operands = "",
	.purpose = "Move data through each kind of the kernel's iov_iter, and print what "
		   "that takes",
};

static int read_kind(const char *word, uint64_t *value)
{
	uint64_t i = 0;

	while (kinds[i] && strcmp(kinds[i]->name, word) != 0)
		i++;
	*value = i;
	return kinds[i] ? 0 : -1;
}

static int index_of(const char *const *names, const char *word, uint64_t *value)
{
	for (*value = 0; names[*value]; ++*value)
		if (!strcmp(names[*value], word))
			return 0;
	return -1;
}

static int read_target(const char *word, uint64_t *value)
{
	return index_of(target_names, word, value);
}

static int read_pages(const char *word, uint64_t *value)
{
	return index_of(pages_names, word, value);
}

static int read_call(const char *word, uint64_t *value)
{
	return parse_size(word, value) || !*value || *value > GiB ? -1 : 0;
}

static int read_align(const char *word, uint64_t *value)
{
	return parse_size(word, value) || *value >= cfg.page_bytes ? -1 : 0;
}

static const struct list {
	const char *option, *expected;
	const char **text;
	struct values *values;
	int (*read)(const char *word, uint64_t *value); /* 0, or -1 in silence */
} lists[] = {
	{ "--kinds", "all, or names that --kinds list prints", &cfg.kinds_text,
	  &cfg.kinds, read_kind },
	{ "--targets", "pagecache, zero, null", &cfg.targets_text, &cfg.targets,
	  read_target },
	{ "--sizes", "sizes such as 4k,64k,256m, from 1 byte to 1g", &cfg.sizes_text,
	  &cfg.sizes, read_call },
	{ "--align", "bytes below a page, such as 0,1,63", &cfg.aligns_text, &cfg.aligns,
	  read_align },
	{ "--pages", "base, huge", &cfg.pages_text, &cfg.pages, read_pages },
};

static bool has_value(const struct values *values, uint64_t value)
{
	for (unsigned i = 0; i < values->count; i++)
		if (values->at[i] == value)
			return true;
	return false;
}

static int read_list(const struct list *list)
{
	char *copy = strdup(*list->text), *rest = copy, *word;
	int ret = copy ? 0 : failed("memory for %s", list->option);

	list->values->count = 0;
	while (!ret && (word = strsep(&rest, ","))) {
		uint64_t value;

		if (list->read(word, &value))
			ret = refused("%s '%s': expected %s, commas between them",
				      list->option, *list->text, list->expected);
		else if (has_value(list->values, value))
			ret = refused("%s '%s': expected each value once", list->option,
				      *list->text);
		else if (list->values->count == MOST_VALUES)
			ret = refused("%s: expected at most %d values", list->option,
				      MOST_VALUES);
		else
			list->values->at[list->values->count++] = value;
	}
	free(copy);
	return ret;
}

static int read_lists(void)
{
	int ret = 0;

	if (!strcmp(cfg.kinds_text, "all")) {
		while (kinds[cfg.kinds.count]) {
			cfg.kinds.at[cfg.kinds.count] = cfg.kinds.count;
			cfg.kinds.count++;
		}
	}
	for (size_t i = !!cfg.kinds.count; i < ARRAY_SIZE(lists) && !ret; i++)
		ret = read_list(&lists[i]);
	return ret;
}

static int check_options(void)
{
	const struct {
		bool refused;
		const char *why;
	} rules[] = {
		{ !cfg.segments || cfg.segments > MOST_SEGMENTS,
		  "--segments: expected 1 to 1024" },
		{ !cfg.size_bytes || cfg.size_bytes > INT64_MAX,
		  "--size: expected at least 1 byte" },
		{ !cfg.volume_bytes || cfg.volume_bytes > INT64_MAX,
		  "--volume: expected at least 1 byte" },
		{ cfg.run.samples < 2 || cfg.run.samples > MOST_SAMPLES,
		  "--samples: expected 2 to 1000, whose deviation is printed" },
		{ cfg.run.warmup > MOST_SAMPLES, "--warmup: expected at most 1000" },
		{ cfg.tile && has_value(&cfg.pages, PAGES_HUGE),
		  "--tile: expected --pages base, of which it is one" },
		{ cfg.verify && cfg.tile,
		  "--verify: expected no --tile, where all pages are the same" },
		{ cfg.run.keep &&
			  (!cfg.file || !has_value(&cfg.targets, TARGET_PAGECACHE)),
		  "--keep: expected --file and --targets pagecache with it" },
		{ cfg.run.dirs.count > 1, "--dir: expected one, for the one file" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].refused)
			return refused("%s", rules[i].why);
	return 0;
}

static int check_memory(void)
{
	uint64_t call = 0, need, room = limits_memory(&cfg.run.limits) / 2;
	char need_text[FORMAT_LEN], room_text[FORMAT_LEN];

	for (unsigned i = 0; i < cell_count; i++)
		call = MAX(call, cells[i].call_bytes);
	need = call * ((cfg.tile ? 0 : cfg.pages.count) + (cfg.verify ? 2 : 0)) +
	       (cfg.file ? 0 : cfg.size_bytes);
	if (cfg.run.force || need <= room)
		return 0;
	return refused("%s of memory needed, half of what is available is %s; --force "
		       "starts all the same",
		       format_bytes(need_text, (double)need),
		       format_bytes(room_text, (double)room));
}

int read_command_line(int argc, char **argv)
{
	int operand = run_parse(&cfg.run, &usage, ioviter_options, argc, argv), ret;

	if (operand < argc)
		return refused("'%s': expected options only; --help lists them",
			       argv[operand]);
	if (!strcmp(cfg.kinds_text, "list"))
		return kind_list() ?: RUN_DONE;
	cfg.page_bytes = cfg.run.limits.page_bytes;
	cfg.file |= cfg.run.fs.type || cfg.run.dir_given;
	ret = read_lists();
	if (!ret)
		ret = check_options();
	if (ret)
		return ret;
	cfg.samples = (unsigned)cfg.run.samples;
	cfg.warmup = (unsigned)cfg.run.warmup;
	ret = cells_make();
	return ret ?: check_memory();
}
