// SPDX-License-Identifier: GPL-2.0-or-later
/* parse - tests of common/parse.c. */
#include "common/parse.h"
#include "common/topo.h"
#include "tests/check.h"

#include <errno.h>

/* What an output holds before a call, and has to hold after one that failed. */
#define UNTOUCHED UINT64_C(0xdeadbeefcafef00d)

struct row {
	const char *text;
	int ret;
	uint64_t value;
};

static const struct row sizes[] = {
	{ "0", 0, 0 },
	{ "64", 0, 64 },
	{ "64k", 0, 64 * KiB },
	{ "64K", 0, 64 * KiB },
	{ "2m", 0, 2 * MiB },
	{ "2M", 0, 2 * MiB },
	{ "1g", 0, GiB },
	{ "1G", 0, GiB },
	{ "1t", 0, TiB },
	{ "1T", 0, TiB },
	{ "010m", 0, 10 * MiB },
	{ "0000000000000000000000000000008", 0, 8 },
	{ "08", 0, 8 },
	{ "0x40", 0, 64 },
	{ "0X40", 0, 64 },
	{ "0x10k", 0, 16 * KiB },
	{ "0xFfg", 0, 255 * GiB },
	{ "0x1b", 0, 27 },
	{ "0k", 0, 0 },
	{ "18446744073709551615", 0, UINT64_MAX },
	{ "0xffffffffffffffff", 0, UINT64_MAX },
	{ "18014398509481983k", 0, UINT64_MAX - 1023 },
	{ "16777215t", 0, UINT64_MAX - TiB + 1 },
	{ "16777216t", -ERANGE, 0 },
	{ "99999999t", -ERANGE, 0 },
	{ "18014398509481984k", -ERANGE, 0 },
	{ "18446744073709551616", -ERANGE, 0 },
	{ "18446744073709551620", -ERANGE, 0 },
	{ "184467440737095516160", -ERANGE, 0 },
	{ "0x100000000000000000", -ERANGE, 0 },
	{ "0x10000000000000000", -ERANGE, 0 },
	{ "99999999999999999999999999999", -ERANGE, 0 },
	{ "99999999999999999999x", -EINVAL, 0 },
	{ "", -EINVAL, 0 },
	{ "12x", -EINVAL, 0 },
	{ "1mb", -EINVAL, 0 },
	{ "1.5g", -EINVAL, 0 },
	{ "1,5g", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },
	{ "+1", -EINVAL, 0 },
	{ " 1", -EINVAL, 0 },
	{ "1 ", -EINVAL, 0 },
	{ "1\n", -EINVAL, 0 },
	{ "\t1", -EINVAL, 0 },
	{ "1 k", -EINVAL, 0 },
	{ "0x", -EINVAL, 0 },
	{ "0xk", -EINVAL, 0 },
	{ "0x-1", -EINVAL, 0 },
	{ "0x0x1", -EINVAL, 0 },
	{ "x1", -EINVAL, 0 },
	{ "k", -EINVAL, 0 },
	{ "64kk", -EINVAL, 0 },
	{ "64km", -EINVAL, 0 },
	{ "ff", -EINVAL, 0 },
	{ "1e3", -EINVAL, 0 },
	{ "1p", -EINVAL, 0 },
	{ "50%", -EINVAL, 0 },
	{ "\xb2", -EINVAL, 0 },
};

static const struct row times[] = {
	{ "0", 0, 0 },
	{ "10", 0, 10 * ns_per_s },
	{ "10s", 0, 10 * ns_per_s },
	{ "500ms", 0, 500 * ns_per_ms },
	{ "2m", 0, 120 * ns_per_s },
	{ "1h", 0, 3600 * ns_per_s },
	{ "250us", 0, 250 * ns_per_us },
	{ "80ns", 0, 80 },
	{ "010s", 0, 10 * ns_per_s },
	{ "9223372036854775807ns", 0, INT64_MAX },
	{ "9223372036854775808ns", -ERANGE, 0 },
	{ "9223372036", 0, 9223372036 * ns_per_s },
	{ "9223372037", -ERANGE, 0 },
	{ "18446744074", -ERANGE, 0 },
	{ "2562047h", 0, 2562047 * (3600 * ns_per_s) },
	{ "2562048h", -ERANGE, 0 },
	{ "18446744073709551616ns", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ "s", -EINVAL, 0 },
	{ "1.5s", -EINVAL, 0 },
	{ "10 s", -EINVAL, 0 },
	{ "-1s", -EINVAL, 0 },
	{ "1d", -EINVAL, 0 },
	{ "1sec", -EINVAL, 0 },
	{ "1M", -EINVAL, 0 },
	{ "1mss", -EINVAL, 0 },
	{ "0x10", -EINVAL, 0 },
};

