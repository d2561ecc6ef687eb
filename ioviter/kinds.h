/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kinds - the kinds of iov_iter that the kernel has, and how a process comes to one. */
#ifndef IOVITER_KINDS_H
#define IOVITER_KINDS_H

#include "common/cursor.h"
#include "common/method.h"

#include <sys/uio.h>

/* The most that one call takes (sysconf(3), IOV_MAX). */
enum { MOST_SEGMENTS = 1024 };

/* What is moved, and between what. Set up by the caller, and stays while a kind is open. */
struct trial {
	/* A file of FILE_BYTES, in the page cache; 0: a device, which has no offsets. */
	int fd;
	const char *name; /* what messages call it */
	uint64_t file_bytes;
	bool write; /* from the iterator to it; else from it to the iterator */
	/* Memory of the process: SPAN_BYTES from MEMORY on are the caller's to lay segments in. */
	char *memory;
	uint64_t span_bytes;
	uint64_t call_bytes; /* of one call, as kind_call_bytes() has it */
	unsigned most_segments;
	uint64_t page_bytes;
};

/* One thread calls open(), pump() and close(), as of a struct method. */
struct kind {
	const char *name, *help;
	/* Why no process comes to it, or to it alone: then there is nothing else. */
	const char *unreachable;
	bool copies_twice;  /* what a device clears: no price of one copy can be told */
	bool rings;         /* io_uring may have a thread of its own do it */
	size_t state_bytes; /* zeroed */
	/* What one call moves at most; NULL: what its segments hold. */
	uint64_t (*most_bytes)(void);
	/* The memory that the call for LEN bytes at OFFSET uses, in order, into IOV, which has room for
	 * MOST_SEGMENTS: how many segments. */
	unsigned (*lay)(const struct trial *t, uint64_t offset, uint64_t len,
			struct iovec *iov);
	uint64_t (*segment_bytes)(const struct trial *t); /* NULL: all in one segment */
	/* 0, or -errno after saying so: unsupported() where this machine or a sandbox refuses it. */
	int (*open)(void *state, const struct trial *t);
	/* The bytes of one call of the cursor's, 0 at its end, -errno after saying so. */
	ssize_t (*pump)(void *state, struct cursor *c);
	void (*close)(void *state);
};

extern const struct kind kind_ubuf, kind_iovec, kind_iovec_split, kind_bvec,
	kind_bvec_split, kind_pipe, kind_kvec, kind_xarray, kind_folioq;

/* Ended by NULL. */
extern const struct kind *const kinds[];

const struct kind *kind_find(const char *name);
/* Names and what they are, a line each. 0 or -errno after saying so. */
must_check int kind_list(void);

/* How many bytes a call for SIZE_BYTES moves by K: no more than its segments hold. */
uint64_t kind_call_bytes(const struct kind *k, const struct trial *t,
			 uint64_t size_bytes);
/* How many segments such a call has. */
unsigned kind_segments(const struct kind *k, const struct trial *t);

/* For the rows. All in one segment, at MEMORY. */
unsigned lay_one(const struct trial *t, uint64_t offset, uint64_t len, struct iovec *iov);
/* CALL at OFFSET ended with N, too few bytes: errno is still its. As failed() or broken(). */
int trial_failed(const struct trial *t, const char *call, uint64_t offset, ssize_t n);

#endif
