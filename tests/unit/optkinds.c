// SPDX-License-Identifier: GPL-2.0-or-later
/* optkinds - tests of the kinds of options that not every program has. */
#include "common/optkinds.h"
#include "common/opts.h"
#include "common/parse.h"
#include "tests/unit/command.h"

#include <errno.h>

static struct {
	bool flag, word_given, huge_given;
	uint64_t word, pause, snooze, huge;
	const char *next, *kind;
	struct words places;
	unsigned shape;
} cfg = { .kind = "index", .shape = 1 };

static const char *const shapes[] = { "round", "square", "sq", NULL };

static const struct opt own[] = {
	OPT_FLAG('O', "only", &cfg.flag, "a flag"),
	OPT_GIVEN(NUMBER, 0, "word", number, &cfg.word, &cfg.word_given, "a word"),
	OPT_GIVEN(MAYBE_SIZE, 'U', "huge", size, &cfg.huge, &cfg.huge_given,
		  "maybe a size"),
	{ OPT_ROW(DELAY, 'e', "pause", time, &cfg.pause, "a delay") },
	{ OPT_ROW(SLEEP, 's', "snooze", time, &cfg.snooze, "a sleep") },
	{ OPT_ROW(WORD, 0, "kind", text, &cfg.kind, "a word of several") },
	{ OPT_ROW(NEXT, 'D', "advise", text, &cfg.next, "the next word") },
	OPT_ALIAS("advice"),
	OPT_ALIAS("Advise"),
	OPT_LIST('P', "place", &cfg.places, "a list"),
	OPT_CHOICE('x', "shape", &cfg.shape, shapes, "a choice"),
	OPT_END
};
static const struct opt standard[] = { OPT_HELP('h', "help", "this text"), OPT_END };

/* As run_size() has it: any share is right. */
static int whole(void *context, const char *share, uint64_t *bytes)
{
	(void)context;
	return parse_share(share, 1000, bytes);
}

static int parse(const void *arg)
{
	const struct usage usage = { .operands = "SIZE",
				     .purpose = "Try",
				     .whole = whole };
	const struct row *row = arg;
	char *argv[12];
	int argc = row_argv(row, argv), operand;

	operand = opts_parse(&usage, own, standard, argc, argv);
	if (cfg.flag)
		printf("O ");
	if (cfg.word_given)
		printf("word=%ju ", (uintmax_t)cfg.word);
	if (cfg.huge_given)
		printf("huge=%ju ", (uintmax_t)cfg.huge);
	if (cfg.pause)
		printf("pause=%ju ", (uintmax_t)cfg.pause);
	if (cfg.snooze)
		printf("snooze=%jd ", (intmax_t)cfg.snooze);
	if (strcmp(cfg.kind, "index") != 0)
		printf("kind='%s' ", cfg.kind);
	if (cfg.next)
		printf("next='%s' ", cfg.next);
	for (unsigned i = 0; i < cfg.places.count; i++)
		printf("place='%s' ", cfg.places.at[i]);
	if (cfg.shape != 1)
		printf("shape=%u ", cfg.shape);
	printf(":");
	for (; operand < argc; operand++)
		printf(" %s", argv[operand]);
	fflush(stdout);
	return 0;
}

#define SHAPE_EXPECTED " expected one of round, square, sq\n"
#define DELAY_EXPECTED " expected a time such as 500 (ns), 20u, 5m (ms) or 1s\n"
#define SLEEP_EXPECTED \
	" expected a time such as 10 (seconds), 500ms or 2m, or -1 for ever\n"

