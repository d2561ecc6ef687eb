// SPDX-License-Identifier: GPL-2.0-or-later
/* counters - sets of named numbers that a kernel counts, as they stood at one moment. */
#include "common/counters.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_LEN = 96, NAME_LEN = 192 };

/* Three days in ms. */
#define GROWTH_32_MOST (1U << 28)

static unsigned hash_of(const char *name)
{
	unsigned hash = 2166136261U;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619U;
	return hash;
}

const char *counter_name(const struct counters *set, const struct counter *c)
{
	return set->names + c->name_at;
}

/* The slot of NAME, or the free one where it would go. */
static unsigned *slot_of(const struct counters *set, const char *name)
{
	unsigned i = hash_of(name) & set->mask;

	while (set->slots[i] &&
	       strcmp(counter_name(set, &set->at[set->slots[i] - 1]), name))
		i = (i + 1) & set->mask;
	return &set->slots[i];
}

void counters_clear(struct counters *set)
{
	set->count = 0;
	set->names_bytes = 0;
	if (set->slots)
		memset(set->slots, 0, (set->mask + 1) * sizeof(*set->slots));
}

void counters_free(struct counters *set)
{
	free(set->at);
	free(set->names);
	free(set->slots);
	*set = (struct counters){ 0 };
}

struct counter *counters_find(const struct counters *set, const char *name)
{
	unsigned slot = set->slots ? *slot_of(set, name) : 0;

	return slot ? &set->at[slot - 1] : NULL;
}

/* Twice as many slots as counters at least, so that a search is short. */
static bool make_room(struct counters *set)
{
	unsigned room = set->room ? 2 * set->room : 512;
	struct counter *at;
	unsigned *slots;

	if (set->at && set->count < set->room)
		return true;
	at = calloc(room, sizeof(*at));
	slots = calloc(2 * (size_t)room, sizeof(*slots));
	if (!at || !slots) {
		free(at);
		free(slots);
		return false;
	}
	if (set->at)
		memcpy(at, set->at, set->count * sizeof(*at));
	free(set->at);
	free(set->slots);
	set->at = at;
	set->slots = slots;
	set->mask = 2 * room - 1;
	set->room = room;
	for (unsigned i = 0; i < set->count; i++)
		*slot_of(set, counter_name(set, &set->at[i])) = i + 1;
	return true;
}

static bool make_room_for_name(struct counters *set, size_t bytes)
{
	size_t room = 2 * (set->names_room + bytes + 8 * KiB);
	char *names;

	if (bytes <= set->names_room - set->names_bytes)
		return true;
	names = realloc(set->names, room);
	if (!names)
		return false;
	set->names = names;
	set->names_room = room;
	return true;
}

void counters_add(struct counters *set, const char *name, enum counter_kind kind,
		  uint64_t value)
{
	size_t bytes = strlen(name) + 1;

	if (counters_find(set, name) || !make_room(set) ||
	    !make_room_for_name(set, bytes))
		return;
	memcpy(set->names + set->names_bytes, name, bytes);
	*slot_of(set, name) = set->count + 1;
	set->at[set->count++] = (struct counter){ .kind = kind,
						  .readings = 1,
						  .name_at = set->names_bytes,
						  .value = value,
						  .sum = (double)value };
	set->names_bytes += bytes;
}

bool counter_number(const char **at, uint64_t *value)
{
	char *end;
	uint64_t number;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	number = strtoull(*at, &end, 10);
	if (errno || (*end && !isspace((unsigned char)*end)))
		return false;
	*value = number;
	*at = end;
	return true;
}

/* KEY of a line; the rest of it, from its value on. NULL: it has none. */
static const char *cut_key(const char *line, char key[static KEY_LEN])
{
	size_t len = strcspn(line, ": \t\n");

	if (!len || len >= KEY_LEN || line[len] == '\n')
		return NULL;
	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)line[i]))
			return NULL;
	memcpy(key, line, len);
	key[len] = '\0';
	return line + len + strspn(line + len, ": \t");
}

void counters_parse(struct counters *set, const char *prefix, const char *text,
		    enum counter_kind (*kind_of)(const char *key))
{
	char key[KEY_LEN], name[NAME_LEN];
	uint64_t value;

	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		const char *at = cut_key(text, key);
		enum counter_kind kind;

		if (!at || !counter_number(&at, &value))
			continue;
		kind = kind_of(key);
		if (kind == COUNTER_NONE)
			continue;
		snprintf(name, sizeof(name), "%s%s", prefix, key);
		counters_add(set, name, kind, value);
	}
}

void counters_sample(struct counters *set, const struct counters *now)
{
	for (unsigned i = 0; i < now->count; i++) {
		struct counter *c =
			now->at[i].kind == COUNTER_LEVEL
				? counters_find(set, counter_name(now, &now->at[i]))
				: NULL;

		if (!c)
			continue;
		c->readings++;
		c->sum += (double)now->at[i].value;
		/* A level that is below zero, which a kernel may show for a moment. */
		if (now->at[i].value > INT64_MAX)
			c->sum = NAN;
	}
}

double counter_growth(const struct counter *before, const struct counter *after)
{
	uint32_t growth;

	if (!before || !after)
		return NAN;
	if (after->value >= before->value)
		return (double)(after->value - before->value);
	/* Modulo 2^32 it is right; where that is much, the counter was set back rather. */
	growth = (uint32_t)(after->value - before->value);
	if (after->kind == COUNTER_GROWS_32 && growth < GROWTH_32_MOST)
		return growth;
	return NAN;
}

double counter_mean(const struct counter *c, unsigned readings)
{
	if (!c || c->readings != readings || c->value > INT64_MAX)
		return NAN;
	return c->sum / readings;
}
