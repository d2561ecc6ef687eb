/* SPDX-License-Identifier: GPL-2.0-or-later */
/* statfiles - files of /proc that have a form of their own: stat, diskstats, softirqs, pressure. For
 * sources.c. */
#ifndef COMMON_STATFILES_H
#define COMMON_STATFILES_H

#include "common/counters.h"

/* Each adds what TEXT has under NAME followed by a name of its own. Lines that are cut off or none are
 * passed over.
 *
 * "cpu.user" ... "cpu.guest_nice" of all CPUs together, as many as there are; "intr", "ctxt", and the
 * levels "procs_running" and "procs_blocked". */
void parse_stat(struct counters *set, const char *name, const char *text,
		enum counter_kind (*kind_of)(const char *key));
/* "vda.reads" and so on: the 11 fields of each disk and partition, from Linux 4.19 on 15, from 5.5 on 17. */
void parse_diskstats(struct counters *set, const char *name, const char *text,
		     enum counter_kind (*kind_of)(const char *key));
/* "TIMER", the sum over the CPUs. */
void parse_softirqs(struct counters *set, const char *name, const char *text,
		    enum counter_kind (*kind_of)(const char *key));
/* "some_us", "full_us": the totals. */
void parse_pressure(struct counters *set, const char *name, const char *text,
		    enum counter_kind (*kind_of)(const char *key));

/* The name of device MAJOR:MINOR in diskstats, TEXT, malloc'ed; NULL: it has none. */
must_check char *diskstats_name(const char *text, unsigned major, unsigned minor);

#endif
