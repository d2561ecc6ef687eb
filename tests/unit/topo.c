// SPDX-License-Identifier: GPL-2.0-or-later
/* topo - tests of common/topo.c, on recorded machines and on this one. */
#include "common/topo.h"
#include "tests/check.h"

#include <errno.h>
#include <unistd.h>

/* "1,2,8" in the order of SET, no ranges. */
static char *in_order(char buf[static 256], const struct cpus *set)
{
	size_t len = 0;

	*buf = '\0';
	for (unsigned i = 0; i < set->count && len < 256; i++)
		len += snprintf(buf + len, 256 - len, "%s%u", i ? "," : "", set->ids[i]);
	return buf;
}

static void check_set(const char *what, const struct cpus *set, const char *want)
{
	char *text = cpus_text(set);

	CHECK_TEXT(what, text, want);
	free(text);
}

static void check_cpus(void)
{
	static const unsigned ids[] = { 9, 3, 4, 3, 4294967295, 4294967294, 9, 5, 0 };
	struct cpus set = CPUS_EMPTY;
	char buf[256];

	check_set("empty", &set, "");
	CHECK(!cpus_has(&set, 0));
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		CHECK_U64("add", cpus_add(&set, ids[i]), 0);
	CHECK_TEXT("order", in_order(buf, &set), "9,3,4,4294967295,4294967294,5,0");
	check_set("text", &set, "0,3-5,9,4294967294-4294967295");
	CHECK(cpus_has(&set, 5) && !cpus_has(&set, 6));
	for (unsigned id = 100; id < 300; id += 2)
		CHECK_U64("add", cpus_add(&set, id), 0);
	CHECK_U64("count", set.count, 107);
	cpus_free(&set);
	CHECK_U64("freed", set.count, 0);
	check_set("freed", &set, "");
}

static const struct {
	const char *tree;
	const char *online, *allowed, *spread, *nodes, *memory_nodes;
} trees[] = {
	{ "smt-nodes", "0-2,4-8,10-15", "1-2,4-8,10-15",
	  "1,2,4,5,6,7,8,11,10,12,13,14,15", "1-2,4", "1,4" },
	{ "sparse", "0-1,1030-1033,2046-2047", "0,1030-1033,2047",
	  "0,1030,1031,2047,1033,1032", "", "" },
	{ "bare", "4-7", "4-7", "4,5,6,7", "", "" },
};

static const char *tree_path(char buf[static 256], const char *tree)
{
	const char *fixtures = getenv("PAGEMILL_FIXTURES");

	if (!fixtures)
		SKIP("PAGEMILL_FIXTURES does not say where the recorded machines are");
	snprintf(buf, 256, "%s/%s", fixtures, tree);
	return buf;
}

static void check_trees(void)
{
	char path[256], buf[256];
	struct topo topo;

	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		CHECK_U64(trees[i].tree, topo_read(&topo, tree_path(path, trees[i].tree)),
			  0);
		check_set(trees[i].tree, &topo.online, trees[i].online);
		check_set(trees[i].tree, &topo.allowed, trees[i].allowed);
		CHECK_TEXT(trees[i].tree, in_order(buf, &topo.spread), trees[i].spread);
		check_set(trees[i].tree, &topo.nodes, trees[i].nodes);
		check_set(trees[i].tree, &topo.memory_nodes, trees[i].memory_nodes);
		topo_free(&topo);
		CHECK_U64("freed", topo.spread.count, 0);
	}
	/* Its /proc/self/status is missing. */
	CHECK_U64("hybrid", topo_read(&topo, tree_path(path, "hybrid")), -ENOENT);
	topo_free(&topo);
}

static const struct {
	const char *tree;
	unsigned node;
	int ret;
	const char *cpus;
} nodes[] = {
	{ "smt-nodes", 1, 0, "1,2,8,10,11" },
	{ "smt-nodes", 2, 0, "4,5,6,7,12,13,14,15" },
	{ "smt-nodes", 4, 0, "" },
	{ "smt-nodes", 0, -ENOENT, "" },
	{ "smt-nodes", 3, -ENOENT, "" },
	{ "bare", 0, -ENOENT, "" },
};

