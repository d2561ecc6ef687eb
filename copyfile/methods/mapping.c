// SPDX-License-Identifier: GPL-2.0-or-later
/* mapping - a whole file, mapped shared. */
#include "copyfile/methods/mapping.h"

#include <errno.h>
#include <sys/mman.h>

int mapping_open(struct mapping *m, int fd, const char *name, uint64_t bytes,
		 int protection)
{
	void *memory;

	*m = (struct mapping){
		.backing = { .source = &source_file,
			     .path = name,
			     .fd = fd,
			     .writable = protection & PROT_WRITE },
	};
	if (!bytes)
		return 0;
	memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED && errno == ENODEV)
		return unsupported("%s: mmap: ENODEV: its filesystem has no shared "
				   "mappings: another method",
				   name);
	if (memory == MAP_FAILED)
		return failed("map %ju bytes of %s", (uintmax_t)bytes, name);
	m->memory = memory;
	m->backing.mapped = (struct pages){ memory, bytes };
	return 0;
}

void mapping_close(struct mapping *m)
{
	if (m->memory)
		munmap(m->memory, m->backing.mapped.bytes);
}
