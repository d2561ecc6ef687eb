// SPDX-License-Identifier: GPL-2.0-or-later
/* numa - tests of common/numa.c. */
#include "common/numa.h"
#include "tests/check.h"
#include "tests/unit/child.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>

static unsigned ids[] = { 0, 2, 300 };

static const struct {
	unsigned count, with_memory;
	uint64_t node;
	int ret;
	const char *said;
} rows[] = {
	{ 3, 3, 0, 0, "" },
	{ 3, 3, 300, 0, "" },
	{ 3, 3, 1, EBADRQC, "--numa-cpu '1': expected a node of 0,2,300\n" },
	{ 3, 3, UINT64_MAX, EBADRQC, "expected a node of 0,2,300\n" },
	{ 1, 1, 2, EBADRQC, "--numa-cpu '2': expected a node of 0\n" },
	{ 0, 0, 0, EOPNOTSUPP, "--numa-cpu: this kernel has no NUMA nodes\n" },
};

static struct topo topo_of(unsigned count, unsigned with_memory)
{
	return (struct topo){ .nodes = { ids, count, count },
			      .memory_nodes = { ids, with_memory, with_memory } };
}

static int check(const void *arg)
{
	size_t i = *(const size_t *)arg;
	struct topo topo = topo_of(rows[i].count, rows[i].with_memory);

	return -numa_check(&topo, "--numa-cpu", rows[i].node);
}

static int bind_without_memory(const void *arg)
{
	struct topo topo = topo_of(3, 1);

	(void)arg;
	return -numa_bind_memory(&topo, 2);
}

/* The policy that the kernel then has for this process. */
static int bind_to_zero(const void *arg)
{
	struct topo topo;
	unsigned long mask[64] = { 0 };
	int mode = -1;

	(void)arg;
	if (topo_read(&topo, "") || !topo.memory_nodes.count ||
	    numa_bind_memory(&topo, topo.memory_nodes.ids[0]))
		return 1;
	if (syscall(SYS_get_mempolicy, &mode, mask, 64 * 64UL, NULL, 0UL))
		return 2;
	return mode == MPOL_BIND && mask[0] == 1UL << topo.memory_nodes.ids[0] ? 0 : 3;
}

int main(void)
{
	static struct child child;
	struct topo topo;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		child_run(&child, check, &i);
		CHECK_U64(rows[i].said, child.status, rows[i].ret);
		CHECK(strstr(child.err, rows[i].said));
	}
	child_run(&child, bind_without_memory, NULL);
	CHECK_U64("no memory", child.status, EBADRQC);
	CHECK(strstr(child.err, "--numa-memory '2': expected a node with memory"));
	CHECK_U64("this machine", topo_read(&topo, ""), 0);
	if (topo.memory_nodes.count) {
		child_run(&child, bind_to_zero, NULL);
		CHECK_U64("bound", child.status, 0);
	}
	topo_free(&topo);
	return check_result();
}
