// SPDX-License-Identifier: GPL-2.0-or-later
/* opts - tests of common/opts.c, on tables of its own. */
#include "common/opts.h"
#include "tests/unit/command.h"

#include <errno.h>
#include <sched.h>

static struct {
	bool anonymous, huge, random, init_time, ran, force, bin;
	unsigned flags, tasks;
	uint64_t repeat, seed, mib, stride, data, unit, runtime, interval, samples, same;
	const char *file, *json;
} cfg = { .repeat = 1, .unit = 64 * MiB, .runtime = 90 * ns_per_s, .file = "/var/tmp" };

static const struct opt own[] = { OPT_FLAG('O', "anonymous", &cfg.anonymous, "a flag"),
				  OPT_FLAG('U', "huge", &cfg.huge, "another flag"),
				  OPT_SET('S', "msync", &cfg.flags, 4, "sets 4"),
				  OPT_SET('A', "msync-async", &cfg.flags, 1, "sets 1"),
				  OPT_COUNT('r', "repeat", &cfg.repeat, "a count"),
				  OPT_SIZE('u', "unit", &cfg.unit, "a size"),
				  OPT_TIME('T', "runtime", &cfg.runtime, "a time"),
				  OPT_TASKS('n', "nproc", &cfg.tasks, "tasks"),
				  OPT_BIND('b', "bind", &cfg.stride, "a stride"),
				  OPT_NUMBER('d', "data", &cfg.data, "a number"),
				  OPT_TEXT('f', "file", &cfg.file, "a text"),
				  OPT_FLAG('R', "random", &cfg.random,
					   "its name begins another"),
				  OPT_COUNT(0, "random-seed", &cfg.seed, "no letter"),
				  OPT_FLAG(0, "init-time", &cfg.init_time, "an old name"),
				  OPT_COUNT('m', NULL, &cfg.mib, "no name"),
				  OPT_END };
static const struct opt standard[] = {
	OPT_LATER(TIME, 0, "interval", time, &cfg.interval, "a later time"),
	OPT_LATER(COUNT, 0, "samples", number, &cfg.samples, "a later count"),
	OPT_LATER(COUNT, 0, "same", number, &cfg.same, "a later count like it"),
	OPT_LATER(FLAG, 0, "ran", flag, &cfg.ran, "a later name that begins older ones"),
	OPT_LATER(FLAG, 0, "bin", flag, &cfg.bin, "a later name that begins --bind"),
	OPT_LATER(FLAG, 0, "force", flag, &cfg.force,
		  "a later name that begins as --file"),
	OPT_LATER(MAYBE, 0, "json", text, &cfg.json, "maybe a text"),
	OPT_HELP('h', "help", "this text"),
	{ .kind = OPT_KIND_VERSION,
	  .name = "version",
	  .help = "its version",
	  .later = true },
	OPT_END
};

/* What has changed, in the words of the table. */
static void print_changes(void)
{
	static const char *const flags = "OURitFB";
	const bool set[] = { cfg.anonymous, cfg.huge,  cfg.random, cfg.init_time,
			     cfg.ran,       cfg.force, cfg.bin };
	const struct {
		const char *name;
		uint64_t value, otherwise;
	} numbers[] = {
		{ "set", cfg.flags, 0 },        { "repeat", cfg.repeat, 1 },
		{ "unit", cfg.unit, 64 * MiB }, { "runtime", cfg.runtime, 90 * ns_per_s },
		{ "tasks", cfg.tasks, 0 },      { "stride", cfg.stride, 0 },
		{ "data", cfg.data, 0 },        { "seed", cfg.seed, 0 },
		{ "mib", cfg.mib, 0 },          { "interval", cfg.interval, 0 },
		{ "samples", cfg.samples, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(set); i++)
		if (set[i])
			printf("%c ", flags[i]);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i].value != numbers[i].otherwise)
			printf("%s=%ju ", numbers[i].name, (uintmax_t)numbers[i].value);
	if (strcmp(cfg.file, "/var/tmp") != 0)
		printf("file='%s' ", cfg.file);
	if (cfg.json)
		printf("json='%s' ", cfg.json);
}

