// SPDX-License-Identifier: GPL-2.0-or-later
/* pass - one pass over a unit, in pieces between which the deadline is looked at. */
#include "usemem/pass.h"

#include "common/region.h"

uint64_t pass_over(struct worker *w, struct touch *t, const struct touch_kind *kind)
{
	uint64_t accesses = touch_accesses(t), done = 0;
	uint64_t piece = touch_piece(kind, t->step, base_page_bytes(), t->fresh);

	while (done < accesses) {
		uint64_t asked = MIN(piece, accesses - done);
		uint64_t made = kind->touch(t, done, asked);

		tally_add(w, made, made * sizeof(uint64_t));
		done += made;
		if (unlikely(made < asked))
			return done;
		if (!keep_going(w))
			break;
	}
	return UINT64_MAX;
}
