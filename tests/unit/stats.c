// SPDX-License-Identifier: GPL-2.0-or-later
/* stats - tests of common/stats.c against figures that R computed. */
#include "common/stats.h"
#include "tests/check.h"

#define SAMPLES(...) { __VA_ARGS__ }, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)

/* R 4.2: mean, sd (n - 1), median, mad with constant 1. */
static const struct {
	const char *name;
	double x[16];
	size_t n;
	double min, median, max, mean, stddev, mad;
	double low, high;
	size_t outliers;
} sets[] = {
	{ "msync_a",
	  SAMPLES(391374, 394102, 395011, 396120, 393377, 398472, 392245, 394811, 395003,
		  394120),
	  391374, 394465.5, 398472, 394463.5, 1983.81076886548, 817, 392245, 396120, 0 },
	{ "msync_b",
	  SAMPLES(391427, 395221, 396031, 399601, 394017, 393880, 396644, 395114, 394250,
		  395990),
	  391427, 395167.5, 399601, 395217.5, 2135.76139168734, 1034, 393880, 396644, 0 },
	{ "small_a", SAMPLES(27.01, 26.88, 27.15, 26.95, 27.20), 26.88, 27.01, 27.2,
	  27.038, 0.134424700111252, 0.13, 26.88, 27.2, 0 },
	{ "small_b", SAMPLES(22.96, 23.10, 22.75, 23.05, 22.81), 22.75, 22.96, 23.1,
	  22.934, 0.150764717357876, 0.14, 22.75, 23.1, 0 },
	{ "tie_a", SAMPLES(1, 2, 2, 3, 3, 3), 1, 2.5, 3, 2.33333333333333,
	  0.816496580927726, 0.5, 1, 3, 0 },
	{ "tie_b", SAMPLES(2, 3, 3, 4, 4, 5), 2, 3.5, 5, 3.5, 1.04880884817015, 0.5, 2, 5,
	  0 },
	{ "same", SAMPLES(5, 5, 5, 5, 5), 5, 5, 5, 5, 0, 0, 5, 5, 0 },
	{ "two_a", SAMPLES(10, 12), 10, 11, 12, 11, 1.4142135623731, 1, 10, 12, 0 },
	{ "two_b", SAMPLES(11, 15), 11, 13, 15, 13, 2.82842712474619, 2, 11, 15, 0 },
	{ "outlier", SAMPLES(100, 101, 99, 100, 102, 98, 250, 100, 101, 99), 98, 100, 250,
	  115, 47.4482173883628, 1, 99, 102, 1 },
	{ "wide", SAMPLES(1e-9, 2e-9, 3e-9, 4e-9), 1e-9, 2.5e-9, 4e-9, 2.5e-9,
	  1.29099444873581e-9, 1e-9, 1e-9, 4e-9, 0 },
	{ "big", SAMPLES(1.8e19, 1.9e19, 1.7e19), 1.7e19, 1.8e19, 1.9e19, 1.8e19, 1e18,
	  1e18, 1.7e19, 1.9e19, 0 },
	/* A deviation far below the value: squares have no digit left for it. */
	{ "offset", SAMPLES(1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16), 1e9 + 4, 1e9 + 10,
	  1e9 + 16, 1e9 + 10, 5.47722557505166, 4.5, 1e9 + 4, 1e9 + 16, 0 },
	{ "tenths", SAMPLES(0.1, 0.1, 0.1), 0.1, 0.1, 0.1, 0.1, 0, 0, 0.1, 0.1, 0 },
};

