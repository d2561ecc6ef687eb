/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock - the only clock: monotonic nanoseconds (clock_gettime(2)). */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static inline struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / UINT64_C(1000000000)),
				  .tv_nsec = (long)(ns % UINT64_C(1000000000)) };
}

#endif
