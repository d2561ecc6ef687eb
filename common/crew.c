// SPDX-License-Identifier: GPL-2.0-or-later
/* crew - processes x threads that start together, stop together and fail together. */
#include "common/crew.h"

#include "common/board.h"
#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* How long a stopped worker may take to end by itself before it is killed. After a failure
 * everything is over within a second; after a signal the lines of what was done are wanted. */
#define GRACE_FAILED_NS      (250 * ns_per_ms)
#define GRACE_INTERRUPTED_NS (5 * ns_per_s)

struct process {
	pid_t pid;
	bool reaped; /* the pid may be somebody else's by now */
};

/* The parent's side of one run. */
struct foreman {
	const struct crew *crew;
	struct board *board;
	struct process *processes;
	unsigned *by_pid, mask; /* open hash table: index into processes + 1, 0: free */
	unsigned count, started, running;
	int ret, signal;
	uint64_t interrupted_ns; /* when the signal came */
	uint64_t kill_at_ns;     /* 0: nothing to kill */
	uint64_t next_tick_ns;
	sigset_t watched, stops, old_mask; /* stops: those of watched that end a run */
	struct sigaction old_int, old_term, old_alarm, old_child;
};

const char *outcome_name(enum outcome outcome)
{
	static const char *const names[] = {
		[OUTCOME_NONE] = "stopped",
		[OUTCOME_OK] = "ok",
		[OUTCOME_INTERRUPTED] = "interrupted",
		[OUTCOME_FAILED] = "failed",
		[OUTCOME_LOST] = "lost",
	};

	return names[outcome];
}

static size_t in_pairs(size_t bytes)
{
	return (bytes + CACHE_PAIR - 1) / CACHE_PAIR * CACHE_PAIR;
}

/* Anonymous shared memory: it is gone with the last process that maps it. FOREMAN_BYTES more are
 * the parent's own: in private memory each fork would make it copy what it writes next. */
static struct board *board_new(const struct crew *crew, unsigned total,
			       size_t foreman_bytes)
{
	size_t records_at = sizeof(struct board) + total * sizeof(struct tally);
	/* Records stay apart as tallies do: a worker writes its own while others run. */
	size_t record_bytes = in_pairs(crew->record_bytes);
	size_t foreman_at = records_at + total * record_bytes;
	size_t bytes = foreman_at + foreman_bytes;
	struct board *b = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (b == MAP_FAILED)
		return NULL;
	b->parent = getpid();
	b->total = total;
	b->bytes = bytes;
	b->records_at = records_at;
	b->record_bytes = record_bytes;
	b->foreman_at = foreman_at;
	return b;
}

static void change_state(struct foreman *f, enum crew_state state)
{
	atomic_store(&f->board->state, state);
	if (state > CREW_WORKING)
		stop_tallies(f->board->tallies, f->board->total);
	board_ring(f->board);
}

static void fail(struct foreman *f, int ret)
{
	if (!f->ret) {
		f->ret = ret;
		f->kill_at_ns = now_ns() + GRACE_FAILED_NS;
	}
	change_state(f, CREW_FAILED);
}

/* The slot of PID among the living, or the free one where it would go. */
static unsigned *slot_of(struct foreman *f, pid_t pid)
{
	unsigned i = (unsigned)pid * 2654435761U & f->mask;

	while (f->by_pid[i] && (f->processes[f->by_pid[i] - 1].pid != pid ||
				f->processes[f->by_pid[i] - 1].reaped))
		i = (i + 1) & f->mask;
	return &f->by_pid[i];
}

static void kill_workers(struct foreman *f)
{
	if (f->signal && !f->ret)
		note("%u processes did not stop by themselves and are killed",
		     f->running);
	for (unsigned i = 0; i < f->started; i++)
		if (!f->processes[i].reaped)
			kill(f->processes[i].pid, SIGKILL);
	f->kill_at_ns = 0;
}

