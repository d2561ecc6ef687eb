/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host - what a result depends on besides the program: CPU, mitigations, settings, queues of disks. */
#ifndef COMMON_HOST_H
#define COMMON_HOST_H

#include "common/base.h"

#include <stdbool.h>
#include <sys/types.h>

/* One thing that is known of a machine. */
struct fact {
	const char *key;
	char *text; /* malloc'ed; NULL: not to be found out */
	bool is_number;
};

enum { HOST_FACTS = 12, QUEUE_FACTS = 8 };

/* Of the machine below ROOT ("" is this one; tests give a recorded tree): command line of the kernel, CPU
 * model, microcode, the flags of the CPU that decide how it copies, whether SMAP is on, SMT, governor of
 * CPU number CPU, transparent huge pages. */
void host_read(struct fact facts[static HOST_FACTS], const char *root, unsigned cpu);
/* Of the queue of block device DEV (queue-sysfs, Documentation/ABI/stable/sysfs-block): a partition's is
 * that of its disk. All NULL: there is none. */
void queue_read(struct fact facts[static QUEUE_FACTS], const char *root, dev_t dev);
void facts_free(struct fact *facts, unsigned count);
/* The text of KEY; NULL: not known. */
const char *fact_text(const struct fact *facts, unsigned count, const char *key);

/* Each file of /sys/devices/system/cpu/vulnerabilities: its name and what it says. */
void host_mitigations(const char *root,
		      void (*each)(void *context, const char *name, const char *text),
		      void *context);

#endif