static const struct row rows[] = {
	/* given, whatever the value */
	{ { "--word", "0" }, 0, "word=0 :" },
	{ { "--word=0x10" }, 0, "word=16 :" },
	{ { "1m" }, 0, ": 1m" },
	/* a size that may be left out: with = only, and not after the letter */
	{ { "--huge" }, 0, "huge=0 :" },
	{ { "--huge=2m" }, 0, "huge=2097152 :" },
	{ { "--huge", "2m" }, 0, "huge=0 : 2m" },
	{ { "--huge=2m", "--huge" }, 0, "huge=2097152 :" },
	{ { "-UO" }, 0, "O huge=0 :" },
	{ { "-U", "1g" }, 0, "huge=0 : 1g" },
	{ { "--huge=x" },
	  2,
	  "prog: --huge 'x': expected a size such as 2m or 1g, or none\n" },
	{ { "--huge=" },
	  2,
	  "prog: --huge '': expected a size such as 2m or 1g, or none\n" },
	/* delays and sleeps */
	{ { "-e", "500" }, 0, "pause=500 :" },
	{ { "-e20u" }, 0, "pause=20000 :" },
	{ { "--pause=5m" }, 0, "pause=5000000 :" },
	{ { "--pause=5ms" }, 0, "pause=5000000 :" },
	{ { "-e", "1s" }, 0, "pause=1000000000 :" },
	{ { "-e", "1h" }, 2, "prog: --pause '1h':" DELAY_EXPECTED },
	{ { "-e", "-1" }, 2, "prog: --pause '-1':" DELAY_EXPECTED },
	{ { "-s", "2" }, 0, "snooze=2000000000 :" },
	{ { "-s", "-1" }, 0, "snooze=-1 :" },
	{ { "-s-5m" }, 0, "snooze=-1 :" },
	{ { "-s", "-99999999999999999999" }, 0, "snooze=-1 :" },
	{ { "-s", "0" }, 0, ":" },
	{ { "-s", "-" }, 2, "prog: --snooze '-':" SLEEP_EXPECTED },
	{ { "-s", "--1" }, 2, "prog: --snooze '--1':" SLEEP_EXPECTED },
	{ { "-s", "-x" }, 2, "prog: --snooze '-x':" SLEEP_EXPECTED },
	{ { "-s", "" }, 2, "prog: --snooze '':" SLEEP_EXPECTED },
	{ { "--kind", "random" }, 0, "kind='random' :" },
	/* the next word, unless it is an option or a size */
	{ { "-D" }, 0, "next='' :" },
	{ { "-D", "file" }, 0, "next='file' :" },
	{ { "-D", "file", "1m" }, 0, "next='file' : 1m" },
	{ { "1m", "-D", "file" }, 0, "next='file' : 1m" },
	{ { "1m", "-D", "file", "-O", "x" }, 0, "O next='file' : 1m x" },
	{ { "a", "b", "-D", "file", "c", "-O" }, 0, "O next='file' : a b c" },
	{ { "-D", "1m" }, 0, "next='' : 1m" },
	{ { "-D", "25%" }, 0, "next='' : 25%" },
	{ { "-D", "250%" }, 0, "next='250%' :" },
	{ { "-D", "99999999t" }, 0, "next='' : 99999999t" },
	{ { "-D", "12x" }, 0, "next='12x' :" },
	{ { "-D", "-O", "1m" }, 0, "O next='' : 1m" },
	{ { "-D", "--", "file" }, 0, "next='' : file" },
	{ { "-OD", "file" }, 0, "O next='file' :" },
	{ { "-DO", "file" }, 0, "O next='' : file" },
	{ { "--advise=1m" }, 0, "next='1m' :" },
	{ { "--advise=-O" }, 0, "next='-O' :" },
	{ { "--advise", "file" }, 0, "next='file' :" },
	{ { "-D", "one", "-D", "two" }, 0, "next='two' :" },
	{ { "-D", "" }, 0, "next='' :" },
	/* as often as wanted, in that order */
	{ { "-P", "a" }, 0, "place='a' :" },
	{ { "-P", "a", "-Pb", "--place", "c", "--place=a" },
	  0,
	  "place='a' place='b' place='c' place='a' :" },
	{ { "-P", "", "x", "-P", "a b:c\n\xff" }, 0, "place='' place='a b:c\n\xff' : x" },
	{ { "-P", "-O", "-O" }, 0, "O place='-O' :" },
	{ { "-OP", "a" }, 0, "O place='a' :" },
	{ { "-P" }, 2, "prog: --place: expected a text after it\n" },
	{ { "--place" }, 2, "prog: --place: expected a text after it\n" },
	/* one of its words, whole and as it is; the last counts */
	{ { "--shape", "round" }, 0, "shape=0 :" },
	{ { "--shape=square" }, 0, ":" },
	{ { "-x", "sq" }, 0, "shape=2 :" },
	{ { "-xround", "-x", "sq" }, 0, "shape=2 :" },
	{ { "-x", "sq", "-x", "square" }, 0, ":" },
	{ { "-x", "squ" }, 2, "prog: --shape 'squ':" SHAPE_EXPECTED },
	{ { "-x", "squares" }, 2, "prog: --shape 'squares':" SHAPE_EXPECTED },
	{ { "-x", "Round" }, 2, "prog: --shape 'Round':" SHAPE_EXPECTED },
	{ { "-x", "0" }, 2, "prog: --shape '0':" SHAPE_EXPECTED },
	{ { "-x", "" }, 2, "prog: --shape '':" SHAPE_EXPECTED },
	{ { "--shape=" }, 2, "prog: --shape '':" SHAPE_EXPECTED },
	{ { "-x" }, 2, "prog: --shape: expected one of round, square, sq after it\n" },
	/* other names of the same */
	{ { "--advice", "file" }, 0, "next='file' :" },
	{ { "--Advise" }, 0, "next='' :" },
	{ { "--A", "file" }, 0, "next='file' :" },
	{ { "--adv", "file" }, 0, "next='file' :" },
	{ { "--advi=file" }, 0, "next='file' :" },
	{ { "--a" }, 0, "next='' :" },
	{ { "--advisex" },
	  2,
	  "prog: --advisex: no such option, or the beginning of several; --help lists "
	  "them\n" },
};

static const char help[] = "Usage: prog [options] SIZE\n"
			   "Try.\n"
			   "\n"
			   "  -O, --only                  a flag\n"
			   "      --word N                a word\n"
			   "  -U, --huge[=SIZE]           maybe a size\n"
			   "  -e, --pause TIME            a delay\n"
			   "  -s, --snooze TIME           a sleep\n"
			   "      --kind WORD             a word of several (index)\n"
			   "  -D, --advise [FILE]         the next word\n"
			   "      --advice                the same\n"
			   "      --Advise                the same\n"
			   "  -P, --place FILE            a list\n"
			   "  -x, --shape WORD            a choice: round, square, sq "
			   "(square)\n"
			   "\n"
			   "As every program of the suite:\n"
			   "  -h, --help                  this text\n"
			   "\n"
			   "SIZE: k, m, g, t are powers of 1024. TIME: ns, us, ms, s, m, "
			   "h; without one, seconds.\n";

int main(void)
{
	static char prog[] = "prog";
	const struct row asks_help = { { "--help" }, 0, help };

	program_invocation_short_name = prog;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i], parse);
	check_row(&asks_help, parse);
	return check_result();
}
