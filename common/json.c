// SPDX-License-Identifier: GPL-2.0-or-later
/* json - values as the JSON results have them; NULL, of any, is a lack of memory. */
#include "common/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_of_text(const char *text)
{
	json_t *good = json_string(text);
	char *spelled, *at;

	if (good)
		return good;
	spelled = at = malloc(4 * strlen(text) + 1);
	if (!spelled)
		return NULL;
	for (; *text; text++)
		at += snprintf(at, sizeof("\\xff"),
			       (unsigned char)*text < 0x80 ? "%c" : "\\x%02x",
			       (unsigned char)*text);
	*at = '\0';
	good = json_string(spelled);
	free(spelled);
	return good;
}

json_t *json_of_count(uint64_t value)
{
	char text[32];

	if (value <= INT64_MAX)
		return json_integer((json_int_t)value);
	snprintf(text, sizeof(text), "%ju", (uintmax_t)value);
	return json_string(text);
}
