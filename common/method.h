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
#include "common/hist.h"

#include <stdbool.h>
#include <sys/types.h>

struct target {
	/* Open for reading; with O_DIRECT if direct. Nobody else's: methods move its offset. */
	int fd;
	const char *name; /* what messages call it */
	uint64_t size_bytes, block_bytes;
	unsigned depth; /* requests in flight at most, for methods that have any */
	bool direct;
	/* With direct: a power of two that offsets, lengths and memory are multiples of; else 1. */
	uint64_t align_bytes;
	bool uncached; /* RWF_DONTCACHE */
	/* Where methods that copy put it: open for reading and writing, with O_DIRECT if direct. */
	int to;
	const char *to_name;
	/* For methods with many requests in flight: how long each took. NULL: nobody asks. */
	struct hist *latency_ns;
	/* Called with the data of each block once it has come, NULL: nobody asks. 0, or -errno
	 * after saying so, which pump() then returns. */
	int (*check)(void *context, const struct span *block, const void *data);
	void *context;
};

enum ability { CANNOT, CAN, ALWAYS };

/* One thread calls open(), pump() and close(). */
struct method {
	const char *name, *help;
	size_t state_bytes;    /* zeroed memory, allocated by method_open() */
	enum ability direct;   /* O_DIRECT */
	enum ability uncached; /* RWF_DONTCACHE; never ALWAYS */
	bool many;             /* has target.depth requests in flight */
	bool no_data;          /* moves nothing: there is nothing to check */
	bool maps;             /* maps the whole file: takes page tables */
	bool copies;           /* the data into memory of this process */
	bool threads; /* the kernel may have threads of its own, in this process, do it */
	bool clones;  /* shares extents in place of copying: takes no space */
	/* The row to be tried in place of one that is refused here; NULL: none. */
	const char *fallback;
	/* 0, or -errno after saying so: unsupported() where the kernel, the filesystem or the
	 * sandbox refuses. After a failure close() is not called. NULL: nothing to open. */
	int (*open)(void *state, const struct target *t);
	/* Bytes of the blocks that came, 0 only when the cursor is empty and nothing is in flight,
	 * or -errno after saying so. Interrupted calls go on, short ones are continued; a file
	 * that ends before its size is an error that names the offset. */
	ssize_t (*pump)(void *state, struct cursor *c);
	/* Also with requests in flight, after an error: waits for them. NULL: nothing to close. */
	void (*close)(void *state);
};

/* The row of TABLE, ended by NULL, that is called NAME; NULL: none. */
const struct method *method_find(const struct method *const *table, const char *name);
/* Print the names of TABLE with what they are, a line each. 0 or -errno after saying so. */
must_check int method_list(const struct method *const *table);

/* Open what FD is once more, for reading, into t->fd: with O_DIRECT if t->direct, and t->align_bytes
 * accordingly. 0, or -errno after saying so; unsupported() where there is no direct I/O, refused()
 * if the blocks do not fit the alignment. */
must_check int target_open(struct target *t, int fd);
/* What O_DIRECT on FD wants of offsets, lengths and memory: what statx(STATX_DIOALIGN) says, else
 * the larger of the logical block size of the device and the filesystem's block size. 0, or -errno
 * after saying so; unsupported() if the filesystem says that it has no direct I/O for FD. */
must_check int direct_alignment(int fd, const char *name, uint64_t *bytes);

/* What M cannot do of what T asks for (direct, uncached): 0 or refused(). T needs no file yet. */
must_check int method_check(const struct method *m, const struct target *t);
/* Open M for T, which stays the caller's and must stay, into *STATE. 0 or -errno after saying so. */
must_check int method_open(const struct method *m, const struct target *t, void **state);
void method_close(const struct method *m, void *state);

/* For the rows. Does the kernel have system call NUMBER, CALL, that takes a descriptor first? 0, or -errno
 * after saying so: the C library may make another one of it in silence. */
must_check int method_needs(const struct target *t, const char *call, long number);
/* For the rows. CALL was refused here with ERROR: 77, naming it, and the remedy. */
int method_refused(const struct target *t, const char *call, int error,
		   const char *remedy, ...) printf_like(4, 5);
/* CALL failed with errno at offset AT: as failed(). */
int method_failed(const struct target *t, const char *call, uint64_t at);
/* There is no more to be had from AT on, which is before the end that we knew: as broken(). */
int method_ended_early(const struct target *t, uint64_t at);

/* What a request for LEN bytes of T asks for: at the tail of the file O_DIRECT wants more. */
static inline uint64_t target_request(const struct target *t, uint64_t len)
{
	return (len + t->align_bytes - 1) & -t->align_bytes;
}

/* Read what T says (O_DIRECT, uncached) once into MEMORY of a request, so that what the filesystem
 * refuses is refused before the start line. Without both nothing is done; with uncached alone
 * nothing is read. 0, or -errno after saying so. */
must_check int target_probe(const struct target *t, void *memory);

/* Memory for COUNT requests of a block each, *STEP bytes from one to the next, touched; free(3) takes
 * it back. NULL after saying so. */
must_check void *target_memory(const struct target *t, uint64_t count, uint64_t *step);

#endif
