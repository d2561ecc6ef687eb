/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procfile - small files of /proc, /sys and cgroupfs, on this machine or in a recorded
 * tree. For topo.c, limits.c and cgroup.c. */
#ifndef COMMON_PROCFILE_H
#define COMMON_PROCFILE_H

#include "common/base.h"

#include <stdbool.h>

/* All of the file at ROOT followed by the formatted path, ended by a 0 and malloc'ed.
 * NULL, in silence and with errno set, if it cannot be read. */
must_check char *procfile_read(const char *root, const char *fmt, ...) printf_like(2, 3);
/* The text behind KEY and its colon or blanks, in TEXT made of lines "KEY: value" or "KEY
 * value". NULL: no line has this key. */
const char *procfile_line(const char *text, const char *key);
/* The number there, any unit ignored. False, and VALUE untouched: no such line, or no
 * number. */
bool procfile_number(const char *text, const char *key, uint64_t *value);

#endif
