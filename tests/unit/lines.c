// SPDX-License-Identifier: GPL-2.0-or-later
/* lines - tests of common/lines.c. */
#include "common/lines.h"

#include "common/clock.h"
#include "tests/check.h"
#include "tests/unit/child.h"
#include "tests/unit/hear.h"

#include <errno.h>

static const struct {
	const char *prefix;
	uint64_t bytes, ns;
	const char *line;
} rows[] = {
	{ "", 64 * MiB, ns_per_s, "67108864 bytes / 1000000 usecs = 65536 KB/s\n" },
	{ "read again ", 64 * MiB, 2 * ns_per_s,
	  "read again 67108864 bytes / 2000000 usecs = 32768 KB/s\n" },
	/* never 0 usecs */
	{ "", 8, 0, "8 bytes / 1 usecs = 7812 KB/s\n" },
	{ "", 8, 1, "8 bytes / 1 usecs = 7812 KB/s\n" },
	{ "", 8, 999, "8 bytes / 1 usecs = 7812 KB/s\n" },
	/* truncated */
	{ "", 8, 1999, "8 bytes / 1 usecs = 7812 KB/s\n" },
	{ "", 8, 2000, "8 bytes / 2 usecs = 3906 KB/s\n" },
	{ "", 1023, ns_per_s, "1023 bytes / 1000000 usecs = 0 KB/s\n" },
	{ "", 1024, ns_per_s, "1024 bytes / 1000000 usecs = 1 KB/s\n" },
	{ "", 1024, ns_per_s + ns_per_us, "1024 bytes / 1000001 usecs = 0 KB/s\n" },
	{ "", 2047, ns_per_s, "2047 bytes / 1000000 usecs = 1 KB/s\n" },
	/* five passes over 4 TiB: where bytes x 10^6 no longer fits in 64 bits */
	{ "", 20 * TiB, ns_per_us,
	  "21990232555520 bytes / 1 usecs = 21474836480000000 KB/s\n" },
	{ "", 20 * TiB, ns_per_s,
	  "21990232555520 bytes / 1000000 usecs = 21474836480 KB/s\n" },
	{ "", UINT64_C(18446744073709), ns_per_s,
	  "18446744073709 bytes / 1000000 usecs = 18014398509 KB/s\n" },
	{ "", UINT64_C(18446744073710), ns_per_s,
	  "18446744073710 bytes / 1000000 usecs = 18014398509 KB/s\n" },
	{ "", UINT64_MAX, UINT64_MAX,
	  "18446744073709551615 bytes / 18446744073709551 usecs = 976562 KB/s\n" },
	{ "", UINT64_C(1) << 63, ns_per_s,
	  "9223372036854775808 bytes / 1000000 usecs = 9007199254740992 KB/s\n" },
	{ "", 0, ns_per_s, "" },
	{ "read again ", 0, 0, "" },
};

static void check_rows(void)
{
	static struct heard heard;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		hear_begin(&heard, STDOUT_FILENO);
		ret = print_bandwidth(rows[i].prefix, rows[i].bytes, rows[i].ns);
		hear_end(&heard);
		CHECK_U64(rows[i].line, ret, 0);
		CHECK_U64(rows[i].line, heard.writes, rows[i].line[0] ? 1 : 0);
		CHECK_TEXT("bandwidth", heard.text, rows[i].line);
	}
}

static const struct {
	uint64_t ns;
	const char *line;
} frees[] = {
	{ 0, "1 usecs to free memory\n" },
	{ 1, "1 usecs to free memory\n" },
	{ 1999, "1 usecs to free memory\n" },
	{ 2000, "2 usecs to free memory\n" },
	{ 1500 * ns_per_ms, "1500000 usecs to free memory\n" },
	{ UINT64_MAX, "18446744073709551 usecs to free memory\n" },
};

static void check_frees(void)
{
	static struct heard heard;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(frees); i++) {
		hear_begin(&heard, STDOUT_FILENO);
		ret = print_free_time(frees[i].ns);
		hear_end(&heard);
		CHECK_U64(frees[i].line, ret, 0);
		CHECK_U64(frees[i].line, heard.writes, 1);
		CHECK_TEXT("free", heard.text, frees[i].line);
	}
}

/* Long division as on paper, in place: a decimal NUMBER by a divisor below 2^60. */
static void divide(char *number, uint64_t divisor)
{
	char *from = number, *to = number;
	uint64_t rest = 0;

	for (; *from; from++) {
		rest = rest * 10 + (uint64_t)(*from - '0');
		*to = (char)('0' + rest / divisor);
		rest %= divisor;
		if (to > number || *to != '0')
			to++;
	}
	if (to == number)
		*to++ = '0';
	*to = '\0';
}

/* The rate is what paper says, for BYTES in so long that it fits in 64 bits. */
static void check_by_hand(uint64_t bytes, uint64_t ns)
{
	uint64_t usecs = ns < 1000 ? 1 : ns / 1000;
	char by_hand[64], got[64];

	snprintf(by_hand, sizeof(by_hand), "%ju000000", (uintmax_t)bytes);
	divide(by_hand, 1024);
	divide(by_hand, usecs);
	snprintf(got, sizeof(got), "%ju", (uintmax_t)line_kb_per_s(bytes, ns));
	CHECK_TEXT("rate", got, by_hand);
}

