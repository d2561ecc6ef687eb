/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opts - one table of options: parsed by getopt_long(3), printed by --help, recorded in results. */
#ifndef COMMON_OPTS_H
#define COMMON_OPTS_H

#include "common/base.h"

#include <stdbool.h>

enum opt_kind {
	OPT_KIND_END,
	OPT_KIND_FLAG, /* present or not */
	OPT_KIND_SET, /* stores the row's value: of rows with one target, the last counts */
	OPT_KIND_COUNT,
	OPT_KIND_TASKS,  /* a count, auto, 10% or 2x of the allowed CPUs */
	OPT_KIND_BIND,   /* a count, none for 0, or node for BIND_NODE */
	OPT_KIND_NUMBER, /* decimal or 0x */
	OPT_KIND_SIZE,
	OPT_KIND_TIME,
	OPT_KIND_TEXT,  /* points into argv */
	OPT_KIND_MAYBE, /* text that may be left out: --name[=TEXT]; "" then */
	OPT_KIND_HELP,  /* the table on standard output, exit 0 */
	OPT_KIND_VERSION,
};

/* A row. The parser, the short-option string, --help and the JSON result all come from it; the
 * default is what the target holds before the parsing. */
struct opt {
	enum opt_kind kind;
	char letter;      /* 0: none */
	const char *name; /* NULL: a letter only */
	union {
		bool *flag;
		unsigned *count;
		uint64_t *number, *size, *time;
		const char **text;
	} to;
	const char *help;
	unsigned value; /* of OPT_KIND_SET */
	/* A name that came after scripts began to abbreviate the others: a prefix that fits only
	 * one older name means that one, whatever later names it fits. */
	bool later;
};

#define OPT_FLAG(l, n, p, h)                                      \
	{                                                         \
		OPT_KIND_FLAG, l, n, { .flag = (p) }, h, 0, false \
	}
#define OPT_SET(l, n, p, v, h)                                    \
	{                                                         \
		OPT_KIND_SET, l, n, { .count = (p) }, h, v, false \
	}
#define OPT_COUNT(l, n, p, h)                                        \
	{                                                            \
		OPT_KIND_COUNT, l, n, { .number = (p) }, h, 0, false \
	}
#define OPT_TASKS(l, n, p, h)                                       \
	{                                                           \
		OPT_KIND_TASKS, l, n, { .count = (p) }, h, 0, false \
	}
#define OPT_BIND(l, n, p, h)                                        \
	{                                                           \
		OPT_KIND_BIND, l, n, { .number = (p) }, h, 0, false \
	}
#define OPT_NUMBER(l, n, p, h)                                        \
	{                                                             \
		OPT_KIND_NUMBER, l, n, { .number = (p) }, h, 0, false \
	}
#define OPT_SIZE(l, n, p, h)                                      \
	{                                                         \
		OPT_KIND_SIZE, l, n, { .size = (p) }, h, 0, false \
	}
#define OPT_TIME(l, n, p, h)                                      \
	{                                                         \
		OPT_KIND_TIME, l, n, { .time = (p) }, h, 0, false \
	}
#define OPT_TEXT(l, n, p, h)                                      \
	{                                                         \
		OPT_KIND_TEXT, l, n, { .text = (p) }, h, 0, false \
	}
#define OPT_HELP(l, n, h)                                  \
	{                                                  \
		OPT_KIND_HELP, l, n, { NULL }, h, 0, false \
	}
#define OPT_END                                                 \
	{                                                       \
		OPT_KIND_END, 0, NULL, { NULL }, NULL, 0, false \
	}
/* The same for names added later. */
#define OPT_LATER(k, l, n, member, p, h)                          \
	{                                                         \
		OPT_KIND_##k, l, n, { .member = (p) }, h, 0, true \
	}

/* What --bind node stores. */
#define BIND_NODE UINT64_MAX

struct usage {
	const char *operands; /* what follows the options: "SIZE"; "" for nothing */
	const char *purpose;  /* one sentence, no full stop */
	/* Works out a share such as "25%" given to a size, once all options are known; NULL: sizes
	 * are no shares. 0, or refused(). */
	int (*whole)(void *context, const char *share, uint64_t *bytes);
	void *context;
};

/* Parse ARGV by the program's OWN table and the STANDARD one. Options and operands may be mixed;
 * ARGV is permuted so that the operands come last. Returns the index of the first operand. The
 * one call of the library that may exit: 0 for --help and --version (1 if that output is lost),
 * 2 for bad usage, after one line that names the argument and what was expected. */
must_check int opts_parse(const struct usage *usage, const struct opt *own,
			  const struct opt *standard, int argc, char **argv);

#endif
