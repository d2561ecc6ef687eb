/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stamp - what a dirtied page carries: by whom it was written, where and when. */
#ifndef MSYNC_STAMP_H
#define MSYNC_STAMP_H

#include "common/rng.h"

#include <stdbool.h>

/* At the start of a page, on one cache line. */
struct stamp {
	uint64_t worker, offset, pass; /* offset: in the file; passes begin with 1 */
	uint64_t check; /* of the three: a page of anything else has no stamp */
};

static inline struct stamp stamp_make(uint64_t worker, uint64_t offset, uint64_t pass)
{
	struct stamp s = { worker, offset, pass, 0 };

	s.check = rng_hash(rng_hash(rng_hash(worker + RNG_STEP) + offset) + pass);
	return s;
}

static inline bool stamp_is_one(const struct stamp *s)
{
	return s->check == stamp_make(s->worker, s->offset, s->pass).check;
}

#endif
