// SPDX-License-Identifier: GPL-2.0-or-later
/* crew - each promise of the crew, with what would break it. */
#include "common/crew.h"
#include "common/clock.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the workers tell the test, in memory that all share. */
static struct board_of_test {
	_Atomic unsigned set_up, working, finished, torn_down, early, ended;
	_Atomic unsigned ids[256];
	_Atomic int pids[256];
	_Atomic uint64_t first_ns[256], last_ns[256];
} * told;

/* The one worker that does something else, and what. */
static unsigned odd_one;
static int (*odd_act)(struct worker *w);

static void tell_nothing(void)
{
	memset(told, 0, sizeof(*told));
}

static int act_if_odd(struct worker *w)
{
	return odd_act && w->id == odd_one ? odd_act(w) : 0;
}

static int count_setup(struct worker *w)
{
	atomic_fetch_add(&told->ids[w->id], 1);
	atomic_store(&told->pids[w->id], getpid());
	atomic_fetch_add(&told->set_up, 1);
	return 0;
}

/* Goes on until it is stopped. */
static int work_on(struct worker *w)
{
	if (atomic_load(&told->set_up) != w->total)
		atomic_fetch_add(&told->early, 1);
	atomic_store(&told->first_ns[w->id], now_ns());
	atomic_fetch_add(&told->working, 1);
	while (keep_going(w))
		tally_add(w, 1, 10);
	atomic_store(&told->last_ns[w->id], now_ns());
	atomic_fetch_add(&told->ended, 1);
	return 0;
}

static int count_finish(struct worker *w)
{
	(void)w;
	atomic_fetch_add(&told->finished, 1);
	return 0;
}

static void count_teardown(struct worker *w)
{
	(void)w;
	atomic_fetch_add(&told->torn_down, 1);
}

/* The last to be ready is so only once all others have long been able to run ahead. */
static int setup_late(struct worker *w)
{
	while (w->id == w->total - 1 && atomic_load(&told->set_up) < w->total - 1)
		sched_yield();
	for (int i = 0; w->id == w->total - 1 && i < 1000; i++)
		sched_yield();
	return count_setup(w);
}

