/* SPDX-License-Identifier: GPL-2.0-or-later */
/* optkinds - what each kind of option takes, how it is read and shown; for opts and report. */
#ifndef COMMON_OPTKINDS_H
#define COMMON_OPTKINDS_H

#include "common/opts.h"

struct opt_kind_row {
	const char *argument; /* NULL: takes none */
	int takes;
	const char *expected;
	int (*parse)(const struct opt *o, const char *text);
	void (*show)(const struct opt *o,
		     char *text); /* the default; NULL: none worth showing */
	const char *unit;         /* of the value, for its key in results; NULL: none */
};

/* By enum opt_kind. */
extern const struct opt_kind_row opt_kinds[];

#endif