static int parse(const void *arg)
{
	const struct usage usage = { .operands = "SIZE", .purpose = "Try the options" };
	const struct row *row = arg;
	char *argv[12];
	int argc = row_argv(row, argv), operand;

	operand = opts_parse(&usage, own, standard, argc, argv);
	print_changes();
	printf(":");
	for (; operand < argc; operand++)
		printf(" %s", argv[operand]);
	fflush(stdout);
	return 0;
}

#define COUNT_EXPECTED " expected a whole number"
#define SIZE_EXPECTED  " expected a size such as 4096, 64k, 2m or 1g"
#define TIME_EXPECTED  " expected a time such as 10 (seconds), 500ms, 10s or 2m"
#define TASKS_EXPECTED \
	" expected a whole number, or auto, 10% or 2x of the CPUs that may be used"
#define STRIDE_EXPECTED " expected a whole number, node or none"
#define NUMBER_EXPECTED " expected a number, decimal or 0x"
#define UNKNOWN         ": no such option; --help lists them\n"
#define UNKNOWN_NAME    ": no such option, or the beginning of several; --help lists them\n"

static const struct row good[] = {
	{ { NULL }, 0, ":" },
	/* each kind */
	{ { "-O" }, 0, "O :" },
	{ { "--anonymous" }, 0, "O :" },
	{ { "-O", "-O" }, 0, "O :" },
	{ { "-S" }, 0, "set=4 :" },
	{ { "-A" }, 0, "set=1 :" },
	{ { "-r", "3" }, 0, "repeat=3 :" },
	{ { "-r3" }, 0, "repeat=3 :" },
	{ { "-r", "0" }, 0, "repeat=0 :" },
	{ { "-r", "007" }, 0, "repeat=7 :" },
	{ { "-r", "18446744073709551615" }, 0, "repeat=18446744073709551615 :" },
	{ { "--repeat", "3" }, 0, "repeat=3 :" },
	{ { "--repeat=3" }, 0, "repeat=3 :" },
	{ { "-u", "4k" }, 0, "unit=4096 :" },
	{ { "-u0x10k" }, 0, "unit=16384 :" },
	{ { "--unit=1G" }, 0, "unit=1073741824 :" },
	{ { "-T", "10" }, 0, "runtime=10000000000 :" },
	{ { "-T500ms" }, 0, "runtime=500000000 :" },
	{ { "--runtime=0" }, 0, "runtime=0 :" },
	{ { "-n", "12" }, 0, "tasks=12 :" },
	{ { "-n16" }, 0, "tasks=16 :" },
	{ { "-n", "auto" }, 0, "tasks=1 :" },
	{ { "-n", "3x" }, 0, "tasks=3 :" },
	{ { "-n", "10%" }, 0, "tasks=1 :" },
	{ { "-n", "250%" }, 0, "tasks=2 :" },
	{ { "-b", "3" }, 0, "stride=3 :" },
	{ { "-b3", "-b", "none" }, 0, ":" },
	{ { "--bind=none" }, 0, ":" },
	{ { "-d", "10" }, 0, "data=10 :" },
	{ { "-d0xffffffffffffffff" }, 0, "data=18446744073709551615 :" },
	{ { "-f", "x" }, 0, "file='x' :" },
	{ { "-fx" }, 0, "file='x' :" },
	{ { "--file=x" }, 0, "file='x' :" },
	{ { "-f", "" }, 0, "file='' :" },
	{ { "--file=" }, 0, "file='' :" },
	{ { "--file=a=b" }, 0, "file='a=b' :" },
	{ { "-m", "100" }, 0, "mib=100 :" },
	{ { "--random-seed", "7" }, 0, "seed=7 :" },
	/* an optional argument comes with = only */
	{ { "--json" }, 0, "json='' :" },
	{ { "--json=" }, 0, "json='' :" },
	{ { "--json=x" }, 0, "json='x' :" },
	{ { "--json", "x" }, 0, "json='' : x" },
	{ { "--json=x", "--json" }, 0, "json='' :" },
	/* the last counts */
	{ { "-r", "3", "-r", "4" }, 0, "repeat=4 :" },
	{ { "-r3", "--repeat=1" }, 0, ":" },
	{ { "-S", "-A" }, 0, "set=1 :" },
	{ { "-A", "-S" }, 0, "set=4 :" },
	{ { "-SAS" }, 0, "set=4 :" },
	{ { "-f", "x", "-fy" }, 0, "file='y' :" },
	/* letters in one word */
	{ { "-UO" }, 0, "O U :" },
	{ { "-UOR" }, 0, "O U R :" },
	{ { "-UOr3" }, 0, "O U repeat=3 :" },
	{ { "-UOr", "3" }, 0, "O U repeat=3 :" },
	{ { "-rO" }, 2, "prog: --repeat 'O':" COUNT_EXPECTED "\n" },
	{ { "-OfO" }, 0, "O file='O' :" },
	/* operands anywhere, in their order */
	{ { "64m" }, 0, ": 64m" },
	{ { "64m", "-O" }, 0, "O : 64m" },
	{ { "a", "-O", "b", "-r", "3", "c" }, 0, "O repeat=3 : a b c" },
	{ { "a", "--json", "b" }, 0, "json='' : a b" },
	{ { "" }, 0, ": " },
	{ { "-" }, 0, ": -" },
	{ { "a", "-", "-O", "b" }, 0, "O : a - b" },
	{ { "-O", "--", "-U" }, 0, "O : -U" },
	{ { "a", "-O", "--", "-U", "--", "b" }, 0, "O : a -U -- b" },
	/* an argument may begin with - */
	{ { "-f", "-1" }, 0, "file='-1' :" },
	{ { "-f", "--" }, 0, "file='--' :" },
	{ { "-f", "--anonymous", "a" }, 0, "file='--anonymous' : a" },
	{ { "--file", "-O" }, 0, "file='-O' :" },
	{ { "--file=-O" }, 0, "file='-O' :" },
	/* abbreviations */
	{ { "--anon" }, 0, "O :" },
	{ { "--a" }, 0, "O :" },
	{ { "--rep=3" }, 0, "repeat=3 :" },
	{ { "--rep", "3" }, 0, "repeat=3 :" },
	{ { "--ru", "1" }, 0, "runtime=1000000000 :" },
	{ { "--random-", "7" }, 0, "seed=7 :" },
	{ { "--random-s=7" }, 0, "seed=7 :" },
	{ { "--msync-" }, 0, "set=1 :" },
	{ { "--inte", "1ns" }, 0, "interval=1 :" },
	{ { "--sampl", "5" }, 0, "samples=5 :" },
	{ { "--j" }, 0, "json='' :" },
	{ { "--js=x" }, 0, "json='x' :" },
	/* a name that begins another */
	{ { "--random" }, 0, "R :" },
	{ { "--msync" }, 0, "set=4 :" },
	{ { "--ran" }, 0, "t :" },
	/* what meant an old name alone still does */
	{ { "--i" }, 0, "i :" },
	{ { "--in" }, 0, "i :" },
	{ { "--ini" }, 0, "i :" },
	{ { "--f", "x" }, 0, "file='x' :" },
	{ { "--f=x" }, 0, "file='x' :" },
	{ { "--int", "1ns" }, 0, "interval=1 :" },
	{ { "--fo" }, 0, "F :" },
	{ { "--b", "3" }, 0, "stride=3 :" },
	{ { "--bi=3" }, 0, "stride=3 :" },
	/* unless it is a full name itself */
	{ { "--bin" }, 0, "B :" },
	{ { "--bin=3" }, 2, "prog: --bin: takes no argument\n" },
	{ { "--bind=3" }, 0, "stride=3 :" },
};

