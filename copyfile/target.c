// SPDX-License-Identifier: GPL-2.0-or-later
/* target - what a method gets to copy a pair of files. */
#include "common/parse.h"
#include "copyfile/copyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* No larger than the file needs, in whole MiB, which suit O_DIRECT. */
static uint64_t block_of(const struct pair *pair)
{
	uint64_t whole = (MAX(pair->size_bytes, 1) - 1) / MiB * MiB + MiB;

	return MIN(cfg.block_bytes, whole);
}

static unsigned depth_of(const struct pair *pair)
{
	uint64_t blocks = (MAX(pair->size_bytes, 1) - 1) / cfg.block_bytes + 1;

	return (unsigned)MIN(cfg.depth, blocks);
}

/* What both files want of O_DIRECT. */
static int align_both(struct target *t)
{
	char align[FORMAT_LEN];
	uint64_t bytes;
	int ret = direct_alignment(t->to, t->to_name, &bytes);

	if (ret)
		return ret;
	t->align_bytes = MAX(t->align_bytes, bytes);
	if ((t->block_bytes | cfg.align_bytes) & (t->align_bytes - 1))
		return refused("%s: O_DIRECT takes blocks and offsets of a multiple of "
			       "%s here (--block, --align)",
			       t->to_name, format_size(align, t->align_bytes));
	return 0;
}

static int open_to(struct target *t, const struct pair *pair)
{
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", pair->to);
	t->to = open(path, O_RDWR | O_CLOEXEC | (t->direct ? O_DIRECT : 0));
	if (t->to < 0 && t->direct && errno == EINVAL)
		return unsupported("%s: open with O_DIRECT: EINVAL: its filesystem has "
				   "no direct I/O: leave O_DIRECT out, or give another "
				   "--to",
				   t->to_name);
	if (t->to < 0)
		return failed("open %s again, by %s", t->to_name, path);
	ret = t->direct ? align_both(t) : 0;
	if (ret)
		close(t->to);
	return ret;
}

int pair_target_open(struct target *t, const struct pair *pair)
{
	int ret;

	*t = (struct target){
		.name = pair->from_name,
		.to_name = pair->to_name,
		.size_bytes = pair->size_bytes,
		.block_bytes = block_of(pair),
		.depth = depth_of(pair),
		.direct = cfg.direct,
		.uncached = cfg.uncached,
	};
	ret = target_open(t, pair->from);
	if (ret)
		return ret;
	ret = open_to(t, pair);
	if (ret)
		close(t->fd);
	return ret;
}

void pair_target_close(struct target *t)
{
	close(t->to);
	close(t->fd);
}
