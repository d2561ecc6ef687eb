/* SPDX-License-Identifier: GPL-2.0-or-later */
/* methods - the ways to copy blocks from one file to another. */
#ifndef COPYFILE_METHODS_H
#define COPYFILE_METHODS_H

#include "common/method.h"

/* A row's pump() takes blocks from the cursor and copies each from target.fd, at block.at, to
 * target.to, at block.to: bytes that arrived, never more. What open() finds refused (a call that is not
 * there, a ring that is forbidden) ends with 77; so does a first copy that the kernel refuses with an
 * errno that copy_is_refused() knows. */
extern const struct method method_copy_file_range, method_readwrite, method_readvwritev,
	method_preadv2, method_mmap, method_mmap_write, method_sendfile, method_splice,
	method_io_uring, method_libaio, method_reflink, method_null;

/* Of the rows that a build without the library has as well: what is always so. */
#define IO_URING_ROW                                                               \
	.name = "io_uring",                                                        \
	.help = "a read linked to a write, registered buffers and files; --depth", \
	.direct = CAN, .uncached = CAN, .many = true, .copies = true,              \
	.fallback = "readwrite"
#define LIBAIO_ROW                                                                   \
	.name = "libaio",                                                            \
	.help = "io_submit(2) of a read, then of a write, always O_DIRECT; --depth", \
	.direct = ALWAYS, .many = true, .copies = true, .fallback = "readwrite"

/* Ended by NULL; the first is the default. */
extern const struct method *const copy_methods[];

/* Does ERROR say that this way to copy is not to be had here (EXDEV, EINVAL, EOPNOTSUPP, ENOSYS, EPERM,
 * ETXTBSY), rather than that copying failed? */
bool copy_is_refused(int error);

/* CALL, which was to copy BLOCK, ended with errno: as unsupported() where copy_is_refused(), with the
 * errno's name and what can be done, else as failed(). Both name the files and the offsets. */
int copy_failed(const struct target *t, const char *call, const struct span *block);
/* A return of 0 with DONE bytes of BLOCK copied: the source ended early. As broken(). */
int copy_ended_early(const struct target *t, const struct span *block, uint64_t done);

#endif
