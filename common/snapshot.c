// SPDX-License-Identifier: GPL-2.0-or-later
/* snapshot - what the system had counted at one moment, and rows of two such moments. */
#include "common/snapshot.h"

#include "common/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/procfile.h"

/* Reading the file does what writing it does. Its errors, such as of a sum below zero, do no harm. */
static void refresh(const char *root)
{
	free(procfile_read(root, "/proc/sys/vm/stat_refresh"));
}

static void clear(struct snapshot *s)
{
	counters_clear(&s->own);
	counters_clear(&s->raw);
}

static void see_opening(struct snapshot *s, const struct stat_sources *all)
{
	clear(s);
	refresh(all->root);
	for (const struct stat_source *one = all->last; one; one = one->before)
		source_read(one, &s->own, &s->raw);
	s->at_ns = now_ns();
}

static void see_closing(struct snapshot *s, const struct stat_sources *all)
{
	clear(s);
	s->at_ns = now_ns();
	refresh(all->root);
	for (const struct stat_source *one = all->first; one; one = one->next)
		source_read(one, &s->own, &s->raw);
}

static void see_levels(struct snapshot *s, const struct stat_sources *all)
{
	clear(s);
	for (const struct stat_source *one = all->first; one; one = one->next)
		if (source_has_levels(one))
			source_read(one, &s->own, &s->raw);
}

static void add_reading(struct window *w, const struct snapshot *s)
{
	counters_sample(&w->first.own, &s->own);
	counters_sample(&w->first.raw, &s->raw);
	w->readings++;
}

void window_see(struct window *w, const struct stat_sources *all, enum crew_moment moment)
{
	if (moment == WINDOW_OPENS) {
		see_opening(&w->first, all);
		w->readings = 1;
	} else if (moment == WINDOW_LASTS) {
		see_levels(&w->sample, all);
		add_reading(w, &w->sample);
	} else {
		see_closing(&w->last, all);
		add_reading(w, &w->last);
	}
	w->closed = moment == WINDOW_CLOSES;
}

void window_free(struct window *w)
{
	struct snapshot *const all[] = { &w->first, &w->sample, &w->last };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		counters_free(&all[i]->own);
		counters_free(&all[i]->raw);
	}
	*w = (struct window){ 0 };
}

void window_rows(const struct window *w, row_hook *each, void *context)
{
	const struct counters *first = &w->first.own, *last = &w->last.own;

	for (unsigned i = 0; i < first->count; i++) {
		const struct counter *c = &first->at[i];
		const char *name = counter_name(first, c);

		each(context, name,
		     c->kind == COUNTER_LEVEL
			     ? counter_mean(c, w->readings)
			     : counter_growth(c, counters_find(last, name)));
	}
	for (unsigned i = 0; i < last->count; i++) {
		const char *name = counter_name(last, &last->at[i]);

		if (!counters_find(first, name))
			each(context, name, NAN);
	}
}
