// SPDX-License-Identifier: GPL-2.0-or-later
/* clock - tests of common/clock.h. */
#include "common/clock.h"
#include "common/base.h"
#include "tests/check.h"

/* The kernel's own answer, without the library's arithmetic. */
static uint64_t monotonic_ns(void)
{
	struct timespec t;
	uint64_t ns = 0;

	clock_gettime(CLOCK_MONOTONIC, &t);
	for (unsigned digit = 0; digit < 9; digit++)
		t.tv_sec *= 10;
	ns += (uint64_t)t.tv_sec;
	return ns + (uint64_t)t.tv_nsec;
}

static void check_now(void)
{
	uint64_t before, now, after = 0;
	unsigned wrong = 0;

	for (unsigned i = 0; i < 10000; i++) {
		before = monotonic_ns();
		now = now_ns();
		wrong += now < before || before < after;
		after = monotonic_ns();
		wrong += now > after;
	}
	CHECK_U64("outside", wrong, 0);
}

static const struct {
	const char *name;
	uint64_t ns, s, rest;
} times[] = {
	{ "0", 0, 0, 0 },
	{ "1 ns", 1, 0, 1 },
	{ "just below 1 s", 999999999, 0, 999999999 },
	{ "1 s", ns_per_s, 1, 0 },
	{ "1 s and 1 ns", ns_per_s + 1, 1, 1 },
	{ "an hour", 3600 * ns_per_s, 3600, 0 },
	{ "above 2^32 ns", 4294967297, 4, 294967297 },
	{ "2^63 - 1 ns", INT64_MAX, 9223372036, 854775807 },
	{ "2^64 - 1 ns", UINT64_MAX, 18446744073, 709551615 },
};

static void check_timespecs(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct timespec t = timespec_of(times[i].ns);

		CHECK_U64(times[i].name, t.tv_sec, times[i].s);
		CHECK_U64(times[i].name, t.tv_nsec, times[i].rest);
	}
}

int main(void)
{
	check_now();
	check_timespecs();
	return check_result();
}