static const struct row bad[] = {
	/* each kind; the argument and what was expected */
	{ { "-r", "x" }, 2, "prog: --repeat 'x':" COUNT_EXPECTED "\n" },
	{ { "-r-1" }, 2, "prog: --repeat '-1':" COUNT_EXPECTED "\n" },
	{ { "-r", "" }, 2, "prog: --repeat '':" COUNT_EXPECTED "\n" },
	{ { "--repeat=" }, 2, "prog: --repeat '':" COUNT_EXPECTED "\n" },
	{ { "--rep=1k" }, 2, "prog: --repeat '1k':" COUNT_EXPECTED "\n" },
	{ { "-r", "0x10" }, 2, "prog: --repeat '0x10':" COUNT_EXPECTED "\n" },
	{ { "-r", "18446744073709551616" },
	  2,
	  "prog: --repeat '18446744073709551616': too large;" COUNT_EXPECTED "\n" },
	{ { "-u", "12x" }, 2, "prog: --unit '12x':" SIZE_EXPECTED "\n" },
	{ { "-u", "1.5g" }, 2, "prog: --unit '1.5g':" SIZE_EXPECTED "\n" },
	{ { "-u99999999t" },
	  2,
	  "prog: --unit '99999999t': too large;" SIZE_EXPECTED "\n" },
	{ { "-T", "1d" }, 2, "prog: --runtime '1d':" TIME_EXPECTED "\n" },
	{ { "-T", "2562048h" },
	  2,
	  "prog: --runtime '2562048h': too large;" TIME_EXPECTED "\n" },
	{ { "-n", "-1" }, 2, "prog: --nproc '-1':" TASKS_EXPECTED "\n" },
	{ { "-n", "abc" }, 2, "prog: --nproc 'abc':" TASKS_EXPECTED "\n" },
	{ { "-n", "2147483648" },
	  2,
	  "prog: --nproc '2147483648': too large;" TASKS_EXPECTED "\n" },
	{ { "-b", "nobody" }, 2, "prog: --bind 'nobody':" STRIDE_EXPECTED "\n" },
	{ { "-b", "-1" }, 2, "prog: --bind '-1':" STRIDE_EXPECTED "\n" },
	{ { "-d", "ff" }, 2, "prog: --data 'ff':" NUMBER_EXPECTED "\n" },
	{ { "-d", "0x1ffffffffffffffff" },
	  2,
	  "prog: --data '0x1ffffffffffffffff': too large;" NUMBER_EXPECTED "\n" },
	{ { "-mx" }, 2, "prog: -m 'x':" COUNT_EXPECTED "\n" },
	{ { "--interval=x" }, 2, "prog: --interval 'x':" TIME_EXPECTED "\n" },
	/* the first that is wrong ends it, wherever it stands */
	{ { "a", "-r", "3", "-r", "x", "-u", "y" },
	  2,
	  "prog: --repeat 'x':" COUNT_EXPECTED "\n" },
	/* an argument is missing */
	{ { "-r" }, 2, "prog: --repeat:" COUNT_EXPECTED " after it\n" },
	{ { "-OUr" }, 2, "prog: --repeat:" COUNT_EXPECTED " after it\n" },
	{ { "--repeat" }, 2, "prog: --repeat:" COUNT_EXPECTED " after it\n" },
	{ { "a", "--rep" }, 2, "prog: --repeat:" COUNT_EXPECTED " after it\n" },
	{ { "-m" }, 2, "prog: -m:" COUNT_EXPECTED " after it\n" },
	{ { "-f" }, 2, "prog: --file: expected a text after it\n" },
	{ { "--interval" }, 2, "prog: --interval:" TIME_EXPECTED " after it\n" },
	/* an argument too many */
	{ { "--anonymous=1" }, 2, "prog: --anonymous: takes no argument\n" },
	{ { "--anonymous=" }, 2, "prog: --anonymous: takes no argument\n" },
	{ { "--anon=1" }, 2, "prog: --anonymous: takes no argument\n" },
	{ { "--msync=1" }, 2, "prog: --msync: takes no argument\n" },
	{ { "--i=1" }, 2, "prog: --init-time: takes no argument\n" },
	{ { "--help=1" }, 2, "prog: --help: takes no argument\n" },
	{ { "--version=1" }, 2, "prog: --version: takes no argument\n" },
	/* no such letter */
	{ { "-x" }, 2, "prog: -x" UNKNOWN },
	{ { "-Ox" }, 2, "prog: -x" UNKNOWN },
	{ { "-O3" }, 2, "prog: -3" UNKNOWN },
	{ { "-:" }, 2, "prog: -:" UNKNOWN },
	{ { "-;" }, 2, "prog: -;" UNKNOWN },
	{ { "-O-" }, 2, "prog: --" UNKNOWN },
	{ { "-?" }, 2, "prog: -?" UNKNOWN },
	{ { "-W", "x" }, 2, "prog: -W" UNKNOWN },
	{ { "-\xff" }, 2, "prog: -\xff" UNKNOWN },
	{ { "-1" }, 2, "prog: -1" UNKNOWN },
	/* no such name */
	{ { "--bogus" }, 2, "prog: --bogus" UNKNOWN_NAME },
	{ { "--bogus=5" }, 2, "prog: --bogus=5" UNKNOWN_NAME },
	{ { "a", "b", "--bogus", "c" }, 2, "prog: --bogus" UNKNOWN_NAME },
	{ { "--anonymousx" }, 2, "prog: --anonymousx" UNKNOWN_NAME },
	{ { "--Anonymous" }, 2, "prog: --Anonymous" UNKNOWN_NAME },
	{ { "--m" }, 2, "prog: --m" UNKNOWN_NAME },
	{ { "---" }, 2, "prog: ---" UNKNOWN_NAME },
	{ { "--=x" }, 2, "prog: --=x" UNKNOWN_NAME },
	/* the beginning of several */
	{ { "--r" }, 2, "prog: --r" UNKNOWN_NAME },
	{ { "--ra" }, 2, "prog: --ra" UNKNOWN_NAME },
	{ { "--rando" }, 2, "prog: --rando" UNKNOWN_NAME },
	{ { "--rando=7" }, 2, "prog: --rando=7" UNKNOWN_NAME },
	{ { "--msyn" }, 2, "prog: --msyn" UNKNOWN_NAME },
	{ { "--sam", "5" }, 2, "prog: --sam" UNKNOWN_NAME },
	{ { "--h" }, 2, "prog: --h" UNKNOWN_NAME },
};

