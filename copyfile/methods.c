// SPDX-License-Identifier: GPL-2.0-or-later
/* methods - the ways to copy blocks from one file to another. */
#include "copyfile/methods.h"

const struct method *const copy_methods[] = {
	&method_copy_file_range,
	&method_readwrite,
	&method_readvwritev,
	&method_preadv2,
	&method_mmap,
	&method_mmap_write,
	&method_sendfile,
	&method_splice,
	&method_io_uring,
	&method_libaio,
	&method_reflink,
	&method_null,
	NULL,
};
