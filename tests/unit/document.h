/* SPDX-License-Identifier: GPL-2.0-or-later */
/* document - the JSON result, read back. */
#ifndef TESTS_UNIT_DOCUMENT_H
#define TESTS_UNIT_DOCUMENT_H

#include "tests/check.h"

#include <jansson.h>

/* One document and a newline; NULL, and a check that failed, if it is not that. */
static inline json_t *document_parse(const char *text)
{
	json_error_t error;
	json_t *root = json_loads(text, 0, &error);

	if (!root)
		CHECK_TEXT("document", error.text, "valid JSON");
	CHECK(text[0] && text[strlen(text) - 1] == '\n');
	return root;
}

/* The value at a path of keys and indices, "workers.0.id"; NULL: there is none. */
static inline json_t *document_at(json_t *root, const char *path)
{
	char copy[128], *rest = copy, *key;

	snprintf(copy, sizeof(copy), "%s", path);
	while (root && (key = strsep(&rest, ".")))
		root = json_is_array(root) ? json_array_get(root, strtoul(key, NULL, 10))
					   : json_object_get(root, key);
	return root;
}

/* WANT is the value at PATH as compact JSON; "-": there is none. */
static inline void document_check(const char *row, json_t *root, const char *path,
				  const char *want)
{
	json_t *value = document_at(root, path);
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
						       JSON_REAL_PRECISION(17))
			   : strdup("-");
	char what[256];

	if (!text)
		abort();
	snprintf(what, sizeof(what), "%s%s%s", row, row[0] ? ": " : "", path);
	CHECK_TEXT(what, text, want);
	free(text);
}

#endif
