// SPDX-License-Identifier: GPL-2.0-or-later
/* fscheck - what there is to refuse before a scratch filesystem is made. */
#include "common/fscheck.h"

#include "common/fs.h"
#include "common/fstypes.h"
#include "common/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char fs_in_memory[] = "tmpfs";

bool fs_is_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISBLK(st.st_mode);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int refuse_alone(const struct fs_config *c)
{
	const struct {
		const char *name;
		bool given;
	} others[] = {
		{ "fs-size", c->size_bytes },
		{ "mkfs-options", c->mkfs_options },
		{ "mount-options", c->mount_options },
		{ "fs-on", c->on },
		{ "wipe", c->wipe },
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].given)
			return refused("--%s is for a scratch filesystem: give --fs TYPE "
				       "as well",
				       others[i].name);
	return 0;
}

static int refuse_unknown(const char *text)
{
	char names[128] = "";
	size_t len = 0;

	for (size_t i = 0; i < FSTYPE_COUNT; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
					!i                     ? ""
					: i < FSTYPE_COUNT - 1 ? ", "
							       : " or ",
					fstypes[i].name);
	return refused("--fs '%s': expected %s, and mount options behind a comma", text,
		       names);
}

static int check_place(const struct fs_config *c)
{
	bool device = c->on && fs_is_device(c->on);

	if (c->wipe && !device)
		return refused(
			"--wipe is for a block device: give --fs-on DEVICE as well");
	if (device && !c->wipe)
		return refused(
			"--fs-on %s: what it holds would be lost; give --wipe as well if "
			"it may be",
			c->on);
	if (device && c->size_bytes)
		return refused("--fs-size is for an image: %s is used as a whole", c->on);
	if (c->on && !device && strcmp(c->on, fs_in_memory) != 0 && !is_directory(c->on))
		return refused("--fs-on '%s': expected a directory, %s or a block device",
			       c->on, fs_in_memory);
	return 0;
}

static int check_size(const struct fs_config *c, const struct fstype *type)
{
	char asked[FORMAT_LEN], min[FORMAT_LEN];

	if (!c->size_bytes || c->size_bytes >= type->min_bytes)
		return 0;
	return refused("--fs-size %s: %s needs at least %s",
		       format_size(asked, c->size_bytes), type->name,
		       format_size(min, type->min_bytes));
}

/* Who is in the root directory already does not get to what is mounted over it. */
int fs_check_dir(const char *dir, char real[static PATH_MAX])
{
	if (!realpath(dir, real))
		return failed("find %s", dir);
	if (!strcmp(real, "/"))
		return refused("--dir: expected another directory than / with --fs");
	return 0;
}

int fs_check(const struct fs_config *c)
{
	const struct fstype *type;

	if (!c->type)
		return refuse_alone(c);
	type = fstype_find(c->type);
	if (!type)
		return refuse_unknown(c->type);
	if (!type->mkfs && c->mkfs_options)
		return refused("--mkfs-options: there is no mkfs for %s", type->name);
	if (!type->mkfs && c->on)
		return refused("--fs-on: %s is in memory", type->name);
	return check_place(c) ?: check_size(c, type);
}
