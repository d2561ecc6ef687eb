// SPDX-License-Identifier: GPL-2.0-or-later
/* copy_file_range - copy_file_range(2): the kernel copies, or shares what it can. */
#include "copyfile/methods/copier.h"

#include <unistd.h>

static ssize_t cfr_once(struct copier *c, uint64_t at, uint64_t to, uint64_t len)
{
	off_t from_at = (off_t)at, to_at = (off_t)to;
	ssize_t n = copy_file_range(c->target->fd, &from_at, c->target->to, &to_at, len,
				    0);

	return n < 0 ? copier_fails(c, "copy_file_range") : n;
}

static ssize_t cfr_pump(void *state, struct cursor *cursor)
{
	return copier_pump(state, cursor, cfr_once);
}

const struct method method_copy_file_range = {
	.name = "copy_file_range",
	.help = "copy_file_range(2): shares extents where the filesystem can",
	.state_bytes = sizeof(struct copier),
	.fallback = "sendfile",
	.open = copier_open,
	.pump = cfr_pump,
	.close = copier_close,
};
