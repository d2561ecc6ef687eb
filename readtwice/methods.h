/* SPDX-License-Identifier: GPL-2.0-or-later */
/* methods - the ways to read a file. */
#ifndef READTWICE_METHODS_H
#define READTWICE_METHODS_H

#include "common/method.h"

extern const struct method method_read, method_pread, method_readv, method_preadv2,
	method_mmap, method_splice, method_sendfile, method_io_uring, method_libaio,
	method_null;

/* Of the rows that a build without the library has as well: what is always so. */
#define IO_URING_ROW                                                                  \
	.name = "io_uring",                                                           \
	.help = "io_uring_enter(2): requests in flight, registered buffers and file", \
	.direct = CAN, .uncached = CAN, .many = true, .copies = true
#define LIBAIO_ROW                                                        \
	.name = "libaio",                                                 \
	.help = "io_submit(2): requests in flight, always with O_DIRECT", \
	.direct = ALWAYS, .many = true, .copies = true

/* Ended by NULL; the first is the default. */
extern const struct method *const read_methods[];

#endif
