// SPDX-License-Identifier: GPL-2.0-or-later
/* fsplan - what scratch filesystem would be made, and where; and where one was. */
#include "common/fs.h"
#include "common/fscheck.h"
#include "common/fssize.h"
#include "common/fstypes.h"
#include "common/mkfs.h"
#include "common/parse.h"
#include "common/wipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int plan_failed(void)
{
	return failed("memory for what would be made");
}

static int plan_on_device(const struct fs_config *c, const struct fstype *type,
			  char **text)
{
	int ret = wipe_check(c->on, type);

	if (ret)
		return ret;
	return asprintf(text, "a new %s on %s, which would be overwritten", c->type,
			c->on) < 0
		       ? plan_failed()
		       : 0;
}

/* A tmpfs can be told its size as a mount option, which then counts. */
static bool is_sized_by_options(const struct fs_config *c, const struct fstype *type)
{
	return !type->mkfs && (strstr(c->type, "size=") ||
			       (c->mount_options && strstr(c->mount_options, "size=")));
}

/* A tmpfs has no image. */
static int plan_with_size(const struct fs_config *c, const struct fstype *type,
			  const char *dir, char **text)
{
	const char *on = c->on ?: dir;
	bool image = type->mkfs, memory = !image || !strcmp(on, fs_in_memory);
	const bool sized = is_sized_by_options(c, type);
	char size_text[FORMAT_LEN];
	uint64_t size;
	int ret = fs_size(c, type, memory ? NULL : on, &size);

	if (ret)
		return ret;
	format_size(size_text, size);
	return asprintf(text, "a new %s%s%s%s%s", c->type, sized ? "" : " of ",
			sized ? "" : size_text,
			!image   ? ""
			: memory ? ", its image in memory"
				 : ", its image in ",
			memory ? "" : on) < 0
		       ? plan_failed()
		       : 0;
}

int fs_plan(const struct fs_config *c, const char *dir, char **text)
{
	const struct fstype *type;
	char real[PATH_MAX];
	int ret = fs_check(c) ?: fs_check_dir(dir, real);

	if (ret)
		return ret;
	type = fstype_find(c->type);
	ret = type->mkfs ? mkfs_require(type) : 0;
	if (ret)
		return ret;
	return c->on && fs_is_device(c->on) ? plan_on_device(c, type, text)
					    : plan_with_size(c, type, real, text);
}

const char *fs_image_text(const struct fs_made *made, char text[static FS_IMAGE_TEXT_LEN])
{
	text[0] = '\0';
	if (made && made->image_on[0])
		snprintf(text, FS_IMAGE_TEXT_LEN, ", image in %s%s",
			 strcmp(made->image_on, fs_in_memory) ? made->image_on : "memory",
			 made->loop_direct_io ? ", past its page cache" : "");
	return text;
}
