// SPDX-License-Identifier: GPL-2.0-or-later
/* standard - the options every program has, and what they mean on this machine. */
#include "common/clock.h"
#include "common/numa.h"
#include "common/parse.h"
#include "common/run.h"
#include "common/scratch.h"
#include "common/system.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_REPETITIONS = 1000000 };

void run_fill_standard(struct run *run)
{
	bool once = run->has & RUN_ONCE;
	const struct {
		unsigned has; /* any of these; 0: every program */
		struct opt row;
	} all[] = {
		{ RUN_TASKS, OPT_TASKS('n', "nproc", &run->processes, "processes") },
		{ RUN_TASKS,
		  OPT_TASKS('t', "thread", &run->threads, "threads in each process") },
		{ 0, OPT_BIND('b', "bind", &run->bind_stride,
			      "bind task i to the allowed CPU of rank i x K, or node") },
		{ 0, OPT_TIME('T', "runtime", &run->runtime_ns, "stop after TIME") },
		{ RUN_OPS, OPT_COUNT(0, "ops", &run->max_ops,
				     "stop each task after N operations") },
		{ RUN_OPS, OPT_GIVEN(COUNT, 0, "seed", number, &run->seed,
				     &run->seed_given, "of what is random") },
		{ RUN_FILES | RUN_FS,
		  OPT_LATER(LIST, 0, "dir", words, &run->dirs,
			    "for scratch files, and for --fs; again: dealt over "
			    "all (/var/tmp)") },
		{ RUN_FILES, OPT_FLAG(0, "keep", &run->keep,
				      "give the scratch files names when done") },
		{ RUN_FILES, OPT_FLAG(0, "allow-tmpfs", &run->allow_tmpfs,
				      "scratch files may be in memory") },
		{ RUN_FS, OPT_LATER(WORD, 0, "fs", text, &run->fs.type,
				    "a new filesystem TYPE[,OPTION...] over DIR, seen by "
				    "this run only") },
		{ RUN_FS, OPT_LATER(SIZE, 0, "fs-size", size, &run->fs.size_bytes,
				    "of that size; else by the room there is") },
		{ RUN_FS, OPT_LATER(WORD, 0, "mkfs-options", text, &run->fs.mkfs_options,
				    "more arguments for its mkfs, in one word") },
		{ RUN_FS,
		  OPT_LATER(WORD, 0, "mount-options", text, &run->fs.mount_options,
			    "more options of its mount") },
		{ RUN_FS, OPT_LATER(TEXT, 0, "fs-on", text, &run->fs.on,
				    "its image in that directory, in memory (tmpfs), or "
				    "a device") },
		{ RUN_FS, OPT_LATER(FLAG, 0, "wipe", flag, &run->fs.wipe,
				    "that device may be overwritten") },
		{ 0, OPT_LATER(COUNT, 0, "samples", number, &run->samples,
			       once ? "take N of each series"
				    : "run N times, and summarize the throughputs") },
		{ 0, OPT_LATER(COUNT, 0, "warmup", number, &run->warmup,
			       once ? "take N more of each before that, uncounted"
				    : "run N times more before that, uncounted") },
		{ 0, OPT_LATER(TIME, 0, "interval", time, &run->interval_ns,
			       "say every TIME on stderr how far it got") },
		{ 0, OPT_LATER(MAYBE, 0, "json", text, &run->json,
			       "one JSON document, to FILE or instead of the lines") },
		{ 0, OPT_LATER(FLAG, 0, "no-perf", flag, &run->no_perf,
			       "no performance counters in that document") },
		{ 0, OPT_LATER(TEXT, 0, "perf-control", text, &run->perf_control,
			       "tell a perf --control fifo:FILE[,ACKFILE] when to "
			       "count") },
		{ 0, OPT_LATER(FLAG, 0, "profile", flag, &run->profile,
			       "perf record -g of the workers, into that document") },
		{ 0, OPT_LATER(FLAG, 0, "force", flag, &run->force,
			       "start although the memory will not do") },
		{ 0, OPT_LATER(FLAG, 0, "dry-run", flag, &run->dry_run,
			       "say what would be done, and end") },
		{ 0, OPT_HELP('h', "help", "this text") },
		{ 0,
		  { .kind = OPT_KIND_VERSION,
		    .name = "version",
		    .help = "name and version",
		    .later = true } },
		{ 0, OPT_END },
	};
	struct opt *next = run->standard;

	_Static_assert(ARRAY_SIZE(all) <= ARRAY_SIZE(run->standard),
		       "room for the standard options");
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!all[i].has || (all[i].has & run->has))
			*next++ = all[i].row;
}

