/* SPDX-License-Identifier: GPL-2.0-or-later */
/* marker - says in the kernel's trace when a window opens and closes. */
#ifndef COMMON_MARKER_H
#define COMMON_MARKER_H

/* The trace_marker of tracefs; -1: it cannot be written here. */
int marker_open(void);
/* "PROGRAM: MOMENT" into the trace; FD can be -1. */
void marker_say(int fd, const char *moment);

#endif
