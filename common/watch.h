/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch - what the system does in each repetition of a run, for its JSON results; private to run. */
#ifndef COMMON_WATCH_H
#define COMMON_WATCH_H

#include "common/run.h"

/* Watch this machine and the devices below the run's directories for files, if there are JSON results to
 * be written; none of the calls below does anything else, nor while warming up. 0 or -errno after saying
 * so. */
must_check int watch_open(struct run *run);
void watch_close(struct run *run);
/* A repetition begins, all before its fan-out included. */
void watch_begin(const struct run *run);
void watch_see(const struct run *run, enum crew_moment moment);
/* All its processes have ended, or, LEFT, go on alone. */
void watch_end(const struct run *run, bool left);
/* The rows of the repetition, once report_workers() has told of it. */
void watch_report(const struct run *run, struct report *r);

#endif