static void nobody_starts_before_all_are_ready(void)
{
	static const struct crew shapes[] = {
		{ .processes = 1 },
		{ .processes = 7 },
		{ .processes = 1, .threads = 7 },
		{ .processes = 3, .threads = 5 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct crew crew = shapes[i];
		unsigned total = crew.processes * MAX(crew.threads, 1);
		struct crew_result r;

		tell_nothing();
		crew.max_ops = 100;
		crew.setup = setup_late;
		crew.work = work_on;
		crew.finish = count_finish;
		crew.teardown = count_teardown;
		CHECK_U64("return value", crew_run(&crew, &r), 0);
		CHECK_U64("workers", r.workers, total);
		CHECK_U64("started early", told->early, 0);
		CHECK_U64("ops", r.ops, 100 * total);
		CHECK_U64("bytes", r.bytes, 1000 * total);
		CHECK_U64("finished", told->finished, total);
		CHECK_U64("torn down", told->torn_down, total);
		for (unsigned id = 0; id < total; id++) {
			CHECK_U64("each id once", told->ids[id], 1);
			CHECK_U64("outcome", r.tallies[id].outcome, OUTCOME_OK);
		}
		crew_result_free(&r);
	}
}

static int fail_here(struct worker *w)
{
	(void)w;
	errno = ENOSPC;
	return failed("as told");
}

static int die_here(struct worker *w)
{
	(void)w;
	raise(SIGKILL);
	return 0;
}

static int crash_here(struct worker *w)
{
	(void)w;
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return 0;
}

static int exit_well_here(struct worker *w)
{
	(void)w;
	_exit(0);
}

static int exit_badly_here(struct worker *w)
{
	(void)w;
	_exit(7);
}

static int be_stopped_here(struct worker *w)
{
	(void)w;
	kill(getpid(), SIGTERM);
	return 0;
}

static int odd_setup(struct worker *w)
{
	int ret = act_if_odd(w);

	return ret ? ret : count_setup(w);
}

static int odd_work(struct worker *w)
{
	int ret;

	atomic_fetch_add(&told->working, 1);
	while (w->id == odd_one && atomic_load(&told->working) < w->total)
		sched_yield();
	ret = act_if_odd(w);
	return ret ? ret : work_on(w);
}

static int brief_work(struct worker *w)
{
	tally_add(w, 1, 10);
	return 0;
}

static int odd_finish(struct worker *w)
{
	return act_if_odd(w);
}

/* A worker that fails or dies, at each of its hooks, stops all; no child is left. */
static void one_stops_all(void)
{
	static const struct {
		const char *name;
		int (*act)(struct worker *w);
		int ret, outcome, signal;
	} acts[] = {
		{ "fails", fail_here, -ENOSPC, OUTCOME_FAILED, 0 },
		{ "is killed", die_here, -ECHILD, OUTCOME_LOST, SIGKILL },
		{ "crashes", crash_here, -ECHILD, OUTCOME_LOST, SIGSEGV },
		{ "exits badly", exit_badly_here, -ECHILD, OUTCOME_LOST, 0 },
		{ "is stopped", be_stopped_here, -ECHILD, -1, 0 },
	};
	static const struct crew hooks[] = {
		{ .setup = odd_setup, .work = work_on },
		{ .setup = count_setup, .work = odd_work },
		{ .setup = count_setup, .work = brief_work, .finish = odd_finish },
	};

	for (size_t i = 0; i < ARRAY_SIZE(acts) * ARRAY_SIZE(hooks) * 2; i++) {
		size_t act = i / 2 / ARRAY_SIZE(hooks), hook = i / 2 % ARRAY_SIZE(hooks);
		struct crew crew = hooks[hook];
		struct crew_result r;
		char row[64];

		snprintf(row, sizeof(row), "%s, hook %zu, shape %zu", acts[act].name,
			 hook, i % 2);
		tell_nothing();
		odd_act = acts[act].act;
		odd_one = 4;
		crew.processes = i % 2 ? 2 : 6;
		crew.threads = i % 2 ? 3 : 1;
		crew.teardown = count_teardown;
		CHECK_U64(row, crew_run(&crew, &r), acts[act].ret);
		if (acts[act].outcome >= 0)
			CHECK_U64(row, r.tallies[odd_one].outcome, acts[act].outcome);
		CHECK_U64(row, r.tallies[odd_one].signal, acts[act].signal);
		CHECK_U64(row, waitpid(-1, NULL, WNOHANG), -1);
		CHECK_U64(row, errno, ECHILD);
		/* Whoever's process lives is torn down once for each that was set up. */
		if (acts[act].ret == -ENOSPC)
			CHECK_U64(row, told->torn_down, told->set_up);
		crew_result_free(&r);
	}
	odd_act = NULL;
}

/* Exit status 0 before the end is no success. */
static void leaving_is_no_success(void)
{
	struct crew crew = { .processes = 3, .setup = odd_setup, .work = work_on };
	struct crew_result r;

	tell_nothing();
	odd_act = exit_well_here;
	odd_one = 1;
	CHECK_U64("exit(0) in setup", crew_run(&crew, &r), -ECHILD);
	crew_result_free(&r);
	odd_act = NULL;
}

static void wait_for(_Atomic unsigned *counter, unsigned count)
{
	while (atomic_load(counter) < count)
		sched_yield();
}

/* Run CREW in a child of its own, as a program would; its exit status is 0, or 100 + the signal
 * that crew_run() reports, or 1. */
static pid_t run_apart(const struct crew *crew)
{
	pid_t pid = fork();

	if (!pid) {
		struct crew_result r;
		int ret;

		signal(SIGINT, SIG_IGN); /* one more after the run is none of its own */
		ret = crew_run(crew, &r);
		_exit(ret ? 1 : r.signal ? 100 + r.signal : 0);
	}
	return pid;
}

static int exit_status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Never ready: waits for ever, deaf to the gentle way. */
static int setup_for_ever(struct worker *w)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	count_setup(w);
	for (;;)
		pause();
	return 0;
}

