/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host - what a result depends on besides the program: CPU, mitigations, settings of the kernel. */
#ifndef COMMON_HOST_H
#define COMMON_HOST_H

#include "common/fact.h"
#include "common/topo.h"

enum { HOST_FACTS = 12, THP_FACTS = 4, VM_FACTS = 17 };

/* Of the machine below ROOT ("" is this one; tests give a recorded tree): command line of the kernel;
 * model, microcode, SMAP, and the flags that decide how memory is copied of its first CPU; SMT; the
 * governors of CPUS, each once; MGLRU, zswap, NUMA balancing, KSM, and whether this process may have the
 * kernel sum up its counters (vm.stat_refresh), so that they are exact. To be freed with facts_free(). */
void host_read(struct fact facts[static HOST_FACTS], const char *root,
	       const struct cpus *cpus);
/* Transparent huge pages: the machine's settings, and whether this process is kept from them (prctl(2),
 * PR_SET_THP_DISABLE), be it from all but those that it advises for. To be freed the same way. */
void thp_read(struct fact facts[static THP_FACTS], const char *root);

/* Settings of the memory management, sysctl vm.*. To be freed the same way. */
void vm_read(struct fact facts[static VM_FACTS], const char *root);
/* "enabled" of each size of transparent huge pages: "hugepages-64kB", "inherit"; from Linux 6.8 on. */
void thp_sizes(const char *root,
	       void (*each)(void *context, const char *name, const char *text),
	       void *context);

/* Each file of /sys/devices/system/cpu/vulnerabilities: its name and what it says. */
void host_mitigations(const char *root,
		      void (*each)(void *context, const char *name, const char *text),
		      void *context);

#endif
