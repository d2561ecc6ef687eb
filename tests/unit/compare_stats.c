// SPDX-License-Identifier: GPL-2.0-or-later
/* compare_stats - tests of compare's statistics against figures that R computed, and against counting out. */
#include "common/rng.h"
#include "compare/bootstrap.h"
#include "compare/ranks.h"
#include "compare/student.h"
#include "tests/check.h"

enum { MAX_SAMPLES = 16, MAX_SETS = 32 };

static struct set {
	char name[32];
	double x[MAX_SAMPLES], sorted[MAX_SAMPLES];
	size_t n;
} sets[MAX_SETS];
static size_t set_count;

static const double close_to = 1e-9;

static const struct set *find(const char *name, size_t len)
{
	for (size_t i = 0; i < set_count; i++)
		if (strlen(sets[i].name) == len && !strncmp(sets[i].name, name, len))
			return &sets[i];
	return NULL;
}

static void read_set(char *line)
{
	struct set *s = &sets[set_count++];
	char *at = strchr(line, '\t');

	*at++ = '\0';
	snprintf(s->name, sizeof(s->name), "%s", line);
	for (char *end; s->n < MAX_SAMPLES; at = end) {
		double x = strtod(at, &end);

		if (end == at)
			break;
		s->x[s->n++] = x;
	}
	memcpy(s->sorted, s->x, sizeof(s->x));
	sort_samples(s->sorted, s->n);
}

/* set n min median max mean sd mad_raw q25 q75 p99 */
static void check_summary(char *line)
{
	const struct set *s = find(line, strcspn(line, "\t"));
	double want[10];
	struct summary got;
	char *at = strchr(line, '\t');

	CHECK(s != NULL);
	if (!s)
		return;
	for (int i = 0; i < 10; i++)
		want[i] = strtod(at, &at);
	summarize(s->x, s->n, &got);
	CHECK_U64(s->name, got.n, (uint64_t)want[0]);
	CHECK_NEAR(s->name, got.min, want[1], close_to);
	CHECK_NEAR(s->name, got.median, want[2], close_to);
	CHECK_NEAR(s->name, got.max, want[3], close_to);
	CHECK_NEAR(s->name, got.mean, want[4], close_to);
	CHECK_NEAR(s->name, got.stddev, want[5], close_to);
	CHECK_NEAR(s->name, got.mad, want[6], close_to);
	CHECK_NEAR(s->name, quantile(s->sorted, s->n, 0.25), want[7], close_to);
	CHECK_NEAR(s->name, quantile(s->sorted, s->n, 0.75), want[8], close_to);
	CHECK_NEAR(s->name, quantile(s->sorted, s->n, 0.99), want[9], close_to);
}

/* pair mean_change_pct welch_t welch_df welch_p welch_lo95 welch_hi95 U p exact */
static void check_pair(char *line)
{
	size_t colon = strcspn(line, ":"), tab = strcspn(line, "\t");
	const struct set *a = find(line, colon),
			 *b = find(line + colon + 1, tab - colon - 1);
	struct two_sets two;
	struct summary sa, sb;
	struct ranking ranking;
	struct welch w;
	double want[8];
	char *at = line + tab;

	CHECK(a && b);
	if (!a || !b)
		return;
	for (int i = 0; i < 8; i++)
		want[i] = strtod(at, &at);
	summarize(a->x, a->n, &sa);
	summarize(b->x, b->n, &sb);
	CHECK(welch(&sa, &sb, &w));
	CHECK_NEAR(line, 100 * (sb.mean - sa.mean) / sa.mean, want[0], close_to);
	CHECK_NEAR(line, w.t, want[1], close_to);
	CHECK_NEAR(line, w.df, want[2], close_to);
	CHECK_NEAR(line, w.p, want[3], close_to);
	CHECK_NEAR(line, w.low, want[4], close_to);
	CHECK_NEAR(line, w.high, want[5], close_to);
	two = (struct two_sets){ a->sorted, b->sorted, a->n, b->n };
	ranking = rank_test(&two);
	CHECK_NEAR(line, ranking.u, want[6], close_to);
	CHECK_NEAR(line, ranking.p, want[7], close_to);
	CHECK(ranking.exact == !!strstr(at, "TRUE"));
}

static void check_quantile(char *line)
{
	char *at;
	double df = strtod(line, &at), want = strtod(at, NULL);

	CHECK_NEAR(line, student_quantile(0.975, df), want, close_to);
}

static void check_oracle(void)
{
	static const struct {
		const char *heading;
		void (*row)(char *line);
	} blocks[] = {
		{ "set\tsamples", read_set },
		{ "set\tn", check_summary },
		{ "pair", check_pair },
		{ "t_quantile", check_quantile },
	};
	void (*row)(char *line) = NULL;
	char path[512], line[1024];
	unsigned rows = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/stats.tsv", getenv("PAGEMILL_FIXTURES") ?: ".");
	file = fopen(path, "r");
	CHECK(file != NULL);
	while (file && fgets(line, sizeof(line), file)) {
		bool is_heading = false;

		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
			if (!strncmp(line, blocks[i].heading,
				     strlen(blocks[i].heading))) {
				row = blocks[i].row;
				is_heading = true;
			}
		if (!is_heading && row) {
			row(line);
			rows++;
		}
	}
	if (file)
		fclose(file);
	CHECK_U64("rows of the oracle", rows, 12 + 12 + 5 + 12);
}

