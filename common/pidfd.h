/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pidfd - a process by a descriptor, pidfd_open(2) and pidfd_send_signal(2), which glibc has from 2.36 on. */
#ifndef COMMON_PIDFD_H
#define COMMON_PIDFD_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* A descriptor that is readable once PID, a child, has ended. -1 and errno. */
static inline int process_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static inline int process_signal(int fd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

#endif
