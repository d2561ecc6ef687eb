// SPDX-License-Identifier: GPL-2.0-or-later
/* json - tests of common/json.c: each kind of fact, known and not. Texts and counts are report's. */
#include "common/json.h"
#include "tests/unit/document.h"

static const struct {
	enum fact_kind kind;
	const char *text, *want;
} rows[] = {
	{ FACT_TEXT, NULL, "null" },
	{ FACT_TEXT, "", "\"\"" },
	{ FACT_TEXT, "Mitigation: PTI", "\"Mitigation: PTI\"" },
	{ FACT_TEXT, "\xff", "\"\\\\xff\"" },
	{ FACT_NUMBER, NULL, "null" },
	{ FACT_NUMBER, "", "null" },
	{ FACT_NUMBER, "0", "0" },
	{ FACT_NUMBER, "1280", "1280" },
	{ FACT_NUMBER, "18446744073709551615", "\"18446744073709551615\"" },
	{ FACT_NUMBER, "-1", "null" },
	{ FACT_NUMBER, "12 kB", "null" },
	{ FACT_BOOL, NULL, "null" },
	{ FACT_BOOL, "", "null" },
	{ FACT_BOOL, "0", "false" },
	{ FACT_BOOL, "1", "true" },
	{ FACT_BOOL, "N", "false" },
	{ FACT_BOOL, "Y", "true" },
	{ FACT_BOOL, "2", "null" },
	{ FACT_WORDS, NULL, "null" },
	{ FACT_WORDS, "", "[]" },
	{ FACT_WORDS, "erms", "[\"erms\"]" },
	{ FACT_WORDS, "erms fsrm", "[\"erms\",\"fsrm\"]" },
};

int main(void)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct fact fact = { "fact", rows[i].kind, (char *)rows[i].text };
		char row[64];

		json_object_set_new(object, "fact", json_of_fact(&fact));
		snprintf(row, sizeof(row), "kind %d, '%s'", rows[i].kind,
			 rows[i].text ?: "not known");
		document_check(row, object, "fact", rows[i].want);
	}
	json_decref(object);
	return check_result();
}