static void check_nodes(void)
{
	struct cpus set = CPUS_EMPTY;
	char path[256], buf[256];
	struct topo topo;

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		tree_path(path, nodes[i].tree);
		CHECK_U64(nodes[i].tree, topo_read(&topo, path), 0);
		CHECK_U64(nodes[i].tree,
			  topo_node_cpus(path, nodes[i].node, &topo.allowed, &set),
			  nodes[i].ret);
		CHECK_TEXT(nodes[i].tree, in_order(buf, &set), nodes[i].cpus);
		cpus_free(&set);
		topo_free(&topo);
	}
	/* Appended to what is there, nothing twice. */
	tree_path(path, "smt-nodes");
	CHECK_U64("append", topo_read(&topo, path), 0);
	CHECK_U64("append", cpus_add(&set, 12), 0);
	CHECK_U64("append", topo_node_cpus(path, 2, &topo.allowed, &set), 0);
	CHECK_TEXT("append", in_order(buf, &set), "12,4,5,6,7,13,14,15");
	cpus_free(&set);
	topo_free(&topo);
}

/* The kernel's own answer, in a mask of a size that no machine outgrows. */
static cpu_set_t *kernel_mask(size_t *size)
{
	cpu_set_t *mask = CPU_ALLOC(CPU_NUMBERS);

	*size = CPU_ALLOC_SIZE(CPU_NUMBERS);
	CPU_ZERO_S(*size, mask);
	CHECK_U64("sched_getaffinity", sched_getaffinity(0, *size, mask), 0);
	return mask;
}

static void check_mask(const struct cpus *allowed, const cpu_set_t *mask, size_t size)
{
	CHECK_U64("CPUs", allowed->count, CPU_COUNT_S(size, mask));
	for (unsigned i = 0; i < allowed->count; i++) {
		CHECK(CPU_ISSET_S(allowed->ids[i], size, mask));
		CHECK(!i || allowed->ids[i - 1] < allowed->ids[i]);
	}
}

/* Bound to one CPU after the other, this thread is there, and topo_read sees just that
 * one. */
static void check_binding(const struct cpus *allowed)
{
	struct topo topo;

	for (unsigned i = 0; i < allowed->count; i++) {
		CHECK_U64("bind", cpu_bind(allowed->ids[i]), 0);
		CHECK_U64("sched_getcpu", sched_getcpu(), allowed->ids[i]);
		CHECK_U64("narrowed", topo_read(&topo, ""), 0);
		CHECK_U64("narrowed", topo.allowed.count, 1);
		CHECK_U64("narrowed", topo.allowed.ids[0], allowed->ids[i]);
		CHECK_U64("narrowed", topo.spread.count, 1);
		CHECK(topo.online.count >= 1);
		topo_free(&topo);
	}
	CHECK_U64("no such CPU", cpu_bind(CPU_NUMBERS - 1), -EINVAL);
	CHECK_U64("no such number", cpu_bind(CPU_NUMBERS), -EINVAL);
	CHECK_U64("no such number", cpu_bind(4294967295), -EINVAL);
}

static void check_this_machine(void)
{
	struct topo topo;
	cpu_set_t *mask;
	size_t size;

	mask = kernel_mask(&size);
	CHECK_U64("this machine", topo_read(&topo, ""), 0);
	check_mask(&topo.allowed, mask, size);
	CHECK_U64("spread", topo.spread.count, topo.allowed.count);
	for (unsigned i = 0; i < topo.spread.count; i++)
		CHECK(cpus_has(&topo.allowed, topo.spread.ids[i]));
	CHECK(topo.online.count >= topo.allowed.count);
	check_binding(&topo.allowed);
	CHECK_U64("put back", sched_setaffinity(0, size, mask), 0);
	topo_free(&topo);
	CHECK_U64("put back", topo_read(&topo, ""), 0);
	check_mask(&topo.allowed, mask, size);
	topo_free(&topo);
	CPU_FREE(mask);
}

int main(void)
{
	base_init();
	check_cpus();
	check_trees();
	check_nodes();
	check_this_machine();
	return check_result();
}
