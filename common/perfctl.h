/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfctl - a perf that runs beside us is told to count, as its --control has it (perf-stat(1)). */
#ifndef COMMON_PERFCTL_H
#define COMMON_PERFCTL_H

#include "common/base.h"

struct perf_control {
	int to, from; /* FIFOs; from: -1, nobody acknowledges */
};

#define PERF_CONTROL_CLOSED \
	{                   \
		-1, -1      \
	}

/* Open "FIFO" or "FIFO,ACKFIFO", which a perf has been given and has open. 0 or -errno after saying so. */
must_check int perf_control_open(struct perf_control *c, const char *names);
/* "enable" or "disable", and wait until that is acknowledged, where it is. 0 or -errno after saying so. */
must_check int perf_control_say(const struct perf_control *c, const char *command);
void perf_control_close(struct perf_control *c);

/* Write COMMAND and a newline to TO, which does not block; unless FROM is -1, then wait there for "ack" and a newline.
 * 0 or -errno in silence: -EPIPE, there is nobody (any more); -ETIMEDOUT, too long a wait; -EINTR, the run is to
 * stop meanwhile. */
must_check int perf_talk(int to, int from, const char *command, uint64_t patience_ns);

#endif
