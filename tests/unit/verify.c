// SPDX-License-Identifier: GPL-2.0-or-later
/* verify - tests of copyfile/verify.c: what is planted in a target is found, and named. */
#include "copyfile/copyfile.h"
#include "tests/check.h"
#include "tests/unit/hear.h"

#include <errno.h>
#include <sys/mman.h>

/* Blocks of some pieces, at offsets that are no multiples of anything. */
enum {
	FIFTH = 5 * STAMP_STEP,
	LEN = 100 * 1000,
	AT = 12345,
	TO = 54321,
	SIZE = 300 * 1000
};

static char block[LEN];
static struct pair pair = { .from_name = "SOURCE", .to_name = "TARGET" };

static void put(int fd, const void *data, size_t len, off_t at)
{
	if (pwrite(fd, data, len, at) != (ssize_t)len)
		abort();
}

/* A block of worker 3 in both files. */
static void make_pair(void)
{
	pair.from = memfd_create("source", MFD_CLOEXEC);
	pair.to = memfd_create("target", MFD_CLOEXEC);
	if (pair.from < 0 || pair.to < 0 || ftruncate(pair.from, SIZE) ||
	    ftruncate(pair.to, SIZE))
		abort();
	block_prepare(block, LEN);
	block_stamp(block, LEN, 3, 7, AT);
	put(pair.from, block, LEN, AT);
	put(pair.to, block, LEN, TO);
}

static void end_pair(void)
{
	close(pair.from);
	close(pair.to);
}

/* A length, and what of the target is changed: a byte, or from it on a block of another operation. */
static const struct row {
	const char *name;
	uint64_t len;
	size_t flip; /* LEN: none */
	bool other;
	const char *said;
} rows[] = {
	{ "all is well", LEN, LEN, false, "" },
	{ "nothing", 0, 0, false, "" },
	{ "one byte", 1, LEN, false, "" },
	{ "behind the end", 1000, 1000, false, "" },
	{ "between two stamps", LEN, 50000, false,
	  "wrong data at offset 104321 of TARGET: expected 0x" },
	{ "the last byte", LEN, LEN - 1, false, "wrong data at offset 154320 of TARGET" },
	{ "the first byte", LEN, 0, false,
	  "wrong data at offset 54321 of TARGET: expected worker 3, operation 7, offset "
	  "12345, found 0x" },
	{ "in a later stamp", LEN, FIFTH + 17, false,
	  "wrong data at offset 74818 of TARGET: expected worker 3, operation 7, offset "
	  "32825, found 0x" },
	{ "another operation", LEN, 0, true,
	  "wrong data at offset 54329 of TARGET: expected worker 3, operation 7, offset "
	  "12345, found worker 3, operation 6, offset 12345" },
	{ "another operation, further on", LEN, FIFTH, true,
	  "wrong data at offset 74809 of TARGET: expected worker 3, operation 7, offset "
	  "32825, found worker 3, operation 6, offset 32825" },
};

static void plant(const struct row *row)
{
	static char other[LEN];
	unsigned char byte = row->flip < LEN ? (unsigned char)block[row->flip] ^ 1 : 0;

	block_prepare(other, LEN);
	block_stamp(other, LEN, 3, 6, AT);
	if (row->other)
		put(pair.to, other + row->flip, LEN - row->flip, (off_t)(TO + row->flip));
	else if (row->flip < LEN)
		put(pair.to, &byte, 1, (off_t)(TO + row->flip));
}

static void check_row(const struct row *row, const void *expected)
{
	const struct span span = { .at = AT, .len = row->len, .to = TO };
	static struct heard heard;
	int ret;

	make_pair();
	plant(row);
	hear_begin(&heard, STDERR_FILENO);
	ret = verify_block(3, &pair, &span, expected);
	hear_end(&heard);
	CHECK_U64(row->name, ret, row->said[0] ? -EIO : 0);
	CHECK_U64(row->name, heard.writes, row->said[0] != 0);
	if (row->said[0] &&
	    (!strstr(heard.text, row->said) || !strstr(heard.text, ": worker 3: ")))
		CHECK_TEXT(row->name, heard.text, row->said);
	end_pair();
}

/* In memory nothing was cut: it is the file that is said to end. */
static void check_cut(int fd, const char *said)
{
	const struct span span = { .at = AT, .len = LEN, .to = TO };
	static struct heard heard;
	int ret;

	if (ftruncate(fd, 80000))
		abort();
	hear_begin(&heard, STDERR_FILENO);
	ret = verify_block(3, &pair, &span, NULL);
	hear_end(&heard);
	CHECK_U64("cut", ret, -EIO);
	CHECK_TEXT("cut", heard.text, said);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		check_row(&rows[i], block);
		check_row(&rows[i], NULL);
	}
	make_pair();
	check_cut(pair.to, "unit-verify: TARGET ends at offset 80000, where 7089 bytes "
			   "more are to be\n");
	end_pair();
	make_pair();
	check_cut(pair.from, "unit-verify: SOURCE ends at offset 80000, where 30649 "
			     "bytes more are to be\n");
	end_pair();
	return check_result();
}
