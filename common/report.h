/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report - what a run says, as one tree, written as one JSON document. */
#ifndef COMMON_REPORT_H
#define COMMON_REPORT_H

#include "common/base.h"
#include "common/crew.h"
#include "common/fs.h"
#include "common/limits.h"
#include "common/medium.h"
#include "common/opts.h"
#include "common/output.h"
#include "common/stats.h"
#include "common/topo.h"

enum unit {
	UNIT_BYTES,
	UNIT_BYTES_PER_S,
	UNIT_NS,
	UNIT_PAGES,
	UNIT_FAULTS,
	UNIT_COUNT,
	UNIT_PER_S,
	UNIT_SHARE
};

/* A row for each figure a program reports; the JSON key is "name_unit". */
struct metric {
	const char *name;
	enum unit unit;
	bool higher_is_better;
};

struct report;

/* The document of one run. OWN and STANDARD are the option tables, whose values are recorded as
 * they now are. The report and everything below hold until report_free(); calls on a report that
 * ran out of memory do nothing, report_write() says so. */
struct report *report_new(int argc, char *const *argv, const struct opt *own,
			  const struct opt *standard);
void report_free(struct report *r);
void report_environment(struct report *r, const struct topo *topo,
			const struct limits *limits);
/* A filesystem that files of the run lie on, once however often it is told. MADE: what fs_open()
 * made it to be; NULL: it was there before. */
void report_filesystem(struct report *r, const struct medium *m,
		       const struct fs_made *made);
/* The values of OWN as they are now: what has been settled since report_new(). */
void report_options(struct report *r, const struct opt *own);
/* An effective value that no option row holds, under options. */
void report_option(struct report *r, const char *name, uint64_t value);
/* One more repetition's value of METRIC, */
void report_sample(struct report *r, const struct metric *metric, double value);
/* ... and the values of its N workers. */
void report_per_worker(struct report *r, const struct metric *metric, const double *x,
		       size_t n);
/* How each worker of one more repetition ended. */
void report_workers(struct report *r, const struct crew_result *result);
/* BYTES were accessed until ELAPSED_NS after the start of repetition REPETITION (from 0). */
void report_interval(struct report *r, unsigned repetition, uint64_t elapsed_ns,
		     uint64_t bytes);
/* NAME of the system as the repetition had it that report_workers() told of last; NAN: not known. In a
 * repetition in which others are told of and it is not, it is not known either. */
void report_system(struct report *r, const char *name, double value);
/* What is no warning: it does not make the figures any worse. */
void report_note(struct report *r, const char *text);
void report_warning(struct report *r, const char *text);
/* ok, failed, skipped or interrupted, by RET and SIGNAL. */
void report_outcome(struct report *r, int ret, int signal);

/* Write the document, ended by a newline. 0 or -errno after saying so. */
must_check int report_write(struct report *r, struct output *out);

#endif
