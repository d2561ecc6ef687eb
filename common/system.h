/* SPDX-License-Identifier: GPL-2.0-or-later */
/* system - what the machine did while a repetition lasted, as rows of the results. */
#ifndef COMMON_SYSTEM_H
#define COMMON_SYSTEM_H

#include "common/snapshot.h"

#include <sys/types.h>

struct system;

/* To watch this machine. NULL, after saying so: no memory. */
struct system *system_new(void);
void system_free(struct system *s);
/* The disk or partition DEV, too, once however often it is told; not 0, nor one that counts nothing. S can be
 * NULL: nobody watches. */
void system_add_device(struct system *s, dev_t dev);

/* A repetition begins: from here on its CPU time counts. */
void system_begin(struct system *s);
/* Look, as window_see() does. What that costs this process is not counted as the repetition's. */
void system_see(struct system *s, enum crew_moment moment);
/* All its processes have been waited for; LEFT: they have not, and their CPU time is not known. */
void system_end(struct system *s, bool left);
/* The rows of the repetition that ended last. Of a window that never closed there are none. */
void system_rows(const struct system *s, row_hook *each, void *context);

#endif
