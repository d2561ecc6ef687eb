/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modes - the calls that flush a range of a mapped file. */
#ifndef MSYNC_MODES_H
#define MSYNC_MODES_H

#include <stdbool.h>
#include <stdint.h>

/* What a call is about: whole pages, mapped at MEMORY, from AT on in the file FD. */
struct range {
	int fd;
	void *memory;
	uint64_t at, bytes;
};

struct mode {
	const char *name;
	const char *call; /* for messages */
	int (*flush)(
		const struct range *r); /* 0, or -1 and errno; NULL: no call at all */
	bool whole_file;                /* whatever the range is */
	bool writes_out;         /* once it returns, what the range held is in the file */
	bool may_be_busy;        /* EBUSY says that pages are locked */
	const char *to_be_known; /* by who reads the results; NULL: nothing */
};

enum { MODES = 7 };

extern const struct mode modes[MODES];

#endif