static void check_sets(void)
{
	const double close = 1e-9;
	struct summary s;
	double kept[16];

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		memcpy(kept, sets[i].x, sizeof(kept));
		summarize(sets[i].x, sets[i].n, &s);
		for (size_t k = 0; k < sets[i].n; k++)
			CHECK(sets[i].x[k] == kept[k]);
		CHECK_U64(sets[i].name, s.n, sets[i].n);
		CHECK_NEAR(sets[i].name, s.min, sets[i].min, 0);
		CHECK_NEAR(sets[i].name, s.max, sets[i].max, 0);
		CHECK_NEAR(sets[i].name, s.median, sets[i].median, close);
		CHECK_NEAR(sets[i].name, s.mean, sets[i].mean, close);
		CHECK_NEAR(sets[i].name, s.total, sets[i].mean * sets[i].n, close);
		CHECK_NEAR(sets[i].name, s.stddev, sets[i].stddev, close);
		CHECK_NEAR(sets[i].name, s.mad, sets[i].mad, close);
		CHECK_NEAR(sets[i].name, s.low, sets[i].low, 0);
		CHECK_NEAR(sets[i].name, s.high, sets[i].high, 0);
		CHECK_U64(sets[i].name, s.outliers, sets[i].outliers);
	}
}

static void check_few(void)
{
	const double one = 42.5, tenths[] = { 0.1, 0.1, 0.1 };
	struct summary s;

	memset(&s, 0xff, sizeof(s));
	summarize(NULL, 0, &s);
	CHECK_U64("none", s.n, 0);
	CHECK_U64("none", s.outliers, 0);
	CHECK(!s.min && !s.median && !s.max && !s.mean && !s.stddev && !s.mad &&
	      !s.total);
	CHECK(!s.low && !s.high);
	summarize(&one, 1, &s);
	CHECK_U64("one", s.n, 1);
	CHECK(s.min == one && s.median == one && s.max == one && s.mean == one &&
	      s.total == one);
	CHECK(s.low == one && s.high == one && s.mad == 0 && isnan(s.stddev));
	CHECK_U64("one", s.outliers, 0);
	/* A third of their sum is not 0.1. */
	summarize(tenths, ARRAY_SIZE(tenths), &s);
	CHECK(s.mean == 0.1 && s.stddev == 0);
}

/* The ranks of the interval's ends; from tables of the binomial distribution. */
static const struct {
	size_t n, low, high;
} ranks[] = {
	{ 1, 1, 1 },        { 2, 1, 2 },           { 5, 1, 5 },    { 6, 1, 6 },
	{ 8, 1, 8 },        { 9, 2, 8 },           { 10, 2, 9 },   { 11, 2, 10 },
	{ 12, 3, 10 },      { 15, 4, 12 },         { 20, 6, 15 },  { 25, 8, 18 },
	{ 27, 8, 20 },      { 30, 10, 21 },        { 50, 18, 33 }, { 100, 40, 61 },
	{ 1000, 469, 532 }, { 10000, 4902, 5099 },
};

/* P(B < k), by Pascal's rule: another way than the one that is tested. */
static double chance_below(size_t n, size_t k)
{
	static double row[128];
	double sum = 0;

	memset(row, 0, sizeof(row));
	row[0] = 1;
	for (size_t toss = 0; toss < n; toss++) {
		for (size_t i = toss + 1; i > 0; i--)
			row[i] = (row[i] + row[i - 1]) / 2;
		row[0] /= 2;
	}
	for (size_t i = 0; i < k; i++)
		sum += row[i];
	return sum;
}

/* Samples n..1: each is its own rank. */
static void summarize_ranks(size_t n, struct summary *s)
{
	double *x = malloc(n * sizeof(*x));

	if (!x)
		abort();
	for (size_t i = 0; i < n; i++)
		x[i] = n - i;
	summarize(x, n, s);
	free(x);
}

static void check_ranks(void)
{
	struct summary s;
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(ranks); i++) {
		snprintf(name, sizeof(name), "rank of %zu", ranks[i].n);
		summarize_ranks(ranks[i].n, &s);
		CHECK_U64(name, s.low, ranks[i].low);
		CHECK_U64(name, s.high, ranks[i].high);
	}
	for (size_t n = 6; n < 120; n++) {
		summarize_ranks(n, &s);
		CHECK(chance_below(n, s.low) <= 0.025);
		CHECK(chance_below(n, s.low + 1) > 0.025);
		CHECK_U64("symmetric", s.low + s.high, n + 1);
	}
}

