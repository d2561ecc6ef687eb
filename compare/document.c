// SPDX-License-Identifier: GPL-2.0-or-later
/* document - a JSON result as it is read: whether it is one of ours, and what it says of itself. */
#include "compare/load.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Larger is nothing that our programs write. */
#define FILE_BYTES_MAX (64 * MiB)

static int read_all(int fd, const char *name, char **text, size_t *len)
{
	size_t room = 64 * KiB;
	ssize_t n = 1;
	char *more;

	*len = 0;
	*text = NULL;
	while (n) {
		if (!*text || *len == room) {
			room *= 2;
			more = realloc(*text, room);
			if (!more)
				return failed("memory for %s", name);
			*text = more;
		}
		n = read(fd, *text + *len, room - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed("read %s", name);
		*len += (size_t)n;
		if (*len > FILE_BYTES_MAX)
			return broken("%s is larger than 64m: expected a JSON result of "
				      "one run",
				      name);
	}
	return 0;
}

static int not_ours(const char *name, const char *what)
{
	return broken("%s is no result of ours: %s", name, what);
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* Everything that is read later on is there, and of its type. */
static int check_shape(const struct document *d)
{
	const struct {
		const char *key;
		json_type type;
	} parts[] = {
		{ "program", JSON_STRING }, { "version", JSON_STRING },
		{ "started", JSON_STRING }, { "host", JSON_OBJECT },
		{ "metrics", JSON_OBJECT }, { "workers", JSON_ARRAY },
		{ "outcome", JSON_STRING }, { "environment", JSON_OBJECT },
		{ "options", JSON_OBJECT },
	};
	const char *schema = text_of(d->root, "schema");
	char what[64];

	if (!schema)
		return not_ours(d->name, "expected an object with \"schema\": \"1\"");
	if (strcmp(schema, "1")) {
		snprintf(what, sizeof(what), "its schema is %.20s, expected 1", schema);
		return not_ours(d->name, made_plain(what));
	}
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const json_t *part = json_object_get(d->root, parts[i].key);

		if (part && json_typeof(part) == parts[i].type)
			continue;
		snprintf(what, sizeof(what), "it has no \"%s\"", parts[i].key);
		return not_ours(d->name, what);
	}
	return 0;
}

int document_parse(struct document *d, const char *name, const char *text, size_t len)
{
	json_error_t error;
	char what[256];

	*d = (struct document){ .name = name };
	d->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (d->root)
		return check_shape(d);
	if (!len)
		return not_ours(d->name, "it is empty");
	snprintf(what, sizeof(what), "line %d: %s", error.line, error.text);
	return not_ours(d->name, made_plain(what));
}

int document_read(struct document *d, const char *name)
{
	bool is_stdin = !strcmp(name, "-");
	int fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC), ret;
	char *text = NULL;
	size_t len = 0;

	*d = (struct document){ .name = name };
	if (fd < 0)
		return failed("open %s", name);
	ret = read_all(fd, name, &text, &len);
	if (!ret)
		ret = document_parse(d, name, text, len);
	free(text);
	if (!is_stdin)
		close(fd);
	return ret;
}

void document_free(struct document *d)
{
	json_decref(d->root);
	d->root = NULL;
}

const char *document_text(const struct document *d, const char *key)
{
	return text_of(d->root, key) ?: "";
}

const char *document_kernel(const struct document *d)
{
	return text_of(json_object_get(d->root, "host"), "kernel") ?: "";
}

const char *document_kernel_version(const struct document *d)
{
	return text_of(json_object_get(d->root, "host"), "kernel_version") ?: "";
}
