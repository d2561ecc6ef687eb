/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sides - from what the user named to two or more sets of samples, judged. */
#ifndef COMPARE_SIDES_H
#define COMPARE_SIDES_H

#include "compare/compare.h"

/* The arguments of one side. */
struct operands {
	const char *const *at;
	unsigned count;
};

/* Read the sides, the first being the base, and judge each head. 0, or -errno after saying what is wrong;
 * comparison_free() in either case. */
must_check int comparison_make(struct comparison *c, const struct config *config,
			       const struct operands *sides, unsigned count);
/* Name the sides after what the user gave for them, NULL: nothing. Likewise. */
must_check int comparison_name(struct comparison *c, const struct operands *sides);
/* Judge the heads of a comparison whose sides are there and have names. Likewise. */
must_check int comparison_judge(struct comparison *c);
void comparison_free(struct comparison *c);

#endif
