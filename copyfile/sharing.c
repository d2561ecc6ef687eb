// SPDX-License-Identifier: GPL-2.0-or-later
/* sharing - how much of what lies in the targets shares extents with the sources. */
#include "copyfile/copyfile.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

/* Asked for in one call. */
enum { EXTENTS = 256 };
/* Targets that have grown by less say nothing: others write too. */
#define LEAST_GROWTH MiB

/* How it is known of each worker's target, as it was before the work. */
static struct place {
	enum { BY_FIEMAP, NEVER_SHARES, BY_SPACE } how;
	dev_t device;
	bool first; /* of those that are known by the space of DEVICE */
} * places;

/* What targets BY_SPACE take, and what is free where they lie. */
struct space {
	double taken_bytes, free_bytes;
	bool told;
};
static struct space before;

/* Bytes of EXTENT that lie below SIZE. */
static uint64_t bytes_below(const struct fiemap_extent *extent, uint64_t size)
{
	uint64_t end = MIN(extent->fe_logical + extent->fe_length, size);

	return end > extent->fe_logical ? end - extent->fe_logical : 0;
}

/* Add one answer. The offset to go on from; UINT64_MAX: that was all. */
static uint64_t add_extents(const struct fiemap *map, uint64_t size, struct sharing *s)
{
	const struct fiemap_extent *extent = map->fm_extents;

	if (!map->fm_mapped_extents)
		return UINT64_MAX;
	for (unsigned i = 0; i < map->fm_mapped_extents; i++, extent++) {
		if (extent->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
			continue;
		s->bytes += bytes_below(extent, size);
		if (extent->fe_flags & FIEMAP_EXTENT_SHARED)
			s->shared_bytes += bytes_below(extent, size);
	}
	extent--;
	return extent->fe_flags & FIEMAP_EXTENT_LAST
		       ? UINT64_MAX
		       : extent->fe_logical + extent->fe_length;
}

/* 0, or -errno in silence. (Documentation/filesystems/fiemap.rst) */
static int ask_fiemap(int fd, uint64_t size, struct sharing *s)
{
	struct fiemap *map = calloc(1,
				    sizeof(*map) + EXTENTS * sizeof(map->fm_extents[0]));
	int ret = map ? 0 : -ENOMEM;

	for (uint64_t at = 0; at < size && !ret;) {
		*map = (struct fiemap){
			.fm_start = at,
			.fm_length = FIEMAP_MAX_OFFSET - at,
			.fm_flags = at ? 0 : FIEMAP_FLAG_SYNC,
			.fm_extent_count = EXTENTS,
		};
		if (stop_is_pending())
			ret = -EINTR;
		else if (ioctl(fd, FS_IOC_FIEMAP, map))
			ret = -errno;
		else
			at = add_extents(map, size, s);
	}
	free(map);
	return ret;
}

/* 0, or -errno after saying so. */
static int add_space(const struct place *place, const struct pair *pair, struct space *s)
{
	struct statvfs fs;
	struct stat st;

	if (fstat(pair->to, &st) || fstatvfs(pair->to, &fs))
		return failed("stat %s", pair->to_name);
	s->taken_bytes += (double)st.st_blocks * 512;
	s->free_bytes += place->first ? (double)fs.f_bfree * (double)fs.f_frsize : 0;
	/* No size: what is free is not told. */
	s->told &= fs.f_blocks > 0;
	return 0;
}

/* The same. */
static int measure_space(struct space *s)
{
	int ret = 0;

	*s = (struct space){ .told = true };
	for (unsigned i = 0; i < cfg.run.workers && !ret; i++)
		if (places[i].how == BY_SPACE)
			ret = add_space(&places[i], pair_of(i), s);
	return ret;
}

/* The place of worker WORKER; those before it are known. The same. */
static int look(unsigned worker)
{
	const struct pair *pair = pair_of(worker);
	struct place *place = &places[worker];
	struct fiemap none = { .fm_length = 1 };
	struct statfs fs;
	struct stat st;

	if (!ioctl(pair->to, FS_IOC_FIEMAP, &none))
		return 0;
	if (fstatfs(pair->to, &fs) || fstat(pair->to, &st))
		return failed("stat %s", pair->to_name);
	*place = (struct place){ BY_SPACE, st.st_dev, true };
	/* Others on it take space and give it back, which is no reason to suspect this one. */
	if (fs.f_type == TMPFS_MAGIC)
		place->how = NEVER_SHARES;
	for (unsigned i = 0; i < worker; i++)
		if (places[i].how == BY_SPACE && places[i].device == place->device)
			place->first = false;
	return 0;
}

int sharing_begin(void)
{
	int ret = 0;

	free(places);
	places = calloc(cfg.run.workers, sizeof(*places));
	if (!places)
		return failed("memory for %u targets", cfg.run.workers);
	for (unsigned i = 0; i < cfg.run.workers && !ret; i++)
		ret = look(i);
	return ret ?: measure_space(&before);
}

/* All that a target takes which shares nothing. 0, or -errno after saying so. */
static int add_taken(const struct pair *pair, struct sharing *s)
{
	struct stat st;

	if (fstat(pair->to, &st))
		return failed("stat %s", pair->to_name);
	s->bytes += (uint64_t)st.st_blocks * 512;
	return 0;
}

/* Space that was taken, and did not go from what is free, is shared. The same. */
static int ask_free_space(struct sharing *s)
{
	struct space after;
	double growth, gone;
	int ret = measure_space(&after);

	if (ret)
		return ret;
	growth = after.taken_bytes - before.taken_bytes;
	gone = before.free_bytes - after.free_bytes;
	s->bytes += (uint64_t)after.taken_bytes;
	s->guessed_bytes = (uint64_t)after.taken_bytes;
	/* A clone whose source is then rewritten takes new space, as much as a copy would. */
	s->known = !cfg.refill && before.told && after.told &&
		   growth >= (double)LEAST_GROWTH &&
		   (gone <= growth / 10 || gone >= growth * 9 / 10);
	s->shared_bytes += s->known && gone <= growth / 10 ? (uint64_t)growth : 0;
	return 0;
}

static int ask_extents(const struct pair *pair, struct sharing *s)
{
	int ret = ask_fiemap(pair->to, pair->size_bytes, s);

	errno = -ret;
	return ret && ret != -EINTR ? failed("extents of %s (FIEMAP)", pair->to_name)
				    : ret;
}

int sharing_end(struct sharing *s)
{
	bool guess = false;
	int ret = 0;

	*s = (struct sharing){ .known = true };
	for (unsigned i = 0; i < cfg.run.workers && !ret; i++) {
		const struct pair *pair = pair_of(i);

		guess |= places[i].how == BY_SPACE;
		if (places[i].how == BY_FIEMAP)
			ret = ask_extents(pair, s);
		else if (places[i].how == NEVER_SHARES)
			ret = add_taken(pair, s);
	}
	return ret || !guess ? ret : ask_free_space(s);
}
