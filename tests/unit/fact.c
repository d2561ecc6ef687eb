// SPDX-License-Identifier: GPL-2.0-or-later
/* fact - tests of common/fact.c. */
#include "common/fact.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text, *line, *in_brackets;
} texts[] = {
	{ "", "", "" },
	{ "none\n", "none", "none" },
	{ "one\ntwo\n", "one", "one" },
	{ "always [madvise] never\n", "always [madvise] never", "madvise" },
	{ "[always] madvise never", "[always] madvise never", "always" },
	{ "a [cut", "a [cut", "cut" },
	{ "[]\n", "[]", "" },
};

static const struct {
	const char *words, *word;
	bool there;
} lookups[] = {
	{ "", "fsrm", false },          { "fsrm", "fsrm", true },
	{ "a fsrm", "fsrm", true },     { "fsrm a", "fsrm", true },
	{ "a fsrm b", "fsrm", true },   { "fsrmx", "fsrm", false },
	{ "xfsrm", "fsrm", false },     { "fsrmx xfsrm fsrm", "fsrm", true },
	{ "fsrm2 fsrm", "fsrm", true },
};

int main(void)
{
	char *words = strdup("");

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *line = line_of(texts[i].text);
		char *word = word_in_brackets(texts[i].text);

		CHECK_TEXT(texts[i].text, line, texts[i].line);
		CHECK_TEXT(texts[i].text, word, texts[i].in_brackets);
		free(line);
		free(word);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
		CHECK_U64(lookups[i].words, has_word(lookups[i].words, lookups[i].word),
			  lookups[i].there);
	words = add_word(add_word(words, "one"), "two");
	CHECK_TEXT("added", words, "one two");
	free(words);
	CHECK(!add_word(NULL, "one"));
	return check_result();
}