/* All differences, sorted. */
static void check_shift_of(const struct two_sets *s)
{
	double all[64 * 64];
	size_t n = 0, rank = 0;
	struct shift shift = rank_shift(s);

	for (size_t i = 0; i < s->a_count; i++)
		for (size_t j = 0; j < s->b_count; j++)
			all[n++] = s->b[j] - s->a[i];
	sort_samples(all, n);
	CHECK_NEAR("middle", shift.middle,
		   all[(n - 1) / 2] + (all[n / 2] - all[(n - 1) / 2]) / 2, 1e-12);
	while (rank < n && all[rank] < shift.low)
		rank++;
	CHECK(shift.low == all[rank]);
	CHECK(shift.low <= shift.middle && shift.middle <= shift.high);
	/* As far from one end as from the other. */
	CHECK(shift.high == all[n - 1 - rank] || s->a_count > 20 || s->b_count > 20 ||
	      all[rank] == all[rank + 1]);
}

static void check_shifts(void)
{
	struct rng rng = rng_stream(7, 0);
	double a[64], b[64];

	for (int round = 0; round < 400; round++) {
		struct two_sets s = { a, b, 1 + rng_scale(rng_next(&rng), 40),
				      1 + rng_scale(rng_next(&rng), 40) };

		for (size_t i = 0; i < s.a_count; i++)
			a[i] = (double)rng_scale(rng_next(&rng), 1000) - 500;
		for (size_t i = 0; i < s.b_count; i++)
			b[i] = (double)(rng_next(&rng) >> 11) * 0x1p-50 - 1;
		sort_samples(a, s.a_count);
		sort_samples(b, s.b_count);
		check_shift_of(&s);
	}
}

/* Of the 25 differences between two sets of five, the third from either end: U is below 3 in 2.5 % of all
 * orders at most. */
static void check_known_shift(void)
{
	const double a[] = { 26.88, 26.95, 27.01, 27.15, 27.20 },
		     b[] = { 22.75, 22.81, 22.96, 23.05, 23.10 };
	struct shift shift = rank_shift(&(struct two_sets){ a, b, 5, 5 });

	CHECK_NEAR("low", shift.low, -4.39, close_to);
	CHECK_NEAR("middle", shift.middle, -4.1, close_to);
	CHECK_NEAR("high", shift.high, -3.85, close_to);
}

/* The normal distribution takes over where counting out would be long, without a step. */
static void check_large_sets(void)
{
	double a[40], b[40];
	struct ranking exact, normal;

	for (size_t i = 0; i < 40; i++) {
		a[i] = (double)i;
		b[i] = (double)i + 6.5;
	}
	exact = rank_test(&(struct two_sets){ a, b, 20, 20 });
	normal = rank_test(&(struct two_sets){ a, b, 21, 21 });
	CHECK(exact.exact && !normal.exact);
	CHECK_NEAR("p", normal.p, exact.p, 0.5);
	CHECK_NEAR("least p of 3", rank_least_p(3, 3), 0.1, close_to);
	CHECK_NEAR("least p of 5", rank_least_p(5, 5), 2 / 252.0, close_to);
	CHECK(rank_least_p(30, 30) < 1e-8);
}

/* What cannot be tested is said to be unknown, not to be nothing. */
static void check_edges(void)
{
	const double one[] = { 5 }, same[] = { 5, 5, 5, 5 }, other[] = { 6, 6, 6, 6 };
	struct summary s1, s4, o4;
	struct welch w;

	summarize(one, 1, &s1);
	summarize(same, 4, &s4);
	summarize(other, 4, &o4);
	CHECK(!welch(&s1, &s4, &w) && isnan(w.p) && isnan(w.low));
	CHECK(welch(&s4, &s4, &w));
	CHECK(w.t == 0 && w.p == 1 && w.low == 0 && w.high == 0);
	CHECK(welch(&s4, &o4, &w));
	CHECK(isinf(w.t) && w.p == 0 && w.low == 1 && w.high == 1);
	CHECK_NEAR("all tied", rank_test(&(struct two_sets){ same, same, 4, 4 }).p, 1, 0);
}

static void check_bootstrap(void)
{
	const double a[] = { 1, 2, 3, 4, 5 }, b[] = { 11, 12, 13, 14, 15 };
	struct two_sets s = { a, b, 5, 5 };
	struct interval first = { 0 }, second = { 0 }, third = { 0 };

	CHECK(!bootstrap_medians(&s, 1, &first) && !bootstrap_medians(&s, 1, &second) &&
	      !bootstrap_medians(&s, 2, &third));
	CHECK(first.low == second.low && first.high == second.high);
	/* The median of five drawn from five is the least with a chance of 5.8 %: the difference of two is
	 * at most 3 off in 95 %. */
	CHECK_NEAR("low", first.low, 7, 0.1);
	CHECK_NEAR("high", first.high, 13, 0.1);
	CHECK_NEAR("low", third.low, first.low, 0.15);
}

int main(void)
{
	check_oracle();
	check_shifts();
	check_known_shift();
	check_large_sets();
	check_edges();
	check_bootstrap();
	return check_result();
}
