/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe - what counts the workers of each repetition, and who is told of its window; private to run. */
#ifndef COMMON_PROBE_H
#define COMMON_PROBE_H

#include "common/run.h"

/* Open what lasts for all repetitions, before a filesystem is mounted over anything: the kernel's trace, where there
 * is one, and --perf-control. 0 or -errno after saying so. */
must_check int probe_open(struct run *run);
void probe_close(struct run *run);
/* Is there anybody to be told of the window? */
bool probe_wants_window(const struct run *run);
/* A repetition begins: what its workers inherit is opened. Nothing happens while warming up. 0 or -errno after saying
 * so. */
must_check int probe_begin(struct run *run);
must_check int probe_see(struct run *run, enum crew_moment moment);
/* All its processes have ended. */
void probe_end(struct run *run);
/* The rows of the repetition, whose window was WINDOW_NS, once report_workers() has told of it. 0 or -errno after
 * saying so. */
must_check int probe_report(struct run *run, struct report *r, uint64_t window_ns);

#endif
