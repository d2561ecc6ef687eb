// SPDX-License-Identifier: GPL-2.0-or-later
/* handlers - what signals do to a worker of a crew, and to its process. */
#include "common/board.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>

/* The worker that this thread is, for the signal handlers. (Not a plain static: a page that each
 * of thousands of processes would have to copy; the thread's own data is copied anyway.) */
static _Thread_local struct worker *self;

void handlers_serve(struct worker *w)
{
	self = w;
}

static void on_deadline(int sig, siginfo_t *info, void *context)
{
	struct tally *tally = info->si_value.sival_ptr;

	(void)sig;
	(void)context;
	if (info->si_code == SI_TIMER)
		atomic_store(&tally->limit, 0);
}

/* The tallies of all workers of this process. */
static struct tally *tallies_here(const struct worker *w)
{
	return &w->board->tallies[w->id - w->id % w->board->threads];
}

/* Stop all that this process does, and wake whoever waits. Safe in a signal handler. */
void handlers_stop(const struct worker *w)
{
	stop_tallies(tallies_here(w), w->board->threads);
	bell_ring(&w->board->bell);
	bell_ring(&meeting_of(w)->bell);
}

/* A signal for the process, taken by a thread about to begin, is for the first, which has begun. */
static bool pass_on(int sig)
{
	if (!self)
		syscall(SYS_tgkill, getpid(), getpid(), sig);
	return !self;
}

static void on_stop(int sig)
{
	int saved = errno;

	if (!pass_on(sig)) {
		atomic_store(&meeting_of(self)->stopped_by, sig);
		handlers_stop(self);
	}
	errno = saved;
}

static void on_user(int sig)
{
	int saved = errno;

	if (!pass_on(sig)) {
		atomic_store(&meeting_of(self)->signalled, true);
		bell_ring(&meeting_of(self)->bell);
	}
	errno = saved;
}

/* The parent is about to end, and sends this to the thread that would die with it (it is that of
 * one thread: prctl(2), PR_SET_PDEATHSIG). */
static void on_leave(int sig)
{
	int saved = errno;

	(void)sig;
	if (self && gettid() == getpid() && atomic_load(&self->board->leaving)) {
		prctl(PR_SET_PDEATHSIG, 0);
		atomic_store(&meeting_of(self)->released, true);
		bell_ring(&meeting_of(self)->bell);
		kill(self->board->parent, SIGCHLD);
	}
	errno = saved;
}

void handlers_install(void)
{
	struct sigaction deadline = { .sa_sigaction = on_deadline,
				      .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction stop = { .sa_handler = on_stop };
	struct sigaction user = { .sa_handler = on_user, .sa_flags = SA_RESTART };
	struct sigaction leave = { .sa_handler = on_leave, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &deadline, NULL);
	sigaction(SIGUSR1, &user, NULL);
	sigaction(SIGURG, &leave, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
}
