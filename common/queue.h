/* SPDX-License-Identifier: GPL-2.0-or-later */
/* queue - how the kernel talks to a block device: limits, scheduler, cache, and the file of a loop device. */
#ifndef COMMON_QUEUE_H
#define COMMON_QUEUE_H

#include "common/fact.h"

#include <sys/types.h>

enum { QUEUE_FACTS = 9 };

/* Of block device DEV of the machine below ROOT ("" is this one); a partition's are those of its disk. What
 * they mean is in the kernel's Documentation/ABI/stable/sysfs-block. To be freed with facts_free(). False:
 * nothing is known, as of DEV 0, and there is nothing to free. */
bool queue_read(struct fact facts[static QUEUE_FACTS], const char *root, dev_t dev);

#endif
