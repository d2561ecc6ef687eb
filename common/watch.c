// SPDX-License-Identifier: GPL-2.0-or-later
/* watch - what the system does in each repetition of a run, for its JSON results. */
#include "common/watch.h"

#include "common/system.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int watch_open(struct run *run)
{
	struct medium m;

	if (!run->json)
		return 0;
	run->system = system_new();
	if (!run->system)
		return -ENOMEM;
	for (unsigned i = 0; (run->has & RUN_FS) && i < run->dirs.count; i++) {
		int fd = open(run_dir(run, i), O_PATH | O_DIRECTORY | O_CLOEXEC);

		/* Who needs a directory that is not there will say so. */
		if (fd < 0)
			continue;
		if (!medium_of(fd, &m))
			system_add_device(run->system, m.dev);
		close(fd);
	}
	return 0;
}

void watch_close(struct run *run)
{
	system_free(run->system);
	run->system = NULL;
}

static bool watches(const struct run *run)
{
	return run->system && !run->warming;
}

void watch_begin(const struct run *run)
{
	if (watches(run))
		system_begin(run->system);
}

void watch_see(const struct run *run, enum crew_moment moment)
{
	if (watches(run))
		system_see(run->system, moment);
}

void watch_end(const struct run *run, bool left)
{
	if (watches(run))
		system_end(run->system, left);
}

static void add_row(void *context, const char *name, double value)
{
	report_system(context, name, value);
}

void watch_report(const struct run *run, struct report *r)
{
	if (watches(run))
		system_rows(run->system, add_row, r);
}
