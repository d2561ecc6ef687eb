// SPDX-License-Identifier: GPL-2.0-or-later
/* waits - the waits of a crew in and after its work, each with what would break it. */
#include "common/clock.h"
#include "common/crew.h"
#include "tests/check.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define THREADS_SANITIZED 1
#elif defined(__has_feature)
#define THREADS_SANITIZED __has_feature(thread_sanitizer)
#else
#define THREADS_SANITIZED 0
#endif

enum { MOST = 16 };

/* What the workers tell the test, in memory that all share. */
static struct board_of_test {
	_Atomic unsigned said, waited, sent, came, early, ended, left;
	_Atomic int pids[MOST];
} * told;

static void tell_nothing(void)
{
	memset(told, 0, sizeof(*told));
}

static void await(_Atomic unsigned *counter, unsigned count)
{
	while (atomic_load(counter) < count)
		sched_yield();
}

static int no_work(struct worker *w)
{
	tally_add(w, 1, 8);
	return 0;
}

static int tell_pid(struct worker *w)
{
	atomic_store(&told->pids[w->id], getpid());
	return 0;
}

static void count_end(struct worker *w)
{
	(void)w;
	atomic_fetch_add(&told->ended, 1);
}

static void run(const struct crew *crew, int want)
{
	struct crew_result r;

	CHECK_U64("return value", crew_run(crew, &r), want);
	crew_result_free(&r);
}

/* One line and one signal for the process, whatever its threads. */
static int say_and_signal(const char *what)
{
	atomic_fetch_add(&told->early, strcmp(what, "now") != 0);
	atomic_fetch_add(&told->said, 1);
	kill(getpid(), SIGUSR1);
	return 0;
}

static int wait_three_times(struct worker *w)
{
	int ret = 0;

	for (int i = 0; i < 3 && !ret; i++) {
		ret = crew_await_signal(w, say_and_signal, "now");
		atomic_fetch_add(&told->waited, 1);
	}
	return ret;
}