static void check_arithmetic(void)
{
	uint64_t random = 1;

	for (unsigned bits = 0; bits < 64; bits++)
		for (unsigned shift = 0; shift < 54; shift++) {
			random = random * UINT64_C(6364136223846793005) +
				 UINT64_C(1442695040888963407);
			if (bits > 50 && shift < bits - 50 + 1)
				continue; /* more than 2^64 KB/s */
			check_by_hand(UINT64_C(1) << bits, ns_per_us << shift);
			check_by_hand(random >> (63 - bits), ns_per_us << shift);
			check_by_hand(random >> (63 - bits),
				      (ns_per_us << shift) + random % 100000);
		}
}

/* As dd(1) has it: one decimal, no unit below kB, nothing that rounds up to a thousand of one. */
static const struct {
	uint64_t bytes, ns;
	const char *line;
} copies[] = {
	/* the unit that both amounts take */
	{ 0, ns_per_s, "0 bytes (0.0 kB, 0.0 KiB) copied, 1.000000 s, 0.0 kB/s" },
	{ 1, ns_per_s, "1 bytes (0.0 kB, 0.0 KiB) copied, 1.000000 s, 0.0 kB/s" },
	{ 49, ns_per_s, "49 bytes (0.0 kB, 0.0 KiB) copied, 1.000000 s, 0.0 kB/s" },
	{ 512, ns_per_s, "512 bytes (0.5 kB, 0.5 KiB) copied, 1.000000 s, 0.5 kB/s" },
	{ 1000, ns_per_s, "1000 bytes (1.0 kB, 1.0 KiB) copied, 1.000000 s, 1.0 kB/s" },
	{ 999900, ns_per_s,
	  "999900 bytes (999.9 kB, 976.5 KiB) copied, 1.000000 s, 999.9 kB/s" },
	{ 999949, ns_per_s,
	  "999949 bytes (999.9 kB, 976.5 KiB) copied, 1.000000 s, 999.9 kB/s" },
	{ 999950, ns_per_s,
	  "999950 bytes (1.0 MB, 976.5 KiB) copied, 1.000000 s, 1000.0 kB/s" },
	{ 1023 * KiB, ns_per_s,
	  "1047552 bytes (1.0 MB, 1023.0 KiB) copied, 1.000000 s, 1047.6 kB/s" },
	{ 1048524, ns_per_s,
	  "1048524 bytes (1.0 MB, 1023.9 KiB) copied, 1.000000 s, 1048.5 kB/s" },
	{ 1048525, ns_per_s,
	  "1048525 bytes (1.0 MB, 1.0 MiB) copied, 1.000000 s, 1048.5 kB/s" },
	{ 999 * KiB, ns_per_s,
	  "1022976 bytes (1.0 MB, 999.0 KiB) copied, 1.000000 s, 1023.0 kB/s" },
	{ UINT64_C(999949999999), ns_per_s,
	  "999949999999 bytes (999.9 GB, 931.3 GiB) copied, 1.000000 s, 999.9 GB/s" },
	{ UINT64_C(999950000000), ns_per_s,
	  "999950000000 bytes (1.0 TB, 931.3 GiB) copied, 1.000000 s, 1000.0 GB/s" },
	/* the last unit has no end */
	{ UINT64_MAX, ns_per_s,
	  "18446744073709551615 bytes (18.4 EB, 16.0 EiB) copied, 1.000000 s, "
	  "18.4 EB/s" },
	{ UINT64_MAX, 0,
	  "18446744073709551615 bytes (18.4 EB, 16.0 EiB) copied, 0.000001 s, "
	  "18446744.1 EB/s" },
	{ UINT64_MAX, UINT64_MAX,
	  "18446744073709551615 bytes (18.4 EB, 16.0 EiB) copied, 18446744073.709551 s, "
	  "1000.0 MB/s" },
	/* never 0 s, and truncated to microseconds as the rate's divisor is */
	{ 1000, 0, "1000 bytes (1.0 kB, 1.0 KiB) copied, 0.000001 s, 1000.0 MB/s" },
	{ 1000, 999, "1000 bytes (1.0 kB, 1.0 KiB) copied, 0.000001 s, 1000.0 MB/s" },
	{ 1000, 1999, "1000 bytes (1.0 kB, 1.0 KiB) copied, 0.000001 s, 1000.0 MB/s" },
	{ 1000, 2000, "1000 bytes (1.0 kB, 1.0 KiB) copied, 0.000002 s, 500.0 MB/s" },
	/* a rate has up to 9999.9 of a unit */
	{ 9999949, ns_per_s,
	  "9999949 bytes (10.0 MB, 9.5 MiB) copied, 1.000000 s, 9999.9 kB/s" },
	{ 9999950, ns_per_s,
	  "9999950 bytes (10.0 MB, 9.5 MiB) copied, 1.000000 s, 10.0 MB/s" },
	/* the one on the list */
	{ UINT64_C(8781176832), 299970 * ns_per_ms,
	  "8781176832 bytes (8.8 GB, 8.2 GiB) copied, 299.970000 s, 29.3 MB/s" },
};

