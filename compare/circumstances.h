/* SPDX-License-Identifier: GPL-2.0-or-later */
/* circumstances - what results depend on besides the program: options, machine, settings; and what of it
 * differs between two sides. */
#ifndef COMPARE_CIRCUMSTANCES_H
#define COMPARE_CIRCUMSTANCES_H

#include "compare/side.h"

struct json_t;

/* Those of the result ROOT become those of SIDE. 0 or -ENOMEM in silence. */
must_check int circumstances_of(struct side *side, const struct json_t *root);
/* Name in side->mixed what ROOT, another result of SIDE, has otherwise, of options and of what is weighty. Likewise. */
must_check int circumstances_mixed(struct side *side, const struct json_t *root);

/* Call EACH for every circumstance in which A and B differ; a value is NULL where a side does not know it.
 * WEIGHTY: with this difference the two cannot be told apart from a change of what was measured. */
void circumstances_differ(const struct side *a, const struct side *b,
			  void (*each)(void *context, const char *path, const char *a,
				       const char *b, bool weighty),
			  void *context);

#endif
