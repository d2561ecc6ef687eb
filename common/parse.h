/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parse - sizes, times, counts and CPU lists from text, and the way back.
 *
 * Every parser takes the whole text or nothing: 0 and the output written, or -EINVAL (not
 * of this form) or -ERANGE (of this form, but does not fit) and the output untouched.
 * None prints. */
#ifndef COMMON_PARSE_H
#define COMMON_PARSE_H

#include "common/base.h"

#include <stdbool.h>

struct cpus;

/* "64", "0x40", "64k", "2M", "1g", "1t": decimal (leading zeros are no octal) or 0x
 * digits and at most one letter, powers of 1024. No sign, no blank, no fraction. */
must_check int parse_size(const char *text, uint64_t *bytes);
/* "25%" of WHOLE, rounded down; 0 to 100, whole percents. */
must_check int parse_share(const char *text, uint64_t whole, uint64_t *bytes);
/* "500ms", "10s", "2m", "1h", "250us", "80ns"; a bare number is seconds. At most
 * INT64_MAX ns. */
must_check int parse_time(const char *text, uint64_t *ns);
/* The same for short times: a bare number is nanoseconds, and "u" and "m" are micro- and
 * milliseconds: "500", "20u", "5m", "1s". */
must_check int parse_delay(const char *text, uint64_t *ns);
/* Decimal digits only. */
must_check int parse_count(const char *text, uint64_t *count);
/* A number of tasks up to 2^31-1: a count, "auto" (CPUS), "10%" of CPUS (rounded down, at
 * least 1; more than 100 % is fine) or "2x" CPUS. */
must_check int parse_tasks(const char *text, unsigned cpus, unsigned *tasks);
/* A 64-bit word to store: decimal or 0x digits. */
must_check int parse_word(const char *text, uint64_t *word);
/* A list as the kernel prints it, "0-3,8", a newline at its end allowed: SET, an
 * initialized set, gets exactly those, each once, in the order of the text. An empty text
 * is the empty set. -EINVAL, -ERANGE (a number from CPU_NUMBERS up) or -ENOMEM. */
must_check int parse_cpus(const char *text, struct cpus *set);

/* A size as parse_size() reads it and a time (up to INT64_MAX) as parse_time() does, in
 * the largest unit that divides exactly: "64m", "1536", "90s". Reading the text back
 * gives the same number. */
#define FORMAT_LEN 32
char *format_size(char buf[static FORMAT_LEN], uint64_t bytes);
char *format_time(char buf[static FORMAT_LEN], uint64_t ns);
/* An amount for a person, three significant digits (or four, 1000 to 1023) and a binary
 * unit: "1.50 GiB", "812 B". */
char *format_bytes(char buf[static FORMAT_LEN], double bytes);

#endif
