// SPDX-License-Identifier: GPL-2.0-or-later
/* media - what the files lie on: each filesystem and device once, however many files are there. */
#include "readtwice/readtwice.h"

#include <stdio.h>
#include <stdlib.h>

static struct seen {
	struct medium medium;
	const char *name; /* of the first file there */
} * media;
static unsigned count;

static bool is_known(const struct medium *m)
{
	for (unsigned i = 0; i < count; i++)
		if (media[i].medium.st_dev == m->st_dev ||
		    (m->dev && media[i].medium.dev == m->dev))
			return true;
	return false;
}

int media_add(int fd, const char *name)
{
	struct seen *more, found = { .name = name };
	int ret = medium_of(fd, &found.medium);

	if (ret || is_known(&found.medium))
		return ret;
	more = realloc(media, (count + 1) * sizeof(*media));
	if (!more)
		return failed("memory for what %s lies on", name);
	media = more;
	media[count++] = found;
	return 0;
}

int media_check(void)
{
	for (unsigned i = 0; i < count; i++) {
		const struct medium *m = &media[i].medium;

		if (m->tmpfs && !cfg.run.allow_tmpfs)
			return refused(
				"%s is on %s, where a hole that is read leaves "
				"nothing in the page cache: --allow-tmpfs reads it all "
				"the same%s",
				media[i].name, m->type,
				cfg.paths || cfg.run.fs.type
					? ""
					: ", or give a --dir on a disk");
	}
	return 0;
}

void media_report(struct report *r)
{
	for (unsigned i = 0; i < count; i++)
		run_tell_medium(&cfg.run, r, media[i].name, &media[i].medium);
}

bool media_in_memory(void)
{
	for (unsigned i = 0; i < count; i++)
		if (!media[i].medium.tmpfs)
			return false;
	return true;
}

void media_write(FILE *out)
{
	char image[FS_IMAGE_TEXT_LEN];

	fs_image_text(cfg.run.fs.type ? &cfg.run.fs_made : NULL, image);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "%s%s (%s%s)", i ? ", " : "", media[i].medium.type,
			media[i].medium.device, image);
}

void media_free(void)
{
	free(media);
	media = NULL;
	count = 0;
}
