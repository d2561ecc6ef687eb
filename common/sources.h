/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sources - the files in which a kernel counts what it does, and what they say. */
#ifndef COMMON_SOURCES_H
#define COMMON_SOURCES_H

#include "common/counters.h"

struct stat_source_row;

/* A file that there is, or could be. */
struct stat_source {
	struct stat_source *next, *before;
	const struct stat_source_row *row;
	char *path;
	char *name; /* of its number, or the beginning of its names */
};

struct stat_sources {
	const char *root; /* "": this machine; tests give a recorded tree */
	struct stat_source *first, *last;
	unsigned count;
};

/* Look for them below ROOT. 0, or -ENOMEM after saying so. sources_close() afterwards, also after a failure. */
must_check int sources_open(struct stat_sources *all, const char *root);
void sources_close(struct stat_sources *all);

/* Add what it says now: to OWN what stands under its own name in a result, to RAW what others are made of
 * (derived.h). A file that cannot be read says nothing. */
void source_read(const struct stat_source *s, struct counters *own, struct counters *raw);
/* Has it levels, which are worth a look while a run lasts? */
bool source_has_levels(const struct stat_source *s);

#endif