static const struct row delays[] = {
	{ "0", 0, 0 },
	{ "500", 0, 500 },
	{ "500ns", 0, 500 },
	{ "20u", 0, 20 * ns_per_us },
	{ "20us", 0, 20 * ns_per_us },
	{ "5m", 0, 5 * ns_per_ms },
	{ "5ms", 0, 5 * ns_per_ms },
	{ "2s", 0, 2 * ns_per_s },
	{ "9223372037s", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ "u", -EINVAL, 0 },
	{ "1h", -EINVAL, 0 },
	{ "1n", -EINVAL, 0 },
	{ "1.5u", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },
	{ "0x10", -EINVAL, 0 },
};

static const struct row counts[] = {
	{ "0", 0, 0 },
	{ "27", 0, 27 },
	{ "007", 0, 7 },
	{ "18446744073709551615", 0, UINT64_MAX },
	{ "18446744073709551616", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ "0x10", -EINVAL, 0 },
	{ "1k", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },
	{ "+1", -EINVAL, 0 },
	{ " 1", -EINVAL, 0 },
	{ "1 ", -EINVAL, 0 },
};

static const struct row words[] = {
	{ "0", 0, 0 },
	{ "010", 0, 10 },
	{ "18446744073709551615", 0, UINT64_MAX },
	{ "0xdeadBEEF00c0ffee", 0, UINT64_C(0xdeadbeef00c0ffee) },
	{ "0x0000000000000000000000001", 0, 1 },
	{ "0x1ffffffffffffffff", -ERANGE, 0 },
	{ "18446744073709551616", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ "0x", -EINVAL, 0 },
	{ "0xg", -EINVAL, 0 },
	{ "ff", -EINVAL, 0 },
	{ "1k", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },
};

static void check_rows(int (*parse)(const char *, uint64_t *), const struct row *rows,
		       size_t n)
{
	uint64_t value;

	for (size_t i = 0; i < n; i++) {
		value = UNTOUCHED;
		CHECK_U64(rows[i].text, parse(rows[i].text, &value), rows[i].ret);
		CHECK_U64(rows[i].text, value, rows[i].ret ? UNTOUCHED : rows[i].value);
	}
}

static const struct {
	const char *text;
	uint64_t whole;
	int ret;
	uint64_t bytes;
} shares[] = {
	{ "25%", 1000, 0, 250 },
	{ "0%", 1000, 0, 0 },
	{ "100%", UINT64_MAX, 0, UINT64_MAX },
	{ "50%", UINT64_MAX, 0, UINT64_MAX / 2 },
	{ "99%", 199, 0, 197 },
	{ "33%", 100 * GiB + 3, 0, 33 * GiB },
	{ "1%", 99, 0, 0 },
	{ "07%", 100, 0, 7 },
	{ "101%", 1000, -ERANGE, 0 },
	{ "18446744073709551617%", 1000, -ERANGE, 0 },
	{ "25", 1000, -EINVAL, 0 },
	{ "%", 1000, -EINVAL, 0 },
	{ "", 1000, -EINVAL, 0 },
	{ "-5%", 1000, -EINVAL, 0 },
	{ "2.5%", 1000, -EINVAL, 0 },
	{ "25%%", 1000, -EINVAL, 0 },
	{ "25 %", 1000, -EINVAL, 0 },
	{ "0x10%", 1000, -EINVAL, 0 },
};

static void check_shares(void)
{
	uint64_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		bytes = UNTOUCHED;
		CHECK_U64(shares[i].text,
			  parse_share(shares[i].text, shares[i].whole, &bytes),
			  shares[i].ret);
		CHECK_U64(shares[i].text, bytes,
			  shares[i].ret ? UNTOUCHED : shares[i].bytes);
	}
}

