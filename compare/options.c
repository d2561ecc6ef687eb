// SPDX-License-Identifier: GPL-2.0-or-later
/* options - compare's command line. */
#include "compare/options.h"

#include "common/output.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD 0.02

static const char *const rules[] = { "tests", "robot", NULL };

struct config cfg = { .seed = 1 };

static const struct opt options[] = {
	OPT_FLAG(0, "all", &cfg.all, "rows for all metrics, changed or not"),
	{ OPT_ROW(WORDS, 0, "metric", words, &cfg.metrics,
		  "only metrics whose name fits the glob WORD; again: or that one") },
	{ OPT_ROW(WORDS, 0, "threshold", words, &cfg.thresholds,
		  "the least change that matters, 2% or GLOB=5% (2%)") },
	{ OPT_ROW(WORD, 0, "claim", text, &cfg.claim,
		  "does the data support a change of the first metric by -16.9%?") },
	OPT_CHOICE(0, "rule", &cfg.rule, rules,
		   "what makes a change real: tests, or the robot's separation"),
	OPT_NUMBER(0, "seed", &cfg.seed, "of the resamples, and of the order of --ab"),
	{ OPT_ROW(WORDS, 0, "name", words, &cfg.names,
		  "of the base; again: of the next side") },
	OPT_SET(0, "markdown", &cfg.form, FORM_MARKDOWN, "as Markdown"),
	OPT_SET(0, "json", &cfg.form, FORM_JSON, "as one JSON document"),
	OPT_TEXT(0, "html", &cfg.html, "a page of it, too"),
	OPT_FLAG(0, "gate", &cfg.gate,
		 "exit with 3 on a regression, else 4 where any is undecided"),
	OPT_FLAG(0, "no-warn", &cfg.no_warn, "no warnings about the runs"),
	OPT_FLAG(0, "ab", &cfg.ab,
		 "run two commands in turn, and compare the results they write to $JSON"),
	OPT_COUNT(0, "pairs", &cfg.pairs,
		  "with --ab: run each N times (10; with --until 1000)"),
	{ OPT_ROW(WORD, 0, "until", text, &cfg.until,
		  "with --ab: until the interval of the first metric is 1% wide, or that "
		  "often") },
	OPT_TEXT(0, "keep", &cfg.keep,
		 "with --ab: the results are files in the directory FILE"),
	{ OPT_ROW(WORD, 0, "setup-a", text, &cfg.setup[0],
		  "with --ab: a command before each run of the first") },
	{ OPT_ROW(WORD, 0, "setup-b", text, &cfg.setup[1], "the same for the second") },
	{ OPT_ROW(WORD, 0, "cleanup-a", text, &cfg.cleanup[0],
		  "a command after each run of the first, whatever became of it") },
	{ OPT_ROW(WORD, 0, "cleanup-b", text, &cfg.cleanup[1],
		  "the same for the second") },
	OPT_END,
};

static const struct opt common_options[] = {
	OPT_HELP('h', "help", "this text"),
	{ .kind = OPT_KIND_VERSION, .name = "version", .help = "name and version" },
	OPT_END,
};

int parse_percent(const char *text, double *share)
{
	char *end;
	double percent = strtod(text, &end);

	/* No blanks, no "inf", no hexadecimal digits. */
	if (end == text || strspn(text, "+-.0123456789e") < (size_t)(end - text) ||
	    (strcmp(end, "%") && *end) || !isfinite(percent))
		return -EINVAL;
	*share = percent / 100;
	return 0;
}

/* Where in "GLOB=5%" the percentage begins; a glob may hold a '='. */
static const char *percent_of(const char *text)
{
	const char *equals = strrchr(text, '=');

	return equals ? equals + 1 : text;
}

double threshold_of(const void *context, const char *name)
{
	const struct config *config = context;
	double share = THRESHOLD, this;

	for (unsigned i = 0; i < config->thresholds.count; i++) {
		const char *text = config->thresholds.at[i], *percent = percent_of(text);
		char *glob = percent > text ? strndup(text, (size_t)(percent - text) - 1)
					    : NULL;

		if ((percent == text || (glob && !fnmatch(glob, name, 0))) &&
		    !parse_percent(percent, &this))
			share = this;
		free(glob);
	}
	return share;
}

bool is_wanted(const void *context, const char *name)
{
	const struct config *config = context;

	for (unsigned i = 0; i < config->metrics.count; i++)
		if (!fnmatch(config->metrics.at[i], name, 0))
			return true;
	return !config->metrics.count;
}

