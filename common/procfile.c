// SPDX-License-Identifier: GPL-2.0-or-later
/* procfile - small files of /proc, /sys and cgroupfs, on this machine or in a recorded
 * tree. */
#include "common/procfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* These files have no size that stat(2) knows: read until nothing comes. */
static char *read_all(int fd)
{
	char *text = NULL, *larger;
	size_t len = 0, room = 0;
	ssize_t n = 1;

	while (n) {
		if (room - len < 2) {
			room = room ? 2 * room : 4096;
			larger = realloc(text, room);
			if (!larger)
				break;
			text = larger;
		}
		n = read(fd, text + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		len += n;
	}
	if (n) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

char *procfile_read(const char *root, const char *fmt, ...)
{
	char *rest, *path, *text;
	va_list args;
	int fd, len, error;

	va_start(args, fmt);
	len = vasprintf(&rest, fmt, args);
	va_end(args);
	if (len < 0)
		return NULL;
	len = asprintf(&path, "%s%s", root, rest);
	free(rest);
	if (len < 0)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return NULL;
	text = read_all(fd);
	error = errno;
	close(fd);
	errno = error;
	return text;
}

const char *procfile_line(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, key, len) && text[len] && strchr(": \t", text[len]))
			return text + len + strspn(text + len, ": \t");
	}
	return NULL;
}

bool procfile_number(const char *text, const char *key, uint64_t *value)
{
	const char *at = procfile_line(text, key);

	if (!at || *at < '0' || *at > '9')
		return false;
	*value = strtoull(at, NULL, 10);
	return true;
}
