// SPDX-License-Identifier: GPL-2.0-or-later
/* unreachable - kinds of iov_iter that the kernel makes for itself. */
#include "ioviter/kinds.h"

const struct kind kind_kvec = {
	.name = "kvec",
	.unreachable =
		"not alone: memory of the kernel's, which exec(2), finit_module(2) and "
		"btrfs send have by it, and do much else meanwhile",
};

const struct kind kind_xarray = {
	.name = "xarray",
	.unreachable =
		"not alone: folios of the page cache, for network filesystems and their "
		"caches",
};

const struct kind kind_folioq = {
	.name = "folioq",
	.unreachable =
		"not alone: queues of folios, for network filesystems (since Linux "
		"6.12), which have a server behind them",
};
