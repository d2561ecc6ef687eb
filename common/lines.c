// SPDX-License-Identifier: GPL-2.0-or-later
/* lines - the lines of results that other people's parsers read. */
#include "common/lines.h"

uint64_t line_usecs(uint64_t ns)
{
	return MAX(ns / ns_per_us, 1);
}

uint64_t line_kb_per_s(uint64_t bytes, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)bytes * 1000000 / 1024 / line_usecs(ns));
}

int print_bandwidth(const char *prefix, uint64_t bytes, uint64_t ns)
{
	if (!bytes)
		return 0;
	return print_line("%s%ju bytes / %ju usecs = %ju KB/s", prefix, (uintmax_t)bytes,
			  (uintmax_t)line_usecs(ns), (uintmax_t)line_kb_per_s(bytes, ns));
}

int print_free_time(uint64_t ns)
{
	return print_line("%ju usecs to free memory", (uintmax_t)line_usecs(ns));
}
