// SPDX-License-Identifier: GPL-2.0-or-later
/* kinds - which of the kernel's numbers count events, and which are levels. */
#include "common/kinds.h"

#include <string.h>

/* A name, or its beginning and "*"; the first row that fits. */
struct rule {
	const char *name;
	enum counter_kind kind;
};

/* Of 4.18 to 6.18. */
static const struct rule vmstat_rules[] = {
	{ "workingset_nodes", COUNTER_LEVEL },
	{ "nr_dirtied", COUNTER_GROWS },
	{ "nr_written", COUNTER_GROWS },
	{ "nr_throttled_written", COUNTER_GROWS },
	{ "nr_vmscan_*", COUNTER_GROWS },
	{ "nr_foll_pin_*", COUNTER_GROWS },
	{ "nr_tlb_*", COUNTER_GROWS },
	{ "nr_*", COUNTER_LEVEL },
	{ "pg*", COUNTER_GROWS },
	{ "pageoutrun", COUNTER_GROWS },
	{ "pswp*", COUNTER_GROWS },
	{ "swap_ra*", COUNTER_GROWS },
	{ "swpin_*", COUNTER_GROWS },
	{ "swpout_*", COUNTER_GROWS },
	{ "zswp*", COUNTER_GROWS },
	{ "thp_*", COUNTER_GROWS },
	{ "htlb_*", COUNTER_GROWS },
	{ "numa_*", COUNTER_GROWS },
	{ "compact_*", COUNTER_GROWS },
	{ "workingset_*", COUNTER_GROWS },
	{ "allocstall*", COUNTER_GROWS },
	{ "oom_kill", COUNTER_GROWS },
	{ "drop_*", COUNTER_GROWS },
	{ "slabs_scanned", COUNTER_GROWS },
	{ "kswapd_*", COUNTER_GROWS },
	{ "zone_reclaim_*", COUNTER_GROWS },
	{ "unevictable_*", COUNTER_GROWS },
	{ "balloon_*", COUNTER_GROWS },
	{ "ksm_*", COUNTER_GROWS },
	{ "cow_ksm", COUNTER_GROWS },
	{ "cma_*", COUNTER_GROWS },
	{ "direct_map_*", COUNTER_GROWS },
	{ "vma_lock_*", COUNTER_GROWS },
	{ "vmacache_*", COUNTER_GROWS },
	{ "kstack_*", COUNTER_GROWS },
};

/* What else there is are bytes. */
static const struct rule memcg_rules[] = {
	{ "hierarchical_*", COUNTER_NONE }, { "recent_*", COUNTER_NONE },
	{ "pg*", COUNTER_GROWS },           { "pswp*", COUNTER_GROWS },
	{ "swpin_*", COUNTER_GROWS },       { "swpout_*", COUNTER_GROWS },
	{ "zswp*", COUNTER_GROWS },         { "thp_*", COUNTER_GROWS },
	{ "numa_*", COUNTER_GROWS },        { "workingset_*", COUNTER_GROWS },
};

static const struct rule thp_rules[] = {
	{ "nr_*", COUNTER_LEVEL },
};

static const struct rule zswap_rules[] = {
	{ "pool_total_size", COUNTER_LEVEL },
	{ "stored_pages", COUNTER_LEVEL },
	{ "stored_incompressible_pages", COUNTER_LEVEL },
	{ "same_filled_pages", COUNTER_LEVEL },
};

static const struct rule *rule_of(const char *key, const struct rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strcspn(rules[i].name, "*");

		if (!strncmp(rules[i].name, key, len) &&
		    (rules[i].name[len] || !key[len]))
			return &rules[i];
	}
	return NULL;
}

bool kind_is_known(const char *key)
{
	return rule_of(key, vmstat_rules, ARRAY_SIZE(vmstat_rules));
}

enum counter_kind kind_in_vmstat(const char *key)
{
	const struct rule *r = rule_of(key, vmstat_rules, ARRAY_SIZE(vmstat_rules));

	return r ? r->kind : COUNTER_GROWS;
}

enum counter_kind kind_in_memcg(const char *key)
{
	const struct rule *r = rule_of(key, memcg_rules, ARRAY_SIZE(memcg_rules));

	return r ? r->kind : COUNTER_LEVEL;
}

enum counter_kind kind_in_thp(const char *key)
{
	const struct rule *r = rule_of(key, thp_rules, ARRAY_SIZE(thp_rules));

	return r ? r->kind : COUNTER_GROWS;
}

enum counter_kind kind_in_zswap(const char *key)
{
	const struct rule *r = rule_of(key, zswap_rules, ARRAY_SIZE(zswap_rules));

	return r ? r->kind : COUNTER_GROWS;
}

enum counter_kind kind_in_oom_control(const char *key)
{
	return strcmp(key, "oom_kill") ? COUNTER_NONE : COUNTER_GROWS;
}

enum counter_kind kind_grows(const char *key)
{
	(void)key;
	return COUNTER_GROWS;
}

enum counter_kind kind_grows_32(const char *key)
{
	(void)key;
	return COUNTER_GROWS_32;
}

enum counter_kind kind_level(const char *key)
{
	(void)key;
	return COUNTER_LEVEL;
}
