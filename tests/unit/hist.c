// SPDX-License-Identifier: GPL-2.0-or-later
/* hist - tests of common/hist.c. */
#include "common/hist.h"
#include "common/rng.h"
#include "tests/check.h"

static struct hist one, other; /* too large for a stack of small machines */

/* All shares of one value are that value. */
static void check_single(void)
{
	static const uint64_t values[] = { 0,
					   1,
					   63,
					   64,
					   65,
					   127,
					   128,
					   129,
					   4095,
					   4097,
					   UINT32_MAX,
					   UINT64_C(1) << 32,
					   INT64_MAX,
					   UINT64_C(1) << 63,
					   UINT64_MAX - 1,
					   UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		one = (struct hist){ 0 };
		hist_add(&one, values[i]);
		CHECK_U64("count", one.count, 1);
		CHECK_U64("min", one.min, values[i]);
		CHECK_U64("max", one.max, values[i]);
		CHECK_U64("smallest", hist_quantile(&one, 0), values[i]);
		CHECK_U64("median", hist_quantile(&one, 0.5), values[i]);
		CHECK_U64("largest", hist_quantile(&one, 1), values[i]);
	}
}

static void check_empty(void)
{
	one = (struct hist){ 0 };
	CHECK_U64("quantile of nothing", hist_quantile(&one, 0.5), 0);
	CHECK_U64("min of nothing", one.min, 0);
	CHECK_U64("max of nothing", one.max, 0);
}

/* VALUE among one below it and one above, so that its bucket is what tells it. */
static uint64_t told(uint64_t value)
{
	one = (struct hist){ 0 };
	hist_add(&one, 0);
	hist_add(&one, value);
	hist_add(&one, UINT64_MAX);
	return hist_quantile(&one, 0.5);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Values below 128 exactly, all others from the middle of their bucket; no larger one is told as a
 * smaller one. */
static void check_width(void)
{
	uint64_t before = 0;

	for (uint64_t value = 0; value < 128; value++)
		CHECK_U64("small value", told(value), value);
	for (unsigned bit = 7; bit < 64; bit++)
		for (uint64_t k = 0; k < 128; k++) {
			uint64_t value = (UINT64_C(1) << bit) +
					 (UINT64_C(1) << (bit - 7)) * k;
			uint64_t got = told(value);

			CHECK(distance(got, value) <= value / 128);
			CHECK(got >= before);
			before = got;
		}
	CHECK(distance(told(UINT64_MAX - 1), UINT64_MAX) <= UINT64_MAX / 64);
}

/* Of 1..N, each once: the value of each share is its rank. */
static const struct {
	uint64_t n;
	double share;
	uint64_t want;
} ranks[] = {
	{ 1, 0.5, 1 },     { 2, 0.5, 1 },       { 2, 0.51, 2 },      { 3, 0.5, 2 },
	{ 4, 0.5, 2 },     { 10, 0.9, 9 },      { 10, 0.91, 10 },    { 10, 0.99, 10 },
	{ 10, 0.0, 1 },    { 10, 0.05, 1 },     { 10, 1.0, 10 },     { 100, 0.5, 50 },
	{ 100, 0.07, 7 },  { 100, 0.29, 29 },   { 100, 0.58, 58 },   { 100, 0.9, 90 },
	{ 100, 0.99, 99 }, { 100, 0.999, 100 }, { 120, 0.999, 120 }, { 127, 0.5, 64 },
};

static void check_ranks(void)
{
	char row[64];

	for (size_t i = 0; i < ARRAY_SIZE(ranks); i++) {
		one = (struct hist){ 0 };
		for (uint64_t value = ranks[i].n; value; value--)
			hist_add(&one, value);
		snprintf(row, sizeof(row), "%g of 1..%ju", ranks[i].share,
			 (uintmax_t)ranks[i].n);
		CHECK_U64(row, hist_quantile(&one, ranks[i].share), ranks[i].want);
	}
}

/* Of values in one bucket the first and the last are told exactly. */
static void check_ends(void)
{
	one = (struct hist){ 0 };
	for (uint64_t value = 1025; value < 1040; value += 2)
		hist_add(&one, value);
	CHECK_U64("first", hist_quantile(&one, 0), 1025);
	CHECK_U64("last", hist_quantile(&one, 1), 1039);
	CHECK_U64("99 %", hist_quantile(&one, 0.99), 1039);
	CHECK_U64("middle", hist_quantile(&one, 0.5), 1031);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Many values of all sizes, against the sorted list of them; in two parts that are merged. */
static void check_many(void)
{
	static const double shares[] = { 0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1 };
	enum { COUNT = 10000 };
	static uint64_t values[COUNT];
	struct rng rng = rng_stream(1, 1);

	one = other = (struct hist){ 0 };
	for (unsigned i = 0; i < COUNT; i++) {
		values[i] = rng_next(&rng) >> rng_scale(rng_next(&rng), 64);
		hist_add(i % 3 ? &one : &other, values[i]);
	}
	hist_merge(&one, &other);
	qsort(values, COUNT, sizeof(*values), compare);
	CHECK_U64("count", one.count, COUNT);
	CHECK_U64("min", one.min, values[0]);
	CHECK_U64("max", one.max, values[COUNT - 1]);
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		unsigned rank = (unsigned)ceil(shares[i] * COUNT - 1e-6);

		CHECK_NEAR("quantile", (double)hist_quantile(&one, shares[i]),
			   (double)values[rank ? rank - 1 : 0], 1.0 / 64);
	}
}

/* What is empty changes nothing, and takes what it is given. */
static void check_merge_empty(void)
{
	one = other = (struct hist){ 0 };
	hist_add(&one, 1000);
	hist_merge(&one, &other);
	CHECK_U64("count", one.count, 1);
	CHECK_U64("min", one.min, 1000);
	hist_merge(&other, &one);
	CHECK_U64("count", other.count, 1);
	CHECK_U64("min", other.min, 1000);
	CHECK_U64("max", other.max, 1000);
	CHECK_U64("median", hist_quantile(&other, 0.5), 1000);
}

int main(void)
{
	check_empty();
	check_single();
	check_width();
	check_ranks();
	check_ends();
	check_many();
	check_merge_empty();
	return check_result();
}
