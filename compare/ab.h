/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ab - run two commands in turn, each run beside one of the other, and keep the results they write. */
#ifndef COMPARE_AB_H
#define COMPARE_AB_H

#include "common/base.h"

#include <stdint.h>

struct ab_side {
	const char *
		command; /* for sh(1), which has the name of a file for its result in $JSON */
	const char *setup, *cleanup; /* before and after each run of it; NULL: nothing */
	/* The results by name: "DIR/a-001.json", or what leads to nameless files in memory. */
	char **names;
	int *files; /* those in memory; -1: it has a name */
	unsigned count;
};

struct ab {
	struct ab_side sides[2];
	const char *keep; /* results are files in this directory; NULL: gone afterwards */
	uint64_t pairs;   /* at most */
	uint64_t seed;    /* of the order in each pair */
	/* After each pair: are there enough of them? 1, 0, or -errno. NULL: all are run. */
	int (*enough)(const struct ab *ab);
	unsigned count; /* pairs that were run */
	int signal;     /* that ended it: SIGINT, SIGTERM, SIGHUP or SIGQUIT; 0: none */
};

/* Run the pairs. 0, -EINTR after a signal, or -errno after saying what failed: a set-up, a clean-up, a command
 * that wrote no result. A clean-up follows each set-up, whatever happens. What a command began ends with it: each is
 * a session of its own, without a terminal, and dies with us. ab_free() afterwards. */
must_check int ab_run(struct ab *ab);
void ab_free(struct ab *ab);

#endif
