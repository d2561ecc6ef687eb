// SPDX-License-Identifier: GPL-2.0-or-later
/* after - what is done with all files at once when they were read, and how long that takes. */
#include "common/clock.h"
#include "readtwice/readtwice.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* The readers are gone, so this descriptor is the last: the file goes, and its pages with it. */
static int unlink_file(struct file *f)
{
	int fd = f->fd;

	f->fd = -1;
	return close(fd) ? errno : 0;
}

static int truncate_file(struct file *f)
{
	return ftruncate(f->fd, 0) ? errno : 0;
}

static int drop_pages(struct file *f)
{
	return posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED);
}

static const struct {
	const char *call;
	int (*act)(struct file *f); /* 0 or errno */
	bool spoils;                /* the file has to be made anew */
} actions[] = {
	[THEN_UNLINK] = { "close", unlink_file, true },
	[THEN_TRUNCATE] = { "ftruncate", truncate_file, true },
	[THEN_DONTNEED] = { "posix_fadvise(POSIX_FADV_DONTNEED)", drop_pages, false },
};

/* A thread for each file. All begin together: the gate is locked until the last has started. */
struct job {
	struct file *file;
	pthread_rwlock_t *gate;
	const bool *off; /* read behind the gate */
	pthread_t thread;
	int error;
};

static void *do_job(void *arg)
{
	struct job *job = arg;

	pthread_rwlock_rdlock(job->gate);
	if (!*job->off)
		job->error = actions[cfg.then].act(job->file);
	pthread_rwlock_unlock(job->gate);
	return NULL;
}

static int run_jobs(struct job *jobs, struct afterwards *a)
{
	pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
	unsigned started = 0;
	bool off = false;
	int error = 0, ret = 0;

	pthread_rwlock_wrlock(&gate);
	for (; started < cfg.file_count && !error; started += !error) {
		struct job *job = &jobs[started];

		*job = (struct job){ .file = &files[started],
				     .gate = &gate,
				     .off = &off };
		error = pthread_create(&job->thread, NULL, do_job, job);
	}
	off = error;
	errno = error;
	if (error)
		ret = failed("start thread %u of %u", started + 1, cfg.file_count);
	a->began_ns = now_ns();
	pthread_rwlock_unlock(&gate);
	for (unsigned i = 0; i < started; i++)
		pthread_join(jobs[i].thread, NULL);
	a->ended_ns = now_ns();
	pthread_rwlock_destroy(&gate);
	return ret;
}

int do_then(struct afterwards *a)
{
	struct job *jobs = calloc(cfg.file_count, sizeof(*jobs));
	int ret;

	if (!jobs)
		return failed("memory for %u files", cfg.file_count);
	ret = run_jobs(jobs, a);
	for (unsigned i = 0; i < cfg.file_count && !ret; i++) {
		errno = jobs[i].error;
		if (errno)
			ret = failed("%s of %s", actions[cfg.then].call, files[i].name);
	}
	for (unsigned i = 0; i < cfg.file_count && actions[cfg.then].spoils; i++) {
		if (files[i].fd >= 0)
			close(files[i].fd);
		files[i].fd = -1;
	}
	free(jobs);
	return ret;
}

void then_in_warm_up(void)
{
	struct afterwards a;

	/* What fails was said, and will fail again where it counts. */
	if (!cfg.run.warming || cfg.then == THEN_NOTHING || do_then(&a))
		return;
}