static void interrupt(struct foreman *f, int sig)
{
	uint64_t now = now_ns();

	if (f->signal) {
		/* timeout(1) sends its signal twice; somebody who asks again waits longer. */
		if (now > f->interrupted_ns + ns_per_s)
			kill_workers(f);
		return;
	}
	f->signal = sig;
	f->interrupted_ns = now;
	if (f->ret)
		return;
	f->kill_at_ns = now + (atomic_load(&f->board->state) == CREW_WORKING
				       ? GRACE_INTERRUPTED_NS
				       : GRACE_FAILED_NS);
	change_state(f, CREW_INTERRUPTED);
}

static struct tally *tallies_of(const struct foreman *f, unsigned index)
{
	return &f->board->tallies[index * MAX(f->crew->threads, 1)];
}

/* "worker 3" or "process of workers 4-7": the tasks of process INDEX. */
static const char *workers_of(const struct foreman *f, unsigned index,
			      char buf[static 64])
{
	unsigned threads = MAX(f->crew->threads, 1), first = index * threads;

	if (threads == 1)
		snprintf(buf, 64, "worker %u", first);
	else
		snprintf(buf, 64, "process of workers %u-%u", first, first + threads - 1);
	return buf;
}

/* Process INDEX was killed, or ended in a way of its own: its figures are void. */
static void lose(struct foreman *f, unsigned index, int status)
{
	struct tally *tallies = tallies_of(f, index);
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	bool spoke = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_WORKER_FAILED;
	char who[64];

	if (f->ret || f->signal)
		return; /* our own doing, or a consequence of what was said already */
	if (WIFEXITED(status) && WEXITSTATUS(status) > EXIT_SIGNAL) {
		sig = WEXITSTATUS(status) - EXIT_SIGNAL;
		spoke = true;
	}
	for (unsigned i = 0; i < MAX(f->crew->threads, 1); i++) {
		tallies[i].signal = sig;
		atomic_store(&tallies[i].outcome, OUTCOME_LOST);
	}
	workers_of(f, index, who);
	if (WIFSIGNALED(status))
		note("%s (pid %d) was killed by SIG%s", who, f->processes[index].pid,
		     sigabbrev_np(sig) ?: "?");
	else if (!spoke)
		note("%s (pid %d) ended with status %d", who, f->processes[index].pid,
		     WEXITSTATUS(status));
	fail(f, -ECHILD);
}

/* A signal has stopped the workers of one process. If it went to all, as from a terminal, the parent
 * has it too; else they did what they could, but the run is not whole. */
static void note_stopped(struct foreman *f, unsigned index, int sig)
{
	struct timespec now = { 0 };
	char who[64];
	int own = f->signal ? 0 : sigtimedwait(&f->stops, NULL, &now);

	if (own > 0)
		interrupt(f, own);
	if (f->ret || f->signal)
		return;
	note("%s (pid %d) was stopped by SIG%s", workers_of(f, index, who),
	     f->processes[index].pid, sigabbrev_np(sig) ?: "?");
	fail(f, -ECHILD);
}

/* A worker's error was said where it happened; the first one found is the crew's. */
static void notice_failures(struct foreman *f)
{
	if (!atomic_load(&f->board->failures))
		return;
	for (unsigned i = 0; !f->ret && i < f->board->total; i++) {
		int error = atomic_load(&f->board->tallies[i].error);

		if (error)
			fail(f, error);
	}
}

/* Does any worker of process INDEX stand at OUTCOME? */
static bool any_outcome(const struct foreman *f, unsigned index, enum outcome outcome)
{
	const struct tally *tallies = tallies_of(f, index);

	for (unsigned i = 0; i < MAX(f->crew->threads, 1); i++)
		if (atomic_load(&tallies[i].outcome) == (int)outcome)
			return true;
	return false;
}

