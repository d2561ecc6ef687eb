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

/* Before the work: what those targets took that have no FIEMAP, and what was free where they lie. */
static uint64_t taken_before;
static double free_before;
static bool *by_space; /* of each worker: its target has no FIEMAP */

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

/* What the targets without FIEMAP take, and what is free on their filesystems, each counted once. 0, or
 * -errno after saying so. */
static int measure_space(uint64_t *taken, double *room)
{
	dev_t seen[64];
	unsigned devices = 0;

	*taken = 0;
	*room = 0;
	for (unsigned i = 0; i < cfg.run.workers; i++) {
		const struct pair *pair = pair_of(i);
		struct statvfs fs;
		struct stat st;
		unsigned d = 0;

		if (!by_space[i])
			continue;
		if (fstat(pair->to, &st) || fstatvfs(pair->to, &fs))
			return failed("stat %s", pair->to_name);
		*taken += (uint64_t)st.st_blocks * 512;
		while (d < devices && seen[d] != st.st_dev)
			d++;
		if (d < devices || devices == ARRAY_SIZE(seen))
			continue;
		seen[devices++] = st.st_dev;
		*room += (double)fs.f_bfree * (double)fs.f_frsize;
	}
	return 0;
}

int sharing_begin(void)
{
	struct fiemap none = { .fm_length = 1 };

	free(by_space);
	by_space = calloc(cfg.run.workers, sizeof(*by_space));
	if (!by_space)
		return failed("memory for %u targets", cfg.run.workers);
	for (unsigned i = 0; i < cfg.run.workers; i++)
		by_space[i] = ioctl(pair_of(i)->to, FS_IOC_FIEMAP, &none);
	return measure_space(&taken_before, &free_before);
}

/* Where the source is rewritten, one that shares takes new space too, as much as a copy would: then
 * nothing can be told, but of a filesystem that never shares. */
static bool space_tells(void)
{
	struct statfs fs;

	for (unsigned i = 0; i < cfg.run.workers && cfg.refill; i++)
		if (by_space[i] &&
		    (fstatfs(pair_of(i)->to, &fs) || fs.f_type != TMPFS_MAGIC))
			return false;
	return true;
}

/* Space that was taken, and did not go from what is free, is shared. */
static int ask_free_space(struct sharing *s)
{
	uint64_t taken;
	double room, growth, gone;
	int ret = measure_space(&taken, &room);

	if (ret)
		return ret;
	growth = (double)taken - (double)taken_before;
	gone = free_before - room;
	s->bytes += taken;
	s->known = SHARING_UNKNOWN;
	if (growth < (double)LEAST_GROWTH || !space_tells() ||
	    (gone > growth / 10 && gone < growth * 9 / 10))
		return 0;
	s->known = SHARING_BY_FREE_SPACE;
	s->shared_bytes += gone <= growth / 10 ? (uint64_t)growth : 0;
	return 0;
}

int sharing_end(struct sharing *s)
{
	bool unknown = false;
	int ret = 0;

	*s = (struct sharing){ .known = SHARING_BY_FIEMAP };
	for (unsigned i = 0; i < cfg.run.workers && !ret; i++) {
		const struct pair *pair = pair_of(i);

		unknown |= by_space[i];
		if (by_space[i])
			continue;
		ret = ask_fiemap(pair->to, pair->size_bytes, s);
		errno = -ret;
		if (ret && ret != -EINTR)
			return failed("extents of %s (FIEMAP)", pair->to_name);
	}
	return ret || !unknown ? ret : ask_free_space(s);
}
