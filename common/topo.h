/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo - the CPUs this process may use, in the order to use them, and the NUMA nodes. */
#ifndef COMMON_TOPO_H
#define COMMON_TOPO_H

#include "common/base.h"

#include <sched.h>
#include <stdbool.h>

/* CPU and node numbers are below this, far above any kernel's NR_CPUS. */
#define CPU_NUMBERS (1u << 20)

/* A list of CPU (or node) numbers in a chosen order, any number of them, each at most
 * once. */
struct cpus {
	unsigned *ids;
	unsigned count, room;
};
#define CPUS_EMPTY ((struct cpus){ 0 })

/* Append ID unless it is there. 0 or -ENOMEM. */
must_check int cpus_add(struct cpus *set, unsigned id);
/* The same without a search, for callers that know it is not there. */
must_check int cpus_append(struct cpus *set, unsigned id);
bool cpus_has(const struct cpus *set, unsigned id);
void cpus_free(struct cpus *set);
/* "0-3,8", ids in ascending order whatever their order in SET; malloc'ed, NULL without
 * memory. */
char *cpus_text(const struct cpus *set);

/* Bind the calling thread to one CPU, of any number. 0 or -errno after saying so. */
must_check int cpu_bind(unsigned id);
/* Bind the calling thread to all CPUs of SET, which is not empty. The same. */
must_check int cpus_bind(const struct cpus *set);

struct topo {
	/* Ascending. Where sysfs is hidden: the same as allowed. */
	struct cpus online;
	/* The affinity mask of this thread (sched_setaffinity(2)), ascending. */
	struct cpus allowed;
	/* Allowed again: one thread of every core before its siblings, cores in the order
	 * of their first allowed CPU. Where sysfs is hidden, every CPU is a core. */
	struct cpus spread;
	/* Online nodes, ascending, and those of them with memory. Empty where the kernel
	 * has no NUMA. */
	struct cpus nodes, memory_nodes;
};

/* Fill TOPO from the affinity mask and the sysfs below ROOT ("" is this machine; tests
 * give a recorded tree). 0 or -errno after saying so. topo_free() afterwards, also after
 * a failure. */
must_check int topo_read(struct topo *topo, const char *root);
void topo_free(struct topo *topo);
/* The CPUs of NODE that are in ALLOWED, appended to SET. -ENOENT, in silence, if there is
 * no such node; another -errno after saying so. */
must_check int topo_node_cpus(const char *root, unsigned node, const struct cpus *allowed,
			      struct cpus *set);

#endif
