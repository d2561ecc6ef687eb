// SPDX-License-Identifier: GPL-2.0-or-later
/* pass - one pass over a unit, in pieces between which the deadline is looked at. */
#include "usemem/pass.h"

#include "common/clock.h"
#include "common/region.h"

/* The word of access number ACCESS; the next one, where the order is random. */
static uint64_t word_of(const struct touch *t, const struct pass *pass, uint64_t access)
{
	struct rng rng = t->rng;

	return pass->kind->random ? rng_scale(rng_next(&rng), t->count)
				  : access * t->step;
}

static uint64_t page_of(const struct touch *t, const struct pass *pass, uint64_t access)
{
	return (uintptr_t)(t->words + word_of(t, pass, access)) / pass->page_bytes;
}

/* The first of the next accesses' words that is wrong, or UINT64_MAX. */
static uint64_t first_wrong(const struct touch *t, const struct pass *pass, uint64_t from,
			    uint64_t accesses)
{
	struct touch ahead = *t;

	for (uint64_t k = from; k < from + accesses; k++) {
		uint64_t i = word_of(&ahead, pass, k);

		if (!pass->right(pass->context, t, i, t->words[i]))
			return i;
		rng_next(&ahead.rng);
	}
	return UINT64_MAX;
}

/* Access word I again and again until the time is over, or the phase. */
static void stay(const struct worker *w, const struct touch *t, const struct pass *pass,
		 uint64_t i, uint64_t until_ns)
{
	volatile word *at = t->words + i;

	while (now_ns() < until_ns && keep_going(w)) {
		if (pass->kind->writes)
			*at = pattern_word(&t->pattern, i);
		else
			(void)*at;
	}
}

/* Accesses from FROM on that stay on its page; random ones come to a page each. */
static uint64_t left_on_page(const struct touch *t, const struct pass *pass,
			     uint64_t from)
{
	uintptr_t at = (uintptr_t)(t->words + from * t->step);
	uint64_t left = pass->page_bytes - at % pass->page_bytes;

	if (pass->kind->random)
		return 1;
	return (left - 1) / (t->step * sizeof(word)) + 1;
}

/* Come to the page of access FROM and stay on it, or go on over it. The accesses made. */
static uint64_t touch_held(const struct worker *w, struct touch *t,
			   const struct pass *pass, uint64_t from, uint64_t accesses)
{
	bool comes = !from || pass->kind->random ||
		     page_of(t, pass, from) != page_of(t, pass, from - 1);
	uint64_t until_ns = now_ns() + pass->hold_ns, i = word_of(t, pass, from), made;

	if (!comes)
		return pass->kind->touch(t, from,
					 MIN(accesses, left_on_page(t, pass, from)));
	made = pass->kind->touch(t, from, 1);
	if (made)
		stay(w, t, pass, i, until_ns);
	return made;
}

uint64_t pass_over(struct worker *w, struct touch *t, struct pass *pass)
{
	uint64_t accesses = MIN(touch_accesses(t), pass->at_most);
	uint64_t piece = touch_piece(pass->kind, t->step, base_page_bytes(), t->fresh);

	for (pass->made = 0; pass->made < accesses;) {
		uint64_t from = pass->made, asked = MIN(piece, accesses - from), made;
		uint64_t wrong = pass->right ? first_wrong(t, pass, from, asked)
					     : UINT64_MAX;

		if (unlikely(wrong != UINT64_MAX))
			return wrong;
		made = pass->hold_ns ? touch_held(w, t, pass, from, asked)
				     : pass->kind->touch(t, from, asked);
		tally_add(w, made, made * sizeof(uint64_t));
		pass->made += made;
		if (unlikely(!made || (made < asked && !pass->hold_ns)))
			return pass->made * t->step;
		if (!keep_going(w))
			break;
	}
	return UINT64_MAX;
}