static void account(struct foreman *f, pid_t pid, int status)
{
	unsigned slot = *slot_of(f, pid), index = slot - 1;

	if (!slot)
		return;
	f->processes[index].reaped = true;
	f->running--;
	if (status)
		notice_failures(f);
	if (status == W_EXITCODE(EXIT_SIGNAL + SIGINT, 0) ||
	    status == W_EXITCODE(EXIT_SIGNAL + SIGTERM, 0))
		note_stopped(f, index, WEXITSTATUS(status) - EXIT_SIGNAL);
	else if (status ? !any_outcome(f, index, OUTCOME_FAILED)
			: any_outcome(f, index, OUTCOME_NONE))
		lose(f, index, status);
}

static void reap(struct foreman *f)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		account(f, pid, status);
}

static struct crew_view view_of(const struct foreman *f)
{
	const struct board *b = f->board;
	struct crew_view v = { .workers = b->total, .last = !f->running };
	uint64_t now = now_ns(), ended_ns = 0, work_bytes = 0;

	for (unsigned i = 0; i < b->total; i++) {
		const struct tally *t = &b->tallies[i];

		v.ops += atomic_load_explicit(&t->ops, memory_order_relaxed);
		v.bytes += atomic_load_explicit(&t->bytes, memory_order_relaxed);
		if (v.last) {
			ended_ns = MAX(ended_ns, t->ended_ns);
			work_bytes += t->work_bytes;
		}
	}
	/* Freeing and exiting took their time, but nothing was done in it. */
	if (ended_ns && work_bytes == v.bytes)
		now = ended_ns;
	v.elapsed_ns = now - atomic_load(&b->started_ns);
	return v;
}

static void tick(struct foreman *f)
{
	struct crew_view view = view_of(f);
	uint64_t now;

	f->crew->tick(f->crew->context, &view);
	/* Ticks that could not be kept are left out, not made up for. */
	now = now_ns();
	if (f->next_tick_ns <= now)
		f->next_tick_ns = now + f->crew->tick_ns -
				  (now - f->next_tick_ns) % f->crew->tick_ns;
}

static void open_start_line(struct foreman *f)
{
	uint64_t now = now_ns();

	atomic_store(&f->board->started_ns, now);
	if (f->crew->tick_ns)
		f->next_tick_ns = now + f->crew->tick_ns;
	change_state(f, CREW_WORKING);
}

/* Wait until AT_NS (0: not at all) for a signal: SIGCHLD is also how a worker calls the parent.
 * The signals are blocked, so none is lost between a look and the wait. */
static void heed_signals(struct foreman *f, uint64_t at_ns)
{
	uint64_t now = at_ns ? now_ns() : 0;
	struct timespec wait = timespec_of(at_ns > now ? at_ns - now : 0);
	int sig = sigtimedwait(&f->watched, NULL, &wait);

	if (sig == SIGINT || sig == SIGTERM)
		interrupt(f, sig);
	/* After any of them: a flood of one must not hide another. */
	if (sig > 0)
		reap(f);
	notice_failures(f);
	if (f->kill_at_ns && now_ns() >= f->kill_at_ns)
		kill_workers(f);
}

static uint64_t next_event_ns(const struct foreman *f)
{
	uint64_t at = now_ns() + 3600 * ns_per_s;

	if (f->kill_at_ns)
		at = MIN(at, f->kill_at_ns);
	if (f->next_tick_ns)
		at = MIN(at, f->next_tick_ns);
	return at;
}

static void watch(struct foreman *f)
{
	struct board *b = f->board;

	while (f->running) {
		if (atomic_load(&b->state) == CREW_GATHERING &&
		    atomic_load(&b->ready) == b->total)
			open_start_line(f);
		heed_signals(f, next_event_ns(f));
		if (f->next_tick_ns && now_ns() >= f->next_tick_ns)
			tick(f);
	}
	if (f->next_tick_ns)
		tick(f);
}

/* When memory runs out the OOM killer shall take a worker, not the user's shell or a daemon:
 * the score is inherited over fork, so it is raised around the fan-out and put back. */
static int set_oom_score(const char *text, char *old, size_t room)
{
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	if (old) {
		n = read(fd, old, room - 1);
		old[MAX(n, 0)] = '\0';
	}
	if (n >= 0)
		n = pwrite(fd, text, strlen(text), 0);
	close(fd);
	return n < 0 ? -EIO : 0;
}

