/* SPDX-License-Identifier: GPL-2.0-or-later */
/* derived - rates and shares over a window, under the names that vmstat, mpstat and iostat are known for. */
#ifndef COMMON_DERIVED_H
#define COMMON_DERIVED_H

#include "common/snapshot.h"

/* vmstat.*, mpstat.cpu.all.* and iostat.cpu.*; a row of which the kernel says nothing is left out, one
 * that does not come to a number is NAN. */
void derived_rows(const struct window *w, row_hook *each, void *context);
/* iostat.DISK.* of a disk or partition, as diskstats names it. */
void disk_rows(const struct window *w, const char *disk, row_hook *each, void *context);

#endif
