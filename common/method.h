/* SPDX-License-Identifier: GPL-2.0-or-later */
/* method - one way of moving the blocks of a file: a row of a table, and a small file.
 *
 * A method pulls blocks from a cursor, so that one verb serves synchronous and asynchronous ones:
 * the first takes one and moves it; the other takes as many as it has room for, and waits for
 * one at least. */
#ifndef COMMON_METHOD_H
#define COMMON_METHOD_H

#include "common/base.h"
#include "common/cursor.h"

#include <stdbool.h>
#include <sys/types.h>

struct target {
	int fd;           /* open for reading; with O_DIRECT if direct */
	const char *name; /* what messages call it */
	uint64_t size_bytes, block_bytes;
	unsigned depth; /* requests in flight at most, for methods that have any */
	bool direct;
	uint64_t align_bytes; /* with direct: of offsets, lengths and memory; else 1 */
	bool uncached;        /* RWF_DONTCACHE */
	/* Called with the data of each block once it has come, NULL: nobody asks. 0, or -errno
	 * after saying so, which pump() then returns. */
	int (*check)(void *context, const struct span *block, const void *data);
	void *context;
};

enum ability { CANNOT, CAN, ALWAYS };

struct method {
	const char *name, *help;
	size_t state_bytes;    /* zeroed memory, allocated by method_open() */
	enum ability direct;   /* O_DIRECT */
	enum ability uncached; /* RWF_DONTCACHE; never ALWAYS */
	bool many;             /* has target.depth requests in flight */
	bool no_data;          /* moves nothing: there is nothing to check */
	bool maps;             /* maps the whole file: takes page tables */
	/* 0, or -errno after saying so: unsupported() where the kernel, the filesystem or the
	 * sandbox refuses. After a failure close() is not called. */
	int (*open)(void *state, const struct target *t);
	/* Bytes that came, 0 only when the cursor is empty and nothing is in flight, or -errno after
	 * saying so. Interrupted calls go on, short ones are continued; a file that ends before its
	 * size is an error that names the offset. */
	ssize_t (*pump)(void *state, struct cursor *c);
	void (*close)(void *state); /* also with requests in flight, after an error */
};

/* The row of TABLE, ended by NULL, that is called NAME; NULL: none. */
const struct method *method_find(const struct method *const *table, const char *name);
/* Print the names of TABLE with what they are, a line each. 0 or -errno after saying so. */
must_check int method_list(const struct method *const *table);
/* What M cannot do of what T asks for (direct, uncached): 0 or refused(). */
must_check int method_check(const struct method *m, const struct target *t);
/* Open M for T, which stays the caller's and must stay, into *STATE. 0 or -errno after saying so. */
must_check int method_open(const struct method *m, const struct target *t, void **state);
void method_close(const struct method *m, void *state);

/* "EOPNOTSUPP: RWF_DONTCACHE" and the like: 77 for what was refused with ERRNO here, naming it. */
int method_refused(const struct target *t, const char *what, int error);

/* What O_DIRECT on FD wants of offsets, lengths and memory: what statx(STATX_DIOALIGN) says, else
 * the larger of the logical block size of the device and the filesystem's block size. 0, or -errno
 * after saying so; unsupported() if FD cannot be opened so at all. */
must_check int direct_alignment(int fd, uint64_t *bytes);

#endif
