// SPDX-License-Identifier: GPL-2.0-or-later
/* opts - one table of options: parsed by getopt_long(3), printed by --help, recorded in results. */
#include "common/opts.h"

#include "common/optkinds.h"
#include "common/parse.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What getopt_long returns for row i; letters lie below. */
enum { ROW_BASE = 256, MAX_ROWS = 128 };

/* The two tables as one list of rows, and what getopt_long makes of them. */
struct parser {
	const struct usage *usage;
	const struct opt *rows[MAX_ROWS];
	unsigned count, own_count;
	char letters[2 + 3 * MAX_ROWS];
	const char *
		shares[MAX_ROWS]; /* "25%" given to a size, to be worked out at the end */
	char *help;               /* as the defaults were before the first option */
	size_t help_len;
	struct option *longs;
	unsigned long_count;
};

static void collect_rows(struct parser *p, const struct opt *table)
{
	for (; table->kind != OPT_KIND_END && p->count < MAX_ROWS; table++)
		p->rows[p->count++] = table;
}

static void build_letters(struct parser *p)
{
	char *at = p->letters;

	*at++ = ':'; /* a missing argument is told from an unknown option */
	for (unsigned i = 0; i < p->count; i++) {
		if (!p->rows[i]->letter)
			continue;
		*at++ = p->rows[i]->letter;
		/* A letter whose argument may be left out takes none: letters are bundled. */
		if (opt_kinds[p->rows[i]->kind].takes == required_argument)
			*at++ = ':';
	}
	*at = '\0';
}

/* The row that row I is another name of, or itself. */
static unsigned main_row(const struct parser *p, unsigned i)
{
	while (i && p->rows[i]->kind == OPT_KIND_ALIAS)
		i--;
	return i;
}

static void add_long(struct parser *p, const char *name, unsigned row)
{
	row = main_row(p, row);
	p->longs[p->long_count++] = (struct option){
		.name = name,
		.has_arg = opt_kinds[p->rows[row]->kind].takes,
		.val = ROW_BASE + (int)row,
	};
}

/* Does the prefix of LEN characters belong to row I alone: the only older name it fits, and
 * nobody's full name? */
static bool means_only(const struct parser *p, unsigned row, size_t len)
{
	const char *name = p->rows[row]->name;

	for (unsigned i = 0; i < p->count; i++) {
		const char *other = p->rows[i]->name;

		if (!other || strncmp(name, other, len) != 0 ||
		    main_row(p, i) == main_row(p, row))
			continue;
		if (!p->rows[i]->later || !other[len])
			return false;
	}
	return true;
}

/* Each name, and spelled out each abbreviation of an older name that later ones would spoil. */
static int build_longs(struct parser *p)
{
	size_t room = 1;

	for (unsigned i = 0; i < p->count; i++)
		if (p->rows[i]->name)
			room += strlen(p->rows[i]->name);
	p->longs = calloc(room, sizeof(*p->longs));
	if (!p->longs)
		return failed("options");
	for (unsigned i = 0; i < p->count; i++) {
		const char *name = p->rows[i]->name;

		if (!name)
			continue;
		add_long(p, name, i);
		for (size_t len = 1; !p->rows[i]->later && len < strlen(name); len++) {
			char *prefix;

			if (!means_only(p, i, len))
				continue;
			prefix = strndup(name, len);
			if (!prefix)
				return failed("options");
			add_long(p, prefix, i);
		}
	}
	return 0;
}

static bool is_full_name(const struct parser *p, const char *name)
{
	for (unsigned i = 0; i < p->count; i++)
		if (p->rows[i]->name == name)
			return true;
	return false;
}

static void free_longs(struct parser *p)
{
	for (unsigned i = 0; i < p->long_count; i++)
		if (!is_full_name(p, p->longs[i].name))
			free((char *)p->longs[i].name);
	free(p->longs);
}

/* "-f, --file FILE", "    --json[=FILE]", "-D, --advise [FILE]", "-m N" */
static void describe(const struct opt *o, char *text, size_t room)
{
	const struct opt_kind_row *kind = &opt_kinds[o->kind];
	bool maybe = kind->takes == optional_argument;
	char letter[] = { '-', o->letter, '\0' };

	snprintf(text, room, "%s%s%s%s%s%s", o->letter ? letter : "  ",
		 !o->name    ? ""
		 : o->letter ? ", --"
			     : "  --",
		 o->name ?: "",
		 o->kind == OPT_KIND_NEXT ? " ["
		 : maybe                  ? "[="
		 : kind->argument         ? " "
					  : "",
		 kind->argument ?: "", maybe ? "]" : "");
}

static void print_row(FILE *out, const struct opt *o)
{
	char option[64], value[FORMAT_LEN] = "";

	describe(o, option, sizeof(option));
	if (opt_kinds[o->kind].show)
		opt_kinds[o->kind].show(o, value);
	fprintf(out, "  %-27s %s", option, o->help ?: "the same");
	for (unsigned i = 0; o->choices && o->choices[i]; i++)
		fprintf(out, "%s%s", i ? ", " : ": ", o->choices[i]);
	if (value[0])
		fprintf(out, " (%s)", value);
	fputc('\n', out);
}

