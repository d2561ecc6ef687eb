// SPDX-License-Identifier: GPL-2.0-or-later
/* rounds - the phases that wait for a signal, once or for ever. */
#include "common/clock.h"
#include "common/lines.h"
#include "usemem/task.h"

#include <sys/mman.h>
#include <unistd.h>

/* With JSON on standard output the line, which a partner waits for, is on standard error. */
int say_waiting(const char *who)
{
	if (run_prints_lines(&cfg.run))
		return print_line("%s %d is waiting signal", who, getpid());
	note("%s %d is waiting signal", who, getpid());
	return 0;
}

int await_signal(struct worker *w, const char *who)
{
	return crew_await_signal(w, say_waiting, who);
}

static int read_all(struct worker *w)
{
	const struct phase phase = {
		.random = cfg.random || cfg.signal_random,
		.verifies = cfg.signal_verify,
		.passes = 1,
		.at_most = cfg.signal_count ?: UINT64_MAX,
	};

	return sweep_units(w, &phase);
}

static int write_all_again(struct worker *w)
{
	const struct phase phase = {
		.writes = true,
		.random = cfg.random || cfg.signal_random,
		.verifies = cfg.signal_verify,
		.pattern = &cfg.signal_pattern,
		.passes = cfg.signal_times,
		.at_most = cfg.signal_count ?: UINT64_MAX,
	};

	return sweep_units(w, &phase);
}

static int advise_huge_pages(struct worker *w)
{
	int ret = advise_units(w->data, MADV_HUGEPAGE, "MADV_HUGEPAGE");

	if (!ret)
		tally_add(w, 1, advised_bytes(w->data));
	return ret;
}

/* In the order of a round. */
static const struct row {
	const bool *asked;
	const char *who; /* waits */
	int (*work)(struct worker *w);
} rows[SIGNAL_PHASES] = {
	[SIGNAL_READ] = { &cfg.signal_read, "Read Process", read_all },
	[SIGNAL_WRITE] = { &cfg.signal_write, "Write Process", write_all_again },
	[SIGNAL_MADVISE] = { &cfg.signal_madvise, "madvise MADV_HUGEPAGE Process",
			     advise_huge_pages },
};

static int wait_and_work(struct worker *w, const struct row *row, struct measured *sum)
{
	uint64_t began_ns, ns, before = w->tally->bytes, bytes;
	int ret = await_signal(w, row->who);

	if (ret || crew_stopping(w))
		return ret;
	began_ns = now_ns();
	ret = phase_begin(w, began_ns);
	if (!ret)
		ret = row->work(w);
	ns = now_ns() - began_ns;
	bytes = w->tally->bytes - before;
	sum->bytes += bytes;
	sum->ns += ns;
	if (!ret && run_prints_lines(&cfg.run))
		ret = print_bandwidth("", bytes, ns);
	return ret;
}

static int page_out(struct task *task)
{
	int ret = advise_units(task, MADV_COLD, "MADV_COLD");

	return ret ?: advise_units(task, MADV_PAGEOUT, "MADV_PAGEOUT");
}

int make_rounds(struct worker *w)
{
	struct task_record *record = w->record;
	int ret = 0;

	do {
		if (cfg.madv_pageout && !cfg.mlock)
			ret = page_out(w->data);
		for (int i = 0; i < SIGNAL_PHASES && !ret && !crew_stopping(w); i++)
			if (*rows[i].asked)
				ret = wait_and_work(w, &rows[i], &record->signal[i]);
	} while (!ret && cfg.signal_loop && !crew_stopping(w));
	return ret;
}
