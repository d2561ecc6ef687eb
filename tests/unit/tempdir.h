/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tempdir - a directory of the test's own, and the names in it. */
#ifndef TESTS_UNIT_TEMPDIR_H
#define TESTS_UNIT_TEMPDIR_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char tempdir[64];

static inline void tempdir_make(void)
{
	snprintf(tempdir, sizeof(tempdir), "/tmp/pagemill-test-XXXXXX");
	if (!mkdtemp(tempdir))
		abort();
}

static inline char *tempdir_path(char buf[static 128], const char *name)
{
	snprintf(buf, 128, "%s/%s", tempdir, name);
	return buf;
}

/* How many names are in it. With REMOVE they are then gone. */
static inline unsigned tempdir_names(int remove)
{
	DIR *names = opendir(tempdir);
	struct dirent *entry;
	unsigned n = 0;

	while (names && (entry = readdir(names))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		n++;
		if (remove)
			unlinkat(dirfd(names), entry->d_name, 0);
	}
	if (names)
		closedir(names);
	return n;
}

static inline void tempdir_remove(void)
{
	tempdir_names(1);
	rmdir(tempdir);
}

#endif
