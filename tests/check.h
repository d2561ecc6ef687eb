/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check - what a test program needs: checks that say where, what and which row; skips with a reason. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned check_failures, check_count;

static inline void check_at(const char *file, int line, int good, const char *what)
{
	check_count++;
	if (good)
		return;
	check_failures++;
	printf("%s:%d: %s\n", file, line, what);
}

static inline void check_u64_at(const char *file, int line, const char *what,
				uint64_t got, uint64_t want)
{
	check_count++;
	if (got == want)
		return;
	check_failures++;
	printf("%s:%d: %s: got %" PRIu64 " (%" PRId64 "), want %" PRIu64 " (%" PRId64
	       ")\n",
	       file, line, what, got, (int64_t)got, want, (int64_t)want);
}

static inline void check_text_at(const char *file, int line, const char *what,
				 const char *got, const char *want)
{
	check_count++;
	if (got && want && !strcmp(got, want))
		return;
	check_failures++;
	printf("%s:%d: %s: got \"%s\", want \"%s\"\n", file, line, what,
	       got ? got : "(null)", want ? want : "(null)");
}

/* Within TOLERANCE of WANT, relative; exactly where WANT is 0. */
static inline void check_near_at(const char *file, int line, const char *what, double got,
				 double want, double tolerance)
{
	check_count++;
	if (fabs(got - want) <= fabs(want) * tolerance)
		return;
	check_failures++;
	printf("%s:%d: %s: got %.17g, want %.17g\n", file, line, what, got, want);
}

#define CHECK(good) check_at(__FILE__, __LINE__, !!(good), #good)
/* WHAT names the row of a table. */
#define CHECK_U64(what, got, want) \
	check_u64_at(__FILE__, __LINE__, what, (uint64_t)(got), (uint64_t)(want))
#define CHECK_TEXT(what, got, want) check_text_at(__FILE__, __LINE__, what, got, want)
#define CHECK_NEAR(what, got, want, tolerance) \
	check_near_at(__FILE__, __LINE__, what, got, want, tolerance)

/* The value main returns. A test that checked nothing has failed. */
static inline int check_result(void)
{
	printf("%u checks, %u failed\n", check_count, check_failures);
	return check_failures || !check_count;
}

#define SKIP(...) (printf("skipped: " __VA_ARGS__), putchar('\n'), exit(77))

#endif