static const struct {
	const char *text;
	unsigned cpus;
	int ret;
	unsigned tasks;
} tasks[] = {
	{ "1", 4, 0, 1 },
	{ "0", 4, 0, 0 },
	{ "2147483647", 4, 0, INT32_MAX },
	{ "2147483648", 4, -ERANGE, 0 },
	{ "4294967297", 4, -ERANGE, 0 },
	{ "auto", 12, 0, 12 },
	{ "10%", 64, 0, 6 },
	{ "10%", 4, 0, 1 },
	{ "100%", 4, 0, 4 },
	{ "250%", 4, 0, 10 },
	{ "1%", 1, 0, 1 },
	{ "0%", 4, 0, 1 },
	{ "2x", 12, 0, 24 },
	{ "0x", 12, 0, 0 },
	{ "1073741823x", 2, 0, INT32_MAX - 1 },
	{ "1073741824x", 2, -ERANGE, 0 },
	{ "18446744073709551615%", 3, -ERANGE, 0 },
	{ "214748364799%", 1, 0, INT32_MAX },
	{ "214748364800%", 1, -ERANGE, 0 },
	{ "", 4, -EINVAL, 0 },
	{ "Auto", 4, -EINVAL, 0 },
	{ "auto ", 4, -EINVAL, 0 },
	{ "x", 4, -EINVAL, 0 },
	{ "%", 4, -EINVAL, 0 },
	{ "2x2", 4, -EINVAL, 0 },
	{ "0x10", 4, -EINVAL, 0 },
	{ "1k", 4, -EINVAL, 0 },
	{ "-1", 4, -EINVAL, 0 },
	{ "1.5x", 4, -EINVAL, 0 },
};

static void check_tasks(void)
{
	unsigned n;

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		n = 12345;
		CHECK_U64(tasks[i].text, parse_tasks(tasks[i].text, tasks[i].cpus, &n),
			  tasks[i].ret);
		CHECK_U64(tasks[i].text, n, tasks[i].ret ? 12345 : tasks[i].tasks);
	}
}

static const struct {
	const char *text;
	int ret;
	unsigned count;
	const char *back;
} lists[] = {
	{ "", 0, 0, "" },
	{ "\n", 0, 0, "" },
	{ "5", 0, 1, "5" },
	{ "0-3,8", 0, 5, "0-3,8" },
	{ "0-3,8\n", 0, 5, "0-3,8" },
	{ "8,0-3", 0, 5, "0-3,8" },
	{ "7-7", 0, 1, "7" },
	{ "1,1,0-2,2", 0, 3, "0-2" },
	{ "0-1", 0, 2, "0-1" },
	{ "1030,4095-4097", 0, 4, "1030,4095-4097" },
	{ "007", 0, 1, "7" },
	{ "0-1048575", 0, 1048576, "0-1048575" },
	{ "1048576", -ERANGE, 0, NULL },
	{ "0-4000000000", -ERANGE, 0, NULL },
	{ "4294967296", -ERANGE, 0, NULL },
	{ "0-18446744073709551616", -ERANGE, 0, NULL },
	{ "4000000000-1", -ERANGE, 0, NULL },
	{ "0-4000000000,x", -EINVAL, 0, NULL },
	{ "3-1", -EINVAL, 0, NULL },
	{ "0-", -EINVAL, 0, NULL },
	{ "-3", -EINVAL, 0, NULL },
	{ "0,,1", -EINVAL, 0, NULL },
	{ ",0", -EINVAL, 0, NULL },
	{ "0,", -EINVAL, 0, NULL },
	{ "0,\n", -EINVAL, 0, NULL },
	{ "0\n\n", -EINVAL, 0, NULL },
	{ "\n0", -EINVAL, 0, NULL },
	{ "0-3-5", -EINVAL, 0, NULL },
	{ "0 1", -EINVAL, 0, NULL },
	{ " 0", -EINVAL, 0, NULL },
	{ "0 ", -EINVAL, 0, NULL },
	{ "0,\n1", -EINVAL, 0, NULL },
	{ "0x1", -EINVAL, 0, NULL },
	{ "all", -EINVAL, 0, NULL },
	{ "0-7:2/4", -EINVAL, 0, NULL },
};

static void check_lists(void)
{
	struct cpus set = CPUS_EMPTY;
	char *text;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		CHECK_U64("one to overwrite", parse_cpus("77", &set), 0);
		ret = parse_cpus(lists[i].text, &set);
		CHECK_U64(lists[i].text, ret, lists[i].ret);
		CHECK_U64(lists[i].text, set.count, lists[i].ret ? 1 : lists[i].count);
		text = cpus_text(&set);
		CHECK_TEXT(lists[i].text, text, lists[i].ret ? "77" : lists[i].back);
		free(text);
	}
	CHECK_U64("order", parse_cpus("8,0-3", &set), 0);
	CHECK_U64("order", set.ids[0], 8);
	cpus_free(&set);
}

