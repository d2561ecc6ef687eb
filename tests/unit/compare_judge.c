// SPDX-License-Identifier: GPL-2.0-or-later
/* compare_judge - how often compare's verdicts are right, over many made-up comparisons.
 *
 * compare_judge [TRIALS]: 2000 is what the promise is about, the default is enough for a test. */
#include "common/rng.h"
#include "compare/judge.h"
#include "tests/check.h"

static double uniform(struct rng *rng)
{
	return ((double)(rng_next(rng) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct rng *rng)
{
	return sqrt(-2 * log(uniform(rng))) * cos(2 * M_PI * uniform(rng));
}

static double log_normal(struct rng *rng)
{
	return exp(0.3 * normal(rng));
}

static double around_one(struct rng *rng)
{
	return 1 + 0.01 * normal(rng);
}

/* One run in ten is slow. */
static double bimodal(struct rng *rng)
{
	return (uniform(rng) < 0.1 ? 0.7 : 1) + 0.01 * normal(rng);
}

static double two_percent(const void *context, const char *name)
{
	(void)context;
	(void)name;
	return 0.02;
}

static const struct judge_rules rules = { .rule = RULE_TESTS,
					  .seed = 1,
					  .threshold = two_percent };

/* N samples a side of DRAW, those of the head FACTOR times as large. */
static void fill(struct series_table *table, struct rng *rng, bool own, size_t n,
		 double (*draw)(struct rng *rng), double factor)
{
	struct series *s;

	CHECK_U64("table", series_table_init(table, 2), 0);
	s = series_get(table, "x");
	s->own = own;
	s->better = BETTER_HIGHER;
	for (size_t i = 0; i < n; i++)
		CHECK(!series_add(s, 0, (unsigned)i, 1000 * draw(rng)) &&
		      !series_add(s, 1, (unsigned)i, 1000 * factor * draw(rng)));
}

static unsigned count_called(unsigned trials, bool own, size_t n,
			     double (*draw)(struct rng *rng), double factor)
{
	unsigned called = 0;

	for (unsigned i = 0; i < trials; i++) {
		struct rng rng = rng_stream(n, i);
		struct series_table table;
		struct judgement j;

		fill(&table, &rng, own, n, draw, factor);
		CHECK_U64("judge", judge(&table, 1, &rules, &j, 1), 0);
		called += j.verdict == VERDICT_CHANGED || j.verdict == VERDICT_SMALL ||
			  j.verdict == VERDICT_SUGGESTED;
		series_table_free(&table);
	}
	return called;
}

/* As many of TRIALS as a true share of 5 % gives, but for one time in a thousand. */
static unsigned by_chance(unsigned trials)
{
	return (unsigned)(0.05 * trials + 3.1 * sqrt(0.05 * 0.95 * trials));
}

/* Of the program's own metrics at most 5 % of the trials are called. The interval of a shift is the other side of
 * its test, which has just that level: there chance may add to it. */
static unsigned at_most(unsigned trials, bool own)
{
	return own && trials >= 2000 ? trials / 20 : by_chance(trials);
}

static void check_no_change(unsigned trials)
{
	const struct {
		const char *name;
		double (*draw)(struct rng *rng);
	} rows[] = { { "normal", around_one },
		     { "log-normal", log_normal },
		     { "bimodal", bimodal } };
	const size_t counts[] = { 5, 10, 27 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t k = 0; k < ARRAY_SIZE(counts); k++)
			for (int own = 0; own < 2; own++) {
				unsigned called = count_called(trials, own, counts[k],
							       rows[i].draw, 1);

				printf("%-10s n = %2zu, %s: %5.2f %% called\n",
				       rows[i].name, counts[k],
				       own ? "medians" : "shifts ",
				       100.0 * called / trials);
				CHECK(called <= at_most(trials, own));
			}
}

static void check_change(unsigned trials)
{
	for (int own = 0; own < 2; own++) {
		unsigned called = count_called(trials, own, 10, around_one, 0.97);

		printf("3 %% less, noise 1 %%, n = 10, %s: %5.2f %% called\n",
		       own ? "medians" : "shifts ", 100.0 * called / trials);
		CHECK(trials - called <= at_most(trials, own));
	}
}

/* "no change larger than 2 %" of a true change of 4 % would be a wrong promise: at most one in 40 on each side of
 * a 95 % interval. */
static void check_exclusion(unsigned trials)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < trials; i++) {
		struct rng rng = rng_stream(99, i);
		struct series_table table;
		struct judgement j;

		fill(&table, &rng, true, 3 + i % 8, around_one, 0.978);
		CHECK_U64("judge", judge(&table, 1, &rules, &j, 1), 0);
		wrong += j.verdict == VERDICT_NONE;
		series_table_free(&table);
	}
	printf("2.2 %% less: %5.2f %% are told no change of 2 %%\n",
	       100.0 * wrong / trials);
	CHECK(wrong <= at_most(trials, true));
}

int main(int argc, char **argv)
{
	unsigned trials = argc > 1 ? (unsigned)atoi(argv[1]) : 100;

	check_no_change(trials);
	check_change(trials);
	check_exclusion(trials);
	return check_result();
}
