// SPDX-License-Identifier: GPL-2.0-or-later
/* worker - the life of one worker of a crew, and of the process it lives in. */
#include "common/board.h"
#include "common/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

/* glibc hides the member that timer_create(2) documents as sigev_notify_thread_id. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

bool crew_stopping(const struct worker *w)
{
	const struct meeting *m = meeting_of(w);

	return atomic_load(&w->board->state) > CREW_WORKING ||
	       atomic_load(&m->stopped_by) || atomic_load(&m->gave_up);
}

static int timer_open(struct worker *w)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGALRM,
		.sigev_value.sival_ptr = w->tally,
		.sigev_notify_thread_id = gettid(),
	};

	if (timer_create(CLOCK_MONOTONIC, &event, &w->timer))
		return failed("timer of the run time, one of the pending signals that "
			      "'ulimit -i' allows");
	w->has_timer = true;
	/* A rehearsal, which on_deadline() ignores: the pages that the end of the work takes, the
	 * handler's frame on the stack and the clock's, are there when all workers need them at
	 * once. */
	(void)now_ns();
	raise(SIGALRM);
	return 0;
}

static int timer_set(struct worker *w, uint64_t at_ns)
{
	struct itimerspec when = { .it_value = timespec_of(at_ns) };

	if (timer_settime(w->timer, TIMER_ABSTIME, &when, NULL))
		return failed("set the timer of the run time");
	return 0;
}

int phase_begin(struct worker *w, uint64_t from_ns)
{
	uint64_t max_ops = w->crew->max_ops;
	int ret;

	/* Off before the limit is lifted, on after it: a stop in between is never lost. */
	ret = w->has_timer ? timer_set(w, 0) : 0;
	if (ret)
		return ret;
	atomic_store(&w->tally->limit,
		     max_ops ? atomic_load(&w->tally->ops) + max_ops : UINT64_MAX);
	if (crew_stopping(w))
		atomic_store(&w->tally->limit, 0);
	return w->has_timer ? timer_set(w, from_ns + w->crew->runtime_ns) : 0;
}

static int bind_worker(struct worker *w)
{
	const struct crew *crew = w->crew;
	uint64_t count, rank;

	if (crew->cpu_sets_count)
		return cpus_bind(&crew->cpu_sets[w->id % crew->cpu_sets_count]);
	if (!crew->cpus)
		return 0;
	/* Both reduced first: whatever the stride is, nothing wraps. */
	count = crew->cpus->count;
	rank = w->id % count * (crew->cpu_stride % count) % count;
	w->cpu = (int)crew->cpus->ids[rank];
	return cpu_bind((unsigned)w->cpu);
}

static int prepare(struct worker *w)
{
	const struct crew *crew = w->crew;
	int ret = bind_worker(w);

	if (!ret && crew->runtime_ns)
		ret = timer_open(w);
	if (!ret && crew->setup)
		ret = crew->setup(w);
	return ret;
}

/* Wait at the start line. False: the run is over before it began. */
static bool await_start(struct worker *w)
{
	struct board *b = w->board;

	if (atomic_fetch_add(&b->ready, 1) + 1 == b->total)
		kill(b->parent, SIGCHLD);
	for (;;) {
		uint32_t bell = atomic_load(&b->bell);

		if (atomic_load(&b->state) == CREW_WORKING)
			return true;
		if (crew_stopping(w))
			return false;
		bell_wait(&b->bell, bell, 0);
	}
}

/* At a common deadline nobody frees and exits before the last has ended: an exit steals the CPU
 * from those who must still stop. */
static void await_ends(struct worker *w, bool at_deadline)
{
	struct board *b = w->board;

	if (!w->crew->runtime_ns)
		return;
	if (atomic_fetch_add(&b->ended, 1) + 1 == b->total)
		bell_ring(&b->bell);
	while (at_deadline) {
		uint32_t bell = atomic_load(&b->bell);

		if (atomic_load(&b->ended) == b->total || crew_stopping(w))
			return;
		bell_wait(&b->bell, bell, 0);
	}
}

/* The last to come calls the parent, which looks at the machine before anything is freed. */
static void await_close(struct worker *w)
{
	struct board *b = w->board;

	if (!w->crew->window || atomic_fetch_add(&b->worked, 1) + 1 < b->total)
		return;
	kill(b->parent, SIGCHLD);
	for (;;) {
		uint32_t bell = atomic_load(&b->bell);

		if (atomic_load(&b->closed) || crew_stopping(w))
			return;
		bell_wait(&b->bell, bell, 0);
	}
}

