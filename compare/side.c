// SPDX-License-Identifier: GPL-2.0-or-later
/* side - the runs of one side: which files they come from, and whether they belong together. */
#include "compare/side.h"

#include "compare/load.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *made_plain(char *text)
{
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return text;
}

/* All of a side are of one program and one kernel: what the first file says. */
static int check_kinship(struct side *side, const struct document *d)
{
	const struct {
		const char *what;
		char **of_side;
		const char *of_file;
	} rows[] = {
		{ "program", &side->program, document_text(d, "program") },
		{ "version", &side->version, document_text(d, "version") },
		{ "kernel", &side->kernel, document_kernel(d) },
		{ "kernel version", &side->kernel_version, document_kernel_version(d) },
	};
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && !ret; i++) {
		char *text = strdup(rows[i].of_file), *known = *rows[i].of_side;

		if (!text)
			return failed("memory for %s", d->name);
		made_plain(text);
		if (!known) {
			*rows[i].of_side = text;
			continue;
		}
		if (strcmp(known, text))
			ret = refused("%s: its %s is %s, that of the files before it %s: "
				      "expected one side's runs to have the same",
				      d->name, rows[i].what, text, known);
		free(text);
	}
	return ret;
}

int side_add(struct side *side, struct series_table *table, unsigned number,
	     const struct document *d)
{
	int ret = check_kinship(side, d);

	return ret ?: document_add(d, side, table, number);
}

/* Runs name their file as long as the side is there. NULL: no memory, which was said. */
static const char *keep_name(struct side *side, const char *name)
{
	char **names = realloc(side->file_names, (side->files + 1) * sizeof(char *)),
	     *kept = names ? strdup(name) : NULL;

	if (names)
		side->file_names = names;
	if (kept)
		names[side->files++] = kept;
	else
		failed("memory for %s", name);
	return kept;
}

static int load_file(struct side *side, struct series_table *table, unsigned number,
		     const char *name)
{
	const char *kept = keep_name(side, name);
	struct document d;
	int ret;

	if (!kept)
		return -ENOMEM;
	ret = document_read(&d, kept);
	if (!ret)
		ret = side_add(side, table, number, &d);
	document_free(&d);
	return ret;
}

static int is_result(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 &&
	       !strcmp(entry->d_name + len - 5, ".json");
}

static int load_directory(struct side *side, struct series_table *table, unsigned number,
			  const char *dir)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, is_result, alphasort), ret = 0;
	char *path;

	if (count < 0)
		return failed("read %s", dir);
	if (!count)
		ret = broken("%s has no file NAME.json: expected JSON results", dir);
	for (int i = 0; i < count; i++) {
		if (!ret && asprintf(&path, "%s/%s", dir, entries[i]->d_name) < 0)
			ret = failed("memory for a name");
		else if (!ret) {
			ret = load_file(side, table, number, path);
			free(path);
		}
		free(entries[i]);
	}
	free(entries);
	return ret;
}

int side_load(struct side *side, struct series_table *table, unsigned number,
	      const char *const *arguments, unsigned count)
{
	int ret = 0;

	for (unsigned i = 0; i < count && !ret; i++) {
		struct stat st;

		ret = !stat(arguments[i], &st) && S_ISDIR(st.st_mode)
			      ? load_directory(side, table, number, arguments[i])
			      : load_file(side, table, number, arguments[i]);
	}
	return ret;
}

void side_free(struct side *side)
{
	for (size_t i = 0; i < side->count; i++)
		free(side->trials[i].progress);
	for (size_t i = 0; i < side->circumstance_count; i++) {
		free(side->circumstances[i].path);
		free(side->circumstances[i].value);
	}
	for (unsigned i = 0; i < side->files; i++)
		free(side->file_names[i]);
	free(side->file_names);
	free(side->trials);
	free(side->circumstances);
	free(side->name);
	free(side->program);
	free(side->version);
	free(side->kernel);
	free(side->kernel_version);
	free(side->mixed);
	*side = (struct side){ 0 };
}