/* The workers hold the write end of a pipe: its end of file says that all are gone. */
static void the_death_of_the_parent_kills(void)
{
	static const struct {
		const char *name;
		int (*odd)(struct worker *w); /* holds all others at the start line */
	} rows[] = {
		{ "while working", NULL },
		{ "at the start line", setup_for_ever },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct crew crew = {
			.processes = 3, .threads = 2, .setup = odd_setup, .work = work_on
		};
		int ends[2];
		char byte;
		pid_t pid;

		tell_nothing();
		odd_act = rows[i].odd;
		odd_one = 5;
		CHECK(!pipe(ends));
		pid = run_apart(&crew);
		close(ends[1]);
		wait_for(rows[i].odd ? &told->set_up : &told->working, 6);
		kill(pid, SIGKILL);
		CHECK_U64(rows[i].name, exit_status_of(pid), 1000 + SIGKILL);
		CHECK_U64(rows[i].name, read(ends[0], &byte, 1), 0);
		close(ends[0]);
	}
	odd_act = NULL;
}

static void a_signal_ends_the_run(void)
{
	static const struct {
		const char *name;
		int signal;
		bool group; /* to all processes, as a terminal does */
	} rows[] = {
		{ "SIGINT", SIGINT, false },
		{ "SIGTERM", SIGTERM, false },
		{ "SIGINT from a terminal", SIGINT, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct crew crew = { .processes = 2,
				     .threads = 3,
				     .setup = count_setup,
				     .work = work_on,
				     .finish = count_finish,
				     .teardown = count_teardown };
		pid_t pid;

		tell_nothing();
		pid = run_apart(&crew);
		setpgid(pid, pid);
		wait_for(&told->working, 6);
		if (rows[i].group)
			for (int id = 0; id < 6; id += 3)
				kill(told->pids[id], SIGSTOP);
		kill(pid, rows[i].signal);
		if (rows[i].group)
			for (int id = 0; id < 6; id += 3) {
				kill(told->pids[id], rows[i].signal);
				kill(told->pids[id], SIGCONT);
			}
		CHECK_U64(rows[i].name, exit_status_of(pid), 100 + rows[i].signal);
		CHECK_U64(rows[i].name, told->finished, 6);
		CHECK_U64(rows[i].name, told->torn_down, 6);
	}
}

static int work_for_ever(struct worker *w)
{
	(void)w;
	atomic_fetch_add(&told->working, 1);
	for (;;)
		pause();
	return 0;
}

/* Ask again and again, as somebody would who does not wait for the grace to be over. */
static int impatient_status_of(pid_t pid)
{
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		kill(pid, SIGINT);
		sched_yield();
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void what_does_not_stop_is_killed(void)
{
	struct crew gathering = { .processes = 3,
				  .setup = setup_for_ever,
				  .work = work_on };
	struct crew working = { .processes = 3,
				.setup = count_setup,
				.work = work_for_ever };
	pid_t pid;

	tell_nothing();
	pid = run_apart(&gathering);
	wait_for(&told->set_up, 3);
	kill(pid, SIGTERM);
	CHECK_U64("while gathering", exit_status_of(pid), 100 + SIGTERM);
	tell_nothing();
	pid = run_apart(&working);
	wait_for(&told->working, 3);
	CHECK_U64("while working", impatient_status_of(pid), 100 + SIGINT);
}

static int see_all_ended(struct worker *w)
{
	if (atomic_load(&told->ended) != w->total)
		atomic_fetch_add(&told->early, 1);
	return 0;
}

static void the_deadline_is_common(void)
{
	struct crew crew = { .processes = 8,
			     .threads = 2,
			     .setup = count_setup,
			     .work = work_on,
			     .finish = see_all_ended,
			     .runtime_ns = 50 * ns_per_ms };
	uint64_t first = UINT64_MAX, last = 0;
	struct crew_result r;

	tell_nothing();
	CHECK_U64("deadline", crew_run(&crew, &r), 0);
	CHECK_U64("freed before the last had ended", told->early, 0);
	CHECK(r.window_ns >= crew.runtime_ns);
	for (unsigned i = 0; i < 16; i++) {
		first = MIN(first, r.tallies[i].began_ns);
		last = MAX(last, r.tallies[i].ended_ns);
		CHECK_U64("begins at the start line", r.tallies[i].began_ns,
			  r.started_ns);
		CHECK(r.tallies[i].ended_ns >= told->last_ns[i]);
		CHECK(told->first_ns[i] >= r.started_ns);
	}
	CHECK_U64("window: last end - first start", r.window_ns, last - first);
	crew_result_free(&r);
}

/* A second phase has the whole run time again, and one that was told to stop has none. */
static int second_phase(struct worker *w)
{
	uint64_t began = now_ns(), ops = w->tally->ops;

	CHECK_U64("begin", phase_begin(w, began), 0);
	while (keep_going(w))
		tally_add(w, 1, 1);
	if (w->tally->ops == ops ||
	    (!crew_stopping(w) && now_ns() < began + w->crew->runtime_ns))
		return broken("second phase of %ju ops",
			      (uintmax_t)(w->tally->ops - ops));
	return 0;
}

static void each_phase_has_its_own_clock(void)
{
	struct crew crew = { .processes = 4,
			     .setup = count_setup,
			     .work = work_on,
			     .finish = second_phase,
			     .runtime_ns = 20 * ns_per_ms };
	struct crew_result r;

	tell_nothing();
	CHECK_U64("second phase", crew_run(&crew, &r), 0);
	for (unsigned i = 0; i < 4; i++)
		CHECK(r.tallies[i].work_ops < r.tallies[i].ops);
	crew_result_free(&r);
}

static void processes_that_cannot_start(void)
{
	struct crew crew = { .processes = 200, .setup = count_setup, .work = work_on };
	struct rlimit few = { 20, 20 };
	pid_t pid = fork();

	tell_nothing();
	if (!pid) {
		struct crew_result r;
		int ret;

		/* A user of its own: the limit counts all processes of the user. */
		if (setgid(54321) || setuid(54321) || setrlimit(RLIMIT_NPROC, &few))
			_exit(77);
		ret = crew_run(&crew, &r);
		_exit(ret == -EAGAIN && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD
			      ? 0
			      : 1);
	}
	switch (exit_status_of(pid)) {
	case 77:
		printf("no second user to be: the limit of processes is not tested\n");
		break;
	case 0:
		CHECK(told->working == 0);
		break;
	default:
		CHECK(!"the limit of processes ends the run");
	}
}

static unsigned allowed_ids[3];
static struct cpus three = { .ids = allowed_ids, .room = 3 };

static int see_binding(struct worker *w)
{
	unsigned want = three.ids[w->id * 5 % three.count];
	cpu_set_t mask;

	if (sched_getaffinity(0, sizeof(mask), &mask) || CPU_COUNT(&mask) != 1 ||
	    !CPU_ISSET(want, &mask) || w->cpu != (int)want)
		return broken("worker %u is not on CPU %u alone", w->id, want);
	return count_setup(w);
}

static int see_set(struct worker *w)
{
	cpu_set_t mask;

	if (sched_getaffinity(0, sizeof(mask), &mask) ||
	    CPU_COUNT(&mask) != (int)three.count || w->cpu != -1)
		return broken("worker %u is not on the set of CPUs", w->id);
	return count_setup(w);
}

static void bound_by_rank(void)
{
	struct crew crew = { .processes = 2,
			     .threads = 2,
			     .cpus = &three,
			     .cpu_stride = 5,
			     .max_ops = 1,
			     .setup = see_binding,
			     .work = work_on };
	struct crew_result r;
	cpu_set_t allowed;

	CHECK(!sched_getaffinity(0, sizeof(allowed), &allowed));
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && three.count < 3; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			allowed_ids[three.count++] = cpu;
	tell_nothing();
	CHECK_U64("bound", crew_run(&crew, &r), 0);
	crew_result_free(&r);
	crew.cpus = NULL;
	crew.cpu_sets = &three;
	crew.cpu_sets_count = 1;
	crew.setup = see_set;
	tell_nothing();
	CHECK_U64("bound to a set", crew_run(&crew, &r), 0);
	crew_result_free(&r);
	crew.cpu_sets_count = 0;
	crew.cpus = &three;
	crew.setup = see_binding;
	allowed_ids[0] = 1 << 19; /* no such CPU */
	three.count = 1;
	tell_nothing();
	CHECK(crew_run(&crew, &r) < 0);
	CHECK_U64("nobody worked unbound", told->working, 0);
	crew_result_free(&r);
}

static void signals_are_given_back(void)
{
	struct sigaction before, after;
	sigset_t mask_before, mask_after;
	struct crew crew = {
		.processes = 1, .max_ops = 1, .setup = count_setup, .work = work_on
	};
	struct crew_result r;

	signal(SIGINT, SIG_IGN);
	sigaction(SIGINT, NULL, &before);
	sigprocmask(SIG_BLOCK, NULL, &mask_before);
	tell_nothing();
	CHECK_U64("run", crew_run(&crew, &r), 0);
	crew_result_free(&r);
	sigaction(SIGINT, NULL, &after);
	sigprocmask(SIG_BLOCK, NULL, &mask_after);
	CHECK(before.sa_handler == after.sa_handler);
	for (int sig = 1; sig < 32; sig++)
		CHECK_U64("mask", sigismember(&mask_before, sig),
			  sigismember(&mask_after, sig));
	signal(SIGINT, SIG_DFL);
}

static uint64_t ticks, ticked_bytes;

static void count_tick(void *context, const struct crew_view *view)
{
	(void)context;
	ticks += !view->last;
	if (view->last)
		ticked_bytes = view->bytes;
}

static void ticks_see_all_in_the_end(void)
{
	struct crew crew = { .processes = 2,
			     .setup = count_setup,
			     .work = work_on,
			     .runtime_ns = 200 * ns_per_ms,
			     .tick_ns = 10 * ns_per_ms,
			     .tick = count_tick };
	struct crew_result r;

	tell_nothing();
	CHECK_U64("run", crew_run(&crew, &r), 0);
	CHECK(ticks > 0);
	CHECK_U64("bytes of the last tick", ticked_bytes, r.bytes);
	crew_result_free(&r);
}

/* How far the workers were at each moment of the window. */
static struct {
	unsigned opened, lasted, closed;
	unsigned set_up, working, ended, torn_down;
	bool refuses;
	enum crew_moment refused;
} seen;

static int see_moment(void *context, enum crew_moment moment)
{
	CHECK(context == &seen);
	if (moment == WINDOW_OPENS) {
		seen.opened++;
		seen.set_up = atomic_load(&told->set_up);
		seen.working = atomic_load(&told->working);
	} else if (moment == WINDOW_LASTS) {
		seen.lasted++;
	} else {
		seen.closed++;
		seen.ended = atomic_load(&told->ended);
		seen.torn_down = atomic_load(&told->torn_down);
	}
	return seen.refuses && moment == seen.refused ? -EPIPE : 0;
}

static int work_once(struct worker *w)
{
	(void)w;
	atomic_fetch_add(&told->working, 1);
	atomic_fetch_add(&told->ended, 1);
	return 0;
}

/* The window closes while one at least has not yet freed what it had; at a deadline, all. */
static void the_window_brackets_the_work(void)
{
	const struct {
		const char *name;
		int (*work)(struct worker *w);
		uint64_t runtime_ns;
		unsigned threads, torn_down_at_most;
	} rows[] = {
		{ "processes, by themselves", work_once, 0, 0, 3 },
		{ "processes, to a deadline", work_on, 200 * ns_per_ms, 0, 0 },
		{ "threads, by themselves", work_once, 0, 2, 7 },
		{ "threads, to a deadline", work_on, 200 * ns_per_ms, 2, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct crew crew = { .processes = 4,
				     .threads = rows[i].threads,
				     .setup = count_setup,
				     .work = rows[i].work,
				     .teardown = count_teardown,
				     .runtime_ns = rows[i].runtime_ns,
				     .window = see_moment,
				     .sample_ns = 10 * ns_per_ms,
				     .context = &seen };
		unsigned workers = 4 * MAX(rows[i].threads, 1);
		struct crew_result r;

		tell_nothing();
		memset(&seen, 0, sizeof(seen));
		CHECK_U64(rows[i].name, crew_run(&crew, &r), 0);
		CHECK_U64(rows[i].name, seen.opened, 1);
		CHECK_U64(rows[i].name, seen.closed, 1);
		CHECK_U64(rows[i].name, seen.set_up, workers);
		CHECK_U64(rows[i].name, seen.working, 0);
		CHECK_U64(rows[i].name, seen.ended, workers);
		CHECK(seen.torn_down <= rows[i].torn_down_at_most);
		if (rows[i].runtime_ns)
			CHECK(seen.lasted > 0);
		crew_result_free(&r);
	}
}

static int fail_at_once(struct worker *w)
{
	(void)w;
	return -EIO;
}

static void a_failure_closes_the_window(void)
{
	struct crew crew = { .processes = 3,
			     .work = fail_at_once,
			     .window = see_moment,
			     .context = &seen };
	struct crew_result r;

	tell_nothing();
	memset(&seen, 0, sizeof(seen));
	CHECK(crew_run(&crew, &r) == -EIO);
	CHECK_U64("opened", seen.opened, 1);
	CHECK_U64("closed", seen.closed, 1);
	crew_result_free(&r);
}

/* Of WINDOW_OPENS: before anybody has begun. */
static void a_refused_moment_ends_the_run(void)
{
	for (enum crew_moment m = WINDOW_OPENS; m <= WINDOW_CLOSES; m++) {
		struct crew crew = { .processes = 3,
				     .setup = count_setup,
				     .work = m == WINDOW_LASTS ? work_on : work_once,
				     .teardown = count_teardown,
				     .window = see_moment,
				     .sample_ns = ns_per_ms,
				     .context = &seen };
		struct crew_result r;

		tell_nothing();
		memset(&seen, 0, sizeof(seen));
		seen.refuses = true;
		seen.refused = m;
		CHECK(crew_run(&crew, &r) == -EPIPE);
		CHECK_U64("opened", seen.opened, 1);
		CHECK_U64("closed", seen.closed, m != WINDOW_OPENS);
		if (m == WINDOW_OPENS)
			CHECK_U64("working", atomic_load(&told->working), 0);
		crew_result_free(&r);
	}
}

/* One writer each, so no line is shared. */
static void tallies_share_no_line(void)
{
	CHECK_U64("size", sizeof(struct tally) % CACHE_PAIR, 0);
	CHECK_U64("alignment", _Alignof(struct tally), CACHE_PAIR);
}

int main(void)
{
	base_init();
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	signals_are_given_back(); /* while they are as the test found them */
	nobody_starts_before_all_are_ready();
	one_stops_all();
	leaving_is_no_success();
	the_death_of_the_parent_kills();
	a_signal_ends_the_run();
	what_does_not_stop_is_killed();
	the_deadline_is_common();
	each_phase_has_its_own_clock();
	processes_that_cannot_start();
	bound_by_rank();
	ticks_see_all_in_the_end();
	the_window_brackets_the_work();
	a_failure_closes_the_window();
	a_refused_moment_ends_the_run();
	tallies_share_no_line();
	return check_result();
}
