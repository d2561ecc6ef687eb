// SPDX-License-Identifier: GPL-2.0-or-later
/* fssize - how large a scratch filesystem becomes. */
#include "common/fssize.h"

#include "common/fs.h"
#include "common/fstypes.h"
#include "common/limits.h"
#include "common/parse.h"

#include <errno.h>

/* Half of the memory for what lies in memory: programs need the rest. Else as much as can be
 * cached, so that a small machine with a large disk does not fill it. */
static int default_size(const struct fstype *type, const char *image_dir, uint64_t *bytes)
{
	const char *place = image_dir ?: "memory";
	uint64_t space = NO_LIMIT, size;
	char min[FORMAT_LEN];
	struct limits limits;
	int ret = limits_read(&limits, "");

	if (ret)
		return ret;
	if (image_dir && limits_free_space(image_dir, &space))
		return failed("find the free space in %s", image_dir);
	space = image_dir ? space / 10 * 9 : limits_memory(&limits) / 2;
	if (space < type->min_bytes) {
		errno = ENOSPC;
		return failed("make %s, of at least %s, in %s", type->name,
			      format_size(min, type->min_bytes), place);
	}
	size = MIN(space, limits_memory(&limits));
	*bytes = MAX(size / MiB * MiB, type->min_bytes);
	return 0;
}

int fs_size(const struct fs_config *c, const struct fstype *type, const char *image_dir,
	    uint64_t *bytes)
{
	if (!c->size_bytes)
		return default_size(type, image_dir, bytes);
	*bytes = c->size_bytes;
	return 0;
}