/* Once all options are known, and once only. */
static int look_around(struct run *run)
{
	uint64_t workers;
	int ret;

	if (run->workers)
		return 0;
	/* 0 is as if not given. */
	run->processes = MAX(run->processes, 1);
	run->threads = MAX(run->threads, 1);
	workers = (uint64_t)run->processes * run->threads;
	if (workers > MAX_WORKERS)
		return refused("--nproc x --thread is %ju: expected at most %d tasks",
			       (uintmax_t)workers, MAX_WORKERS);
	if (run->samples > MAX_REPETITIONS || run->warmup > MAX_REPETITIONS)
		return refused("--samples, --warmup: expected at most %d",
			       MAX_REPETITIONS);
	ret = topo_read(&run->topo, "");
	if (!ret)
		ret = limits_read(&run->limits, "");
	if (!ret)
		run->workers = (unsigned)workers;
	return ret;
}

/* The CPUs of each node that has any we may use; all of them where the kernel knows no nodes. */
static int find_node_cpus(struct run *run)
{
	unsigned nodes = run->topo.nodes.count;
	struct cpus all = { .ids = run->topo.allowed.ids,
			    .count = run->topo.allowed.count };

	run->node_cpus = calloc(nodes + 1, sizeof(*run->node_cpus));
	if (!run->node_cpus)
		return failed("memory for %u nodes", nodes);
	for (unsigned i = 0; i < nodes; i++) {
		struct cpus *set = &run->node_cpus[run->node_count];
		int ret = topo_node_cpus("", run->topo.nodes.ids[i], &run->topo.allowed,
					 set);

		if (ret && ret != -ENOENT)
			return ret;
		run->node_count += set->count > 0;
	}
	if (!run->node_count)
		run->node_cpus[run->node_count++] = all;
	return 0;
}

/* What N% means needs all other options: how many tasks share the memory. */
static int share_of_memory(void *context, const char *share, uint64_t *bytes)
{
	struct run *run = context;
	uint64_t whole;
	int ret = look_around(run);

	if (!ret)
		ret = parse_share(share, limits_memory(&run->limits) / run->workers,
				  &whole);
	if (!ret)
		*bytes = whole / run->limits.page_bytes * run->limits.page_bytes;
	return ret;
}

int run_size(struct run *run, const char *name, const char *text, uint64_t *bytes)
{
	uint64_t whole;
	int ret;

	if (!parse_share(text, 100, &whole))
		return share_of_memory(run, text, bytes);
	ret = parse_size(text, bytes);
	if (ret)
		return refused(
			"%s '%s': expected a size such as 4096, 64k, 2m, 1g or 50%%%s",
			name, text, ret == -ERANGE ? ", below 16777216t" : "");
	return 0;
}

const char *run_dir(const struct run *run, uint64_t i)
{
	return run->fs.type ? run->fs_made.dir : run->dirs.at[i % run->dirs.count];
}

int run_keep_file(const struct run *run, int fd, unsigned i)
{
	const char *dir = run_dir(run, i);
	char name[NAME_MAX];
	int ret;

	snprintf(name, sizeof(name), "%s-%d-%u", program_invocation_short_name, getpid(),
		 i);
	ret = scratch_keep(fd, dir, name);
	if (!ret)
		note("kept %s/%s", dir, name);
	return ret;
}

