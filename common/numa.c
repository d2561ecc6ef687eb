// SPDX-License-Identifier: GPL-2.0-or-later
/* numa - the memory policy of this process. The system call by its number: one call is no reason
 * for a library that a build may lack. */
#include "common/numa.h"

#include <limits.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD_BITS (CHAR_BIT * sizeof(unsigned long))

int numa_check(const struct topo *topo, const char *name, uint64_t node)
{
	char *there;
	int ret;

	if (!topo->nodes.count)
		return unsupported("%s: this kernel has no NUMA nodes", name);
	if (node < CPU_NUMBERS && cpus_has(&topo->nodes, (unsigned)node))
		return 0;
	there = cpus_text(&topo->nodes);
	ret = refused("%s '%ju': expected a node of %s", name, (uintmax_t)node,
		      there ?: "those online");
	free(there);
	return ret;
}

int numa_bind_memory(const struct topo *topo, uint64_t node)
{
	size_t words = node / WORD_BITS + 1;
	unsigned long *mask;
	long ret;

	if (!cpus_has(&topo->memory_nodes, (unsigned)node))
		return refused("--numa-memory '%ju': expected a node with memory",
			       (uintmax_t)node);
	mask = calloc(words, sizeof(*mask));
	if (!mask)
		return failed("memory for a mask of nodes");
	mask[node / WORD_BITS] = 1UL << node % WORD_BITS;
	/* The call takes the number of bits and one more. */
	ret = syscall(SYS_set_mempolicy, MPOL_BIND, mask, words * WORD_BITS + 1);
	free(mask);
	return ret ? failed("bind memory to node %ju", (uintmax_t)node) : 0;
}
