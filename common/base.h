/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base - errors, exit statuses, and lines that are written whole. */
#ifndef COMMON_BASE_H
#define COMMON_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KiB (UINT64_C(1) << 10)
#define MiB (UINT64_C(1) << 20)
#define GiB (UINT64_C(1) << 30)
#define TiB (UINT64_C(1) << 40)

#define ns_per_us UINT64_C(1000)
#define ns_per_ms UINT64_C(1000000)
#define ns_per_s  UINT64_C(1000000000)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)     ((a) < (b) ? (a) : (b))
#define MAX(a, b)     ((a) > (b) ? (a) : (b))

#define must_check __attribute__((warn_unused_result))
#define printf_like(fmt_at, args_at) \
	__attribute__((__format__(__printf__, fmt_at, args_at)))
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Call first in main: no descriptor below 3 is free for a file of ours to land on (a write to a
 * standard output that was closed fails with EBADF), and a reader that has gone or a file that
 * may grow no more is an error of write(2), not a signal. */
void base_init(void);

/* Print "program: message: strerror(errno)" on stderr in one write and return -errno. */
int failed(const char *fmt, ...) printf_like(1, 2);
/* The same for our own objections to what was asked for; returns -EBADRQC, which no call
 * here returns. */
int refused(const char *fmt, ...) printf_like(1, 2);
/* The same for what this machine cannot do; returns -EOPNOTSUPP. */
int unsupported(const char *fmt, ...) printf_like(1, 2);
/* The same for a failure that no errno describes, such as data that is wrong; returns -EIO. */
int broken(const char *fmt, ...) printf_like(1, 2);
/* Of all threads and processes that gave the same SAID, only the first of these four calls prints:
 * where many fail alike. For the calling thread, until it gives NULL. */
void complain_once(_Atomic bool *said);
/* What these four would print goes to TEXT of ROOM bytes in place of stderr, without the program's name
 * and the newline; cut where it is too long. For the calling thread, until it gives NULL. */
void complain_into(char *text, size_t room);
/* "program: message" on stderr in one write, for what is no error. */
void note(const char *fmt, ...) printf_like(1, 2);

/* Is a SIGINT or SIGTERM waiting that this thread holds back? For loops that take long, which then
 * end with -EINTR. */
bool stop_is_pending(void);

/* 0 -> 0, -EBADRQC -> 2, -EOPNOTSUPP and -ENOSYS -> 77, anything else -> 1. */
int exit_status(int ret);

/* Write LEN bytes to FD, going on after short writes and EINTR. 0, or -errno in silence. */
must_check int write_all(int fd, const void *data, size_t len);
/* Write TEXT to stdout. 0, or -errno after saying so: output that is lost is a failed run. */
must_check int print_text(const char *text, size_t len);
/* Format one line of results to stdout in one write(2), so that lines of many processes never
 * mix. As print_text(). */
must_check int print_line(const char *fmt, ...) printf_like(1, 2);

#endif
