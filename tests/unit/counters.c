// SPDX-License-Identifier: GPL-2.0-or-later
/* counters - tests of common/counters.c. */
#include "common/counters.h"
#include "tests/check.h"

static enum counter_kind kind_of(const char *key)
{
	return key[0] == 'L'   ? COUNTER_LEVEL
	       : key[0] == 'N' ? COUNTER_NONE
			       : COUNTER_GROWS;
}

/* A text, how many it has, and what its KEY is; NO: not there. */
#define NO 12345678901234567890U
static const struct {
	const char *text;
	unsigned count;
	const char *key;
	uint64_t value;
} texts[] = {
	{ "", 0, "a", NO },
	{ "\n", 0, "", NO },
	{ "a 1\n", 1, "a", 1 },
	{ "a 1", 0, "a", NO },
	{ "a 1\nb 2", 1, "b", NO },
	{ "a 1\nb 2\n", 2, "b", 2 },
	{ "a: 1 kB\n", 1, "a", 1 },
	{ "a:\t1\n", 1, "a", 1 },
	{ "a(b):       12 kB\n", 1, "a(b)", 12 },
	{ "a 1\na 2\n", 1, "a", 1 },
	{ "a 1\r\n", 1, "a", 1 },
	{ "a\n", 0, "a", NO },
	{ "a \n", 0, "a", NO },
	{ " 1\n", 0, "", NO },
	{ "a b\nc 3\n", 1, "c", 3 },
	{ "a 1x\n", 0, "a", NO },
	{ "a -1\n", 0, "a", NO },
	{ "a +1\n", 0, "a", NO },
	{ "a 0\n", 1, "a", 0 },
	{ "a 9223372036854775808\n", 1, "a", UINT64_C(1) << 63 },
	{ "a 18446744073709551615\n", 1, "a", UINT64_MAX },
	{ "a 18446744073709551616\n", 0, "a", NO },
	{ "a 99999999999999999999999\n", 0, "a", NO },
	{ "\xff\xfe 1\na 2\n", 1, "a", 2 },
	{ "N 1\na 2\n", 1, "N", NO },
};

static const struct {
	const char *name;
	enum counter_kind kind;
	uint64_t before, after;
	double growth;
} growths[] = {
	{ "none", COUNTER_GROWS, 5, 5, 0 },
	{ "some", COUNTER_GROWS, 5, 8, 3 },
	{ "backwards", COUNTER_GROWS, 8, 5, NAN },
	{ "over 2^32", COUNTER_GROWS, UINT32_MAX, 4, NAN },
	{ "large", COUNTER_GROWS, UINT64_MAX - 9, UINT64_MAX, 9 },
	{ "over 2^63", COUNTER_GROWS, INT64_MAX, (uint64_t)INT64_MAX + 7, 7 },
	{ "over 2^64", COUNTER_GROWS, UINT64_MAX, 4, NAN },
	{ "32: some", COUNTER_GROWS_32, 5, 8, 3 },
	{ "32: over 2^32", COUNTER_GROWS_32, UINT32_MAX, 4, 5 },
	{ "32: sums of CPUs", COUNTER_GROWS_32, UINT64_C(10000000000),
	  UINT64_C(10000000000) - UINT32_MAX + 99, 100 },
	{ "32: set back", COUNTER_GROWS_32, 8, 5, NAN },
	{ "32: set back by much", COUNTER_GROWS_32, 3000000000, 5, NAN },
	{ "32: set back to 0", COUNTER_GROWS_32, 1000, 0, NAN },
};

static void check_texts(void)
{
	struct counters set = { 0 };
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct counter *c;

		counters_clear(&set);
		counters_parse(&set, "p.", texts[i].text, kind_of);
		CHECK_U64(texts[i].text, set.count, texts[i].count);
		snprintf(name, sizeof(name), "p.%s", texts[i].key);
		c = counters_find(&set, name);
		CHECK_U64(texts[i].text, c ? c->value : NO, texts[i].value);
	}
	counters_free(&set);
}

/* As many as no kernel has: the table grows. */
static void check_many(void)
{
	struct counters set = { 0 };
	char name[64];

	for (unsigned round = 0; round < 2; round++) {
		counters_clear(&set);
		for (unsigned i = 0; i < 5000; i++) {
			snprintf(name, sizeof(name), "name-%u", i);
			counters_add(&set, name, COUNTER_GROWS, i);
		}
		CHECK_U64("many", set.count, 5000);
		for (unsigned i = 0; i < 5000; i += 7) {
			snprintf(name, sizeof(name), "name-%u", i);
			CHECK_U64(name, counters_find(&set, name)->value, i);
		}
		CHECK(!counters_find(&set, "name-5000"));
	}
	counters_free(&set);
	CHECK(!counters_find(&set, "name-1"));
}

static void check_growths(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(growths); i++) {
		const struct counter before = { .kind = growths[i].kind,
						.value = growths[i].before };
		const struct counter after = { .kind = growths[i].kind,
					       .value = growths[i].after };
		double growth = counter_growth(&before, &after);

		if (isnan(growths[i].growth))
			CHECK_U64(growths[i].name, isnan(growth), 1);
		else
			CHECK_NEAR(growths[i].name, growth, growths[i].growth, 0);
		CHECK(isnan(counter_growth(NULL, &after)));
		CHECK(isnan(counter_growth(&before, NULL)));
	}
}

static void check_means(void)
{
	struct counters set = { 0 }, now = { 0 };

	counters_parse(&set, "", "La 1\nLb 5\nc 7\nLneg 1\n", kind_of);
	counters_parse(&now, "", "La 4\nc 9\nLnew 3\nLneg 18446744073709551615\n",
		       kind_of);
	CHECK_NEAR("one reading", counter_mean(counters_find(&set, "La"), 1), 1, 0);
	counters_sample(&set, &now);
	CHECK_NEAR("two readings", counter_mean(counters_find(&set, "La"), 2), 2.5, 0);
	CHECK(isnan(counter_mean(counters_find(&set, "Lb"), 2)));
	CHECK(isnan(counter_mean(counters_find(&set, "Lneg"), 2)));
	CHECK(isnan(counter_mean(counters_find(&set, "Lnew"), 2)));
	CHECK_U64("a counter has its first reading", counters_find(&set, "c")->value, 7);
	counters_free(&set);
	counters_free(&now);
}

int main(void)
{
	check_texts();
	check_many();
	check_growths();
	check_means();
	return check_result();
}
