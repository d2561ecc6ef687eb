// SPDX-License-Identifier: GPL-2.0-or-later
/* kinds - tests of common/kinds.c: each name that a kernel has is known to be a counter or a level. */
#include "common/kinds.h"
#include "common/procfile.h"
#include "tests/check.h"

/* Names beginning with nr_ that count, and one that begins like counters but is a level. */
static const struct {
	const char *name;
	enum counter_kind kind;
} vmstat[] = {
	{ "nr_free_pages", COUNTER_LEVEL },
	{ "nr_dirty", COUNTER_LEVEL },
	{ "nr_dirtied", COUNTER_GROWS },
	{ "nr_dirty_threshold", COUNTER_LEVEL },
	{ "nr_written", COUNTER_GROWS },
	{ "nr_writeback", COUNTER_LEVEL },
	{ "nr_vmscan_immediate_reclaim", COUNTER_GROWS },
	{ "nr_foll_pin_released", COUNTER_GROWS },
	{ "nr_tlb_local_flush_one", COUNTER_GROWS },
	{ "nr_unstable", COUNTER_LEVEL },
	{ "workingset_nodes", COUNTER_LEVEL },
	{ "workingset_nodereclaim", COUNTER_GROWS },
	{ "pgfault", COUNTER_GROWS },
	{ "oom_kill", COUNTER_GROWS },
	{ "allocstall", COUNTER_GROWS },
	{ "allocstall_movable", COUNTER_GROWS },
	{ "unheard_of", COUNTER_GROWS },
};

static const struct {
	const char *name;
	enum counter_kind kind;
} memcg[] = {
	{ "anon", COUNTER_LEVEL },
	{ "pagetables", COUNTER_LEVEL },
	{ "percpu", COUNTER_LEVEL },
	{ "swapcached", COUNTER_LEVEL },
	{ "zswap", COUNTER_LEVEL },
	{ "zswapped", COUNTER_LEVEL },
	{ "zswpin", COUNTER_GROWS },
	{ "pgscan", COUNTER_GROWS },
	{ "pswpin", COUNTER_GROWS },
	{ "anon_thp", COUNTER_LEVEL },
	{ "thp_swpout", COUNTER_GROWS },
	{ "workingset_activate_anon", COUNTER_GROWS },
	{ "hierarchical_memsw_limit", COUNTER_NONE },
};

/* Of the kernel that runs here. */
static void check_this_kernel(void)
{
	char *text = procfile_read("", "/proc/vmstat"), *rest = text, *line;
	char *key;

	if (!text)
		SKIP("no /proc/vmstat");
	while ((line = strsep(&rest, "\n"))) {
		key = strsep(&line, " ");
		if (*key && !kind_is_known(key))
			CHECK_TEXT("a name without a row", key, "known");
	}
	free(text);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(vmstat); i++)
		CHECK_U64(vmstat[i].name, kind_in_vmstat(vmstat[i].name), vmstat[i].kind);
	for (size_t i = 0; i < ARRAY_SIZE(memcg); i++)
		CHECK_U64(memcg[i].name, kind_in_memcg(memcg[i].name), memcg[i].kind);
	CHECK_U64("oom_kill", kind_in_oom_control("oom_kill"), COUNTER_GROWS);
	CHECK_U64("under_oom", kind_in_oom_control("under_oom"), COUNTER_NONE);
	check_this_kernel();
	return check_result();
}
