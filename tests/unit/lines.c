// SPDX-License-Identifier: GPL-2.0-or-later
/* lines - tests of common/lines.c. */
#include "common/lines.h"
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

static int print_to_a_full_device(const void *arg)
{
	(void)arg;
	dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
	if (print_bandwidth("", 0, 1))
		return 1;
	if (print_bandwidth("", 8, 1) != -ENOSPC)
		return 2;
	return print_free_time(1) == -ENOSPC ? 0 : 3;
}

static void check_loss(void)
{
	static struct child child;

	child_run(&child, print_to_a_full_device, NULL);
	CHECK_U64("full", child.status, 0);
	CHECK_TEXT("full", child.err,
		   "prog: write results to standard output: No space left on device\n"
		   "prog: write results to standard output: No space left on device\n");
}

int main(void)
{
	static char prog[] = "prog";

	program_invocation_short_name = prog;
	check_rows();
	check_frees();
	check_arithmetic();
	check_loss();
	return check_result();
}
