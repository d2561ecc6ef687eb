// SPDX-License-Identifier: GPL-2.0-or-later
/* reflink - ioctl(FICLONERANGE): extents are shared, nothing is copied (ioctl_ficlonerange(2)). */
#include "copyfile/methods/copier.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

static ssize_t reflink_once(struct copier *c, uint64_t at, uint64_t to, uint64_t len)
{
	struct file_clone_range range = {
		.src_fd = c->target->fd,
		.src_offset = at,
		.src_length = len,
		.dest_offset = to,
	};

	if (ioctl(c->target->to, FICLONERANGE, &range))
		return copier_fails(c, "FICLONERANGE");
	return (ssize_t)len;
}

static ssize_t reflink_pump(void *state, struct cursor *cursor)
{
	return copier_pump(state, cursor, reflink_once);
}

const struct method method_reflink = {
	.name = "reflink",
	.help = "ioctl(FICLONERANGE): extents are shared, nothing is copied",
	.state_bytes = sizeof(struct copier),
	.clones = true,
	.fallback = "copy_file_range",
	.open = copier_open,
	.pump = reflink_pump,
	.close = copier_close,
};
