// SPDX-License-Identifier: GPL-2.0-or-later
/* lines - the lines of results that other people's parsers read. */
#include "common/lines.h"

#include "common/clock.h"

#include <stdio.h>

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

/* X in the smallest unit of kB, MB ... that leaves less than MOST of them; the step is 1000 or
 * 1024. */
static char *format_amount(char buf[static RATE_LEN], double x, double step, double most,
			   const char *suffix)
{
	const char *letters = step > 1000 ? "KMGTPE" : "kMGTPE";
	size_t i = 0;

	/* What rounds up to a full unit is one. */
	for (x /= step; x + 0.05 >= most && letters[i + 1]; i++)
		x /= step;
	snprintf(buf, RATE_LEN, "%.1f %c%s", x, letters[i], suffix);
	return buf;
}

char *format_rate(char buf[static RATE_LEN], uint64_t bytes, uint64_t ns)
{
	return format_amount(buf, (double)bytes * 1e6 / (double)line_usecs(ns), 1000,
			     10000, "B/s");
}

int print_copied(uint64_t bytes, uint64_t ns)
{
	char decimal[RATE_LEN], binary[RATE_LEN], rate[RATE_LEN];
	uint64_t usecs = line_usecs(ns);

	return print_line("%ju bytes (%s, %s) copied, %ju.%06ju s, %s", (uintmax_t)bytes,
			  format_amount(decimal, (double)bytes, 1000, 1000, "B"),
			  format_amount(binary, (double)bytes, 1024, 1024, "iB"),
			  (uintmax_t)(usecs / 1000000), (uintmax_t)(usecs % 1000000),
			  format_rate(rate, bytes, ns));
}

static uint64_t unix_ns(uint64_t monotonic_ns)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * ns_per_s + (uint64_t)t.tv_nsec -
	       (now_ns() - monotonic_ns);
}

int print_period(uint64_t bytes, const char *what, uint64_t began_ns, uint64_t ended_ns)
{
	uint64_t ended = unix_ns(ended_ns), began = ended - (ended_ns - began_ns);

	if (!bytes)
		return 0;
	return print_line("%ju bytes %s in %ju.%09ju-%ju.%09ju seconds", (uintmax_t)bytes,
			  what, (uintmax_t)(began / ns_per_s),
			  (uintmax_t)(began % ns_per_s), (uintmax_t)(ended / ns_per_s),
			  (uintmax_t)(ended % ns_per_s));
}
