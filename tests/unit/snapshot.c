// SPDX-License-Identifier: GPL-2.0-or-later
/* snapshot - tests of common/snapshot.c, sources.c, kinds.c and derived.c, on recorded machines. */
#include "common/snapshot.h"
#include "common/derived.h"
#include "tests/unit/machine.h"
#include "tests/unit/rows.h"

/* What a window of two seconds over the trees "before" and "after" must come to. */
static const struct {
	const char *kernel, *name;
	double want;
} wanted[] = {
	/* Counters, and levels: the mean of both ends. */
	{ "4.18", "proc-vmstat.pgfault", 300 },
	{ "4.18", "proc-vmstat.pgmajfault", 1 },
	{ "4.18", "proc-vmstat.nr_free_pages", 1250 },
	{ "4.18", "proc-vmstat.nr_dirty", 10 },
	{ "4.18", "proc-vmstat.nr_dirtied", 40 },
	{ "4.18", "proc-vmstat.nr_written", 30 },
	{ "4.18", "proc-vmstat.nr_vmscan_write", 0 },
	{ "4.18", "proc-vmstat.nr_tlb_remote_flush", 2 },
	{ "4.18", "proc-vmstat.workingset_nodes", 55 },
	{ "4.18", "proc-vmstat.workingset_refault", 20 },
	{ "4.18", "proc-vmstat.workingset_refault_anon", ABSENT },
	{ "4.18", "meminfo.MemFree", 125000 },
	{ "4.18", "meminfo.Active(anon)", 1234 },
	{ "4.18", "meminfo.HugePages_Total", 3 },
	{ "4.18", "softirqs.TIMER", 10 },
	{ "4.18", "softirqs.HI", 0 },
	{ "4.18", "softirqs.RCU", 10 }, /* over 2^32 */
	{ "4.18", "pressure.cpu.some_us", ABSENT },
	{ "4.18", "memcg.cache", 8192 },
	{ "4.18", "memcg.rss", 8192 },
	{ "4.18", "memcg.pgpgin", 6 },
	{ "4.18", "memcg.pgfault", 7 },
	{ "4.18", "memcg.hierarchical_memory_limit", ABSENT },
	{ "4.18", "memcg.total_cache", ABSENT },
	{ "4.18", "memcg.usage", 2000000 },
	{ "4.18", "memcg.failcnt", 3 },
	{ "4.18", "memcg.events.oom_kill", 1 },
	{ "4.18", "memcg.events.under_oom", ABSENT },
	{ "4.18", "vmstat.io.bi", 400 },
	{ "4.18", "vmstat.io.bo", 100 },
	{ "4.18", "vmstat.system.in", 1500 },
	{ "4.18", "vmstat.system.cs", 4000 },
	{ "4.18", "vmstat.procs.r", 2 }, /* 1 and 5, without us */
	{ "4.18", "vmstat.procs.b", 1 },
	{ "4.18", "vmstat.memory.free", 125000 },
	{ "4.18", "vmstat.memory.buff", 4000 },
	{ "4.18", "vmstat.memory.cache", 320000 },
	{ "4.18", "vmstat.memory.swpd", 150000 },
	/* Of 200 ticks. */
	{ "4.18", "mpstat.cpu.all.usr%", 30 },
	{ "4.18", "mpstat.cpu.all.sys%", 10 },
	{ "4.18", "mpstat.cpu.all.idle%", 50 },
	{ "4.18", "mpstat.cpu.all.iowait%", 5 },
	{ "4.18", "mpstat.cpu.all.soft%", 5 },
	{ "4.18", "mpstat.cpu.all.irq%", 0 },
	{ "4.18", "iostat.cpu.user", 30 },
	{ "4.18", "iostat.cpu.system", 15 },
	{ "4.18", "iostat.cpu.idle", 50 },
	{ "4.18", "iostat.sda.r/s", 20 },
	{ "4.18", "iostat.sda.w/s", 5 },
	{ "4.18", "iostat.sda.rkB/s", 400 },
	{ "4.18", "iostat.sda.wkB/s", 100 },
	{ "4.18", "iostat.sda.rrqm/s", 1 },
	{ "4.18", "iostat.sda.await", 4 }, /* 200 ms, 50 requests */
	{ "4.18", "iostat.sda.r_await", 2 },
	{ "4.18", "iostat.sda.w_await", 12 },
	{ "4.18", "iostat.sda.util", 25 },
	{ "4.18", "iostat.sda.aqu-sz", 0.2 },
	{ "4.18", "iostat.sda.rareq-sz", 20 },
	{ "4.18", "iostat.sda.d/s", ABSENT },
	{ "4.18", "iostat.sda.f/s", ABSENT },
	{ "4.18", "iostat.sda1.r/s", 2 },
	{ "4.18", "iostat.sda1.w_await", NAN }, /* nothing was written */
	{ "4.18", "iostat.dm-0.r/s", ABSENT },  /* not asked for */
	{ "5.10", "proc-vmstat.workingset_refault_anon", 1 },
	{ "5.10", "proc-vmstat.nr_foll_pin_acquired", 5 },
	{ "5.10", "proc-vmstat.swap_ra", 1 },
	{ "5.10", "iostat.vda.d/s", 25 },
	{ "5.10", "iostat.vda.dkB/s", 1000 },
	{ "5.10", "iostat.vda.f/s", 10 },
	{ "5.10", "iostat.vda.f_await", 0.5 },
	{ "5.10", "iostat.vda.d_await", 2 },
	{ "5.10", "iostat.vda.await", 3 }, /* 300 ms, 100 requests */
	{ "5.10", "pressure.cpu.some_us", 70 },
	{ "5.10", "pressure.cpu.full_us", ABSENT },
	{ "5.10", "pressure.memory.some_us", 30 },
	{ "5.10", "pressure.memory.full_us", 10 },
	{ "5.10", "memcg.anon", 12288 },
	{ "5.10", "memcg.slab", 100 },
	{ "5.10", "memcg.workingset_refault_file", 6 },
	{ "5.10", "memcg.pgfault", 7 },
	{ "5.10", "memcg.thp_fault_alloc", 1 },
	{ "5.10", "memcg.usage", 2000000 },
	{ "5.10", "memcg.swap_usage", 4096 },
	{ "5.10", "memcg.events.high", 9 },
	{ "5.10", "memcg.events.oom_kill", 1 },
	{ "5.10", "memcg.swap_events.fail", 2 },
	{ "5.10", "meminfo.MemFree", ABSENT },
	{ "5.10", "vmstat.io.bi", ABSENT },
	{ "5.10", "vmstat.procs.r", ABSENT },
	{ "5.10", "mpstat.cpu.all.usr%", ABSENT },
	{ "6.18", "proc-vmstat.nr_throttled_written", 2 },
	{ "6.18", "proc-vmstat.nr_memmap_boot_pages", 98304 },
	{ "6.18", "proc-vmstat.zswpin", 11 },
	{ "6.18", "proc-vmstat.swpout_zero", 12 },
	{ "6.18", "proc-vmstat.thp_swpout_fallback", 13 },
	{ "6.18", "proc-vmstat.vma_lock_success", 14 },
	{ "6.18", "pressure.cpu.full_us", 0 },
	{ "6.18", "pressure.irq.full_us", 5 },
	{ "6.18", "numa-vmstat.node0.numa_hit", 1 },
	{ "6.18", "numa-vmstat.node4.numa_hit", 5 },
	{ "6.18", "numa-vmstat.node4.nr_free_pages", 504 },
	{ "6.18", "thp.hugepages-64kB.anon_fault_alloc", 8 },
	{ "6.18", "thp.hugepages-2048kB.anon_fault_alloc", 9 },
	{ "6.18", "thp.hugepages-2048kB.nr_anon", 15 },
	{ "6.18", "thp.hugepages-2048kB.swpout_fallback", 0 },
	{ "6.18", "zswap.pool_limit_hit", 3 },
	{ "6.18", "zswap.stored_pages", 150 },
	/* Of 200 ticks; guests are in user and nice. */
	{ "6.18", "mpstat.cpu.all.usr%", 15 },
	{ "6.18", "mpstat.cpu.all.nice%", 0 },
	{ "6.18", "mpstat.cpu.all.guest%", 15 },
	{ "6.18", "mpstat.cpu.all.steal%", 5 },
	{ "6.18", "mpstat.cpu.all.idle%", 45 },
	{ "6.18", "iostat.cpu.user", 30 },
	{ "6.18", "vmstat.system.in", ABSENT },
	{ "broken", "proc-vmstat.pgfault", 30 }, /* the first of two */
	{ "broken", "proc-vmstat.nr_dirty", 10 },
	{ "broken", "proc-vmstat.pgsteal_kswapd", NAN }, /* went backwards */
	{ "broken", "proc-vmstat.pgalloc_dma", 0 },      /* 2^64 - 1 */
	{ "broken", "proc-vmstat.pswpin", ABSENT },      /* 2^64 */
	{ "broken", "proc-vmstat.pgfree", 7 },           /* over 2^63 */
	{ "broken", "proc-vmstat.nr_zspages", NAN },     /* below 0 */
	{ "broken", "proc-vmstat.pgscan_anon", NAN },    /* vanished */
	{ "broken", "proc-vmstat.nr_vanishes", NAN },
	{ "broken", "proc-vmstat.pgappears", NAN },
	{ "broken", "proc-vmstat.nr_appears", NAN },
	{ "broken", "proc-vmstat.pgreuse", 2 },
	{ "broken", "proc-vmstat.slabs_scanned", NAN }, /* "12" is cut off from 1234 */
	{ "broken", "proc-vmstat.no_number", ABSENT },
	{ "broken", "proc-vmstat.nr_odd", ABSENT },
	{ "broken", "proc-vmstat.negative", ABSENT },
	{ "broken", "meminfo.MemFree", NAN }, /* was empty */
	{ "broken", "vmstat.memory.free", NAN },
	{ "broken", "vmstat.memory.cache", ABSENT },
	{ "broken", "vmstat.swap.si", ABSENT },
	{ "broken", "vmstat.system.in", NAN },
	{ "broken", "vmstat.system.cs", 5 },
	{ "broken", "vmstat.procs.r", 2 },
	{ "broken", "vmstat.procs.b", ABSENT },
	/* Seven fields; of 100 ticks, as iowait went back. */
	{ "broken", "mpstat.cpu.all.usr%", 80 },
	{ "broken", "mpstat.cpu.all.sys%", 20 },
	{ "broken", "mpstat.cpu.all.iowait%", NAN },
	{ "broken", "mpstat.cpu.all.idle%", 0 },
	{ "broken", "mpstat.cpu.all.steal%", ABSENT },
	{ "broken", "mpstat.cpu.all.guest%", ABSENT },
	{ "broken", "iostat.cpu.iowait", NAN },
	{ "broken", "iostat.sda.r/s", ABSENT },  /* too few fields */
	{ "broken", "iostat.sdb.r_await", 200 }, /* 400 ms over 2^32, two requests */
	{ "broken", "iostat.sdc.r/s", NAN },
	{ "broken", "iostat.sdc.util", NAN }, /* set back, not over 2^32 */
	{ "broken", "iostat.sde.r/s", ABSENT },
	{ "broken", "pressure.io.some_us", ABSENT },
	{ "broken", "pressure.io.full_us", NAN },
	{ "none", "proc-vmstat.pgfault", ABSENT },
	{ "none", "iostat.cpu.user", ABSENT },
};

