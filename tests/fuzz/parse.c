// SPDX-License-Identifier: GPL-2.0-or-later
/* parse - any text for every parser of common/parse.h. */
#include "common/parse.h"
#include "common/topo.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <limits.h>

#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)
#define WHOLE     (UINT64_MAX - 1)
#define DIGITS    "0123456789"
#define HEX       DIGITS "abcdefABCDEFxX"

enum { MAX_SIZE = 1000, CPUS = 7, MAX_READ_BACK = 4096 };

static int share_of_whole(const char *text, uint64_t *bytes)
{
	return parse_share(text, WHOLE, bytes);
}

static int number_of_tasks(const char *text, uint64_t *number)
{
	const unsigned untouched = (unsigned)UNTOUCHED;
	unsigned tasks = untouched;
	int ret = parse_tasks(text, CPUS, &tasks);

	if (!ret || tasks != untouched)
		*number = tasks;
	return ret;
}

static const struct parser {
	const char *name;
	int (*parse)(const char *text, uint64_t *out);
	uint64_t max;
	const char *letters; /* all that a text of this form may hold */
	char *(*format)(char buf[static FORMAT_LEN], uint64_t value);
} parsers[] = {
	{ "size", parse_size, UINT64_MAX, HEX "kKmMgGtT", format_size },
	{ "share", share_of_whole, WHOLE, DIGITS "%", NULL },
	{ "time", parse_time, INT64_MAX, DIGITS "hmsun", format_time },
	{ "delay", parse_delay, INT64_MAX, DIGITS "msun", NULL },
	{ "count", parse_count, UINT64_MAX, DIGITS, NULL },
	{ "tasks", number_of_tasks, INT_MAX, DIGITS "auto%x", NULL },
	{ "word", parse_word, UINT64_MAX, HEX, NULL },
};

static void check_reads_back(const struct parser *p, uint64_t value)
{
	char text[FORMAT_LEN];
	uint64_t again = ~value;

	if (!p->format)
		return;
	p->format(text, value);
	MUST(!p->parse(text, &again) && again == value, "%s of %ju is '%s'", p->name,
	     (uintmax_t)value, text);
}

static void check_parser(const struct parser *p, const char *text)
{
	uint64_t value = UNTOUCHED;
	int ret = p->parse(text, &value);

	MUST(!ret || ret == -EINVAL || ret == -ERANGE, "%s '%s': %d", p->name, text, ret);
	if (ret)
		MUST(value == UNTOUCHED, "%s '%s': %d", p->name, text, ret);
	if (ret == -EINVAL)
		return;
	MUST(text[0] && !text[strspn(text, p->letters)], "%s '%s'", p->name, text);
	if (ret)
		return;
	MUST(value <= p->max, "%s '%s': %ju", p->name, text, (uintmax_t)value);
	check_reads_back(p, value);
}

/* A plain count means the same to all who take a plain number. */
static void check_counts(const char *text)
{
	uint64_t count, word, size;

	if (parse_count(text, &count))
		return;
	MUST(!parse_word(text, &word) && word == count, "'%s'", text);
	MUST(!parse_size(text, &size) && size == count, "'%s'", text);
}

/* Whatever the text is, with this before or behind it it is of no form. */
static void check_dressed(const char *text)
{
	static const char *const dresses[] = { " ", "\t", "+", "-" };
	char dressed[2][MAX_SIZE + 2];
	uint64_t value = UNTOUCHED;
	struct cpus set = CPUS_EMPTY;

	for (size_t i = 0; i < ARRAY_SIZE(dresses); i++) {
		snprintf(dressed[0], sizeof(dressed[0]), "%s%s", dresses[i], text);
		snprintf(dressed[1], sizeof(dressed[1]), "%s%s", text, dresses[i]);
		for (size_t where = 0; where < 2; where++) {
			for (size_t p = 0; p < ARRAY_SIZE(parsers); p++)
				MUST(parsers[p].parse(dressed[where], &value) == -EINVAL,
				     "%s '%s'", parsers[p].name, dressed[where]);
			MUST(parse_cpus(dressed[where], &set) == -EINVAL, "CPUs '%s'",
			     dressed[where]);
		}
	}
}

/* Each once, and the same ones again from their text. */
static void check_members(const char *text, const struct cpus *set)
{
	static bool seen[CPU_NUMBERS];
	struct cpus again = CPUS_EMPTY;
	char *list;

	for (unsigned i = 0; i < set->count; i++) {
		MUST(set->ids[i] < CPU_NUMBERS, "CPUs '%s': %u", text, set->ids[i]);
		MUST(!seen[set->ids[i]], "CPUs '%s': %u twice", text, set->ids[i]);
		seen[set->ids[i]] = true;
	}
	if (set->count <= MAX_READ_BACK) {
		list = cpus_text(set);
		MUST(list && !parse_cpus(list, &again) && again.count == set->count,
		     "CPUs '%s' are '%s'", text, list ? list : "?");
		for (unsigned i = 0; i < again.count; i++)
			MUST(seen[again.ids[i]], "CPUs '%s' are '%s'", text, list);
		free(list);
		cpus_free(&again);
	}
	for (unsigned i = 0; i < set->count; i++)
		seen[set->ids[i]] = false;
}

static void check_cpus(const char *text)
{
	struct cpus set = CPUS_EMPTY;
	int ret = cpus_add(&set, CPUS);

	MUST(!ret, "%d", ret);
	ret = parse_cpus(text, &set);
	MUST(!ret || ret == -EINVAL || ret == -ERANGE, "CPUs '%s': %d", text, ret);
	if (ret)
		MUST(set.count == 1 && set.ids[0] == CPUS, "CPUs '%s': %d", text, ret);
	else
		check_members(text, &set);
	cpus_free(&set);
}

/* The input as numbers. */
static void check_formats(const uint8_t *data, size_t size)
{
	char text[FORMAT_LEN];
	uint64_t number = 0;
	double bytes;

	memcpy(&number, data, MIN(size, sizeof(number)));
	memcpy(&bytes, &number, sizeof(bytes));
	for (size_t i = 0; i < ARRAY_SIZE(parsers); i++)
		check_reads_back(&parsers[i], number & parsers[i].max);
	format_bytes(text, bytes);
	format_bytes(text, (double)number);
	MUST(strlen(text) < sizeof("1023 KiB"), "%ju: '%s'", (uintmax_t)number, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size || size > MAX_SIZE)
		return 0;
	text = fuzz_text(data, size);
	for (size_t i = 0; i < ARRAY_SIZE(parsers); i++)
		check_parser(&parsers[i], text);
	check_counts(text);
	check_dressed(text);
	check_cpus(text);
	check_formats(data, size);
	free(text);
	return 0;
}
