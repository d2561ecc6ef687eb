// SPDX-License-Identifier: GPL-2.0-or-later
/* options - any command line for usemem's options and those of every program. */
#include "tests/fuzz/fuzz.h"
#include "usemem/usemem.h"

#include <errno.h>
#include <getopt.h>
#include <setjmp.h>
#include <unistd.h>

enum { MAX_SIZE = 1000, MAX_WORDS = 64 };

/* Words are separated by newlines and zeros. */
struct line {
	int argc;
	char *argv[MAX_WORDS + 1];
};

/* What one stream was told while the parser ran. */
struct heard {
	char text[16 * 1024];
	size_t len;
	unsigned writes;
};

static bool listening;
static struct heard heard_out, heard_err;
static jmp_buf at_exit;
static int exit_with;

/* The linker's --wrap lets all calls of exit() and write() come here. */
_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);
ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);

_Noreturn void __wrap_exit(int status)
{
	if (!listening)
		__real_exit(status);
	exit_with = status;
	longjmp(at_exit, 1);
}

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	struct heard *heard = fd == STDOUT_FILENO   ? &heard_out
			      : fd == STDERR_FILENO ? &heard_err
						    : NULL;

	if (!listening || !heard)
		return __real_write(fd, data, len);
	MUST(len < sizeof(heard->text) - heard->len, "%zu bytes more", len);
	memcpy(heard->text + heard->len, data, len);
	heard->len += len;
	heard->text[heard->len] = '\0';
	heard->writes++;
	return (ssize_t)len;
}

static void split(char *text, size_t size, struct line *line)
{
	char *end = text + size;

	line->argc = 1;
	line->argv[0] = program_invocation_short_name;
	for (char *arg = text; arg < end && line->argc < MAX_WORDS;
	     arg += strlen(arg) + 1) {
		arg[strcspn(arg, "\n")] = '\0';
		line->argv[line->argc++] = arg;
	}
	line->argv[line->argc] = NULL;
}

/* usemem's configuration as it was before any option. */
static void reset_config(void)
{
	static struct config fresh;

	if (!fresh.passes) {
		run_fill_standard(&cfg.run);
		fresh = cfg;
	}
	free(cfg.run.dirs.at);
	cfg = fresh;
}

static int whole_page(void *context, const char *share, uint64_t *bytes)
{
	(void)context;
	(void)share;
	*bytes = 4 * KiB;
	return 0;
}

/* The index of the first operand, or -1 if the parser wanted to exit. */
static int parse(struct line *line)
{
	const struct usage usage = { .operands = "SIZE",
				     .purpose = "Take any options",
				     .whole = whole_page };
	int operand;

	reset_config();
	heard_out.len = heard_out.writes = heard_err.len = heard_err.writes = 0;
	optind = 0;
	listening = true;
	if (setjmp(at_exit)) {
		listening = false;
		return -1;
	}
	operand = opts_parse(&usage, usemem_options, cfg.run.standard, line->argc,
			     line->argv);
	listening = false;
	MUST(!heard_out.writes && !heard_err.writes, "%s%s", heard_out.text,
	     heard_err.text);
	MUST(operand >= 1 && operand <= line->argc, "%d of %d", operand, line->argc);
	return operand;
}

/* One line, written at once, that names the program and what was expected. */
static void check_refusal(void)
{
	static const char *const reasons[] = { ": expected ", "; expected ",
					       ": no such option",
					       ": takes no argument" };
	const char *text = heard_err.text;
	size_t name_len = strlen(program_invocation_short_name);
	bool has_reason = false;

	MUST(!heard_out.writes, "%s", heard_out.text);
	MUST(heard_err.writes == 1, "%u writes", heard_err.writes);
	MUST(strchr(text, '\n') == text + heard_err.len - 1, "%s", text);
	MUST(!strncmp(text, program_invocation_short_name, name_len) &&
		     !strncmp(text + name_len, ": ", 2),
	     "%s", text);
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		has_reason |= strstr(text, reasons[i]) != NULL;
	MUST(has_reason, "%s", text);
}

static void check_exit(void)
{
	MUST(exit_with == 0 || exit_with == 2, "%d", exit_with);
	if (exit_with == 2) {
		check_refusal();
		return;
	}
	MUST(heard_out.writes == 1 && !heard_err.writes, "%s%s", heard_out.text,
	     heard_err.text);
}

static int place_of(const struct line *line, const char *arg)
{
	for (int i = 0; i < line->argc; i++)
		if (line->argv[i] == arg)
			return i;
	return -1;
}

static bool has_word(const struct line *line, const char *wanted)
{
	for (int i = 1; i < line->argc; i++)
		if (!strcmp(line->argv[i], wanted))
			return true;
	return false;
}

/* All words are still there, the operands behind the options and in their old order. */
static void check_order(const struct line *typed, const struct line *parsed, int operand)
{
	bool ended = has_word(typed, "--");
	int last = 0;

	for (int i = 0; i < typed->argc; i++)
		MUST(place_of(parsed, typed->argv[i]) >= 0, "'%s'", typed->argv[i]);
	for (int i = operand; i < parsed->argc; i++) {
		const char *arg = parsed->argv[i];
		int place = place_of(typed, arg);

		MUST(place > last, "'%s'", arg);
		MUST(ended || arg[0] != '-' || !arg[1], "'%s'", arg);
		last = place;
	}
}

/* Moves the words of --dir to WORDS: cfg is without a pointer that differs from one parse to the
 * next. */
static unsigned take_dirs(const char **words)
{
	unsigned count = cfg.run.dirs.count;

	for (unsigned i = 0; i < count; i++)
		words[i] = cfg.run.dirs.at[i];
	free(cfg.run.dirs.at);
	cfg.run.dirs = (struct words){ 0 };
	return count;
}

/* Permuted as it is now the line means the same; but the --advise at its end may then take an
 * operand. */
static void check_again(struct line *parsed, int operand)
{
	static unsigned char before[sizeof(cfg)], after[sizeof(cfg)];
	const char *dirs[MAX_WORDS], *dirs_again[MAX_WORDS];
	unsigned count;
	int again;

	if (cfg.advise)
		return;
	count = take_dirs(dirs);
	memcpy(before, &cfg, sizeof(cfg));
	again = parse(parsed);
	MUST(again == operand, "%d, then %d", operand, again);
	MUST(take_dirs(dirs_again) == count, "not %u words of --dir", count);
	for (unsigned i = 0; i < count; i++)
		MUST(dirs[i] == dirs_again[i], "%s", dirs[i]);
	memcpy(after, &cfg, sizeof(cfg));
	MUST(!memcmp(before, after, sizeof(cfg)), "another configuration");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line typed, parsed;
	char *text;
	int operand;

	if (size > MAX_SIZE)
		return 0;
	text = fuzz_text(data, size);
	split(text, size, &typed);
	parsed = typed;
	operand = parse(&parsed);
	if (operand < 0) {
		check_exit();
	} else {
		check_order(&typed, &parsed, operand);
		check_again(&parsed, operand);
	}
	free(text);
	return 0;
}
