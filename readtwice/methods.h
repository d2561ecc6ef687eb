/* SPDX-License-Identifier: GPL-2.0-or-later */
/* methods - the ways to read a file. */
#ifndef READTWICE_METHODS_H
#define READTWICE_METHODS_H

#include "common/method.h"

extern const struct method method_read, method_pread, method_readv, method_preadv2,
	method_mmap, method_splice, method_sendfile, method_null;

/* Ended by NULL; the first is the default. */
extern const struct method *const read_methods[];

#endif