static void fork_processes(struct foreman *f)
{
	char score[16];
	int raised = set_oom_score("1000", score, sizeof(score));

	for (unsigned i = 0; i < f->count && !f->ret && !f->signal; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(worker_process(f->crew, f->board, i));
		if (pid < 0) {
			fail(f, failed("started %u of %u processes", i, f->count));
			break;
		}
		f->processes[i].pid = pid;
		*slot_of(f, pid) = i + 1;
		f->started++;
		f->running++;
		heed_signals(f, 0);
	}
	if (!raised && set_oom_score(score, NULL, 0))
		note("cannot put the OOM score of this process back to %s", score);
}

static int foreman_init(struct foreman *f, const struct crew *crew)
{
	uint64_t count = MAX(crew->processes, 1), total = count * MAX(crew->threads, 1),
		 slots = 1;

	while (slots < 2 * count)
		slots *= 2;
	*f = (struct foreman){ .crew = crew,
			       .count = (unsigned)count,
			       .mask = (unsigned)slots - 1 };
	if (total <= MAX_WORKERS)
		f->board = board_new(crew, (unsigned)total,
				     count * sizeof(*f->processes) +
					     slots * sizeof(*f->by_pid));
	if (!f->board)
		return failed("memory for %ju workers", (uintmax_t)total);
	f->processes = (struct process *)((char *)f->board + f->board->foreman_at);
	f->by_pid = (unsigned *)(f->processes + count);
	return 0;
}

static void take_signals(struct foreman *f)
{
	sigemptyset(&f->stops);
	sigaddset(&f->stops, SIGINT);
	sigaddset(&f->stops, SIGTERM);
	sigemptyset(&f->watched);
	sigaddset(&f->watched, SIGCHLD);
	sigaddset(&f->watched, SIGINT);
	sigaddset(&f->watched, SIGTERM);
	sigprocmask(SIG_BLOCK, &f->watched, &f->old_mask);
	sigaction(SIGINT, NULL, &f->old_int);
	sigaction(SIGTERM, NULL, &f->old_term);
	sigaction(SIGALRM, NULL, &f->old_alarm);
	/* Whoever started us may ignore it, and then no child waits to be reaped. */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, &f->old_child);
	worker_handlers();
}

static void give_signals_back(struct foreman *f)
{
	sigaction(SIGINT, &f->old_int, NULL);
	sigaction(SIGTERM, &f->old_term, NULL);
	sigaction(SIGALRM, &f->old_alarm, NULL);
	sigaction(SIGCHLD, &f->old_child, NULL);
	sigprocmask(SIG_SETMASK, &f->old_mask, NULL);
}

static void sum_up(const struct foreman *f, struct crew_result *r)
{
	uint64_t first = UINT64_MAX, last = 0;

	r->workers = f->board->total;
	r->signal = f->signal;
	r->started_ns = atomic_load(&f->board->started_ns);
	r->tallies = f->board->tallies;
	r->board = f->board;
	for (unsigned i = 0; i < r->workers; i++) {
		const struct tally *t = &r->tallies[i];

		if (!t->ended_ns)
			continue;
		first = MIN(first, t->began_ns);
		last = MAX(last, t->ended_ns);
		r->ops += t->work_ops;
		r->bytes += t->work_bytes;
	}
	r->window_ns = last ? last - first : 0;
}

int crew_run(const struct crew *crew, struct crew_result *result)
{
	struct foreman f;
	int ret = foreman_init(&f, crew);

	*result = (struct crew_result){ 0 };
	if (!ret) {
		take_signals(&f);
		fork_processes(&f);
		watch(&f);
		give_signals_back(&f);
		sum_up(&f, result);
		ret = f.ret;
	}
	return ret;
}

void *crew_record(const struct crew_result *result, unsigned id)
{
	return board_record(result->board, id);
}

void crew_result_free(struct crew_result *result)
{
	if (result->board)
		munmap(result->board, result->board->bytes);
	*result = (struct crew_result){ 0 };
}
