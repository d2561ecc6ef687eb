/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json - values as the JSON results have them; NULL, of any, is a lack of memory. */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include "common/fact.h"

#include <stdint.h>

/* jansson.h calls it json_t. Only files that need more of it include that. */
struct json_t;

/* Bytes that are no UTF-8 are written out as \xNN. */
struct json_t *json_of_text(const char *text);
/* What the library's integers cannot hold is written out as text. */
struct json_t *json_of_count(uint64_t value);
/* By its kind; null if it is not known, or not what its kind says. */
struct json_t *json_of_fact(const struct fact *fact);

#endif