static void threads_wait_together(void)
{
	static const struct crew shapes[] = {
		{ .processes = 1 },
		{ .processes = 3 },
		{ .processes = 1, .threads = 4 },
		{ .processes = 2, .threads = 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct crew crew = shapes[i];

		tell_nothing();
		crew.work = no_work;
		crew.finish = wait_three_times;
		run(&crew, 0);
		CHECK_U64("lines", told->said, 3 * crew.processes);
		CHECK_U64("other lines", told->early, 0);
		CHECK_U64("waits", told->waited,
			  3 * crew.processes * MAX(crew.threads, 1));
	}
}

static int say_nothing(const char *what)
{
	(void)what;
	atomic_fetch_add(&told->said, 1);
	return 0;
}

/* Worker 0 is signalled twice before its first wait; for the second one worker 1 signals it. */
static int wait_for_what_is_kept(struct worker *w)
{
	int ret;

	if (w->id == 1) {
		await(&told->said, 2);
		atomic_store(&told->sent, 1);
		kill(told->pids[0], SIGUSR1);
		return 0;
	}
	raise(SIGUSR1);
	raise(SIGUSR1);
	ret = crew_await_signal(w, say_nothing, "");
	if (!ret)
		ret = crew_await_signal(w, say_nothing, "");
	atomic_fetch_add(&told->early, !atomic_load(&told->sent));
	return ret;
}

static void one_early_signal_is_kept(void)
{
	const struct crew crew = { .processes = 2,
				   .setup = tell_pid,
				   .work = no_work,
				   .finish = wait_for_what_is_kept };

	tell_nothing();
	run(&crew, 0);
	CHECK_U64("lines", told->said, 2);
	CHECK_U64("second wait over early", told->early, 0);
}

static int fail_to_say(const char *what)
{
	errno = ENOSPC;
	return failed("%s", what);
}

static int wait_unsaid(struct worker *w)
{
	return crew_await_signal(w, fail_to_say, "as told");
}

static int sleep_for_ever(struct worker *w)
{
	crew_sleep(w, UINT64_MAX);
	return 0;
}

static int wait_for_a_signal(struct worker *w)
{
	return crew_await_signal(w, say_nothing, "");
}

static int line_up(struct worker *w)
{
	crew_line_up(w);
	return 0;
}

static int (*wait_of_all)(struct worker *w);

/* The last worker fails once the others have begun to wait, or are about to. */
static int last_fails(struct worker *w)
{
	atomic_fetch_add(&told->came, 1);
	if (w->id + 1 < w->total)
		return wait_of_all(w);
	await(&told->came, w->total);
	errno = ENOSPC;
	return failed("as told");
}

static void a_failure_ends_every_wait(void)
{
	static int (*const waits[])(struct worker * w) = { sleep_for_ever,
							   wait_for_a_signal, line_up };
	struct crew crew = { .work = no_work, .teardown = count_end };

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		for (unsigned threads = 1; threads <= 3; threads += 2) {
			tell_nothing();
			wait_of_all = waits[i];
			crew.processes = 2;
			crew.threads = threads;
			crew.finish = last_fails;
			run(&crew, -ENOSPC);
			CHECK_U64("ended by themselves", told->ended, 2 * threads);
		}
	tell_nothing();
	crew.finish = wait_unsaid;
	run(&crew, -ENOSPC);
}

/* Only a lower bound: a signal does not shorten it. */
static int sleep_a_little(struct worker *w)
{
	uint64_t began_ns = now_ns();

	raise(SIGUSR1);
	crew_sleep(w, 30 * ns_per_ms);
	atomic_fetch_add(&told->early, now_ns() - began_ns < 30 * ns_per_ms);
	return 0;
}

static void a_signal_shortens_no_sleep(void)
{
	const struct crew crew = { .processes = 2,
				   .work = no_work,
				   .finish = sleep_a_little };

	tell_nothing();
	run(&crew, 0);
	CHECK_U64("woke early", told->early, 0);
}

static int cross_the_line(struct worker *w)
{
	/* The last one comes when all others have long been able to go on. */
	if (w->id + 1 == w->total)
		await(&told->came, w->total - 1);
	atomic_fetch_add(&told->came, 1);
	crew_line_up(w);
	atomic_fetch_add(&told->early, atomic_load(&told->came) < w->total);
	return 0;
}

static void nobody_crosses_before_all_are_there(void)
{
	for (unsigned threads = 1; threads <= 3; threads++) {
		const struct crew crew = { .processes = 3,
					   .threads = threads,
					   .work = no_work,
					   .finish = cross_the_line };

		tell_nothing();
		run(&crew, 0);
		CHECK_U64("came", told->came, 3 * threads);
		CHECK_U64("crossed early", told->early, 0);
	}
}

/* Leaving: the crew runs in a process of its own, whose orphans come to this one. */

static int leave_them(const pid_t *pids, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		atomic_fetch_add(&told->left, pids[i] > 0);
	return 0;
}

static int cannot_leave(const pid_t *pids, unsigned count)
{
	leave_them(pids, count);
	errno = ENOSPC;
	return failed("as told");
}

static int status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Run CREW apart, and return when that process has ended, with status WANT. */
static void run_apart(const struct crew *crew, int want)
{
	struct crew_result r;
	pid_t pid;

	tell_nothing();
	pid = fork();
	if (!pid)
		_exit(crew_run(crew, &r) ? 1 : r.left ? 0 : 3);
	CHECK_U64("the crew's own process", status_of(pid), want);
}

/* No orphan is left to be taken for one of the next test. */
static void reap_all(void)
{
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void those_who_wait_are_left(void)
{
	for (unsigned threads = 1; threads <= 3; threads += 2) {
		const struct crew crew = { .processes = 3,
					   .threads = threads,
					   .setup = tell_pid,
					   .work = no_work,
					   .finish = wait_for_a_signal,
					   .teardown = count_end,
					   .leave = leave_them };

		run_apart(&crew, 0);
		CHECK_U64("pids told", told->left, 3);
		CHECK_U64("ended", told->ended, 0);
		for (unsigned i = 0; i < 3 * threads; i += threads)
			kill(told->pids[i], SIGUSR1);
		for (unsigned i = 0; i < 3 * threads; i += threads)
			CHECK_U64("a left one", status_of(told->pids[i]), 0);
		CHECK_U64("ended", told->ended, 3 * threads);
	}
}

static void a_left_one_can_be_stopped(void)
{
	const struct crew crew = { .processes = 2,
				   .threads = 2,
				   .setup = tell_pid,
				   .work = no_work,
				   .finish = sleep_for_ever,
				   .teardown = count_end,
				   .leave = leave_them };

	run_apart(&crew, 0);
	kill(told->pids[0], SIGTERM);
	CHECK_U64("the stopped one", status_of(told->pids[0]), 128 + SIGTERM);
	CHECK_U64("ended", told->ended, 2);
	kill(told->pids[2], SIGINT);
	CHECK_U64("the other", status_of(told->pids[2]), 128 + SIGINT);
}

static void without_waits_all_are_told(void)
{
	const struct crew crew = { .processes = 3, .work = no_work, .leave = leave_them };

	run_apart(&crew, 3);
	CHECK_U64("nobody reached it", told->left, 0);
}

static int reach_and_end(struct worker *w)
{
	crew_reached(w);
	return 0;
}

static void those_who_have_ended_are_told(void)
{
	const struct crew crew = { .processes = 3,
				   .work = no_work,
				   .finish = reach_and_end,
				   .leave = leave_them };

	run_apart(&crew, 0);
	CHECK_U64("pids told", told->left, 3);
	reap_all();
}

static void nobody_is_left_after_a_failure(void)
{
	struct crew crew = { .processes = 3,
			     .work = no_work,
			     .finish = sleep_for_ever,
			     .teardown = count_end,
			     .leave = cannot_leave };

	run_apart(&crew, 1);
	CHECK_U64("pids told", told->left, 3);
	CHECK_U64("ended", told->ended, 3);
	CHECK_U64("children", waitpid(-1, NULL, 0), -1);
	wait_of_all = sleep_for_ever;
	crew.finish = last_fails;
	crew.leave = leave_them;
	run_apart(&crew, 1);
	CHECK_U64("pids told", told->left, 0);
	CHECK_U64("children", waitpid(-1, NULL, 0), -1);
}

/* A stopped process cannot let go, so the signal comes before all have. */
static int be_told_while_leaving(const pid_t *pids, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		kill(pids[i], SIGSTOP);
	raise(SIGTERM);
	return 0;
}

static void a_stop_while_leaving_leaves_nobody(void)
{
	const struct crew crew = { .processes = 2,
				   .work = no_work,
				   .finish = sleep_for_ever,
				   .leave = be_told_while_leaving };

	run_apart(&crew, 3);
	CHECK_U64("children", waitpid(-1, NULL, 0), -1);
}

static int line_up_when_signalled(struct worker *w)
{
	int ret = crew_await_signal(w, say_nothing, "");

	crew_line_up(w);
	return ret;
}

/* Of three that were left, one is signalled, and one dies: the third's signal lets the first go. */
static void the_dead_are_not_waited_for(void)
{
	static const int ends[] = { SIGKILL, SIGTERM };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const struct crew crew = { .processes = 3,
					   .setup = tell_pid,
					   .work = no_work,
					   .finish = line_up_when_signalled,
					   .leave = leave_them };

		run_apart(&crew, 0);
		kill(told->pids[0], SIGUSR1);
		kill(told->pids[1], ends[i]);
		CHECK_U64("the dead one", status_of(told->pids[1]),
			  ends[i] == SIGKILL ? -SIGKILL : 128 + SIGTERM);
		kill(told->pids[2], SIGUSR1);
		CHECK_U64("the first", status_of(told->pids[0]), 0);
		CHECK_U64("the last", status_of(told->pids[2]), 0);
	}
}

static int pause_in_work(struct worker *w)
{
	uint64_t began_ns = now_ns();

	tally_add(w, 1, 8);
	crew_sleep(w, 20 * ns_per_ms);
	w->tally->paused_ns = now_ns() - began_ns;
	return 0;
}

static void pauses_are_not_counted(void)
{
	const struct crew crew = { .processes = 1, .work = pause_in_work };
	struct crew_result r;

	CHECK_U64("run", crew_run(&crew, &r), 0);
	CHECK(r.window_ns < r.tallies[0].ended_ns - r.tallies[0].began_ns);
	CHECK_U64("work", tally_work_ns(&r.tallies[0]), r.window_ns);
	crew_result_free(&r);
}

/* Waiting in the work, for another worker */

static _Atomic uint32_t *bell;

/* Worker 0 rings once the other is about to wait, or waits. */
static int ring_or_wait(struct worker *w)
{
	if (w->id) {
		atomic_fetch_add(&told->came, 1);
		crew_wait(w, bell, 0, 0);
		atomic_fetch_add(&told->early, !atomic_load(&told->sent));
	} else {
		await(&told->came, w->total - 1);
		atomic_store(&told->sent, 1);
		crew_ring(bell);
	}
	tally_add(w, 1, 8);
	return 0;
}

static void a_ring_ends_every_wait(void)
{
	for (unsigned threads = 1; threads <= 3; threads += 2) {
		const struct crew crew = { .processes = 3,
					   .threads = threads,
					   .work = ring_or_wait,
					   .teardown = count_end };

		tell_nothing();
		atomic_store(bell, 0);
		run(&crew, 0);
		CHECK_U64("ended", told->ended, 3 * threads);
		CHECK_U64("woke early", told->early, 0);
	}
}

/* It has rung already: nobody waits. A time that is over: likewise. One to come is waited for. */
static int wait_for_times(struct worker *w)
{
	uint64_t now = now_ns();

	crew_wait(w, bell, 1, 0);
	crew_wait(w, bell, 0, now);
	crew_wait(w, bell, 0, 1);
	atomic_fetch_add(&told->waited, 1);
	crew_wait(w, bell, 0, now + 30 * ns_per_ms);
	atomic_fetch_add(&told->early, now_ns() < now + 30 * ns_per_ms);
	tally_add(w, 1, 8);
	return 0;
}

static void a_time_ends_a_wait(void)
{
	const struct crew crew = { .processes = 2, .work = wait_for_times };

	tell_nothing();
	atomic_store(bell, 0);
	run(&crew, 0);
	CHECK_U64("waited", told->waited, 2);
	CHECK_U64("woke early", told->early, 0);
}

/* Nobody rings: worker 0 fails, or stops the run, or its time is over. */
static int wait_for_nobody(struct worker *w)
{
	atomic_fetch_add(&told->came, 1);
	if (!w->id && told->sent) {
		await(&told->came, w->total);
		if (told->sent == SIGTERM)
			return kill(getppid(), SIGTERM);
		errno = ENOSPC;
		return failed("as told");
	}
	crew_wait(w, bell, 0, 0);
	return 0;
}

static void a_stop_ends_a_wait(void)
{
	struct crew crew = { .processes = 3,
			     .work = wait_for_nobody,
			     .teardown = count_end };
	static const struct {
		unsigned sent;
		uint64_t runtime_ns;
		int want;
	} stops[] = {
		{ 1, 0, -ENOSPC },
		{ SIGTERM, 0, 0 },
		{ 0, 20 * ns_per_ms, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		tell_nothing();
		atomic_store(&told->sent, stops[i].sent);
		crew.runtime_ns = stops[i].runtime_ns;
		run(&crew, stops[i].want);
		CHECK_U64("ended by themselves", told->ended, 3);
	}
}

int main(void)
{
	if (THREADS_SANITIZED)
		SKIP("ThreadSanitizer holds signals back while a futex is waited for");
	base_init();
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bell = mmap(NULL, sizeof(*bell), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	threads_wait_together();
	one_early_signal_is_kept();
	a_failure_ends_every_wait();
	a_signal_shortens_no_sleep();
	nobody_crosses_before_all_are_there();
	those_who_wait_are_left();
	a_left_one_can_be_stopped();
	without_waits_all_are_told();
	those_who_have_ended_are_told();
	nobody_is_left_after_a_failure();
	a_stop_while_leaving_leaves_nobody();
	the_dead_are_not_waited_for();
	pauses_are_not_counted();
	a_ring_ends_every_wait();
	a_time_ends_a_wait();
	a_stop_ends_a_wait();
	return check_result();
}
