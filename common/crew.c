// SPDX-License-Identifier: GPL-2.0-or-later
/* crew - processes x threads that start together, stop together and fail together. */
#include "common/crew.h"

#include "common/board.h"
#include "common/foreman.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

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
	b->threads = MAX(crew->threads, 1);
	b->leaves = crew->leave;
	b->bytes = bytes;
	b->records_at = records_at;
	b->record_bytes = record_bytes;
	b->foreman_at = foreman_at;
	return b;
}

static int put_oom_score(int fd, const char *score)
{
	ssize_t n;

	do
		n = pwrite(fd, score, strlen(score), 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

/* When memory runs out the OOM killer shall take a worker, not the user's shell or a daemon:
 * the score is inherited over fork, so it is raised around the fan-out and put back. Returns the
 * file to put OLD back into, or -1 where the score could not be raised. */
static int raise_oom_score(char old[static 16])
{
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, old, 15);

	if (n > 0) {
		old[n] = '\0';
		old[strcspn(old, "\n")] = '\0';
		if (!put_oom_score(fd, "1000"))
			return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static void put_oom_score_back(int fd, const char *old)
{
	if (fd < 0)
		return;
	if (put_oom_score(fd, old))
		note("cannot put the OOM score of this process back to %s", old);
	close(fd);
}

static void fork_processes(struct foreman *f)
{
	char score[16];
	int oom_fd = raise_oom_score(score);

	for (unsigned i = 0; i < f->count && !f->ret && !f->signal; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(worker_process(f->crew, f->board, i));
		if (pid < 0) {
			foreman_fail(f,
				     failed("started %u of %u processes", i, f->count));
			break;
		}
		f->processes[i].pid = pid;
		*foreman_slot(f, pid) = i + 1;
		f->started++;
		f->running++;
		foreman_heed(f, 0);
	}
	put_oom_score_back(oom_fd, score);
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
	sigset_t theirs;

	sigemptyset(&f->stops);
	sigaddset(&f->stops, SIGINT);
	sigaddset(&f->stops, SIGTERM);
	sigemptyset(&f->watched);
	sigaddset(&f->watched, SIGCHLD);
	sigaddset(&f->watched, SIGINT);
	sigaddset(&f->watched, SIGTERM);
	sigprocmask(SIG_BLOCK, &f->watched, &f->old_mask);
	/* Of these only the workers take any notice. */
	sigemptyset(&theirs);
	sigaddset(&theirs, SIGUSR1);
	sigaddset(&theirs, SIGURG);
	sigprocmask(SIG_BLOCK, &theirs, NULL);
	sigaction(SIGINT, NULL, &f->old_int);
	sigaction(SIGTERM, NULL, &f->old_term);
	sigaction(SIGALRM, NULL, &f->old_alarm);
	sigaction(SIGUSR1, NULL, &f->old_user);
	sigaction(SIGURG, NULL, &f->old_urgent);
	/* Whoever started us may ignore it, and then no child waits to be reaped. */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, &f->old_child);
	handlers_install();
}

static void give_signals_back(struct foreman *f)
{
	sigaction(SIGINT, &f->old_int, NULL);
	sigaction(SIGTERM, &f->old_term, NULL);
	sigaction(SIGALRM, &f->old_alarm, NULL);
	sigaction(SIGCHLD, &f->old_child, NULL);
	sigaction(SIGUSR1, &f->old_user, NULL);
	sigaction(SIGURG, &f->old_urgent, NULL);
	sigprocmask(SIG_SETMASK, &f->old_mask, NULL);
}

static void sum_up(const struct foreman *f, struct crew_result *r)
{
	uint64_t first = UINT64_MAX, last = 0;

	r->workers = f->board->total;
	r->signal = f->signal;
	r->left = f->left;
	r->started_ns = atomic_load(&f->board->started_ns);
	r->tallies = f->board->tallies;
	r->board = f->board;
	for (unsigned i = 0; i < r->workers; i++) {
		const struct tally *t = &r->tallies[i];

		if (!t->ended_ns)
			continue;
		first = MIN(first, t->began_ns);
		last = MAX(last, t->ended_ns - t->paused_ns);
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
		foreman_watch(&f);
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
