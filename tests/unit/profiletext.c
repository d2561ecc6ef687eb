// SPDX-License-Identifier: GPL-2.0-or-later
/* profiletext - tests of common/profiletext.c: texts of perf report, and any others. */
#include "common/profile.h"
#include "tests/check.h"

static const struct {
	const char *name, *text, *rows;
} texts[] = {
	{ "as perf has it",
	  "# Samples: 29  of event 'cycles'\n#\n# Children      Self  Symbol\n"
	  "# ........  ........  ..........\n#\n"
	  "    41.38%     0.00%  [.] _dl_start_user\n"
	  "    21.78%    21.67%  [k] clear_page_erms   \n\n",
	  "children._dl_start_user 41.38\nchildren.clear_page_erms 21.78\n"
	  "self.clear_page_erms 21.67\n" },
	{ "the least", " 0.05% 0.04% [k] a\n 0.04% 0.05% [k] b\n",
	  "children.a 0.05\nself.b 0.05\n" },
	{ "one name", " 1.00% 0.50% [k] a\n 2.00% 1.00% [.] b\n 1.00% 0.25% [.] a\n",
	  "children.a 2\nself.a 0.75\nchildren.b 2\nself.b 1\n" },
	{ "no more than all", "60.00% 1.00% [k] a\n60.00% 1.00% [k] a\n",
	  "children.a 100\nself.a 2\n" },
	{ "blanks in it", "1.00% 1.00% [.] f(int, char)  \n",
	  "children.f(int, char) 1\nself.f(int, char) 1\n" },
	{ "no line end", "100.00% 100.00% [.] x", "children.x 100\nself.x 100\n" },
	{ "empty", "", "" },
	{ "line ends", "\n\n\n", "" },
	{ "not that many", "1.00% [.] x\n", "" },
	{ "not available", "N/A 1.00% [.] x\n", "" },
	{ "more than all", "100.01% 1.00% [.] x\n", "" },
	{ "negative", "-1.00% 1.00% [.] x\n", "" },
	{ "not numbers",
	  "nan% inf% [.] x\n0x1% 1% [.] x\n1e9% 1% [.] x\n1.2.3% 1% [.] x\n.% 1% [.] x\n",
	  "" },
	{ "no symbol", "1% 1%\n1% 1% \n1% 1% [.]\n1% 1% [.] \n1% 1% [.]  \n1% 1% x\n",
	  "" },
	{ "over the line's end", "1%\n1% [.] x\n", "" },
};

static void add_line(void *context, const char *name, double value)
{
	char *at = context, what[16];
	size_t len = strlen(at);

	CHECK_U64(name, sscanf(name, "perf-profile.%8[a-z].cycles-pp.", what), 1);
	snprintf(at + len, 1024 - len, "%s.%s %.4g\n", what,
		 strstr(name, ".cycles-pp.") + strlen(".cycles-pp."), value);
}

static void add_nothing(void *context, const char *name, double value)
{
	(void)context;
	CHECK(name && value >= 0.05 && value <= 100);
}

/* Symbols of every length, and pieces of a good text. */
static void check_lengths(void)
{
	static const char good[] = "12.34% 5.67% [k] some_function_of_the_kernel\n";
	char text[1024];

	for (int len = 1; len < 600; len++) {
		snprintf(text, sizeof(text), "1%% 1%% [.] %0*d\n", len, 0);
		CHECK_U64("length", profile_parse(text, add_nothing, NULL), 0);
	}
	for (size_t from = 0; from < sizeof(good); from++)
		for (size_t to = from; to < sizeof(good); to++) {
			snprintf(text, sizeof(text), "%.*s", (int)(to - from),
				 good + from);
			CHECK_U64("piece", profile_parse(text, add_nothing, NULL), 0);
		}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char rows[1024] = "";

		CHECK_U64(texts[i].name, profile_parse(texts[i].text, add_line, rows), 0);
		CHECK_TEXT(texts[i].name, rows, texts[i].rows);
	}
	check_lengths();
	return check_result();
}
