// SPDX-License-Identifier: GPL-2.0-or-later
/* fs - a scratch filesystem of the run: an image, a loop device, mkfs, a private mount. */
#include "common/fs.h"

int fs_check(const struct fs_config *c)
{
	(void)c;
	return 0;
}

int fs_open(const struct fs_config *c, const char *dir, struct fs_made *made)
{
	(void)dir;
	(void)made;
	return unsupported("--fs %s: not yet", c->type);
}