static const char *const disks[] = { "sda", "sda1", "sdb", "sdc", "sde", "vda" };

static void see(struct window *w, const char *kernel, const char *tree,
		enum crew_moment moment)
{
	struct stat_sources all;
	char name[64];

	snprintf(name, sizeof(name), "counts-%s/%s", kernel, tree);
	CHECK_U64("open", sources_open(&all, machine(name)), 0);
	window_see(w, &all, moment);
	sources_close(&all);
}

static void collect(struct window *w)
{
	rows_count = 0;
	window_rows(w, rows_add, NULL);
	derived_rows(w, rows_add, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(disks); i++)
		disk_rows(w, disks[i], rows_add, NULL);
}

static void check_wanted(void)
{
	struct window w = { 0 };
	const char *kernel = "";

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		/* The memory of one window serves the next. */
		if (strcmp(kernel, wanted[i].kernel)) {
			kernel = wanted[i].kernel;
			see(&w, kernel, "before", WINDOW_OPENS);
			see(&w, kernel, "after", WINDOW_CLOSES);
			CHECK(w.closed && w.last.at_ns >= w.first.at_ns);
			w.first.at_ns = 5 * ns_per_s;
			w.last.at_ns = 7 * ns_per_s;
			collect(&w);
		}
		rows_check(kernel, wanted[i].name, wanted[i].want);
	}
	for (unsigned i = 0; i < rows_count; i++)
		CHECK_TEXT("a machine without files", rows_seen[i].name, "no row");
	window_free(&w);
}