/* Defaults are what the targets hold; a target of 0 or NULL has none to show. */
static const char help[] =
	"Usage: prog [options] SIZE\n"
	"Try the options.\n"
	"\n"
	"  -O, --anonymous             a flag\n"
	"  -U, --huge                  another flag\n"
	"  -S, --msync                 sets 4\n"
	"  -A, --msync-async           sets 1\n"
	"  -r, --repeat N              a count (1)\n"
	"  -u, --unit SIZE             a size (64m)\n"
	"  -T, --runtime TIME          a time (90s)\n"
	"  -n, --nproc N               tasks\n"
	"  -b, --bind K                a stride\n"
	"  -d, --data N                a number\n"
	"  -f, --file FILE             a text (/var/tmp)\n"
	"  -R, --random                its name begins another\n"
	"      --random-seed N         no letter\n"
	"      --init-time             an old name\n"
	"  -m N                        no name\n"
	"\n"
	"As every program of the suite:\n"
	"      --interval TIME         a later time\n"
	"      --samples N             a later count\n"
	"      --same N                a later count like it\n"
	"      --ran                   a later name that begins older ones\n"
	"      --bin                   a later name that begins --bind\n"
	"      --force                 a later name that begins as --file\n"
	"      --json[=FILE]           maybe a text\n"
	"  -h, --help                  this text\n"
	"      --version               its version\n"
	"\n"
	"SIZE: k, m, g, t are powers of 1024. TIME: ns, us, ms, s, m, h; without one, "
	"seconds.\n";

