/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sigbus - for tests in which SIGBUS is explained. */
#ifndef TESTS_UNIT_SIGBUS_H
#define TESTS_UNIT_SIGBUS_H

/* ThreadSanitizer objects to fopen() in a signal handler; this signal comes from a load or store
 * of the test's own, never from within malloc(). */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "report_signal_unsafe=0";
}

#endif