static void check_copies(void)
{
	static struct heard heard;
	char line[160];
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(copies); i++) {
		snprintf(line, sizeof(line), "%s\n", copies[i].line);
		hear_begin(&heard, STDOUT_FILENO);
		ret = print_copied(copies[i].bytes, copies[i].ns);
		hear_end(&heard);
		CHECK_U64(line, ret, 0);
		CHECK_U64(line, heard.writes, 1);
		CHECK_TEXT("copied", heard.text, line);
	}
}

static const struct {
	uint64_t bytes, ns;
	const char *rate;
} rates[] = {
	{ 0, 0, "0.0 kB/s" },
	{ 0, UINT64_MAX, "0.0 kB/s" },
	{ 1, ns_per_s, "0.0 kB/s" },
	{ 50, ns_per_s, "0.1 kB/s" },
	{ 1, ns_per_us, "1000.0 kB/s" },
	{ 999950, ns_per_s, "1000.0 kB/s" },
	{ 9999949999, ns_per_s, "9999.9 MB/s" },
	{ 9999950000, ns_per_s, "10.0 GB/s" },
	{ 3 * GiB, ns_per_s / 2, "6442.5 MB/s" },
};

static void check_rates(void)
{
	char rate[RATE_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
		CHECK_TEXT("rate", format_rate(rate, rates[i].bytes, rates[i].ns),
			   rates[i].rate);
}

static const struct {
	uint64_t bytes, ns;
} periods[] = {
	{ 1, 0 },
	{ 4096, 1 },
	{ 4096, 999999999 },
	{ 1, 1000000000 },
	{ UINT64_MAX, 3723000000456 },
};

static uint64_t unix_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * ns_per_s + (uint64_t)t.tv_nsec;
}

/* Seconds, a point and nine digits; where they end. */
static const char *read_time(const char *text, uint64_t *ns)
{
	char *point, *end;
	uint64_t seconds = strtoull(text, &point, 10),
		 rest = strtoull(point + 1, &end, 10);

	CHECK(*point == '.' && end - point == 10);
	*ns = seconds * ns_per_s + rest;
	return end;
}

/* The period ends now: the Unix time that is printed is one between before and after. */
static void check_periods(void)
{
	static struct heard heard;

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		uint64_t before = unix_now_ns(), ended = now_ns(), began_at, ended_at;
		char start[64];
		const char *rest;

		snprintf(start, sizeof(start), "%ju bytes faulted in ",
			 (uintmax_t)periods[i].bytes);
		hear_begin(&heard, STDOUT_FILENO);
		CHECK_U64(start,
			  print_period(periods[i].bytes, "faulted", ended - periods[i].ns,
				       ended),
			  0);
		hear_end(&heard);
		CHECK_U64(start, heard.writes, 1);
		if (strncmp(heard.text, start, strlen(start)) != 0) {
			CHECK_TEXT("period", heard.text, start);
			continue;
		}
		rest = read_time(heard.text + strlen(start), &began_at);
		CHECK(*rest == '-');
		rest = read_time(rest + 1, &ended_at);
		CHECK_TEXT(start, rest, " seconds\n");
		CHECK_U64(start, ended_at - began_at, periods[i].ns);
		CHECK(ended_at + ns_per_ms >= before &&
		      ended_at <= unix_now_ns() + ns_per_ms);
	}
	hear_begin(&heard, STDOUT_FILENO);
	CHECK_U64("of 0 bytes", print_period(0, "truncated", 1, 2), 0);
	hear_end(&heard);
	CHECK_U64("of 0 bytes", heard.writes, 0);
}

static int print_to_a_full_device(const void *arg)
{
	(void)arg;
	dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
	if (print_bandwidth("", 0, 1))
		return 1;
	if (print_bandwidth("", 8, 1) != -ENOSPC)
		return 2;
	if (print_copied(8, 1) != -ENOSPC || print_period(8, "faulted", 1, 2) != -ENOSPC)
		return 3;
	return print_free_time(1) == -ENOSPC ? 0 : 4;
}

static void check_loss(void)
{
	static struct child child;

	child_run(&child, print_to_a_full_device, NULL);
	CHECK_U64("full", child.status, 0);
	CHECK_TEXT("full", child.err,
		   "prog: write results to standard output: No space left on device\n"
		   "prog: write results to standard output: No space left on device\n"
		   "prog: write results to standard output: No space left on device\n"
		   "prog: write results to standard output: No space left on device\n");
}

int main(void)
{
	static char prog[] = "prog";

	program_invocation_short_name = prog;
	check_rows();
	check_frees();
	check_copies();
	check_rates();
	check_periods();
	check_arithmetic();
	check_loss();
	return check_result();
}