static const struct row exits[] = {
	{ { "--help" }, 0, help },
	{ { "-h" }, 0, help },
	{ { "--hel" }, 0, help },
	{ { "a", "-Oh", "--bogus" }, 0, help },
	/* A default is what was there before the parsing. */
	{ { "-r7", "--help" }, 0, help },
	{ { "--version" }, 0, "prog (pagemill) " PAGEMILL_VERSION "\n" },
	{ { "--vers" }, 0, "prog (pagemill) " PAGEMILL_VERSION "\n" },
	/* What comes first decides. */
	{ { "--bogus", "--help" }, 2, "prog: --bogus" UNKNOWN_NAME },
	{ { "--", "--help" }, 0, ": --help" },
};

/* The other kinds' defaults, and no operands. */
static int help_with_defaults(const void *arg)
{
	static const struct opt only_help[] = { OPT_HELP('h', "help", "this text"),
						OPT_END };
	const struct usage usage = { .operands = "", .purpose = "Show defaults" };
	char *argv[] = { (char *)"prog", (char *)"--help", NULL };

	(void)arg;
	cfg.tasks = 2;
	cfg.data = 10;
	cfg.stride = 1;
	cfg.unit = 1536;
	cfg.runtime = 500 * ns_per_ms;
	cfg.file = NULL;
	cfg.repeat = 0;
	return opts_parse(&usage, own, only_help, 2, argv) > 99;
}

