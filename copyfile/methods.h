/* SPDX-License-Identifier: GPL-2.0-or-later */
/* methods - the ways to copy blocks from one file to another. */
#ifndef COPYFILE_METHODS_H
#define COPYFILE_METHODS_H

#include "common/method.h"

/* A row's pump() copies each block of the cursor from target.fd, at block.at, to target.to, at block.to.
 * A block that ends where the files do may have O_DIRECT write a whole unit; the target is then cut to
 * target.size_bytes. */
extern const struct method method_copy_file_range, method_readwrite, method_readvwritev,
	method_preadv2, method_mmap, method_mmap_write, method_sendfile, method_splice,
	method_io_uring, method_libaio, method_reflink, method_null;

/* Of the rows that a build without the library has as well: what is always so. */
#define IO_URING_ROW                                                                  \
	.name = "io_uring",                                                           \
	.help = "a read linked to a write, --depth of them in flight", .direct = CAN, \
	.uncached = CAN, .many = true, .threads = true, .copies = true,               \
	.fallback = "readwrite"
#define LIBAIO_ROW                                                             \
	.name = "libaio",                                                      \
	.help = "io_submit(2) of reads, then of writes, always with O_DIRECT", \
	.direct = ALWAYS, .many = true, .copies = true, .fallback = "readwrite"

/* Ended by NULL; the first is the default. */
extern const struct method *const copy_methods[];

/* For the rows. CALL, which was to copy BLOCK (NULL: all that are in flight), ended with errno. Where
 * that says that this way to copy is not to be had here (EXDEV, EINVAL, EOPNOTSUPP, ENOSYS, EPERM,
 * ETXTBSY), as unsupported(), with the errno's name and what can be done; else as failed(). */
int copy_failed(const struct target *t, const char *call, const struct span *block);
/* There is no more to be had from AT of the source on. As broken(). */
int copy_ended_early(const struct target *t, uint64_t at);

#endif
