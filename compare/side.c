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

/* How many bytes at AT are a control; 0: none is. In UTF-8: those from U+0080 to U+009F, and what turns the direction of writing round. */
static size_t control_bytes(const char *at)
{
	if ((unsigned char)*at < ' ' || *at == 0x7f)
		return 1;
	if ((unsigned char)*at == 0xc2 && (unsigned char)at[1] >= 0x80 &&
	    (unsigned char)at[1] < 0xa0)
		return 2;
	if (!strncmp(at, "\xe2\x80", 2) && (unsigned char)at[2] >= 0xaa &&
	    (unsigned char)at[2] <= 0xae)
		return 3;
	return !strncmp(at, "\xe2\x81", 2) && (unsigned char)at[2] >= 0xa6 &&
			       (unsigned char)at[2] <= 0xa9
		       ? 3
		       : 0;
}

char *made_plain(char *text)
{
	for (char *at = text; *at; at++)
		for (size_t len = control_bytes(at); len > 0; len--)
			at[len - 1] = '?';
	return text;
}

/* What the first file says, the others say too. */
static int agree(char **known, const char *what, const char *of_file,
		 const struct document *d)
{
	char *text = strdup(of_file);
	int ret;

	if (!text)
		return failed("memory for %s", d->name);
	made_plain(text);
	if (!*known) {
		*known = text;
		return 0;
	}
	ret = strcmp(*known, text) ? refused("%s: its %s is %s, that of the files before "
					     "it %s: expected "
					     "one side's runs to have the same",
					     d->name, what, text, *known)
				   : 0;
	free(text);
	return ret;
}

/* All of a side are of one program and one kernel. */
static int check_kinship(struct side *side, const struct document *d)
{
	int ret = agree(&side->program, "program", document_text(d, "program"), d);

	ret = ret ?: agree(&side->version, "version", document_text(d, "version"), d);
	ret = ret ?: agree(&side->kernel, "kernel", document_kernel(d), d);
	return ret
		       ?: agree(&side->kernel_version, "kernel version",
				document_kernel_version(d), d);
}

static bool make_room(struct side *side)
{
	struct result_file *more = realloc(side->files,
					   (side->file_count + 1) * sizeof(*more));

	if (more)
		side->files = more;
	return more;
}

static int add_file(struct side *side, const struct document *d)
{
	struct result_file file = { .name = strdup(d->name) };

	snprintf(file.started, sizeof(file.started), "%s", document_text(d, "started"));
	if (!file.name || !make_room(side)) {
		free(file.name);
		return failed("memory for %s", d->name);
	}
	side->files[side->file_count++] = file;
	return 0;
}

int side_add(struct side *side, struct series_table *table, unsigned number,
	     const struct document *d)
{
	int ret = check_kinship(side, d);

	ret = ret ?: add_file(side, d);
	return ret ?: document_add(d, side, table, number);
}

static int load_file(struct side *side, struct series_table *table, unsigned number,
		     const char *name)
{
	struct document d;
	int ret = document_read(&d, name);

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
	for (size_t i = 0; i < side->circumstance_count; i++) {
		free(side->circumstances[i].path);
		free(side->circumstances[i].value);
	}
	for (unsigned i = 0; i < side->file_count; i++)
		free(side->files[i].name);
	free(side->files);
	free(side->progress);
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
