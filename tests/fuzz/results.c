// SPDX-License-Identifier: GPL-2.0-or-later
/* results - any text for compare, as the result of both sides: it is read or refused, and what is told of it is
 * whole. */
#include "compare/load.h"
#include "compare/options.h"
#include "compare/report.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

static void tell(struct comparison *c)
{
	static void (*const forms[])(FILE * out, const struct comparison *c) = {
		text_write, markdown_write, html_write, json_write
	};
	char *text = NULL;
	json_t *told;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		FILE *out = open_memstream(&text, &len);

		MUST(out, "memory");
		forms[i](out, c);
		fclose(out);
		MUST(len && strlen(text) == len, "%zu bytes", len);
		if (forms[i] == json_write) {
			told = json_loadb(text, len, 0, NULL);
			MUST(json_is_object(told), "%s", text);
			json_decref(told);
		}
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char said[512];
	struct document d = { 0 };
	struct comparison c;
	int ret;

	complain_into(said, sizeof(said));
	cfg.all = true;
	c = (struct comparison){ .config = &cfg,
				 .sides = calloc(2, sizeof(struct side)),
				 .side_count = 2,
				 .rules = { RULE_TESTS, 1, threshold_of, &cfg } };
	MUST(c.sides && !series_table_init(&c.table, 2), "memory");
	ret = document_parse(&d, "input", (const char *)data, size);
	for (unsigned s = 0; s < 2 && !ret; s++)
		ret = side_add(&c.sides[s], &c.table, s, &d);
	if (!ret && c.sides[0].valid && !comparison_name(&c, NULL) &&
	    !comparison_judge(&c))
		tell(&c);
	MUST(!ret || said[0], "refused in silence: %d", ret);
	comparison_free(&c);
	document_free(&d);
	complain_into(NULL, 0);
	return 0;
}
