// SPDX-License-Identifier: GPL-2.0-or-later
/* prepare - set-up, once a repetition, in usemem itself. */
#include "common/clock.h"
#include "common/numa.h"
#include "usemem/segment.h"
#include "usemem/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REMAP_GROWTH = 10 };

int bind_to_nodes(void)
{
	int ret = 0;

	if (cfg.numa_cpu_given)
		ret = run_on_node(&cfg.run, cfg.numa_cpu);
	if (!ret && cfg.numa_memory_given)
		ret = numa_bind_memory(&cfg.run.topo, cfg.numa_memory);
	return ret;
}

static int allocate_shared(void)
{
	int ret = allocate(NULL, 0, cfg.size_bytes, &cfg.shared);
	uint64_t grown_bytes;

	cfg.shared_bytes = cfg.size_bytes;
	if (ret || !cfg.remap)
		return ret;
	if (__builtin_mul_overflow(cfg.size_bytes, REMAP_GROWTH, &grown_bytes))
		return refused("--remap: ten times SIZE is too large");
	ret = region_grow(&cfg.backing, cfg.size_bytes, grown_bytes, &cfg.shared);
	if (!ret)
		cfg.shared_bytes = grown_bytes;
	return ret;
}

/* posix_fadvise(2) over the whole of PATH. */
static int advise_file(const char *path, int advice, const char *name)
{
	/* O_NONBLOCK: a pipe shall be found out, not waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	if (fd < 0)
		return failed("open %s", path);
	ret = posix_fadvise(fd, 0, 0, advice);
	close(fd);
	errno = ret;
	return ret ? failed("posix_fadvise(%s) of %s", name, path) : 0;
}

static const char *advised_path(void)
{
	return cfg.advise[0] ? cfg.advise : cfg.file;
}

static int advise(void)
{
	const char *path = advised_path();
	int ret = advise_file(path, POSIX_FADV_WILLNEED, "POSIX_FADV_WILLNEED");

	return ret ?: advise_file(path, POSIX_FADV_DONTNEED, "POSIX_FADV_DONTNEED");
}

/* How long it took is not counted anywhere. A SIGINT or SIGTERM instead is passed on, to do what it
 * does. */
static int await_fork_signal(uint64_t *waited_ns)
{
	uint64_t began_ns = now_ns();
	sigset_t awaited;
	int ret = say_waiting("Main Process"), sig;

	if (ret)
		return ret;
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGUSR1);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGTERM);
	do
		sig = sigwaitinfo(&awaited, NULL);
	while (sig < 0 && errno == EINTR);
	if (sig != SIGUSR1)
		raise(sig);
	*waited_ns = now_ns() - began_ns;
	return 0;
}

/* What is timed as set-up. */
static int prepare_memory(void)
{
	int ret;

	cfg.setup_began_ns = now_ns();
	explain_sigbus(&cfg.backing);
	/* Looked for before the backing, which may be the same file, is created. */
	if (cfg.advise && access(advised_path(), F_OK))
		return failed("open %s", advised_path());
	ret = backing_open(&cfg.backing, cfg.size_bytes);
	if (!ret && cfg.prealloc && cfg.size_bytes)
		ret = allocate_shared();
	if (!ret && cfg.lock_segment)
		ret = segment_lock(cfg.size_bytes);
	if (!ret && cfg.advise)
		ret = advise();
	cfg.setup_ns = now_ns() - cfg.setup_began_ns;
	return ret;
}

/* The runs that end here: what is resident is all they say. */
static int say_resident(struct residency *r)
{
	int ret = cfg.mincore
			  ? pages_resident(&cfg.backing, cfg.shared, cfg.size_bytes, r)
			  : segment_resident(cfg.run.limits.hugepage_bytes,
					     cfg.huge_bytes, cfg.size_bytes, r);

	if (!ret && run_prints_lines(&cfg.run))
		ret = print_line("%ju of %ju pages resident", (uintmax_t)r->resident,
				 (uintmax_t)r->pages);
	return ret ?: RUN_DONE;
}

int set_up(void)
{
	uint64_t waited_ns = 0;
	int ret;

	summary_begin();
	ret = prepare_memory();
	if (!ret && (cfg.mincore || cfg.mincore_huge))
		return say_resident(&cfg.residency);
	if (!ret)
		ret = holders_open();
	if (!ret && cfg.init_time && run_prints_lines(&cfg.run))
		ret = print_line("the initialization time is %ju secs %ju usecs",
				 (uintmax_t)(cfg.setup_ns / ns_per_s),
				 (uintmax_t)(cfg.setup_ns % ns_per_s / ns_per_us));
	if (!ret && cfg.signal_fork)
		ret = await_fork_signal(&waited_ns);
	cfg.setup_began_ns += waited_ns;
	return ret;
}

void tear_down(void)
{
	if (cfg.shared && region_unmap(&cfg.backing, cfg.shared, cfg.shared_bytes))
		note("the memory of --prealloc stays until the end");
	cfg.shared = NULL;
	backing_close(&cfg.backing);
}