static const struct {
	uint64_t value;
	const char *size, *time;
} exact[] = {
	{ 0, "0", "0s" },
	{ 1, "1", "1ns" },
	{ 1000, "1000", "1us" },
	{ 1023, "1023", "1023ns" },
	{ KiB, "1k", "1024ns" },
	{ 1536, "1536", "1536ns" },
	{ 1536 * KiB, "1536k", "1572864ns" },
	{ 64 * MiB, "64m", "67108864ns" },
	{ 3 * GiB, "3g", "3221225472ns" },
	{ 1024 * TiB, "1024t", "1125899906842624ns" },
	{ 1500 * ns_per_ms, "1500000000", "1500ms" },
	{ 90 * ns_per_s, "87890625k", "90s" },
	{ 120 * ns_per_s, "117187500k", "2m" },
	{ 7200 * ns_per_s, "7031250000k", "2h" },
	{ INT64_MAX, "9223372036854775807", "9223372036854775807ns" },
};

static void check_round_trip(uint64_t value)
{
	char buf[FORMAT_LEN];
	uint64_t back = ~value;

	CHECK_U64("size", parse_size(format_size(buf, value), &back), 0);
	CHECK_U64(buf, back, value);
	if (value > INT64_MAX)
		return;
	back = ~value;
	CHECK_U64("time", parse_time(format_time(buf, value), &back), 0);
	CHECK_U64(buf, back, value);
}

static void check_exact_formats(void)
{
	uint64_t random = 1;
	char buf[FORMAT_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(exact); i++) {
		CHECK_TEXT("size", format_size(buf, exact[i].value), exact[i].size);
		CHECK_TEXT("time", format_time(buf, exact[i].value), exact[i].time);
		check_round_trip(exact[i].value);
	}
	CHECK_TEXT("size", format_size(buf, UINT64_MAX), "18446744073709551615");
	check_round_trip(UINT64_MAX);
	for (unsigned i = 0; i < 10000; i++) {
		random = random * UINT64_C(6364136223846793005) +
			 UINT64_C(1442695040888963407);
		check_round_trip(random);
		check_round_trip(random >> i % 64);
		check_round_trip(random >> 32 << i % 40);
		check_round_trip(random % 5000 * ns_per_ms);
	}
}

static const struct {
	double bytes;
	const char *text;
} amounts[] = {
	{ 0, "0 B" },
	{ 1, "1 B" },
	{ 1.5, "1.50 B" },
	{ 812, "812 B" },
	{ 1023, "1023 B" },
	{ 1023.7, "1.00 KiB" },
	{ 1024, "1.00 KiB" },
	{ 1.5 * (1 << 30), "1.50 GiB" },
	{ 9.994 * 1024, "9.99 KiB" },
	{ 9.996 * 1024, "10.0 KiB" },
	{ 99.94 * 1024, "99.9 KiB" },
	{ 99.96 * 1024, "100 KiB" },
	{ 1023.4 * 1024, "1023 KiB" },
	{ 1023.6 * 1024, "1.00 MiB" },
	{ 1048575, "1.00 MiB" },
	{ 0x1p40, "1.00 TiB" },
	{ 0x1p50, "1.00 PiB" },
	{ 0x1p64, "16.0 EiB" },
	{ 0x1p74, "16384 EiB" },
	{ -1536, "-1.50 KiB" },
};

static void check_amounts(void)
{
	char buf[FORMAT_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(amounts); i++)
		CHECK_TEXT("amount", format_bytes(buf, amounts[i].bytes),
			   amounts[i].text);
}

int main(void)
{
	check_rows(parse_size, sizes, ARRAY_SIZE(sizes));
	check_rows(parse_time, times, ARRAY_SIZE(times));
	check_rows(parse_delay, delays, ARRAY_SIZE(delays));
	check_rows(parse_count, counts, ARRAY_SIZE(counts));
	check_rows(parse_word, words, ARRAY_SIZE(words));
	check_shares();
	check_tasks();
	check_lists();
	check_exact_formats();
	check_amounts();
	return check_result();
}
