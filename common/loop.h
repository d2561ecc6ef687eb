/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loop - a loop device that is gone when its last user is. For fs.c. */
#ifndef COMMON_LOOP_H
#define COMMON_LOOP_H

#include "common/base.h"

#include <stdbool.h>

enum { LOOP_NAME_LEN = 32 };

/* Put a free loop device before IMAGE, an open file. The device goes past the page cache of the
 * image where that can be, and is free again once nothing has it open and nothing on it is
 * mounted. NAME: "/dev/loop3". Its descriptor, or -errno after saying so. */
must_check int loop_attach(int image, char name[static LOOP_NAME_LEN]);
/* Does it go past the page cache of its image? */
bool loop_is_direct(int loop);

#endif
