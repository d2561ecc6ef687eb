/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output - a file of results that appears only once it is complete. */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include "common/base.h"

#include <limits.h>
#include <stdbool.h>

struct output {
	const char *path;
	/* Where it is, with links followed: what is mounted over the directory during the run does
	 * not hide it. */
	int dir;
	char name[NAME_MAX + 1];
	int fd;
	bool nameless;
};

/* "", "-", or another name of what standard output leads to, such as /dev/stdout. */
bool output_is_stdout(const char *path);
/* A place for results, opened before the run so that a wrong path costs no run: PATH, or standard
 * output where PATH means that. A regular file appears, or takes the place of the one that is
 * there, when output_write() has all of it; what cannot be replaced is written in place. 0 or
 * -errno after saying so. */
must_check int output_open(struct output *file, const char *path);
/* Write TEXT as the whole of FILE and close it. 0 or -errno after saying so. */
must_check int output_write(struct output *file, const char *text);

#endif
