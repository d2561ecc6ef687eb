/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command - a command for sh(1) that takes all it began with it, however it or we end. */
#ifndef COMPARE_COMMAND_H
#define COMPARE_COMMAND_H

#include "common/base.h"

#include <signal.h>

/* The signals that tell this process to stop. */
void command_stops(sigset_t *set);

/* Run COMMAND with VARIABLE set to VALUE in its environment and standard output on standard error, in a session of its
 * own. A SIGINT, SIGTERM, SIGHUP or SIGQUIT to this process is passed on and put into *SIGNAL; what has not
 * ended 5 s later is killed. So is what is left of the session once the command has ended, and all of it if this
 * process dies. The command's wait status, or -errno after saying so. */
must_check int command_run(const char *command, const char *variable, const char *value,
			   int *signal);

#endif
