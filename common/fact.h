/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact - what is known of a machine: one text each, from a file of /proc or /sys that a row names. */
#ifndef COMMON_FACT_H
#define COMMON_FACT_H

#include "common/base.h"

#include <stdbool.h>

/* What a text is to readers of results. */
enum fact_kind {
	FACT_TEXT,
	FACT_NUMBER,
	FACT_BOOL,  /* "1" or "0", "Y" or "N" */
	FACT_WORDS, /* blanks between them */
};

struct fact {
	const char *key;
	enum fact_kind kind;
	char *text; /* malloc'ed; NULL: not to be found out */
};

struct fact_source {
	const char *key, *file;
	enum fact_kind kind;
	/* What of the file's text it is, malloc'ed; NULL: it has no such thing. */
	char *(*find)(const char *text);
};

/* A fact for each of COUNT rows, whose files are below FOLDER, which is below ROOT ("": of this machine).
 * The number of those that were found. They are the caller's to free with facts_free(), found or not. */
unsigned facts_read(struct fact *facts, const struct fact_source *rows, unsigned count,
		    const char *root, const char *folder);
void facts_free(struct fact *facts, unsigned count);
/* The text of KEY; NULL: not known. */
const char *fact_text(const struct fact *facts, unsigned count, const char *key);

/* For rows: the first line of TEXT, */
must_check char *line_of(const char *text);
/* ... or "madvise" of "always [madvise] never"; where there is one choice, and no brackets, that. */
must_check char *word_in_brackets(const char *text);
/* Is WORD one of WORDS, which have blanks between them? */
bool has_word(const char *words, const char *word);
/* WORDS, malloc'ed, with WORD behind its last; WORDS is freed. NULL, as WORDS can be: no memory. */
must_check char *add_word(char *words, const char *word);

#endif
