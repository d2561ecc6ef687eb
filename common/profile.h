/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile - perf record over a crew, from its start line to the end of its work, as shares of symbols. */
#ifndef COMMON_PROFILE_H
#define COMMON_PROFILE_H

#include "common/base.h"

#include <sys/types.h>

struct profile {
	int data, said; /* nameless: what perf records, and what it says on stderr */
	int to, from;   /* its --control */
	int process;    /* a pidfd; -1: it does not run */
	pid_t pid;
	uint64_t from_ns, until_ns; /* what is asked for of what it records */
};

#define PROFILE_CLOSED                      \
	{                                   \
		-1, -1, -1, -1, -1, 0, 0, 0 \
	}

typedef void profile_row(void *context, const char *name, double value);

/* Take the place for the data. The calls below that return an int say what is wrong and return -errno. */
must_check int profile_open(struct profile *p);
void profile_close(struct profile *p);
/* Start a perf that will follow what this process starts from here on; unsupported() where there is none, or it
 * cannot. */
must_check int profile_start(struct profile *p);
/* The window opens; */
void profile_begin(struct profile *p);
/* ... it closes: wait until perf has heard of that. */
must_check int profile_finish(struct profile *p);
/* Let it end. */
must_check int profile_stop(struct profile *p);
/* The rows perf-profile.self.cycles-pp.SYMBOL and perf-profile.children.cycles-pp.SYMBOL of what was recorded. */
must_check int profile_report(struct profile *p, profile_row *row, void *context);

/* The rows of what perf report says on two columns, children and self, and the symbol: in per cent, of one name
 * together, and only from 0.05 on. Any other line is passed over. 0 or -ENOMEM. */
must_check int profile_parse(const char *text, profile_row *row, void *context);

#endif
