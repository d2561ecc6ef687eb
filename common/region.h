/* SPDX-License-Identifier: GPL-2.0-or-later */
/* region - where memory comes from, and mappings of it. */
#ifndef COMMON_REGION_H
#define COMMON_REGION_H

#include "common/base.h"

#include <stdbool.h>

/* Whole pages, for the calls that take nothing else. */
struct pages {
	void *start;
	uint64_t bytes;
};

struct backing;

/* A kind of memory: one complete row. */
struct source {
	const char *name;
	bool is_file; /* what is shared is one file: a unit is a part of it */
	bool heap;    /* begins and ends anywhere in a page */
	int (*open)(struct backing *b, uint64_t bytes); /* NULL: nothing to open */
	void *(*map)(const struct backing *b, uint64_t at,
		     uint64_t bytes);               /* NULL: errno says why */
	int (*unmap)(void *memory, uint64_t bytes); /* 0, or -1 and errno */
};

struct backing {
	const struct source *source;
	const char *path;    /* of a file; of a memfd its name */
	uint64_t offset;     /* in the file, of the first unit */
	uint64_t page_bytes; /* of its mappings; 0: the base page */
	bool huge;           /* pages of page_bytes from the pool of huge pages */
	bool writable, shared, populate;
	int fd;
	bool created; /* the file was not there before */
	/* For SIGBUS to be explained where several are mapped: this one's pages, and another of them;
	 * NULL: none. */
	struct pages mapped;
	const struct backing *next;
};

extern const struct source source_malloc; /* malloc(3), not cleared */
extern const struct source
	source_anonymous; /* MAP_ANONYMOUS; neighbours merge into one VMA */
extern const struct source
	source_zero; /* a mapping of /dev/zero: each stays its own VMA */
extern const struct source source_memfd;
extern const struct source source_file; /* a missing file is created if writable */

/* Open what BACKING names, for BYTES in all (0 is fine); children inherit it. A file that has to be created gets offset + BYTES, one that is too
 * short fails. 0 or -errno after saying so. */
must_check int backing_open(struct backing *b, uint64_t bytes);
void backing_close(struct backing *b);
/* BYTES (not 0) of memory, from AT on counted from the backing's offset, into *MEMORY. 0 or
 * -errno after saying so. */
must_check int region_map(const struct backing *b, uint64_t at, uint64_t bytes,
			  void **memory);
must_check int region_unmap(const struct backing *b, void *memory, uint64_t bytes);
/* The size of the pages of BACKING. */
uint64_t region_page_bytes(const struct backing *b);
/* All pages that BYTES of a mapping lie in; of memory from malloc(3) those that lie wholly
 * inside, maybe none. */
struct pages region_pages(const struct backing *b, void *memory, uint64_t bytes);
/* msync(2) of these pages. 0 or -errno after saying so. */
must_check int region_sync(const struct backing *b, void *memory, uint64_t bytes,
			   int flags);
/* madvise(2) of these pages; NAME is what the message calls ADVICE. The same. */
must_check int region_advise(const struct backing *b, void *memory, uint64_t bytes,
			     int advice, const char *name);
/* mremap(2) to NEW_BYTES, maybe to another place. The same. */
must_check int region_grow(const struct backing *b, uint64_t bytes, uint64_t new_bytes,
			   void **memory);

/* Make SIGBUS in this process and its children say which byte of BACKING could not be had and
 * why, and end the process: this one with status 1, children with 128 + SIGBUS. BACKING must
 * stay until the next call, NULL takes it back. Of several threads that call it, each has its own,
 * and what the last one gave is for those that never called. */
void explain_sigbus(const struct backing *b);

uint64_t base_page_bytes(void);

/* May pages of PAGE_BYTES be had from a pool of huge pages on this machine? 0 or unsupported(). */
must_check int huge_pages_check(uint64_t page_bytes);
/* The flags for pages of PAGE_BYTES, beside MAP_HUGETLB, MFD_HUGETLB and SHM_HUGETLB alike. */
int huge_page_flags(uint64_t page_bytes);
/* "2 of 5 pages of 2m are free": the pool, for messages; errno stays as it is. */
char *huge_pages_text(uint64_t page_bytes, char buf[static 96]);
/* The page size of the hugetlbfs that holds PATH, or would hold it. 0 or -errno after saying so. */
must_check int huge_file_page_bytes(const char *path, uint64_t *page_bytes);

#endif
