/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figures - what the workers have in their records: sums, and how long calls took. */
#ifndef COMMON_FIGURES_H
#define COMMON_FIGURES_H

#include "common/crew.h"
#include "common/hist.h"
#include "common/report.h"

/* A row: what adds up over the workers. */
struct figure {
	struct metric metric;
	const bool *asked; /* NULL: always there */
	size_t at;         /* of a uint64_t in the record of each worker */
};

uint64_t figure_of(const struct crew_result *result, unsigned worker, size_t at);
uint64_t figure_total(const struct crew_result *result, size_t at);
/* One more repetition's values of COUNT rows, those that are asked for. X has room for a value of each
 * worker. */
void figures_report(struct report *r, const struct figure *rows, size_t count,
		    const struct crew_result *result, double *x);

/* The latencies of one kind of call; a constant of the program's. */
struct latency {
	const char *name; /* of the metrics: "flush" makes flush_latency_min_ns ... */
	size_t at;        /* of a struct hist in the record of each worker */
};

/* Those of all workers together, into *ALL, which is zeroed before. */
void latency_merge(const struct latency *l, const struct crew_result *result,
		   struct hist *all);
/* One more repetition's smallest, median, 90 % ... largest, of ALL and of each worker. X has room for a
 * value of each worker. Nothing if there was no call. */
void latency_report(struct report *r, const struct latency *l,
		    const struct crew_result *result, const struct hist *all, double *x);
/* "flush latency: min 3.1 us, median ...", if there was a call. 0 or -errno after saying so. */
must_check int latency_print(const struct latency *l, const struct hist *all);

#endif
