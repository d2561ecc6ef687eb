// SPDX-License-Identifier: GPL-2.0-or-later
/* parse - sizes, times, counts and CPU lists from text, and the way back.
 *
 * Not strtoull(3): it takes blanks and signs, wraps "-1" to 2^64 - 1 and reads "010" as
 * eight. */
#include "common/parse.h"
#include "common/topo.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a number may be followed by. Largest first: formatting takes the first that
 * divides. */
struct unit {
	const char *suffix; /* NULL ends the table */
	uint64_t scale;
};

static const struct unit size_units[] = {
	{ "t", TiB }, { "T", TiB }, { "g", GiB }, { "G", GiB }, { "m", MiB },
	{ "M", MiB }, { "k", KiB }, { "K", KiB }, { "", 1 },    { NULL, 0 },
};

static const struct unit time_units[] = {
	{ "h", 3600 * ns_per_s }, { "m", 60 * ns_per_s },
	{ "s", ns_per_s },        { "ms", ns_per_ms },
	{ "us", ns_per_us },      { "ns", 1 },
	{ "", ns_per_s },         { NULL, 0 },
};

static const struct unit delay_units[] = {
	{ "s", ns_per_s },  { "ms", ns_per_ms }, { "m", ns_per_ms }, { "us", ns_per_us },
	{ "u", ns_per_us }, { "ns", 1 },         { "", 1 },          { NULL, 0 },
};

static const struct unit percent[] = { { "%", 1 }, { NULL, 0 } };
static const struct unit no_unit[] = { { "", 1 }, { NULL, 0 } };

/* A run of digits and the text behind it. It is read to its end even when the value no
 * longer fits: "99999999999999999999x" is no number at all, not a number that is too big.
 * */
struct digits {
	uint64_t value;
	bool none, too_big;
	const char *rest;
};

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return UINT_MAX;
}

static struct digits take_digits(const char *text, unsigned base)
{
	struct digits d = { .rest = text, .none = true };
	unsigned digit;

	for (; (digit = digit_value(*d.rest)) < base; d.rest++) {
		d.none = false;
		d.too_big |= __builtin_mul_overflow(d.value, base, &d.value);
		d.too_big |= __builtin_add_overflow(d.value, digit, &d.value);
	}
	return d;
}

static struct digits take_word(const char *text)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return take_digits(text + 2, 16);
	return take_digits(text, 10);
}

static int scale(struct digits d, const struct unit *unit, uint64_t max, uint64_t *out)
{
	uint64_t value;

	while (unit->suffix && strcmp(unit->suffix, d.rest))
		unit++;
	if (d.none || !unit->suffix)
		return -EINVAL;
	if (d.too_big || __builtin_mul_overflow(d.value, unit->scale, &value) ||
	    value > max)
		return -ERANGE;
	*out = value;
	return 0;
}

int parse_size(const char *text, uint64_t *bytes)
{
	return scale(take_word(text), size_units, UINT64_MAX, bytes);
}

int parse_share(const char *text, uint64_t whole, uint64_t *bytes)
{
	uint64_t hundredths;
	int ret;

	ret = scale(take_digits(text, 10), percent, 100, &hundredths);
	if (ret)
		return ret;
	/* In two parts: whole * 100 may not fit. */
	*bytes = whole / 100 * hundredths + whole % 100 * hundredths / 100;
	return 0;
}

int parse_time(const char *text, uint64_t *ns)
{
	return scale(take_digits(text, 10), time_units, INT64_MAX, ns);
}

int parse_delay(const char *text, uint64_t *ns)
{
	return scale(take_digits(text, 10), delay_units, INT64_MAX, ns);
}

int parse_count(const char *text, uint64_t *count)
{
	return scale(take_digits(text, 10), no_unit, UINT64_MAX, count);
}

int parse_word(const char *text, uint64_t *word)
{
	return scale(take_word(text), no_unit, UINT64_MAX, word);
}

