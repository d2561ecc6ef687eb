// SPDX-License-Identifier: GPL-2.0-or-later
/* mountinfo - the lines of /proc/self/mountinfo. */
#include "common/mountinfo.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Blanks, newlines and backslashes are written as \ and three octal digits. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
				       (text[3] - '0'));
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* "30 24 0:26 ROOT POINT OPTIONS OPTIONAL ... - TYPE SOURCE SUPER": any number of optional
 * fields. */
static bool take_line(char *line, struct mountinfo *m)
{
	char *const id = strsep(&line, " "), *const parent = strsep(&line, " "),
		    *const device = strsep(&line, " ");
	char *field;

	m->root = strsep(&line, " ");
	m->point = strsep(&line, " ");
	m->options = strsep(&line, " ");
	do
		field = strsep(&line, " ");
	while (field && strcmp(field, "-") != 0);
	m->type = strsep(&line, " ");
	m->source = strsep(&line, " ");
	m->super = strsep(&line, " ");
	if (!parent || !m->super || sscanf(id, "%" SCNu64, &m->id) != 1 ||
	    sscanf(device, "%u:%u", &m->major, &m->minor) != 2)
		return false;
	unescape(m->root);
	unescape(m->point);
	unescape(m->type);
	unescape(m->source);
	unescape(m->super);
	return true;
}

bool mountinfo_next(char **text, struct mountinfo *m)
{
	char *line;

	while ((line = strsep(text, "\n")))
		if (take_line(line, m))
			return true;
	return false;
}
