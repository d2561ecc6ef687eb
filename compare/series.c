// SPDX-License-Identifier: GPL-2.0-or-later
/* series - the samples of each metric, found by its name and put in the order of a report. */
#include "compare/side.h"

#include "common/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int series_table_init(struct series_table *t, unsigned sides)
{
	*t = (struct series_table){ .mask = 1023, .sides = sides };
	t->slots = calloc(t->mask + 1, sizeof(*t->slots));
	return t->slots ? 0 : failed("memory for metrics");
}

static void series_free(struct series *s, unsigned sides)
{
	for (unsigned i = 0; i < sides; i++) {
		free(s->sides[i].x);
		free(s->sides[i].file);
	}
	free(s->sides);
	free(s->name);
	free(s);
}

void series_table_free(struct series_table *t)
{
	for (unsigned i = 0; i < t->count; i++)
		series_free(t->at[i], t->sides);
	free(t->at);
	free(t->slots);
	*t = (struct series_table){ 0 };
}

/* FNV-1a. */
static unsigned hash_of(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return (unsigned)(hash ^ hash >> 32);
}

static unsigned *slot_of(struct series_table *t, const char *name)
{
	unsigned i = hash_of(name) & t->mask;

	while (t->slots[i] && strcmp(t->at[t->slots[i] - 1]->name, name))
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

/* At most half of the slots are taken. */
static int grow(struct series_table *t)
{
	unsigned room = MAX(2 * t->room, 256), *slots, *old = t->slots;
	struct series **at;

	if (t->count < t->room)
		return 0;
	at = realloc(t->at, room * sizeof(struct series *));
	if (!at)
		return -ENOMEM;
	t->at = at;
	slots = calloc(4 * (size_t)room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	t->room = room;
	t->slots = slots;
	t->mask = 4 * room - 1;
	for (unsigned i = 0; i < t->count; i++)
		*slot_of(t, t->at[i]->name) = i + 1;
	free(old);
	return 0;
}

struct series *series_get(struct series_table *t, const char *name)
{
	unsigned *slot = slot_of(t, name);
	struct series *s;

	if (*slot)
		return t->at[*slot - 1];
	if (grow(t))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->name = strdup(name);
	s->sides = calloc(t->sides, sizeof(*s->sides));
	if (!s->name || !s->sides) {
		free(s->name);
		free(s->sides);
		free(s);
		return NULL;
	}
	t->at[t->count++] = s;
	*slot_of(t, name) = t->count;
	return s;
}

static bool make_room(struct samples *samples)
{
	size_t room = MAX(2 * samples->room, 8);
	unsigned *file;
	double *x;

	if (samples->n < samples->room)
		return true;
	x = realloc(samples->x, room * sizeof(*x));
	if (x)
		samples->x = x;
	file = realloc(samples->file, room * sizeof(*file));
	if (file)
		samples->file = file;
	if (!x || !file)
		return false;
	samples->room = room;
	return true;
}

int series_add(struct series *s, unsigned side, unsigned file, double value)
{
	struct samples *samples = &s->sides[side];

	if (!make_room(samples))
		return -ENOMEM;
	samples->file[samples->n] = file;
	samples->x[samples->n++] = value;
	return 0;
}

/* How many samples from the Ith on are of one file. */
static size_t count_alike(const struct samples *samples, size_t i)
{
	size_t end = i;

	while (end < samples->n && samples->file[end] == samples->file[i])
		end++;
	return end - i;
}

void series_by_file(struct series *s, unsigned side)
{
	struct samples *samples = &s->sides[side];
	struct summary of_file;
	size_t files = 0, alike;

	if (!samples->n || count_alike(samples, 0) == samples->n)
		return;
	for (size_t i = 0; i < samples->n; i += alike) {
		alike = count_alike(samples, i);
		summarize(samples->x + i, alike, &of_file);
		samples->x[files] = of_file.median;
		samples->file[files++] = samples->file[i];
	}
	samples->n = files;
}

static void find_anew(struct series_table *t)
{
	memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	for (unsigned i = 0; i < t->count; i++)
		*slot_of(t, t->at[i]->name) = i + 1;
}

void series_keep(struct series_table *t,
		 bool (*wanted)(const void *context, const char *name),
		 const void *context)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < t->count; i++)
		if (wanted(context, t->at[i]->name))
			t->at[kept++] = t->at[i];
		else
			series_free(t->at[i], t->sides);
	t->count = kept;
	find_anew(t);
}

/* The order in which the robot's mails have the subsystems; others come last. */
static unsigned place_of(const char *name)
{
	static const char *const subsystems[] = {
		"vmstat.",      "iostat.",      "mpstat.",   "meminfo.",
		"numa-vmstat.", "memcg.",       "pressure.", "perf-profile.",
		"perf-stat.",   "proc-vmstat.", "softirqs.", "thp.",
	};
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(subsystems); i++)
		if (!strncmp(name, subsystems[i], strlen(subsystems[i])))
			break;
	return i;
}

/* What the program says of itself, and then what the system says of it: "usemem.time.user_time". */
static bool is_of_program(const char *name)
{
	return strstr(name, ".time.") != NULL;
}

static double mean_of(const struct samples *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->x[i];
	return s->n ? sum / (double)s->n : 0;
}

/* "perf-profile.children." of both: what fell most comes first there. */
static int compare_profiles(const struct series *x, const struct series *y)
{
	const char *prefix = "perf-profile.", *dot;
	double fell_x, fell_y;

	if (strncmp(x->name, prefix, strlen(prefix)))
		return 0;
	dot = strchr(x->name + strlen(prefix), '.');
	if (!dot || strncmp(x->name, y->name, (size_t)(dot - x->name) + 1))
		return 0;
	fell_x = mean_of(&x->sides[1]) - mean_of(&x->sides[0]);
	fell_y = mean_of(&y->sides[1]) - mean_of(&y->sides[0]);
	return (fell_x > fell_y) - (fell_x < fell_y);
}

static int compare(const void *a, const void *b)
{
	const struct series *x = *(struct series *const *)a,
			    *y = *(struct series *const *)b;
	int order = is_of_program(y->name) - is_of_program(x->name);

	if (!order)
		order = (int)place_of(x->name) - (int)place_of(y->name);
	return order ?: compare_profiles(x, y) ?: strcmp(x->name, y->name);
}

void series_sort(struct series_table *t)
{
	struct series **sorted = calloc(t->count + 1, sizeof(struct series *));
	unsigned own = 0, next = 0;

	/* They stay as they came. */
	if (!sorted)
		return;
	for (unsigned i = 0; i < t->count; i++)
		if (t->at[i]->own)
			sorted[own++] = t->at[i];
	next = own;
	for (unsigned i = 0; i < t->count; i++)
		if (!t->at[i]->own)
			sorted[next++] = t->at[i];
	qsort(sorted + own, next - own, sizeof(struct series *), compare);
	memcpy(t->at, sorted, t->count * sizeof(struct series *));
	free(sorted);
	find_anew(t);
}
