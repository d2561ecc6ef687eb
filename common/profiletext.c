// SPDX-License-Identifier: GPL-2.0-or-later
/* profiletext - reads what perf report writes. */
#include "common/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_MIN 0.05

struct line {
	double children, self; /* per cent */
	char symbol[256];
};

/* "12.34%" at *AT, which then is behind it. */
static bool take_share(const char **at, double *share)
{
	char *end;
	double x;

	*at += strspn(*at, " ");
	/* Neither "nan" nor "0x1p9", which strtod(3) would take. */
	if (!strspn(*at, "0123456789") || (*at)[strspn(*at, "0123456789.")] != '%')
		return false;
	x = strtod(*at, &end);
	if (*end != '%' || !(x >= 0 && x <= 100))
		return false;
	*at = end + 1;
	*share = x;
	return true;
}

/* "[.] symbol": the letter in brackets is that of its place, kernel or user. */
static bool take_symbol(const char *at, size_t len, char symbol[static 256])
{
	if (len < 5 || at[0] != '[' || at[2] != ']' || at[3] != ' ')
		return false;
	at += 4;
	len -= 4;
	while (len && at[len - 1] == ' ')
		len--;
	if (!len || len >= 256)
		return false;
	memcpy(symbol, at, len);
	symbol[len] = '\0';
	return true;
}

static bool take_line(const char *at, struct line *l)
{
	size_t len;

	/* The shares have no line end in them, so AT stays before it. */
	if (!take_share(&at, &l->children) || !take_share(&at, &l->self))
		return false;
	at += strspn(at, " ");
	len = strcspn(at, "\n");
	return take_symbol(at, len, l->symbol);
}

static int by_symbol(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->symbol, ((const struct line *)b)->symbol);
}

static void tell(const char *kind, const char *symbol, double share, profile_row *row,
		 void *context)
{
	char name[300];

	if (share < SHARE_MIN)
		return;
	snprintf(name, sizeof(name), "perf-profile.%s.cycles-pp.%s", kind, symbol);
	row(context, name, share);
}

/* Functions of one name are one row; LINES are in the order of names. */
static void tell_lines(const struct line *lines, size_t count, profile_row *row,
		       void *context)
{
	for (size_t i = 0, next; i < count; i = next) {
		double children = 0, self = 0;

		for (next = i; next < count && !by_symbol(&lines[i], &lines[next]);
		     next++) {
			children += lines[next].children;
			self += lines[next].self;
		}
		/* One may have called the other. */
		tell("children", lines[i].symbol, MIN(children, 100), row, context);
		tell("self", lines[i].symbol, MIN(self, 100), row, context);
	}
}

int profile_parse(const char *text, profile_row *row, void *context)
{
	size_t count = 0, room = 1;
	struct line *lines;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		room++;
	lines = calloc(room, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (count < room && take_line(at, &lines[count]))
			count++;
	}
	qsort(lines, count, sizeof(*lines), by_symbol);
	tell_lines(lines, count, row, context);
	free(lines);
	return 0;
}
