/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scratch - files that vanish when their last descriptor closes. */
#ifndef COMMON_SCRATCH_H
#define COMMON_SCRATCH_H

#include "common/base.h"

enum scratch_fill {
	/* Sparse: no block is allocated. */
	SCRATCH_HOLE,
	/* fallocate(2): blocks allocated, unwritten. */
	SCRATCH_RESERVED,
	/* Every byte written: none is 0, another value in every 8-byte word. */
	SCRATCH_WRITTEN,
};

/* A nameless file of SIZE bytes in DIR, opened O_RDWR | O_CLOEXEC and at offset 0: gone
 * when its last descriptor closes, however we die (O_TMPFILE, open(2); where the
 * filesystem has none, a name that is removed at once). fd, or -errno after saying so;
 * the message names DIR and the bytes wanted. */
must_check int scratch_file(const char *dir, uint64_t size, enum scratch_fill fill);
/* The same; messages call it WHAT in place of "a scratch file". */
must_check int scratch_file_as(const char *what, const char *dir, uint64_t size,
			       enum scratch_fill fill);
/* The 8-byte word number INDEX of what is written: never the same for two of them (up to 2^56), and
 * no byte of it 0. */
uint64_t scratch_word(uint64_t index);
/* An independent open of the same file: own offset, own flags (O_RDONLY, O_DIRECT ...),
 * O_CLOEXEC added. fd, or -errno after saying so. */
must_check int scratch_reopen(int fd, int flags);
/* Give the file the name NAME in DIR, where it stays. Nothing is overwritten. 0 or -errno after
 * saying so: also where files had to be made with a name and have lost it. */
must_check int scratch_keep(int fd, const char *dir, const char *name);

#endif
