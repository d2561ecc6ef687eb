// SPDX-License-Identifier: GPL-2.0-or-later
/* start - what it takes to start 1 to 4096 processes together, against a bare loop of fork(2). */
#include "common/crew.h"
#include "tests/bench/pairs.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(struct worker *w)
{
	tally_add(w, 1, 8);
	return 0;
}

/* Fork all, release them together by closing a pipe, wait. */
static uint64_t start_bare(unsigned count)
{
	uint64_t began = now_ns();
	int ends[2];
	char byte;

	if (pipe(ends))
		exit(1);
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			exit(1);
		if (pid)
			continue;
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	close(ends[0]);
	close(ends[1]);
	while (wait(NULL) > 0)
		;
	return now_ns() - began;
}

static uint64_t start_crew(unsigned count)
{
	const struct crew crew = { .processes = count, .work = work };
	uint64_t began = now_ns(), took;
	struct crew_result result;

	if (crew_run(&crew, &result))
		exit(1);
	took = now_ns() - began;
	crew_result_free(&result);
	return took;
}

int main(void)
{
	for (unsigned count = 1; count <= 4096; count *= 4) {
		struct pairs pairs = { .count = 0 };
		char name[32];

		while (pairs.count < PAIRS) {
			uint64_t bare = start_bare(count), ours = start_crew(count);

			pairs_add(&pairs, ours, bare, start_bare(count));
		}
		snprintf(name, sizeof(name), "start %u processes", count);
		/* 1.3 times the time is 0.77 of the rate. */
		pairs_print(&pairs, name, 1 / 1.3, 1e6 * count, "processes a ms");
	}
	return 0;
}
