// SPDX-License-Identifier: GPL-2.0-or-later
/* figures - what the workers have in their records: sums, and how long calls took. */
#include "common/figures.h"

#include <stdio.h>
#include <string.h>

uint64_t figure_of(const struct crew_result *result, unsigned worker, size_t at)
{
	const char *record = crew_record(result, worker);

	return *(const uint64_t *)(record + at);
}

uint64_t figure_total(const struct crew_result *result, size_t at)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < result->workers; i++)
		total += figure_of(result, i, at);
	return total;
}

void figures_report(struct report *r, const struct figure *rows, size_t count,
		    const struct crew_result *result, double *x)
{
	for (const struct figure *f = rows; f < rows + count; f++) {
		if (f->asked && !*f->asked)
			continue;
		for (unsigned i = 0; i < result->workers; i++)
			x[i] = (double)figure_of(result, i, f->at);
		report_sample(r, &f->metric, (double)figure_total(result, f->at));
		report_per_worker(r, &f->metric, x, result->workers);
	}
}

/* The smallest, the largest, and what so many are not above. */
static const struct quantile {
	const char *suffix, *text;
	double share;
} quantiles[] = {
	{ "min", "min", 0 },     { "median", "median", 0.5 },  { "p90", "90 %", 0.9 },
	{ "p99", "99 %", 0.99 }, { "p99_9", "99.9 %", 0.999 }, { "max", "max", 1 },
};

static const struct hist *hist_of(const struct latency *l,
				  const struct crew_result *result, unsigned worker)
{
	const char *record = crew_record(result, worker);

	return (const struct hist *)(record + l->at);
}

void latency_merge(const struct latency *l, const struct crew_result *result,
		   struct hist *all)
{
	memset(all, 0, sizeof(*all));
	for (unsigned i = 0; i < result->workers; i++)
		hist_merge(all, hist_of(l, result, i));
}

void latency_report(struct report *r, const struct latency *l,
		    const struct crew_result *result, const struct hist *all, double *x)
{
	char name[64];
	const struct metric metric = { name, UNIT_NS, false };

	for (size_t i = 0; i < ARRAY_SIZE(quantiles) && all->count; i++) {
		const struct quantile *q = &quantiles[i];

		snprintf(name, sizeof(name), "%s_latency_%s", l->name, q->suffix);
		for (unsigned w = 0; w < result->workers; w++)
			x[w] = (double)hist_quantile(hist_of(l, result, w), q->share);
		report_sample(r, &metric, (double)hist_quantile(all, q->share));
		report_per_worker(r, &metric, x, result->workers);
	}
}

int latency_print(const struct latency *l, const struct hist *all)
{
	char text[256];
	size_t len = 0;

	if (!all->count)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %.1f us",
					i ? ", " : "", quantiles[i].text,
					(double)hist_quantile(all, quantiles[i].share) /
						1e3);
	return print_line("%s latency: %s", l->name, text);
}
