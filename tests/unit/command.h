/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command - rows of command lines: the exit status, and what is said. */
#ifndef TESTS_UNIT_COMMAND_H
#define TESTS_UNIT_COMMAND_H

#include "tests/check.h"
#include "tests/unit/child.h"

/* A command line: its exit status, and what it prints: on stderr where it is refused. */
struct row {
	const char *args[10];
	int status;
	const char *said;
};

/* "prog" and the row's words, ended by NULL, into ARGV. Returns how many they are. */
static inline int row_argv(const struct row *row, char *argv[static 12])
{
	int argc = 1;

	argv[0] = (char *)"prog";
	while (row->args[argc - 1]) {
		argv[argc] = (char *)row->args[argc - 1];
		argc++;
	}
	argv[argc] = NULL;
	return argc;
}

/* PARSE gets the row, in a process of its own. */
static inline void check_row(const struct row *row, int (*parse)(const void *))
{
	static struct child child;
	char words[256] = "";

	for (size_t i = 0; row->args[i]; i++) {
		strncat(words, " ", sizeof(words) - strlen(words) - 1);
		strncat(words, row->args[i], sizeof(words) - strlen(words) - 1);
	}
	child_run(&child, parse, row);
	CHECK_U64(words, child.status, row->status);
	CHECK_TEXT(words, row->status ? child.err : child.out, row->said);
	CHECK_TEXT(words, row->status ? child.out : child.err, "");
}

#endif
