/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines - the lines of results that other people's parsers read. */
#ifndef COMMON_LINES_H
#define COMMON_LINES_H

#include "common/base.h"

/* Each is one write(2) on standard output: 0, or -errno after saying so. */

/* "PREFIX BYTES bytes / USECS usecs = RATE KB/s": whole numbers, 1 usec at least, the rate in
 * 1024 bytes a second, truncated. Nothing for 0 bytes. 0 or -errno after saying so. */
must_check int print_bandwidth(const char *prefix, uint64_t bytes, uint64_t ns);
/* "USECS usecs to free memory" */
must_check int print_free_time(uint64_t ns);
/* "BYTES bytes (8.8 GB, 8.2 GiB) copied, 299.970000 s, 29.3 MB/s", as dd(1) has it: a microsecond
 * at least, and no unit below kB. */
must_check int print_copied(uint64_t bytes, uint64_t ns);
/* "BYTES bytes WHAT in BEGIN-END seconds": Unix times with nanoseconds, of the times of now_ns().
 * Nothing for 0 bytes. */
must_check int print_period(uint64_t bytes, const char *what, uint64_t began_ns,
			    uint64_t ended_ns);
/* "29.3 MB/s": powers of 1000, and five digits at most before the point. */
#define RATE_LEN 32
char *format_rate(char buf[static RATE_LEN], uint64_t bytes, uint64_t ns);
/* Microseconds as these lines have them: truncated, 1 at least. */
uint64_t line_usecs(uint64_t ns);
/* The rate in KB/s as these lines have it; nothing wraps while the rate fits in 64 bits. */
uint64_t line_kb_per_s(uint64_t bytes, uint64_t ns);

#endif