static int work(struct worker *w)
{
	const struct crew *crew = w->crew;
	struct tally *t = w->tally;
	int ret;

	if (!t->began_ns)
		t->began_ns = atomic_load(&w->board->started_ns);
	ret = phase_begin(w, t->began_ns);
	if (!ret)
		ret = crew->work(w);
	t->ended_ns = now_ns();
	t->work_ops = atomic_load(&t->ops);
	t->work_bytes = atomic_load(&t->bytes);
	atomic_store(&t->outcome, crew_stopping(w) ? OUTCOME_INTERRUPTED : OUTCOME_OK);
	if (ret)
		return ret;
	await_close(w);
	await_ends(w, !atomic_load(&t->limit));
	if (crew->finish && atomic_load(&w->board->state) != CREW_FAILED)
		ret = crew->finish(w);
	if (crew_stopping(w))
		atomic_store(&t->outcome, OUTCOME_INTERRUPTED);
	return ret;
}

/* RET was said by the hook that failed. The parent, unless it has left, is called to stop the
 * others; the threads of this process stop in any case. */
static void give_up(struct worker *w, int ret)
{
	atomic_store(&w->tally->error, ret);
	atomic_store(&w->tally->outcome, OUTCOME_FAILED);
	atomic_store(&meeting_of(w)->gave_up, true);
	handlers_stop(w);
	atomic_fetch_add(&w->board->failures, 1);
	if (getppid() == w->board->parent)
		kill(w->board->parent, SIGCHLD);
}

static void *live(void *arg)
{
	struct worker *w = arg;
	bool teardown;
	int ret;

	handlers_serve(w);
	ret = prepare(w);
	teardown = !ret && w->crew->teardown;

	if (!ret && await_start(w))
		ret = work(w);
	if (ret)
		give_up(w, ret);
	/* Once there is no parent to stop all, nobody may wait at the second line for who has ended. */
	if (w->board->leaves)
		board_cross(w->board, w->id);
	if (teardown)
		w->crew->teardown(w);
	if (w->has_timer)
		timer_delete(w->timer);
	return NULL;
}

static void live_as_threads(struct worker *workers, unsigned count)
{
	pthread_t *threads = calloc(count, sizeof(*threads));
	unsigned started = 1;
	int ret = threads ? 0 : ENOMEM;

	while (!ret && started < count) {
		ret = pthread_create(&threads[started], NULL, live, &workers[started]);
		started += !ret;
	}
	errno = ret;
	if (ret)
		give_up(workers, failed("start thread %u of %u", started + 1, count));
	else
		live(workers);
	for (unsigned i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void enter_process(struct worker *first)
{
	sigset_t mine;

	handlers_serve(first);
	meeting_of(first)->pid = getpid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before the line above. */
	if (getppid() != first->board->parent)
		_exit(EXIT_WORKER_FAILED);
	sigemptyset(&mine);
	sigaddset(&mine, SIGINT);
	sigaddset(&mine, SIGTERM);
	sigaddset(&mine, SIGCHLD);
	sigaddset(&mine, SIGALRM);
	sigaddset(&mine, SIGUSR1);
	sigaddset(&mine, SIGURG);
	sigprocmask(SIG_UNBLOCK, &mine, NULL);
}

int worker_process(const struct crew *crew, struct board *board, unsigned index)
{
	unsigned count = MAX(crew->threads, 1), first = index * count;
	/* The heap, too, would cost each process a page. */
	struct worker one, *workers = count == 1 ? &one : calloc(count, sizeof(*workers));
	int status;

	if (!workers) {
		failed("memory for %u workers", count);
		return EXIT_WORKER_FAILED;
	}
	for (unsigned i = 0; i < count; i++)
		workers[i] = (struct worker){
			.id = first + i,
			.total = board->total,
			.cpu = -1,
			.crew = crew,
			.board = board,
			.tally = &board->tallies[first + i],
			.record = board_record(board, first + i),
		};
	enter_process(workers);
	if (count == 1)
		live(workers);
	else
		live_as_threads(workers, count);
	status = workers->tally->meeting.stopped_by;
	status = status ? EXIT_SIGNAL + status : 0;
	for (unsigned i = 0; i < count; i++)
		if (atomic_load(&workers[i].tally->error))
			status = EXIT_WORKER_FAILED;
	if (workers != &one)
		free(workers);
	return status;
}
