// SPDX-License-Identifier: GPL-2.0-or-later
/* methods - the ways to read a file. */
#include "readtwice/methods.h"

const struct method *const read_methods[] = {
	&method_read,   &method_pread,    &method_readv,    &method_preadv2, &method_mmap,
	&method_splice, &method_sendfile, &method_io_uring, &method_libaio,  &method_null,
	NULL,
};
