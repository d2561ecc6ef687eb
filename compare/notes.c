// SPDX-License-Identifier: GPL-2.0-or-later
/* notes - what speaks against trusting a side's runs, each with what to do about it. */
#include "compare/notes.h"

#include "common/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void notes_add(struct notes *notes, const char *fmt, ...)
{
	char **more = realloc(notes->at, (notes->count + 1) * sizeof(char *));
	va_list args;
	int len;

	if (!more)
		return;
	notes->at = more;
	va_start(args, fmt);
	len = vasprintf(&more[notes->count], fmt, args);
	va_end(args);
	notes->count += len >= 0;
}

void notes_free(struct notes *notes)
{
	for (unsigned i = 0; i < notes->count; i++)
		free(notes->at[i]);
	free(notes->at);
	*notes = (struct notes){ 0 };
}

/* A sample, and when its file began. */
struct placed {
	const char *started;
	size_t at;
	double x;
};

static int by_start(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order = strcmp(x->started, y->started);

	/* Of one result, or of two within a second: as they were given. */
	return order ?: (x->at > y->at) - (x->at < y->at);
}

/* The samples as they were taken; NULL without memory. */
static double *in_order(const struct side *side, const struct samples *samples)
{
	struct placed *placed = calloc(samples->n + 1, sizeof(*placed));
	double *x = calloc(samples->n + 1, sizeof(*x));

	for (size_t i = 0; i < samples->n && placed; i++)
		placed[i] = (struct placed){ side->files[samples->file[i]].started, i,
					     samples->x[i] };
	if (placed)
		qsort(placed, samples->n, sizeof(*placed), by_start);
	for (size_t i = 0; i < samples->n && placed && x; i++)
		x[i] = placed[i].x;
	if (!placed) {
		free(x);
		x = NULL;
	}
	free(placed);
	return x;
}

/* Kendall's test of x against its order, at 1 %: more pairs rise than fall, or the other way round. The
 * halves of the runs then tell by how much. */
static bool drifts(const double *x, size_t n, double *share)
{
	struct summary first, last;
	double score = 0, deviation = sqrt((double)n * (n - 1) * (2.0 * n + 5) / 18);

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			score += (x[j] > x[i]) - (x[j] < x[i]);
	summarize(x, n / 2, &first);
	summarize(x + n - n / 2, n / 2, &last);
	*share = first.median != 0 ? last.median / first.median - 1 : 0;
	return n >= 6 && fabs(score) > 2.576 * deviation && fabs(*share) > 0.01;
}

static bool starts_unlike(const double *x, size_t n)
{
	struct summary rest;

	if (n < 4)
		return false;
	summarize(x + 1, n - 1, &rest);
	return fabs(x[0] - rest.median) >
	       fmax(0.05 * fabs(rest.median), 3 * (rest.max - rest.min));
}

/* The widest gap, if there is one between two groups of two and more that are each narrow beside it.
 * SORTED[0..*below) is the lower. */
static bool has_two_groups(const double *sorted, size_t n, size_t *below)
{
	double widest = 0, inside;

	if (n < 6)
		return false;
	for (size_t i = 2; i + 2 <= n; i++)
		if (sorted[i] - sorted[i - 1] > widest) {
			widest = sorted[i] - sorted[i - 1];
			*below = i;
		}
	if (widest <= 0.02 * fabs(sorted[n / 2]))
		return false;
	inside = fmax(sorted[*below - 1] - sorted[0], sorted[n - 1] - sorted[*below]);
	return widest > 2 * inside;
}

static void note_runs(struct notes *notes, const struct side *side,
		      const struct samples *samples)
{
	if (samples->n > 1 && samples->file[0] == samples->file[samples->n - 1])
		notes_add(
			notes,
			"%s: all its samples are of one start of the program, and do not "
			"tell how starts, or boots, differ: give several files",
			side->name);
	if (side->valid < side->count)
		notes_add(notes,
			  "%s: %zu of %zu runs valid, and only these count: see why the "
			  "others went wrong before trusting the rest",
			  side->name, side->valid, side->count);
	if (side->mixed)
		notes_add(
			notes,
			"%s: its files differ in %s: compare runs that were taken alike",
			side->name, side->mixed);
}

/* At most one of the first three, which would be mistaken for each other. */
static void note_pattern(struct notes *notes, const char *name, const double *x,
			 double *sorted, size_t n)
{
	size_t below = 0;
	double share;

	sort_samples(sorted, n);
	if (starts_unlike(x, n))
		notes_add(notes,
			  "%s: the first run is unlike the rest: add --warmup 1, or "
			  "leave it out",
			  name);
	else if (drifts(x, n, &share))
		notes_add(
			notes,
			"%s: the runs drift by %+.1f %% from the first half to the last: "
			"let the machine settle, and interleave the sides (--ab)",
			name, 100 * share);
	else if (has_two_groups(sorted, n, &below))
		notes_add(notes,
			  "%s: the runs fall into two groups of %zu and %zu: find what "
			  "switches between them (placement, huge pages, frequency)",
			  name, below, n - below);
}

void notes_on_side(struct notes *notes, const struct side *side,
		   const struct series *first, const struct samples *samples)
{
	double *x = in_order(side, samples), *sorted = calloc(samples->n + 1, sizeof(*x));
	struct summary summary;
	unsigned before;

	note_runs(notes, side, samples);
	before = notes->count;
	if (x && sorted && first) {
		memcpy(sorted, x, samples->n * sizeof(*x));
		note_pattern(notes, side->name, x, sorted, samples->n);
		summarize(x, samples->n, &summary);
		if (notes->count == before && samples->n >= 5 && summary.outliers)
			notes_add(
				notes,
				"%s: %zu of %zu runs are far from the others in %s: look "
				"at what else ran then, or take more runs",
				side->name, summary.outliers, samples->n, first->name);
	}
	free(x);
	free(sorted);
}
