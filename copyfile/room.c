// SPDX-License-Identifier: GPL-2.0-or-later
/* room - is there the memory that the workers take, and the space for what is written? */
#include "common/medium.h"
#include "common/parse.h"
#include "common/region.h"
#include "copyfile/copyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A filesystem that files are made on. */
struct place {
	const char *dir;
	dev_t dev;
	bool in_memory;
	double need; /* bytes */
};

struct places {
	unsigned count;
	struct place of[];
};

static int look_at(struct place *place)
{
	static struct medium m;
	int fd = open(place->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;

	if (fd < 0)
		return failed("open directory %s", place->dir);
	ret = medium_of(fd, &m);
	close(fd);
	place->dev = m.st_dev;
	place->in_memory = m.tmpfs;
	return ret;
}

/* BYTES more are to be written in PLACE, which was looked at. */
static void add_need(struct places *all, const struct place *place, double bytes)
{
	unsigned i = 0;

	/* A refusal names a directory that something is written in. */
	if (bytes <= 0)
		return;
	while (i < all->count && all->of[i].dev != place->dev)
		i++;
	if (i == all->count)
		all->of[all->count++] = *place;
	all->of[i].need += bytes;
}

/* Of worker WORKER: no more than its operations can copy. */
static double copied_bytes(unsigned worker)
{
	double size = (double)source_bytes(worker),
	       most = (double)cfg.run.max_ops * (double)cfg.block_bytes;

	return cfg.run.max_ops ? MIN(size, most) : size;
}

static double target_bytes(unsigned worker)
{
	/* What is shared is no more once the source is rewritten, or if another method runs. */
	if (cfg.method->no_data || (cfg.method->clones && !cfg.refill && !cfg.fallback))
		return 0;
	return copied_bytes(worker);
}

/* Of a source that is made in PLACE. A hole of a file in memory gets its pages as a mapping of it is
 * read. */
static double made_bytes(const struct place *place, unsigned worker)
{
	if (cfg.source_written || cfg.refill)
		return (double)cfg.size_bytes;
	return cfg.method->maps && place->in_memory ? copied_bytes(worker) : 0;
}

static int add_source(struct places *all, unsigned worker, unsigned alike)
{
	struct place place = { .dir = run_dir(&cfg.run, worker) };
	int ret;

	if (cfg.from.count)
		return 0;
	ret = look_at(&place);
	if (!ret)
		add_need(all, &place, made_bytes(&place, worker) * alike);
	return ret;
}

static int add_target(struct places *all, unsigned worker, unsigned alike)
{
	struct place place = { .dir = target_dir(worker) };
	int ret = look_at(&place);

	if (!ret)
		add_need(all, &place, target_bytes(worker) * alike);
	return ret;
}

/* Of all the workers whose files lie where those of WORKER do. */
static int add_pair(struct places *all, unsigned worker)
{
	unsigned alike = (cfg.run.workers - worker - 1) / distinct_pairs() + 1;
	int ret = add_source(all, worker, alike);

	return ret ?: add_target(all, worker, alike);
}

static int check_place(const struct place *place)
{
	char need_text[FORMAT_LEN], room_text[FORMAT_LEN];
	uint64_t room;

	if (!limits_free_space(place->dir, &room) && place->need > (double)room)
		return refused("%s of files in %s, where %s are free: a smaller --size, "
			       "or another directory; --force starts all the same",
			       format_bytes(need_text, place->need), place->dir,
			       format_bytes(room_text, (double)room));
	room = limits_memory_and_swap(&cfg.run.limits);
	if (place->in_memory && place->need > (double)room)
		return refused("%s of files in %s, which is in memory, of which %s are "
			       "available; --force starts all the same",
			       format_bytes(need_text, place->need), place->dir,
			       format_bytes(room_text, (double)room));
	return 0;
}

static int check_space(void)
{
	size_t pairs = distinct_pairs();
	struct places *all = calloc(1, sizeof(*all) + 2 * pairs * sizeof(all->of[0]));
	int ret = 0;

	if (!all)
		return failed("memory for %zu filesystems", 2 * pairs);
	for (unsigned i = 0; i < pairs && !ret; i++)
		ret = add_pair(all, i);
	for (unsigned i = 0; !ret && i < all->count; i++)
		ret = check_place(&all->of[i]);
	free(all);
	return ret;
}

/* Of one worker: its buffers, or the page tables of its two mappings. Reclaim frees neither. */
static double worker_bytes(unsigned worker)
{
	double size = (double)source_bytes(worker),
	       block = MIN((double)cfg.block_bytes, size + MiB), bytes = 0;

	if (cfg.method->maps)
		bytes += 2 * size / (double)base_page_bytes() * sizeof(void *);
	if (cfg.method->copies)
		bytes += block * (cfg.method->many ? (double)cfg.depth : 1);
	if (cfg.refill)
		bytes += block;
	return bytes;
}

static int check_memory(void)
{
	double room = (double)limits_memory(&cfg.run.limits), need = 0;
	char need_text[FORMAT_LEN], room_text[FORMAT_LEN];

	for (unsigned i = 0; i < cfg.run.workers; i++)
		need += worker_bytes(i);
	if (need <= room / 2)
		return 0;
	return refused("--method %s: the workers take %s of buffers and page tables, "
		       "more than half of the %s available; --force starts all the same",
		       cfg.method->name, format_bytes(need_text, need),
		       format_bytes(room_text, room));
}

int room_check(void)
{
	int ret;

	if (cfg.run.force)
		return 0;
	ret = check_memory();
	return ret ?: check_space();
}
