// SPDX-License-Identifier: GPL-2.0-or-later
/* host - tests of common/host.c, on recorded machines. */
#include "common/host.h"
#include "tests/unit/machine.h"

#include <string.h>
#include <sys/prctl.h>

/* What a machine's facts are; "-": not known. */
static const struct row {
	const char *tree, *key, *text;
} rows[] = {
	{ "copies-x86", "command_line", "root=/dev/nvme0n1p2 quiet" },
	{ "copies-x86", "cpu_model", "Xeon 8380 @ 2.30GHz" },
	{ "copies-x86", "microcode", "0xd0003b9" },
	{ "copies-x86", "string_copy_flags", "rep_good erms fsrm" },
	{ "copies-x86", "smap", "1" },
	{ "copies-x86", "smt", "1" },
	{ "copies-x86", "zswap", "Y" },
	{ "copies-x86", "mglru", "-" },
	{ "copies-x86", "numa_balancing", "2" },
	{ "copies-x86", "ksm_run", "1" },
	{ "copies-x86", "stat_refresh", "1" },
	{ "copies-arm64", "cpu_model", "-" },
	{ "copies-arm64", "microcode", "-" },
	{ "copies-arm64", "string_copy_flags", "mops" },
	{ "copies-arm64", "smap", "-" },
	{ "copies-arm64", "smt", "0" },
	{ "copies-arm64", "governor", "-" },
	{ "bare", "command_line", "-" },
	{ "bare", "cpu_model", "-" },
	{ "bare", "microcode", "-" },
	{ "bare", "string_copy_flags", "-" },
	{ "bare", "smap", "-" },
	{ "bare", "smt", "-" },
	{ "bare", "governor", "-" },
	{ "bare", "zswap", "-" },
	{ "bare", "numa_balancing", "-" },
	{ "bare", "ksm_run", "-" },
	{ "bare", "stat_refresh", "0" },
};

static const struct row vm[] = {
	{ "copies-x86", "swappiness", "100" },
	{ "copies-x86", "page_cluster", "0" },
	{ "copies-x86", "compaction_proactiveness", "-" },
	{ "bare", "swappiness", "-" },
};

static const struct row thp[] = {
	{ "copies-x86", "enabled", "madvise" },
	{ "copies-x86", "shmem_enabled", "never" },
	{ "copies-x86", "defrag", "-" },
	{ "bare", "enabled", "-" },
};

/* Of copies-x86, whose CPU 9 has none. */
static const struct {
	const char *name;
	unsigned ids[3], count;
	enum fact_kind kind;
	const char *want;
} governors[] = {
	{ "none allowed", { 0 }, 0, FACT_TEXT, "-" },
	{ "not known", { 9 }, 1, FACT_TEXT, "-" },
	{ "one", { 3 }, 1, FACT_TEXT, "performance" },
	{ "the same", { 3, 5 }, 2, FACT_TEXT, "performance" },
	{ "one known", { 9, 4 }, 2, FACT_TEXT, "powersave" },
	{ "two", { 3, 4, 5 }, 3, FACT_WORDS, "performance powersave" },
};

static void check_governors(void)
{
	struct fact facts[HOST_FACTS];

	for (size_t i = 0; i < ARRAY_SIZE(governors); i++) {
		const struct cpus cpus = { (unsigned *)governors[i].ids,
					   governors[i].count, 3 };

		host_read(facts, machine("copies-x86"), &cpus);
		check_fact(governors[i].name, facts, HOST_FACTS, "governor",
			   governors[i].want);
		CHECK_U64(governors[i].name, facts[HOST_FACTS - 2].kind,
			  governors[i].kind);
		facts_free(facts, HOST_FACTS);
	}
}

/* It is this process's, whatever the tree. */
static void check_prctl(void)
{
	struct fact facts[THP_FACTS];

	for (unsigned long disabled = 0; disabled < 2; disabled++) {
		CHECK_U64("prctl", prctl(PR_SET_THP_DISABLE, disabled, 0, 0, 0), 0);
		thp_read(facts, machine("bare"));
		check_fact(disabled ? "disabled" : "not disabled", facts, THP_FACTS,
			   "disabled_by_prctl", disabled ? "1" : "0");
		facts_free(facts, THP_FACTS);
	}
}

static void add_text(void *context, const char *name, const char *text)
{
	char *all = context;
	size_t used = strlen(all);

	snprintf(all + used, 256 - used, "%s=%s;", name, text);
}

static void check_mitigations(const char *tree, const char *want)
{
	char all[256] = "";

	host_mitigations(machine(tree), add_text, all);
	CHECK_TEXT(tree, all, want);
}

static void check_thp_sizes(const char *tree, const char *want)
{
	char all[256] = "";

	thp_sizes(machine(tree), add_text, all);
	CHECK_TEXT(tree, all, want);
}

int main(void)
{
	struct fact facts[MAX(HOST_FACTS, VM_FACTS)];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		host_read(facts, machine(rows[i].tree), &CPUS_EMPTY);
		check_fact(rows[i].tree, facts, HOST_FACTS, rows[i].key, rows[i].text);
		facts_free(facts, HOST_FACTS);
	}
	for (size_t i = 0; i < ARRAY_SIZE(thp); i++) {
		thp_read(facts, machine(thp[i].tree));
		check_fact(thp[i].tree, facts, THP_FACTS, thp[i].key, thp[i].text);
		facts_free(facts, THP_FACTS);
	}
	for (size_t i = 0; i < ARRAY_SIZE(vm); i++) {
		vm_read(facts, machine(vm[i].tree));
		check_fact(vm[i].tree, facts, VM_FACTS, vm[i].key, vm[i].text);
		facts_free(facts, VM_FACTS);
	}
	check_governors();
	check_prctl();
	check_thp_sizes("copies-x86", "hugepages-2048kB=inherit;hugepages-64kB=always;");
	check_thp_sizes("bare", "");
	check_mitigations("copies-x86", "l1tf=Not affected;meltdown=Mitigation: PTI;");
	check_mitigations("copies-arm64", "meltdown=Not affected;");
	check_mitigations("bare", "");
	return check_result();
}