static const struct {
	const char *name;
	double x[16];
	size_t n, outliers;
} outliers[] = {
	{ "equal", SAMPLES(7, 7, 7, 7), 0 },
	{ "equal zeros", SAMPLES(0, 0, 0, 0), 0 },
	{ "mad 0, 4 %", SAMPLES(50, 50, 50, 52, 50), 0 },
	{ "mad 0, 6 %", SAMPLES(50, 50, 50, 53, 50), 1 },
	{ "mad 0, both sides", SAMPLES(50, 50, 40, 50, 50, 60, 50), 2 },
	{ "mad 0, negative", SAMPLES(-50, -50, -50, -53, -50), 1 },
	{ "mad 0 at 0", SAMPLES(0, 0, 0, 1e-9), 1 },
	{ "tiny spread", SAMPLES(1000, 1000.001, 999.999, 1000.002, 1009), 0 },
	{ "tiny spread, 2 %", SAMPLES(1000, 1000.001, 999.999, 1000.002, 1020), 1 },
	{ "7 of 7.41 MAD", SAMPLES(90, 100, 100, 110, 110, 90, 170), 0 },
	{ "8 of 7.41 MAD", SAMPLES(90, 100, 100, 110, 110, 90, 180), 1 },
};

static void check_outliers(void)
{
	struct summary s;

	for (size_t i = 0; i < ARRAY_SIZE(outliers); i++) {
		summarize(outliers[i].x, outliers[i].n, &s);
		CHECK_U64(outliers[i].name, s.outliers, outliers[i].outliers);
	}
}

static const struct {
	double x[16];
	size_t n;
	const char *lines;
} five_lines[] = {
	{ SAMPLES(391374, 394102, 395011, 396120, 393377, 398472, 392245, 394811, 395003,
		  394120),
	  "Count: 10\nTotal: 3944635\nRange: 391374...398472\nMean : 394464\nStdev: "
	  "1984\n" },
	{ SAMPLES(42), "Count: 1\nTotal: 42\nRange: 42...42\nMean : 42\nStdev: -\n" },
	{ SAMPLES(1, 2), "Count: 2\nTotal: 3\nRange: 1...2\nMean : 2\nStdev: 1\n" },
	{ SAMPLES(0.4, 0.4, 0.4),
	  "Count: 3\nTotal: 1\nRange: 0...0\nMean : 0\nStdev: 0\n" },
	{ SAMPLES(-0.4, -0.4),
	  "Count: 2\nTotal: -1\nRange: 0...0\nMean : 0\nStdev: 0\n" },
	{ SAMPLES(1.5e19, 1.5e19),
	  "Count: 2\nTotal: 30000000000000000000\nRange: 15000000000000000000..."
	  "15000000000000000000\nMean : 15000000000000000000\nStdev: 0\n" },
};

static void check_five_lines(void)
{
	char buf[FIVE_LINES_LEN];
	struct summary s;

	for (size_t i = 0; i < ARRAY_SIZE(five_lines); i++) {
		summarize(five_lines[i].x, five_lines[i].n, &s);
		CHECK_TEXT("lines", format_five_lines(buf, &s), five_lines[i].lines);
	}
	/* The spec's example; its set of 27 is not given, so only the sum's mean. */
	s = (struct summary){ .n = 27,
			      .total = 10649173,
			      .min = 391374,
			      .max = 398472,
			      .mean = 10649173 / 27.0,
			      .stddev = 1984.3 };
	CHECK_TEXT("27", format_five_lines(buf, &s),
		   "Count: 27\nTotal: 10649173\nRange: 391374...398472\nMean : 394414\n"
		   "Stdev: 1984\n");
}

int main(void)
{
	check_sets();
	check_few();
	check_ranks();
	check_outliers();
	check_five_lines();
	return check_result();
}
