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
	OPT_KIND_DELAY,      /* a time; a bare number is nanoseconds */
	OPT_KIND_SLEEP,      /* a time; a negative one is for ever, UINT64_MAX */
	OPT_KIND_TEXT,       /* a file's name; points into argv */
	OPT_KIND_WORD,       /* another text; likewise */
	OPT_KIND_LIST,       /* a file's name, as often as wanted */
	OPT_KIND_WORDS,      /* another text, likewise */
	OPT_KIND_CHOICE,     /* one of the row's words: stores its index */
	OPT_KIND_MAYBE,      /* text that may be left out: --name[=TEXT]; "" then */
	OPT_KIND_MAYBE_SIZE, /* likewise a size, which then stays as it is */
	/* A file's name that may be left out: the next word unless that begins with - or is a
	 * size; "" then. */
	OPT_KIND_NEXT,
	OPT_KIND_ALIAS, /* another name of the row before */
	OPT_KIND_HELP,  /* the table on standard output, exit 0 */
	OPT_KIND_VERSION,
};

/* What an option was given, each time it was; the texts point into argv. */
struct words {
	const char **at; /* malloc'ed */
	unsigned count;
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
		struct words *words;
	} to;
	const char *help;
	unsigned value;             /* of OPT_KIND_SET */
	const char *const *choices; /* of OPT_KIND_CHOICE, ended by NULL */
	/* A name that came after scripts began to abbreviate the others: a prefix that fits only
	 * one older name means that one, whatever later names it fits. */
	bool later;
	bool *given; /* set if the option is there; NULL: nobody asks */
};

#define OPT_ROW(k, l, n, member, p, h) \
	.kind = OPT_KIND_##k, .letter = (l), .name = (n), .to.member = (p), .help = (h)
#define OPT_FLAG(l, n, p, h)                    \
	{                                       \
		OPT_ROW(FLAG, l, n, flag, p, h) \
	}
#define OPT_SET(l, n, p, v, h)                                \
	{                                                     \
		OPT_ROW(SET, l, n, count, p, h), .value = (v) \
	}
#define OPT_COUNT(l, n, p, h)                      \
	{                                          \
		OPT_ROW(COUNT, l, n, number, p, h) \
	}
#define OPT_TASKS(l, n, p, h)                     \
	{                                         \
		OPT_ROW(TASKS, l, n, count, p, h) \
	}
#define OPT_BIND(l, n, p, h)                      \
	{                                         \
		OPT_ROW(BIND, l, n, number, p, h) \
	}
#define OPT_NUMBER(l, n, p, h)                      \
	{                                           \
		OPT_ROW(NUMBER, l, n, number, p, h) \
	}
#define OPT_SIZE(l, n, p, h)                    \
	{                                       \
		OPT_ROW(SIZE, l, n, size, p, h) \
	}
#define OPT_TIME(l, n, p, h)                    \
	{                                       \
		OPT_ROW(TIME, l, n, time, p, h) \
	}
#define OPT_TEXT(l, n, p, h)                    \
	{                                       \
		OPT_ROW(TEXT, l, n, text, p, h) \
	}
#define OPT_LIST(l, n, p, h)                     \
	{                                        \
		OPT_ROW(LIST, l, n, words, p, h) \
	}
#define OPT_CHOICE(l, n, p, c, h)                                  \
	{                                                          \
		OPT_ROW(CHOICE, l, n, count, p, h), .choices = (c) \
	}
#define OPT_HELP(l, n, h)                          \
	{                                          \
		OPT_ROW(HELP, l, n, flag, NULL, h) \
	}
#define OPT_ALIAS(n)                                   \
	{                                              \
		OPT_ROW(ALIAS, 0, n, flag, NULL, NULL) \
	}
#define OPT_END                      \
	{                            \
		.kind = OPT_KIND_END \
	}
/* A row of kind K whose presence is to be known besides its value. */
#define OPT_GIVEN(k, l, n, member, p, g, h)                  \
	{                                                    \
		OPT_ROW(k, l, n, member, p, h), .given = (g) \
	}
/* The same for names added later. */
#define OPT_LATER(k, l, n, member, p, h)                      \
	{                                                     \
		OPT_ROW(k, l, n, member, p, h), .later = true \
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
