/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report - a comparison in its forms. */
#ifndef COMPARE_REPORT_H
#define COMPARE_REPORT_H

#include "compare/compare.h"

/* Each writes the whole of it to OUT, whose errors the caller looks for. */
void text_write(FILE *out, const struct comparison *c);
void markdown_write(FILE *out, const struct comparison *c);
void json_write(FILE *out, const struct comparison *c);
void html_write(FILE *out, const struct comparison *c);

#endif
