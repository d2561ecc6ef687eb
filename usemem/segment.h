/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segment - System V segments that are gone when the call returns, and what is resident. */
#ifndef USEMEM_SEGMENT_H
#define USEMEM_SEGMENT_H

#include "common/region.h"
#include "common/residency.h"

/* Create a segment of BYTES, touch each page, lock it, unlock it, remove it. 0 or -errno after
 * saying so, as all calls here. */
must_check int segment_lock(uint64_t bytes);
/* The resident ones of the huge pages of a new segment of BYTES rounded up; then each is written.
 * HUGE_BYTES, if not 0, is their size, else DEFAULT_BYTES is. */
must_check int segment_resident(uint64_t default_bytes, uint64_t huge_bytes,
				uint64_t bytes, struct residency *r);
/* The resident ones of the base pages of BYTES at MEMORY (mincore(2)). */
must_check int pages_resident(const struct backing *b, void *memory, uint64_t bytes,
			      struct residency *r);

#endif