int run_set_workers(struct run *run, const char *what, uint64_t count)
{
	if (count > MAX_WORKERS)
		return refused("%s is %ju: expected at most %d tasks", what,
			       (uintmax_t)count, MAX_WORKERS);
	run->processes = run->workers = (unsigned)count;
	run->threads = 1;
	return 0;
}

const struct fs_made *run_made(const struct run *run, const struct medium *m)
{
	struct stat st;

	if (!run->fs.type || stat(run->fs_made.dir, &st) || st.st_dev != m->st_dev)
		return NULL;
	return &run->fs_made;
}

void run_tell_medium(const struct run *run, struct report *r, const char *name,
		     const struct medium *m)
{
	if (m->indirect)
		run_warning(r,
			    "%s is on %s: what is measured includes more than a local "
			    "filesystem (another --dir)",
			    name, m->type);
	report_filesystem(r, m, run_made(run, m));
	system_add_device(run->system, m->dev);
}

uint64_t run_take_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = now_ns();
	return (seed & UINT32_MAX) ?: 1;
}

/* Before a file for the results is made. */
static int check_filesystem(const struct run *run)
{
	char real[PATH_MAX];
	int ret = fs_check(&run->fs);

	return ret || !run->fs.type ? ret : fs_check_dir(run->dirs.at[0], real);
}

/* Where scratch files go, and what is to be mounted there. */
static int settle_dirs(struct run *run)
{
	static const char *usual[] = { "/var/tmp" };

	if (run->dirs.count && !(run->has & RUN_FILES) && !run->fs.type)
		return refused("--dir: expected --fs with it");
	if (run->profile && !run->json)
		return refused("--profile: expected --json, where its rows go");
	run->dir_given = run->dirs.count;
	if (!run->dirs.count)
		run->dirs = (struct words){ usual, ARRAY_SIZE(usual) };
	if (run->fs.type && run->dirs.count > 1)
		return refused("--fs: expected one --dir, over which it is mounted");
	if (run->fs.type && run->keep)
		return refused("--keep: expected no --fs, whose files go with it");
	return check_filesystem(run);
}

int run_parse(struct run *run, const struct usage *usage, const struct opt *own, int argc,
	      char **argv)
{
	struct usage sharing = *usage;
	int operand, ret;

	run_fill_standard(run);
	run->own = own;
	run->argc = argc;
	run->argv = calloc((size_t)argc + 1, sizeof(*argv));
	if (!run->argv)
		exit(exit_status(failed("arguments")));
	memcpy(run->argv, argv, (size_t)argc * sizeof(*argv));
	sharing.whole = share_of_memory;
	sharing.context = run;
	operand = opts_parse(&sharing, own, run->standard, argc, argv);
	run->lines = !run->json || !output_is_stdout(run->json);
	ret = settle_dirs(run);
	if (!run->seed_given)
		run->seed = run_take_seed();
	if (!ret)
		ret = look_around(run);
	if (!ret && run->bind_stride == BIND_NODE)
		ret = find_node_cpus(run);
	if (ret)
		exit(exit_status(ret));
	return operand;
}

int run_on_node(struct run *run, uint64_t node)
{
	struct topo *topo = &run->topo;
	struct cpus set = CPUS_EMPTY;
	int ret = numa_check(topo, "--numa-cpu", node);

	if (!ret)
		ret = topo_node_cpus("", (unsigned)node, &topo->allowed, &set);
	if (!ret && !set.count)
		ret = refused(
			"--numa-cpu '%ju': expected a node with CPUs that may be used",
			(uintmax_t)node);
	if (!ret)
		ret = cpus_bind(&set);
	if (ret)
		return ret;
	topo->allowed = set;
	if (run->bind_stride != BIND_NODE)
		return 0;
	run->node_count = 0;
	return find_node_cpus(run);
}

bool run_prints_lines(const struct run *run)
{
	return !run->warming && run->lines;
}
