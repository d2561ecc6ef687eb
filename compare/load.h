/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load - JSON results become the runs of a side and the samples of its metrics. */
#ifndef COMPARE_LOAD_H
#define COMPARE_LOAD_H

#include "compare/side.h"

/* jansson.h calls it json_t. */
struct json_t;

struct document {
	const char *name; /* of the file, for messages */
	struct json_t *root;
};

/* Read the JSON result NAME, "-" being standard input. 0, or -errno after saying what is wrong with it;
 * document_free() in either case. */
must_check int document_read(struct document *d, const char *name);
/* The same for a TEXT of LEN bytes that is called NAME. */
must_check int document_parse(struct document *d, const char *name, const char *text,
			      size_t len);
void document_free(struct document *d);

/* A text of the document's top level; "" where there is none. It lasts as long as the document. */
const char *document_text(const struct document *d, const char *key);
const char *document_kernel(const struct document *d);
const char *document_kernel_version(const struct document *d);

/* Its runs join SIDE, whose last file it is, and their samples TABLE, as side NUMBER. 0 or
 * -ENOMEM after saying so. */
must_check int document_add(const struct document *d, struct side *side,
			    struct series_table *table, unsigned number);

#endif
