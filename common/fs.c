// SPDX-License-Identifier: GPL-2.0-or-later
/* fs - a scratch filesystem that vanishes with the last process that uses it. */
#include "common/fs.h"

int fs_check(const struct fs_config *c)
{
	return c->type ? unsupported("--fs '%s': not yet", c->type) : 0;
}

int fs_open(const struct fs_config *c, const char *dir, struct fs_made *made)
{
	(void)dir;
	(void)made;
	return unsupported("--fs '%s': not yet", c->type);
}