int parse_tasks(const char *text, unsigned cpus, unsigned *tasks)
{
	const struct unit in_hundredths[] = {
		{ "x", UINT64_C(100) * cpus }, { "%", cpus }, { "", 100 }, { NULL, 0 }
	};
	uint64_t hundredths;
	int ret;

	if (!strcmp(text, "auto")) {
		*tasks = cpus;
		return 0;
	}
	ret = scale(take_digits(text, 10), in_hundredths, UINT64_C(100) * INT_MAX + 99,
		    &hundredths);
	if (ret)
		return ret;
	*tasks = hundredths / 100;
	if (!*tasks && strchr(text, '%'))
		*tasks = 1;
	return 0;
}

/* "5" or "0-3". The text behind it, or NULL if there is no such thing. */
static const char *take_range(const char *text, struct digits *first, struct digits *last)
{
	*first = take_digits(text, 10);
	*last = *first;
	if (!first->none && *first->rest == '-')
		*last = take_digits(first->rest + 1, 10);
	return first->none || last->none ? NULL : last->rest;
}

static bool ends(const char *text)
{
	return !strcmp(text, "") || !strcmp(text, "\n");
}

/* LIMIT is above all numbers of the list. */
static int check_ranges(const char *text, size_t *limit)
{
	struct digits first, last;
	int ret = 0;

	for (*limit = 0;; text++) {
		text = take_range(text, &first, &last);
		if (!text)
			return -EINVAL;
		if (first.too_big || last.too_big ||
		    MAX(first.value, last.value) >= CPU_NUMBERS)
			ret = -ERANGE;
		else if (first.value > last.value)
			return -EINVAL;
		*limit = MAX(*limit, last.value + 1);
		if (*text != ',')
			return ends(text) ? ret : -EINVAL;
	}
}

/* Of a list that was checked. SEEN, one byte for each number, keeps doubles out: a list
 * of a million would be too long for a search at every number. */
static int add_ranges(const char *text, bool *seen, struct cpus *set)
{
	struct digits first, last;

	for (;; text++) {
		text = take_range(text, &first, &last);
		assert(text);
		for (uint64_t id = first.value; id <= last.value; id++) {
			if (!seen[id] && cpus_append(set, id))
				return -ENOMEM;
			seen[id] = true;
		}
		if (*text != ',')
			return 0;
	}
}

static int read_ranges(const char *text, struct cpus *set)
{
	size_t limit;
	bool *seen;
	int ret = check_ranges(text, &limit);

	if (ret)
		return ret;
	seen = calloc(limit, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	ret = add_ranges(text, seen, set);
	free(seen);
	return ret;
}

int parse_cpus(const char *text, struct cpus *set)
{
	struct cpus found = CPUS_EMPTY;
	int ret = ends(text) ? 0 : read_ranges(text, &found);

	if (ret) {
		cpus_free(&found);
		return ret;
	}
	cpus_free(set);
	*set = found;
	return 0;
}

static char *format_exactly(char *buf, uint64_t value, const struct unit *unit)
{
	while (value % unit->scale)
		unit++;
	snprintf(buf, FORMAT_LEN, "%ju%s", (uintmax_t)(value / unit->scale),
		 unit->suffix);
	return buf;
}

/* Every unit divides 0: it has one form. */
char *format_size(char buf[static FORMAT_LEN], uint64_t bytes)
{
	if (bytes)
		return format_exactly(buf, bytes, size_units);
	snprintf(buf, FORMAT_LEN, "0");
	return buf;
}

char *format_time(char buf[static FORMAT_LEN], uint64_t ns)
{
	if (ns)
		return format_exactly(buf, ns, time_units);
	snprintf(buf, FORMAT_LEN, "0s");
	return buf;
}

char *format_bytes(char buf[static FORMAT_LEN], double bytes)
{
	static const char *const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"
	};
	unsigned power = 0;
	int decimals;

	/* The bounds are where the rounded text would reach the next digit or unit. */
	for (; fabs(bytes) >= 1023.5 && power + 1 < ARRAY_SIZE(units); power++)
		bytes /= 1024;
	decimals = fabs(bytes) < 9.995 ? 2 : fabs(bytes) < 99.95 ? 1 : 0;
	if (!power && bytes == trunc(bytes))
		decimals = 0;
	snprintf(buf, FORMAT_LEN, "%.*f %s", decimals, bytes, units[power]);
	return buf;
}
