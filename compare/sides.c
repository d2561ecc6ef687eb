// SPDX-License-Identifier: GPL-2.0-or-later
/* sides - from what the user named to two or more sets of samples, judged. */
#include "compare/sides.h"

#include "compare/notes.h"
#include "compare/options.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

const struct judgement *judgement_of(const struct comparison *c, unsigned series,
				     unsigned head)
{
	return &c->judgements[(size_t)series * (c->side_count - 1) + head - 1];
}

bool has_row(const struct comparison *c, unsigned series)
{
	for (unsigned h = 1; h < c->side_count; h++) {
		const struct judgement *j = judgement_of(c, series, h);

		if (j->verdict == VERDICT_CHANGED || j->verdict == VERDICT_SUGGESTED ||
		    (c->config->all && j->base.n + j->head.n))
			return true;
	}
	return false;
}

/* "results/base.json" -> "base". */
static char *name_of_file(const char *path)
{
	char *copy = strdup(path), *name = copy ? strdup(basename(copy)) : NULL;
	size_t len = name ? strlen(name) : 0;

	if (len > 5 && !strcmp(name + len - 5, ".json"))
		name[len - 5] = '\0';
	free(copy);
	return name;
}

/* A column is counted in bytes, so each is to be seen. */
static char *made_ascii(char *text)
{
	for (char *at = text; at && *at; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
			*at = '?';
	return text;
}

static bool names_repeat(const struct comparison *c)
{
	for (unsigned a = 0; a < c->side_count; a++)
		for (unsigned b = a + 1; b < c->side_count; b++)
			if (!strcmp(c->sides[a].name, c->sides[b].name))
				return true;
	return false;
}

/* The file or directory, where it is one; else the kernel; and where those do not tell the sides apart, what
 * they are here. --name is before all. */
int comparison_name(struct comparison *c, const struct operands *operands)
{
	const struct words *given = &c->config->names;
	bool by_place = false;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned s = 0; s < c->side_count; s++) {
			struct side *side = &c->sides[s];

			free(side->name);
			side->name = NULL;
			if (s < given->count)
				side->name = strdup(given->at[s]);
			else if (by_place && s > 1)
				side->name = asprintf(&side->name, "head%u", s) < 0
						     ? NULL
						     : side->name;
			else if (by_place)
				side->name = strdup(s ? "head" : "base");
			else if (operands && operands[s].count == 1 &&
				 strcmp(operands[s].at[0], "-"))
				side->name = name_of_file(operands[s].at[0]);
			else
				side->name = strdup(side->kernel);
			if (!made_ascii(side->name))
				return failed("memory for a name");
		}
		by_place = names_repeat(c);
		if (!by_place)
			break;
	}
	return 0;
}

static int load_sides(struct comparison *c, const struct operands *operands)
{
	int ret = 0;

	for (unsigned s = 0; s < c->side_count && !ret; s++) {
		struct side *side = &c->sides[s];

		ret = side_load(side, &c->table, s, operands[s].at, operands[s].count);
		if (!ret && strcmp(side->program, c->sides[0].program))
			ret = refused("%s is of %s and %s of %s: expected results of one "
				      "program",
				      operands[0].at[0], c->sides[0].program,
				      operands[s].at[0], side->program);
	}
	for (unsigned s = 0; s < c->side_count && !ret; s++)
		if (!c->sides[s].valid)
			ret = broken("%s: none of its %zu runs is valid",
				     operands[s].at[0], c->sides[s].count);
	return ret;
}

/* What the user does not want to hear of takes no part in anything. */
static int keep_wanted(struct comparison *c)
{
	series_keep(&c->table, is_wanted, c->config);
	series_sort(&c->table);
	return c->table.count
		       ? 0
		       : refused("--metric '%s': expected a glob that fits a metric",
				 c->config->metrics.count ? c->config->metrics.at[0]
							  : "*");
}

static void take_files(struct comparison *c)
{
	for (unsigned i = 0; i < c->table.count; i++)
		for (unsigned s = 0; s < c->side_count; s++)
			series_by_file(c->table.at[i], s);
}

static int judge_heads(struct comparison *c)
{
	int ret = 0;

	c->judgements = calloc((size_t)c->table.count * (c->side_count - 1) + 1,
			       sizeof(*c->judgements));
	if (!c->judgements)
		return failed("memory for %u metrics", c->table.count);
	for (unsigned h = 1; h < c->side_count && !ret; h++)
		ret = judge(&c->table, h, &c->rules, c->judgements + h - 1,
			    c->side_count - 1);
	return ret;
}

/* The system's metrics that only one of the two has, some by name. */
static void note_lone(struct comparison *c, unsigned has, unsigned lacks)
{
	enum { SHOWN = 5 };
	char names[512] = "";
	unsigned count = 0;

	for (unsigned i = 0; i < c->table.count; i++) {
		const struct series *s = c->table.at[i];
		size_t len = strlen(names);

		if (s->own || !s->sides[has].n || s->sides[lacks].n)
			continue;
		if (count++ < SHOWN)
			snprintf(names + len, sizeof(names) - len, "%s%.90s",
				 len ? ", " : "", s->name);
	}
	if (count)
		notes_add(&c->notes,
			  "%s has %u metrics of the system that %s has not (%s%s): other "
			  "kernels, or other rights",
			  c->sides[has].name, count, c->sides[lacks].name, names,
			  count > SHOWN ? " ..." : "");
}

static void look_for_trouble(struct comparison *c)
{
	const struct series *first = c->table.at[0];

	for (unsigned s = 0; s < c->side_count && !c->config->no_warn; s++)
		notes_on_side(&c->notes, &c->sides[s], first, &first->sides[s]);
	for (unsigned h = 1; h < c->side_count && !c->config->no_warn; h++) {
		note_lone(c, 0, h);
		note_lone(c, h, 0);
	}
}

int comparison_judge(struct comparison *c)
{
	int ret = keep_wanted(c);

	take_files(c);
	ret = ret ?: judge_heads(c);
	if (!ret)
		look_for_trouble(c);
	return ret;
}

int comparison_make(struct comparison *c, const struct config *config,
		    const struct operands *sides, unsigned count)
{
	int ret;

	*c = (struct comparison){
		.config = config,
		.sides = calloc(count, sizeof(struct side)),
		.side_count = count,
		.rules = { config->rule, config->seed, threshold_of, config },
	};
	c->has_claim = config->claim && !parse_percent(config->claim, &c->claim);
	if (!c->sides)
		return failed("memory for %u sides", count);
	ret = series_table_init(&c->table, count);
	ret = ret ?: load_sides(c, sides);
	ret = ret ?: comparison_name(c, sides);
	return ret ?: comparison_judge(c);
}

void comparison_free(struct comparison *c)
{
	for (unsigned s = 0; s < c->side_count && c->sides; s++)
		side_free(&c->sides[s]);
	series_table_free(&c->table);
	notes_free(&c->notes);
	free(c->sides);
	free(c->judgements);
}
