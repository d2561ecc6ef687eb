// SPDX-License-Identifier: GPL-2.0-or-later
/* sampling - what the snapshots of --json cost: a look at the ends, one in between, and the slow-down of the
 * workers by the latter. */
#include "common/crew.h"
#include "common/environment.h"
#include "common/snapshot.h"
#include "tests/bench/pairs.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOKS = 51 };

/* A hundred times as often as a run looks, so that what it costs stands out of the noise. */
#define OFTEN    100
#define SPELL_NS (ns_per_s / 2)

static struct stat_sources all;
static struct window window;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * ns_per_s + (uint64_t)t.tv_nsec;
}

static void time_looks(const char *name, enum crew_moment moment)
{
	double wall_us[LOOKS], cpu_us[LOOKS];

	for (unsigned i = 0; i < LOOKS; i++) {
		uint64_t began_ns = now_ns(), cpu_began_ns = cpu_ns();

		window_see(&window, &all, moment);
		wall_us[i] = (double)(now_ns() - began_ns) / 1e3;
		cpu_us[i] = (double)(cpu_ns() - cpu_began_ns) / 1e3;
	}
	printf("%-24s %.0f us, of which %.0f us of CPU time\n", name,
	       median_of(wall_us, LOOKS), median_of(cpu_us, LOOKS));
}

static void time_environment(void)
{
	double us[LOOKS];
	struct topo topo;
	struct limits limits;

	if (topo_read(&topo, "") || limits_read(&limits, ""))
		return;
	for (unsigned i = 0; i < LOOKS; i++) {
		json_t *environment = json_object();
		uint64_t began_ns = now_ns();

		environment_machine(environment, &topo, &limits);
		us[i] = (double)(now_ns() - began_ns) / 1e3;
		json_decref(environment);
	}
	printf("%-24s %.0f us (wanted at most 20000)\n", "the environment record",
	       median_of(us, LOOKS));
}

/* Memory of its own, over and over. */
static int work(struct worker *w)
{
	static volatile uint64_t words[4096];

	while (keep_going(w)) {
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			words[i] += i;
		tally_add(w, 1, sizeof(words));
	}
	return 0;
}

static int look(void *context, enum crew_moment moment)
{
	(void)context;
	window_see(&window, &all, moment);
	return 0;
}

/* Nanoseconds for a piece of work. */
static uint64_t spell_ns(bool looks)
{
	const struct crew crew = { .processes = (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
				   .runtime_ns = SPELL_NS,
				   .work = work,
				   .window = looks ? look : NULL,
				   .sample_ns = looks ? ns_per_s / OFTEN : 0 };
	struct crew_result result;
	uint64_t ns;

	if (crew_run(&crew, &result) || !result.ops)
		exit(1);
	ns = result.window_ns * 1000 / result.ops;
	crew_result_free(&result);
	return ns;
}

static void slow_down(void)
{
	struct pairs p = { 0 };
	struct summary ours, noise;

	for (unsigned i = 0; i < PAIRS; i++)
		pairs_add(&p, spell_ns(true), spell_ns(false), spell_ns(false));
	summarize(p.ours, p.count, &ours);
	summarize(p.noise, p.count, &noise);
	printf("%-24s %.3f of the rate without (%.3f to %.3f; without against itself "
	       "%.3f, %.3f to %.3f): once a second %.3f %% slower (wanted at most 0.5)\n",
	       "100 looks a second", ours.median, ours.min, ours.max, noise.median,
	       noise.min, noise.max, (1 - ours.median) * 100 / OFTEN);
}

int main(void)
{
	uint64_t began_ns = now_ns();

	base_init();
	if (sources_open(&all, ""))
		return 1;
	printf("%-24s %ju us, %u files\n", "finding the files",
	       (uintmax_t)(now_ns() - began_ns) / 1000, all.count);
	time_looks("a look at an end", WINDOW_OPENS);
	time_looks("a look in between", WINDOW_LASTS);
	time_environment();
	slow_down();
	window_free(&window);
	sources_close(&all);
	return 0;
}
