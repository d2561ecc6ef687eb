/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verdict - judgements in plain sentences. */
#ifndef COMPARE_VERDICT_H
#define COMPARE_VERDICT_H

#include "compare/compare.h"

#define SENTENCE_LEN 640
#define HEADLINE_LEN 1024

/* "regression", "improvement", "no change" ... in one or two words. */
const char *verdict_word(const struct series *s, const struct judgement *j);
/* The verdict of a metric against HEAD, without its name. */
char *verdict_sentence(char text[static SENTENCE_LEN], const struct comparison *c,
		       unsigned series, unsigned head);
/* Whether the data supports the claim. */
char *claim_sentence(char text[static SENTENCE_LEN], const struct comparison *c,
		     unsigned series, unsigned head);
/* The one that comes first: what it all comes to for HEAD, by the first metric. */
char *headline(char text[static HEADLINE_LEN], const struct comparison *c, unsigned head);
/* X of the metric, as a share of the base's middle where that can be, else in its unit. */
char *format_share(char text[static 48], const struct series *s,
		   const struct judgement *j, double x);
/* "1234567 KB/s" */
char *format_value(char text[static 48], const struct series *s, double x);
bool is_regression(const struct series *s, const struct judgement *j);

/* Call EACH with each circumstance that differs, as a sentence; WEIGHTY: the heads cannot be compared with the
 * base. */
void tell_differences(const struct comparison *c,
		      void (*each)(void *context, const char *text, bool weighty),
		      void *context);
/* The rules in force, in one paragraph. */
void rules_write(FILE *out, const struct comparison *c);

#endif
