/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bare - the loops that usemem's are measured against: the same accesses and values, plain C. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <stdint.h>

uint64_t bare_read(const uint64_t *words, uint64_t count, uint64_t step);
uint64_t bare_read_random(const uint64_t *words, uint64_t count, uint64_t accesses,
			  uint64_t counter);
void bare_write(uint64_t *words, uint64_t count, uint64_t step);
void bare_write_random(uint64_t *words, uint64_t count, uint64_t accesses,
		       uint64_t counter);
/* Check and store in one loop; returns whether any word was wrong. */
uint64_t bare_check(uint64_t *words, uint64_t count, uint64_t step);

#endif
