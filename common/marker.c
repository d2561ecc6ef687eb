// SPDX-License-Identifier: GPL-2.0-or-later
/* marker - says in the kernel's trace when a window opens and closes. */
#include "common/marker.h"

#include "common/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int marker_open(void)
{
	static const char *const files[] = {
		"/sys/kernel/tracing/trace_marker",
		"/sys/kernel/debug/tracing/trace_marker",
	};
	int fd = -1;

	for (size_t i = 0; i < ARRAY_SIZE(files) && fd < 0; i++)
		fd = open(files[i], O_WRONLY | O_CLOEXEC);
	return fd;
}

void marker_say(int fd, const char *moment)
{
	/* Where tracing is off, writing fails: nobody wants to know. */
	if (fd >= 0 && dprintf(fd, "%s: %s\n", program_invocation_short_name, moment) < 0)
		return;
}
