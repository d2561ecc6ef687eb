// SPDX-License-Identifier: GPL-2.0-or-later
/* fill - what a walk and a signal-driven write store. */
#include "common/parse.h"
#include "usemem/task.h"

#include <string.h>

/* What --fill says that a walk stores. */
static int read_fill(struct pattern *fill)
{
	const struct {
		const char *name;
		struct pattern pattern;
	} fills[] = {
		{ "zero", { 0 } },
		{ "index", { .index_mask = UINT64_MAX } },
		{ "random", { .hashed = true, .random_words = UINT64_MAX } },
	};
	uint64_t words = base_page_bytes() / sizeof(uint64_t), random_words;
	const char *of = "compress=";

	*fill = (struct pattern){ .hashed = true, .page_words = words };
	if (!strncmp(cfg.fill, of, strlen(of)) &&
	    !parse_share(cfg.fill + strlen(of), words, &random_words)) {
		fill->random_words = random_words;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(fills); i++)
		if (!strcmp(cfg.fill, fills[i].name)) {
			*fill = fills[i].pattern;
			fill->page_words = words;
			return 0;
		}
	return refused("--fill '%s': expected zero, index, random or compress=N%%",
		       cfg.fill);
}

int read_patterns(void)
{
	int ret = read_fill(&cfg.walk_pattern);

	if (!ret && cfg.main_data_given)
		cfg.walk_pattern = (struct pattern){ .data = cfg.main_data };
	cfg.signal_pattern = (struct pattern){
		.index_mask = cfg.signal_data_given ? 0 : UINT64_MAX,
		.data = cfg.signal_data,
	};
	return ret;
}

struct pattern pattern_in_unit(const struct task *task, const struct pattern *pattern,
			       uint64_t unit)
{
	struct pattern p = { 0 };

	if (pattern)
		p = *pattern;
	/* Other words in each unit: pages that are alike could be merged. */
	p.base = task->pattern_base + (unit << 40);
	return p;
}