static void check_defaults(void)
{
	static const char *const lines[] = {
		"Usage: prog [options]\nShow defaults.\n\n  -O",
		"  -n, --nproc N               tasks (2)\n",
		"  -d, --data N                a number\n",
		"  -b, --bind K                a stride\n",
		"  -u, --unit SIZE             a size (1536)\n",
		"  -T, --runtime TIME          a time (500ms)\n",
		"  -f, --file FILE             a text\n",
		"  -r, --repeat N              a count\n",
		"  -m N                        no name\n\nAs every program",
		"  -h, --help                  this text\n\nSIZE: ",
	};
	static struct child child;

	child_run(&child, help_with_defaults, NULL);
	CHECK_U64("help", child.status, 0);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (!strstr(child.out, lines[i]))
			CHECK_TEXT("help", child.out, lines[i]);
}

static int parse_with_full_output(const void *arg)
{
	dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
	return parse(arg);
}

/* Help or version that is lost is a failure. */
static void check_lost_output(void)
{
	static const struct row lost[] = {
		{ { "--help" },
		  1,
		  "prog: write results to standard output: No space left on device\n" },
		{ { "--version" },
		  1,
		  "prog: write results to standard output: No space left on device\n" },
	};
	static struct child child;

	for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
		child_run(&child, parse_with_full_output, &lost[i]);
		CHECK_U64(lost[i].args[0], child.status, lost[i].status);
		CHECK_TEXT(lost[i].args[0], child.err, lost[i].said);
	}
}

/* To one CPU: what a share of the allowed CPUs is does then not depend on the machine. */
static void stay_on_one_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		SKIP("cannot stay on one CPU: %s", strerror(errno));
}

int main(void)
{
	static char prog[] = "prog";

	program_invocation_short_name = prog;
	/* Options and operands mix all the same. */
	setenv("POSIXLY_CORRECT", "1", 1);
	stay_on_one_cpu();
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		check_row(&good[i], parse);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		check_row(&bad[i], parse);
	for (size_t i = 0; i < ARRAY_SIZE(exits); i++)
		check_row(&exits[i], parse);
	check_defaults();
	check_lost_output();
	return check_result();
}