static int write_help(struct parser *p)
{
	FILE *out = open_memstream(&p->help, &p->help_len);

	if (!out)
		return failed("help");
	fprintf(out, "Usage: %s [options]%s%s\n%s.\n\n", program_invocation_short_name,
		p->usage->operands[0] ? " " : "", p->usage->operands, p->usage->purpose);
	for (unsigned i = 0; i < p->count; i++) {
		if (i == p->own_count)
			fprintf(out, "\nAs every program of the suite:\n");
		print_row(out, p->rows[i]);
	}
	fprintf(out, "\nSIZE: k, m, g, t are powers of 1024. TIME: ns, us, ms, s, m, h; "
		     "without one, seconds.\n");
	return fclose(out) ? failed("help") : 0;
}

/* What --help and --version return when their text is out: the program is done. */
enum { PRINTED = 1 };

static int print_about(const struct parser *p, enum opt_kind kind)
{
	int ret = kind == OPT_KIND_VERSION
			  ? print_line("%s (pagemill) %s", program_invocation_short_name,
				       PAGEMILL_VERSION)
			  : print_text(p->help, p->help_len);

	return ret ?: PRINTED;
}

static unsigned row_of(const struct parser *p, int c)
{
	unsigned i = 0;

	if (c >= ROW_BASE)
		return (unsigned)(c - ROW_BASE);
	while (i < p->count && p->rows[i]->letter != c)
		i++;
	return i;
}

static const char *name_of(const struct opt *o, char buf[static 64])
{
	char letter[] = { o->letter, '\0' };

	snprintf(buf, 64, "-%s%s", o->name ? "-" : "", o->name ?: letter);
	return buf;
}

/* What row O wants: with the words of which it takes one. */
static const char *expected_by(const struct opt *o, char buf[static 256])
{
	const char *expected = opt_kinds[o->kind].expected;
	size_t len;

	if (!o->choices)
		return expected;
	len = (size_t)snprintf(buf, 256, "%s", expected);
	for (unsigned i = 0; o->choices[i] && len < 256; i++)
		len += (size_t)snprintf(buf + len, 256 - len, "%s%s", i ? ", " : " ",
					o->choices[i]);
	return buf;
}

/* Say what is wrong with the word at which getopt_long stopped with C. */
static int refuse_word(const struct parser *p, int c, char **argv)
{
	unsigned row = optopt ? row_of(p, optopt) : p->count;
	char name[64], words[256];

	if (c == ':' && row < p->count)
		return refused("%s: expected %s after it", name_of(p->rows[row], name),
			       expected_by(p->rows[row], words));
	if (row < p->count)
		return refused("%s: takes no argument", name_of(p->rows[row], name));
	if (optopt)
		return refused("-%c: no such option; --help lists them", optopt);
	return refused(
		"%s: no such option, or the beginning of several; --help lists them",
		argv[optind - 1]);
}

/* The next word, if it can be the name of a file. (getopt_long(3) takes words that were skipped
 * here for ones that it has seen.) */
static char *take_next(const struct usage *usage, int argc, char **argv)
{
	char *word = optind < argc ? argv[optind] : NULL;
	uint64_t ignored;
	bool size;

	if (!word || word[0] == '-')
		return NULL;
	size = parse_size(word, &ignored) != -EINVAL ||
	       (usage->whole && !parse_share(word, 100, &ignored));
	optind += !size;
	return size ? NULL : word;
}

static int parse_row(struct parser *p, unsigned row, int argc, char **argv)
{
	const struct opt *o = p->rows[row];
	const struct opt_kind_row *kind = &opt_kinds[o->kind];
	char name[64], words[256];
	uint64_t whole;
	int ret;

	if (!kind->parse)
		return print_about(p, o->kind);
	if (o->given)
		*o->given = true;
	if (o->kind == OPT_KIND_NEXT && !optarg)
		optarg = take_next(p->usage, argc, argv);
	p->shares[row] = NULL;
	if (o->kind == OPT_KIND_SIZE && p->usage->whole &&
	    !parse_share(optarg, 100, &whole)) {
		p->shares[row] = optarg;
		return 0;
	}
	ret = kind->parse(o, optarg);
	if (ret == -ERANGE)
		return refused("%s '%s': too large; expected %s", name_of(o, name),
			       optarg, kind->expected);
	if (ret == -ENOMEM)
		return failed("%s '%s'", name_of(o, name), optarg);
	if (ret)
		return refused("%s '%s': expected %s", name_of(o, name), optarg,
			       expected_by(o, words));
	return 0;
}

/* A share is of what all options together leave to each task, so it comes after all of them. */
static int work_out_shares(const struct parser *p)
{
	int ret = 0;

	for (unsigned i = 0; i < p->count && !ret; i++)
		if (p->shares[i])
			ret = p->usage->whole(p->usage->context, p->shares[i],
					      p->rows[i]->to.size);
	return ret;
}

int opts_parse(const struct usage *usage, const struct opt *own,
	       const struct opt *standard, int argc, char **argv)
{
	struct parser p = { .usage = usage };
	int c, ret;

	collect_rows(&p, own);
	p.own_count = p.count;
	collect_rows(&p, standard);
	build_letters(&p);
	ret = build_longs(&p);
	if (!ret)
		ret = write_help(&p);
	/* Options and operands mix, whatever the environment says. */
	unsetenv("POSIXLY_CORRECT");
	opterr = 0;
	while (!ret &&
	       (optopt = 0, c = getopt_long(argc, argv, p.letters, p.longs, NULL)) != -1)
		ret = c == '?' || c == ':' ? refuse_word(&p, c, argv)
					   : parse_row(&p, row_of(&p, c), argc, argv);
	if (!ret)
		ret = work_out_shares(&p);
	free_longs(&p);
	free(p.help);
	if (ret)
		exit(ret == PRINTED ? 0 : exit_status(ret));
	return optind;
}