/* Looks in between count for levels alone; one at which a level is missing makes it unknown. */
static void check_samples(void)
{
	struct window w = { 0 };

	see(&w, "4.18", "before", WINDOW_OPENS);
	see(&w, "4.18", "after", WINDOW_LASTS);
	see(&w, "4.18", "after", WINDOW_LASTS);
	CHECK(!w.closed);
	see(&w, "4.18", "after", WINDOW_CLOSES);
	collect(&w);
	rows_check("sampled", "proc-vmstat.nr_free_pages", 1375);
	rows_check("sampled", "proc-vmstat.pgfault", 300);
	rows_check("sampled", "vmstat.procs.b", 1.5);
	rows_check("sampled", "memcg.usage", 2500000);
	see(&w, "4.18", "before", WINDOW_OPENS);
	see(&w, "6.18", "after", WINDOW_LASTS);
	see(&w, "4.18", "after", WINDOW_CLOSES);
	collect(&w);
	rows_check("missing once", "proc-vmstat.nr_dirty", NAN);
	rows_check("missing once", "meminfo.MemFree", NAN);
	rows_check("missing once", "vmstat.memory.free", NAN);
	rows_check("missing once", "proc-vmstat.pgfault", 300);
	window_free(&w);
}

/* Without a time between the ends there is no rate. */
static void check_no_time(void)
{
	struct window w = { 0 };

	see(&w, "4.18", "before", WINDOW_OPENS);
	see(&w, "4.18", "after", WINDOW_CLOSES);
	w.last.at_ns = w.first.at_ns;
	collect(&w);
	rows_check("no time", "vmstat.io.bi", NAN);
	rows_check("no time", "iostat.sda.util", NAN);
	rows_check("no time", "iostat.sda.await", 4);
	/* Nor is there a share of nothing. */
	see(&w, "4.18", "before", WINDOW_OPENS);
	see(&w, "4.18", "before", WINDOW_CLOSES);
	collect(&w);
	rows_check("no ticks", "mpstat.cpu.all.usr%", NAN);
	rows_check("no ticks", "iostat.sda.await", NAN);
	rows_check("no ticks", "iostat.sda.r/s", 0);
	window_free(&w);
}

int main(void)
{
	check_wanted();
	check_samples();
	check_no_time();
	return check_result();
}
