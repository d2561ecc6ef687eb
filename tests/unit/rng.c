// SPDX-License-Identifier: GPL-2.0-or-later
/* rng - tests of common/rng.h; each number comes from a fixed seed. */
#include "common/rng.h"
#include "common/base.h"
#include "tests/check.h"

/* The reference outputs of splitmix64. */
static const struct {
	uint64_t seed, values[5];
} vectors[] = {
	{ 0,
	  { UINT64_C(0xe220a8397b1dcdaf), UINT64_C(0x6e789e6aa1b965f4),
	    UINT64_C(0x06c45d188009454f), UINT64_C(0xf88bb8a8724c81ec),
	    UINT64_C(0x1b39896a51a8749b) } },
	{ 1234567,
	  { UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
	    UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
	    UINT64_C(16408922859458223821) } },
};

static void check_vectors(void)
{
	for (size_t v = 0; v < ARRAY_SIZE(vectors); v++) {
		struct rng r = { vectors[v].seed };

		for (unsigned i = 0; i < 5; i++)
			CHECK_U64("vector", rng_next(&r), vectors[v].values[i]);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t count_doubles(uint64_t *values, size_t n)
{
	uint64_t doubles = 0;

	qsort(values, n, sizeof(*values), compare);
	for (size_t i = 1; i < n; i++)
		doubles += values[i] == values[i - 1];
	return doubles;
}

/* No two of these streams share a number, wherever in them: neighbours' streams are neither the
 * same nor shifted. */
static void check_streams(void)
{
	static const uint64_t seeds[] = { 0,          1,        2,
					  3,          42,       UINT32_MAX,
					  UINT64_MAX, RNG_STEP, UINT64_MAX - RNG_STEP };
	enum { WORKERS = 16, LENGTH = 2000 };
	static uint64_t values[ARRAY_SIZE(seeds) * WORKERS * LENGTH];
	size_t n = 0;

	for (size_t s = 0; s < ARRAY_SIZE(seeds); s++)
		for (unsigned w = 0; w < WORKERS; w++) {
			struct rng r = rng_stream(seeds[s], w);

			for (unsigned i = 0; i < LENGTH; i++)
				values[n++] = rng_next(&r);
		}
	CHECK_U64("numbers that come twice", count_doubles(values, n), 0);
}

/* The same seed and worker give the same stream. */
static void check_again(void)
{
	struct rng r = rng_stream(42, 3), again = rng_stream(42, 3);
	unsigned differ = 0;

	for (unsigned i = 0; i < 1000; i++)
		differ += rng_next(&r) != rng_next(&again);
	CHECK_U64("differ", differ, 0);
}

/* Neighbours are not in step: of a thousand places they meet at about one in a thousand. */
static void check_out_of_step(void)
{
	struct rng r = rng_stream(1, 0), next = rng_stream(1, 1);
	unsigned meetings = 0;

	for (unsigned i = 0; i < 100000; i++)
		meetings += rng_scale(rng_next(&r), 1000) ==
			    rng_scale(rng_next(&next), 1000);
	CHECK(meetings > 50 && meetings < 150);
}

static const struct {
	uint64_t x, n, scaled;
} scales[] = {
	{ 0, 0, 0 },
	{ UINT64_MAX, 0, 0 },
	{ 0, 1, 0 },
	{ UINT64_MAX, 1, 0 },
	{ 0, 2, 0 },
	{ INT64_MAX, 2, 0 },
	{ UINT64_C(1) << 63, 2, 1 },
	{ UINT64_MAX, 2, 1 },
	{ UINT64_C(0x5555555555555555), 3, 0 },
	{ UINT64_C(0x5555555555555556), 3, 1 },
	{ UINT64_C(0xaaaaaaaaaaaaaaaa), 3, 1 },
	{ UINT64_C(0xaaaaaaaaaaaaaaab), 3, 2 },
	{ UINT64_MAX, 3, 2 },
	{ UINT64_C(0x2492492492492492), 7, 0 },
	{ UINT64_C(0x2492492492492493), 7, 1 },
	{ UINT64_MAX, 7, 6 },
	{ 0xffffff, TiB, 0 },
	{ 0x1000000, TiB, 1 },
	{ UINT64_C(1) << 63, TiB, TiB / 2 },
	{ UINT64_MAX, TiB, TiB - 1 },
	{ UINT64_MAX - 0xffffff, TiB, TiB - 1 },
	{ UINT64_MAX - 0x1000000, TiB, TiB - 2 },
	{ UINT64_MAX, UINT64_MAX, UINT64_MAX - 1 },
	{ UINT64_MAX, (UINT64_C(1) << 32) + 1, UINT64_C(1) << 32 },
};

static void check_scales(void)
{
	char row[64];

	for (size_t i = 0; i < ARRAY_SIZE(scales); i++) {
		snprintf(row, sizeof(row), "%#jx to %ju", (uintmax_t)scales[i].x,
			 (uintmax_t)scales[i].n);
		CHECK_U64(row, rng_scale(scales[i].x, scales[i].n), scales[i].scaled);
	}
}

/* Both ends come up. */
static void check_small_ranges(void)
{
	static const uint64_t ranges[] = { 1, 2, 3, 7, 100 };

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		struct rng r = rng_stream(7, i);
		uint64_t low = UINT64_MAX, high = 0;

		for (unsigned k = 0; k < 10000; k++) {
			uint64_t x = rng_scale(rng_next(&r), ranges[i]);

			low = MIN(low, x);
			high = MAX(high, x);
		}
		CHECK_U64("lowest", low, 0);
		CHECK_U64("highest", high, ranges[i] - 1);
	}
}

/* Of a million draws the nearest to either end is about a millionth of the range away. */
static void check_large_range(uint64_t n)
{
	enum { DRAWS = 1000000 };
	struct rng r = rng_stream(n, 0);
	uint64_t low = UINT64_MAX, high = 0;

	for (unsigned k = 0; k < DRAWS; k++) {
		uint64_t x = rng_scale(rng_next(&r), n);

		low = MIN(low, x);
		high = MAX(high, x);
	}
	CHECK(low < n / DRAWS * 20);
	CHECK(high < n);
	CHECK(high > n - n / DRAWS * 20);
}

static uint64_t cell_of_scaled(uint64_t x, uint64_t cells)
{
	return rng_scale(x, cells);
}

static uint64_t cell_of_high_range(uint64_t x, uint64_t cells)
{
	return rng_scale(x, TiB) / (TiB / cells);
}

/* The low end of a large range: what a multiplication by a fraction would leave constant. */
static uint64_t cell_of_low_digits(uint64_t x, uint64_t cells)
{
	return rng_scale(x, TiB) % cells;
}

static const struct {
	const char *name;
	uint64_t (*cell)(uint64_t x, uint64_t cells);
	uint64_t cells;
} spreads[] = {
	{ "2", cell_of_scaled, 2 },
	{ "3", cell_of_scaled, 3 },
	{ "7", cell_of_scaled, 7 },
	{ "64", cell_of_scaled, 64 },
	{ "1000", cell_of_scaled, 1000 },
	{ "2^40, the places", cell_of_high_range, 256 },
	{ "2^40, the low digits", cell_of_low_digits, 256 },
	{ "2^40, other digits", cell_of_low_digits, 1000 },
};

/* Chi-square: neither far from uniform nor nearer to it than chance gets. */
static void check_spread(size_t row, uint64_t stream)
{
	enum { PER_CELL = 1000 };
	uint64_t cells = spreads[row].cells, *counts = calloc(cells, sizeof(*counts));
	struct rng r = rng_stream(20260, stream);
	double chi = 0, freedom = (double)cells - 1;

	if (!counts)
		abort();
	for (uint64_t i = 0; i < cells * PER_CELL; i++)
		counts[spreads[row].cell(rng_next(&r), cells)]++;
	for (uint64_t i = 0; i < cells; i++)
		chi += ((double)counts[i] - PER_CELL) * ((double)counts[i] - PER_CELL) /
		       PER_CELL;
	CHECK_NEAR(spreads[row].name, chi, freedom, 5 * sqrt(2 * freedom) / freedom);
	free(counts);
}

int main(void)
{
	check_vectors();
	check_streams();
	check_again();
	check_out_of_step();
	check_scales();
	check_small_ranges();
	check_large_range(TiB);
	check_large_range(UINT64_MAX);
	for (size_t row = 0; row < ARRAY_SIZE(spreads); row++)
		for (uint64_t stream = 0; stream < 4; stream++)
			check_spread(row, stream);
	return check_result();
}
