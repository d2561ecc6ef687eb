/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapping - a whole file, mapped shared. */
#ifndef COPYFILE_METHODS_MAPPING_H
#define COPYFILE_METHODS_MAPPING_H

#include "common/region.h"
#include "copyfile/methods.h"

struct mapping {
	char *memory;           /* NULL: of a file of 0 bytes */
	struct backing backing; /* what SIGBUS explains */
};

/* Map BYTES of FD, called NAME. 0, or -errno after saying so: unsupported() where its filesystem has no
 * shared mappings. */
must_check int mapping_open(struct mapping *m, int fd, const char *name, uint64_t bytes,
			    int protection);
void mapping_close(struct mapping *m);

#endif