static int check_values(void)
{
	double share;

	for (unsigned i = 0; i < cfg.thresholds.count; i++)
		if (parse_percent(percent_of(cfg.thresholds.at[i]), &share) || share < 0)
			return refused(
				"--threshold '%s': expected a percentage such as 2%% "
				"or GLOB=2%%",
				cfg.thresholds.at[i]);
	if (cfg.html && output_is_stdout(cfg.html))
		return refused(
			"--html '%s': expected a file, standard output has the report",
			cfg.html);
	if (cfg.claim && parse_percent(cfg.claim, &share))
		return refused("--claim '%s': expected a percentage such as -16.9%%",
			       cfg.claim);
	if (cfg.until && (parse_percent(cfg.until, &share) || share <= 0))
		return refused("--until '%s': expected a percentage such as 1%%",
			       cfg.until);
	if (!cfg.pairs)
		cfg.pairs = cfg.until ? 1000 : 10;
	if (cfg.pairs > 100000)
		return refused("--pairs %ju: expected 1 to 100000", (uintmax_t)cfg.pairs);
	return 0;
}

static int check_together(void)
{
	const struct {
		const char *name;
		bool given;
	} of_ab[] = {
		{ "until", cfg.until },          { "keep", cfg.keep },
		{ "setup-a", cfg.setup[0] },     { "setup-b", cfg.setup[1] },
		{ "cleanup-a", cfg.cleanup[0] }, { "cleanup-b", cfg.cleanup[1] },
	};

	for (size_t i = 0; i < ARRAY_SIZE(of_ab) && !cfg.ab; i++)
		if (of_ab[i].given)
			return refused("--%s: expected with --ab only", of_ab[i].name);
	return 0;
}

/* Up to the first "--", or one for each of two. */
static int split_first(char **argv, int first, int end, bool more, struct operands *sides)
{
	unsigned count = (unsigned)(end - first);

	if (more || cfg.ab) {
		sides[0] = (struct operands){ (const char *const *)argv + first, count };
		return 1;
	}
	for (unsigned i = 0; i < MIN(count, 2u); i++)
		sides[i] = (struct operands){ (const char *const *)argv + first + i, 1 };
	return (int)count;
}

static int check_sides(const struct operands *sides, int count)
{
	unsigned inputs = 0;

	if (cfg.ab)
		return count == 1 && sides[0].count == 2
			       ? 0
			       : refused("--ab: expected two commands, each as one word");
	if (count < 2)
		return refused("expected two JSON results, or BASE... -- HEAD...");
	for (int s = 0; s < count; s++) {
		if (!sides[s].count)
			return refused("expected results %s '--'",
				       s ? "behind each" : "before the first");
		for (unsigned i = 0; i < sides[s].count; i++) {
			const char *name = sides[s].at[i];

			if (s && name[0] == '-' && name[1])
				return refused("'%s': expected options before the first "
					       "'--' (a file may be called ./%s)",
					       name, name);
			inputs += !strcmp(name, "-");
		}
	}
	if (cfg.names.count > (unsigned)count)
		return refused(
			"--name is there %u times: expected one for each of the %d sides "
			"at most",
			cfg.names.count, count);
	if (inputs > 1)
		return refused("'-' is there %u times: expected it once, standard input "
			       "cannot be read again",
			       inputs);
	return 0;
}

int read_command_line(int argc, char **argv, struct operands **sides)
{
	const struct usage usage = {
		.operands = "BASE... -- HEAD... [-- HEAD...]",
		.purpose = "say what differs between results, and whether that is real",
	};
	int end = 1, count, first, ret;

	*sides = calloc((size_t)argc + 2, sizeof(**sides));
	if (!*sides)
		return failed("memory for the command line");
	while (end < argc && strcmp(argv[end], "--"))
		end++;
	first = opts_parse(&usage, options, common_options, end, argv);
	count = split_first(argv, first, end, end < argc, *sides);
	if (count > 2)
		return refused(
			"%d results and no '--': expected two, or BASE... -- HEAD...",
			count);
	for (int at = end; at < argc; at++)
		if (!strcmp(argv[at], "--"))
			(*sides)[count++] = (struct operands){
				(const char *const *)argv + at + 1, 0
			};
		else
			(*sides)[count - 1].count++;
	ret = check_values();
	if (!ret)
		ret = check_together();
	if (!ret)
		ret = check_sides(*sides, count);
	return ret ?: count;
}
