// SPDX-License-Identifier: GPL-2.0-or-later
/* fact - what is known of a machine: one text each, from a file of /proc or /sys that a row names. */
#include "common/fact.h"

#include "common/procfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *line_of(const char *text)
{
	return strndup(text, strcspn(text, "\n"));
}

char *word_in_brackets(const char *text)
{
	const char *word = strchr(text, '[');

	if (!word)
		return line_of(text);
	word++;
	return strndup(word, strcspn(word, "]"));
}

bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

char *add_word(char *words, const char *word)
{
	char *more;

	if (!words || asprintf(&more, "%s%s%s", words, *words ? " " : "", word) < 0)
		more = NULL;
	free(words);
	return more;
}

unsigned facts_read(struct fact *facts, const struct fact_source *rows, unsigned count,
		    const char *root, const char *folder)
{
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct fact_source *row = &rows[i];
		char *text = procfile_read(root, "%s/%s", folder, row->file);

		facts[i] = (struct fact){ .key = row->key, .kind = row->kind };
		if (text)
			facts[i].text = row->find(text);
		found += facts[i].text != NULL;
		free(text);
	}
	return found;
}

void facts_free(struct fact *facts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free(facts[i].text);
}

const char *fact_text(const struct fact *facts, unsigned count, const char *key)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(facts[i].key, key))
			return facts[i].text;
	return NULL;
}
