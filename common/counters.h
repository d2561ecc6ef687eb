/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters - sets of named numbers that a kernel counts, as they stood at one moment. */
#ifndef COMMON_COUNTERS_H
#define COMMON_COUNTERS_H

#include "common/base.h"

/* What two readings of a number tell. */
enum counter_kind {
	COUNTER_NONE,     /* nothing: it is left out */
	COUNTER_GROWS,    /* what it grew by */
	COUNTER_GROWS_32, /* the same, of one that begins anew at 2^32 */
	COUNTER_LEVEL,    /* the mean of all readings */
};

struct counter {
	enum counter_kind kind;
	unsigned readings; /* that are in sum */
	size_t name_at;
	uint64_t value; /* of the first reading */
	double sum;     /* of a level */
};

/* {0} is an empty one. What there is no memory for is left out. */
struct counters {
	struct counter *at;
	unsigned count, room;
	char *names;
	size_t names_bytes, names_room;
	/* Open hash table: index into at + 1, 0: free. */
	unsigned *slots, mask;
};

/* Leave it empty, with its memory for the next reading. */
void counters_clear(struct counters *set);
void counters_free(struct counters *set);
/* Of two of one name the first counts. */
void counters_add(struct counters *set, const char *name, enum counter_kind kind,
		  uint64_t value);
/* NULL: there is none. Good until the next is added. */
struct counter *counters_find(const struct counters *set, const char *name);
const char *counter_name(const struct counters *set, const struct counter *c);

/* Add what TEXT has in lines "KEY VALUE" and "KEY: VALUE kB", under PREFIX followed by KEY. A line that
 * is none, whose value is over 2^64, or that the end of the text cuts off, is passed over; so is what
 * KIND_OF does not want. */
void counters_parse(struct counters *set, const char *prefix, const char *text,
		    enum counter_kind (*kind_of)(const char *key));
/* The number that *AT begins with, followed by a blank or an end; *AT is put behind it. False: there is
 * none, or it is over 2^64. */
bool counter_number(const char **at, uint64_t *value);

/* One more reading of the levels of SET; those that are not there, or are new, are known no longer. */
void counters_sample(struct counters *set, const struct counters *now);
/* What it grew by; NAN: one of them is NULL, or it went backwards. */
double counter_growth(const struct counter *before, const struct counter *after);
/* The mean of READINGS readings; NAN: it was not there at each. */
double counter_mean(const struct counter *c, unsigned readings);

#endif
