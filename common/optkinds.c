// SPDX-License-Identifier: GPL-2.0-or-later
/* optkinds - what each kind of option takes, how it is read and shown. */
#include "common/optkinds.h"

#include "common/parse.h"
#include "common/topo.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_flag(const struct opt *o, const char *text)
{
	(void)text;
	*o->to.flag = true;
	return 0;
}

static int parse_set(const struct opt *o, const char *text)
{
	(void)text;
	*o->to.count = o->value;
	return 0;
}

static int parse_number_of_tasks(const struct opt *o, const char *text)
{
	struct topo topo;
	int ret = topo_read(&topo, "");

	if (!ret)
		ret = parse_tasks(text, topo.allowed.count, o->to.count);
	topo_free(&topo);
	return ret;
}

static int parse_plain_count(const struct opt *o, const char *text)
{
	return parse_count(text, o->to.number);
}

static int parse_binding(const struct opt *o, const char *text)
{
	if (!strcmp(text, "none"))
		*o->to.number = 0;
	else if (!strcmp(text, "node"))
		*o->to.number = BIND_NODE;
	else
		return parse_count(text, o->to.number);
	return 0;
}

static int parse_number(const struct opt *o, const char *text)
{
	return parse_word(text, o->to.number);
}

static int parse_bytes(const struct opt *o, const char *text)
{
	return parse_size(text, o->to.size);
}

static int parse_duration(const struct opt *o, const char *text)
{
	return parse_time(text, o->to.time);
}

static int parse_short_delay(const struct opt *o, const char *text)
{
	return parse_delay(text, o->to.time);
}

static int parse_sleep(const struct opt *o, const char *text)
{
	uint64_t ns;
	int ret;

	if (text[0] != '-')
		return parse_time(text, o->to.time);
	ret = parse_time(text + 1, &ns);
	if (ret != -EINVAL)
		*o->to.time = UINT64_MAX;
	return ret == -EINVAL ? ret : 0;
}

static int parse_maybe_bytes(const struct opt *o, const char *text)
{
	return text ? parse_size(text, o->to.size) : 0;
}

static int parse_text(const struct opt *o, const char *text)
{
	*o->to.text = text ? text : "";
	return 0;
}

static int parse_list(const struct opt *o, const char *text)
{
	struct words *words = o->to.words;
	const char **more = realloc(words->at, (words->count + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	more[words->count] = text;
	words->at = more;
	words->count++;
	return 0;
}

static int parse_choice(const struct opt *o, const char *text)
{
	for (unsigned i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], text))
			continue;
		*o->to.count = i;
		return 0;
	}
	return -EINVAL;
}

static void show_tasks(const struct opt *o, char *text)
{
	if (*o->to.count)
		snprintf(text, FORMAT_LEN, "%u", *o->to.count);
}

static void show_number(const struct opt *o, char *text)
{
	if (*o->to.number)
		snprintf(text, FORMAT_LEN, "%ju", (uintmax_t)*o->to.number);
}

static void show_bytes(const struct opt *o, char *text)
{
	if (*o->to.size)
		format_size(text, *o->to.size);
}

static void show_duration(const struct opt *o, char *text)
{
	if (*o->to.time)
		format_time(text, *o->to.time);
}

static void show_text(const struct opt *o, char *text)
{
	if (*o->to.text)
		snprintf(text, FORMAT_LEN, "%s", *o->to.text);
}

static void show_list(const struct opt *o, char *text)
{
	if (o->to.words->count)
		snprintf(text, FORMAT_LEN, "%s", o->to.words->at[0]);
}

static void show_choice(const struct opt *o, char *text)
{
	snprintf(text, FORMAT_LEN, "%s", o->choices[*o->to.count]);
}

const struct opt_kind_row opt_kinds[] = {
	[OPT_KIND_FLAG] = { .takes = no_argument, .parse = parse_flag },
	[OPT_KIND_SET] = { .takes = no_argument, .parse = parse_set },
	[OPT_KIND_COUNT] = { "N", required_argument, "a whole number", parse_plain_count,
			     show_number, NULL },
	[OPT_KIND_TASKS] = { "N", required_argument,
			     "a whole number, or auto, 10% or 2x of the CPUs that may be "
			     "used",
			     parse_number_of_tasks, show_tasks, NULL },
	[OPT_KIND_BIND] = { "K", required_argument, "a whole number, node or none",
			    parse_binding, NULL, NULL },
	[OPT_KIND_NUMBER] = { "N", required_argument, "a number, decimal or 0x",
			      parse_number, NULL, NULL },
	[OPT_KIND_SIZE] = { "SIZE", required_argument,
			    "a size such as 4096, 64k, 2m or 1g", parse_bytes, show_bytes,
			    "bytes" },
	[OPT_KIND_TIME] = { "TIME", required_argument,
			    "a time such as 10 (seconds), 500ms, 10s or 2m",
			    parse_duration, show_duration, "ns" },
	[OPT_KIND_DELAY] = { "TIME", required_argument,
			     "a time such as 500 (ns), 20u, 5m (ms) or 1s",
			     parse_short_delay, NULL, "ns" },
	[OPT_KIND_SLEEP] = { "TIME", required_argument,
			     "a time such as 10 (seconds), 500ms or 2m, or -1 for ever",
			     parse_sleep, NULL, "ns" },
	[OPT_KIND_TEXT] = { "FILE", required_argument, "a text", parse_text, show_text,
			    NULL },
	[OPT_KIND_WORD] = { "WORD", required_argument, "a word", parse_text, show_text,
			    NULL },
	[OPT_KIND_LIST] = { "FILE", required_argument, "a text", parse_list, show_list,
			    NULL },
	[OPT_KIND_WORDS] = { "WORD", required_argument, "a word", parse_list, show_list,
			     NULL },
	[OPT_KIND_CHOICE] = { "WORD", required_argument, "one of", parse_choice,
			      show_choice, NULL },
	[OPT_KIND_MAYBE] = { "FILE", optional_argument, "a text", parse_text, NULL,
			     NULL },
	[OPT_KIND_MAYBE_SIZE] = { "SIZE", optional_argument,
				  "a size such as 2m or 1g, or none", parse_maybe_bytes,
				  NULL, "bytes" },
	[OPT_KIND_NEXT] = { "FILE", optional_argument, "a file", parse_text, NULL, NULL },
	[OPT_KIND_ALIAS] = { .takes = no_argument },
	[OPT_KIND_HELP] = { .takes = no_argument },
	[OPT_KIND_VERSION] = { .takes = no_argument },
};
