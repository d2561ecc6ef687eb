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

static json_t *json_of_words(const char *words)
{
	json_t *array = json_array();
	char *copy = strdup(words), *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		if (*word)
			json_array_append_new(array, json_of_text(word));
	free(copy);
	return array;
}

json_t *json_of_fact(const struct fact *fact)
{
	const char *text = fact->text ?: "";
	bool is_digits = *text && !text[strspn(text, "0123456789")];

	if (!fact->text)
		return json_null();
	switch (fact->kind) {
	case FACT_NUMBER:
		return is_digits ? json_of_count(strtoull(text, NULL, 10)) : json_null();
	case FACT_BOOL:
		if (!*text || !strchr("01NY", *text))
			return json_null();
		return json_boolean(strchr("1Y", *text));
	case FACT_WORDS:
		return json_of_words(text);
	default:
		return json_of_text(text);
	}
}
