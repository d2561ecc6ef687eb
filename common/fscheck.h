/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fscheck - what --fs-on can be. For fs.c and fscheck.c, which has fs_check(). */
#ifndef COMMON_FSCHECK_H
#define COMMON_FSCHECK_H

#include <stdbool.h>

/* What it calls memory. */
extern const char fs_in_memory[];
bool fs_is_device(const char *path);

#endif
