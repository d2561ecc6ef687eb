// SPDX-License-Identifier: GPL-2.0-or-later
/* metrics - the operations table, in the form of stress-ng's --metrics, for what reads that. */
#include "copyfile/copyfile.h"

#include <unistd.h>

/* stress-ng's name of this work: parsers look for it. */
#define STRESSOR "copy-file"

/* Of all workers together, in seconds. */
struct totals {
	double real, user, system; /* real: the mean of the workers */
	double max_rss_kib;
	double inverse_rates; /* sum over those that copied, of seconds a MiB */
	unsigned rated;       /* how many these are */
};

static double per(double x, double seconds)
{
	return seconds > 0 ? x / seconds : 0;
}

static struct totals add_up(const struct crew_result *result)
{
	struct totals t = { 0 };

	for (unsigned i = 0; i < result->workers; i++) {
		const struct copy_record *record = crew_record(result, i);
		const struct tally *tally = &result->tallies[i];
		double mib = (double)tally->work_bytes / (double)MiB;

		t.real += (double)tally_work_ns(tally) / 1e9 / result->workers;
		t.user += (double)record->user_ns / 1e9;
		t.system += (double)record->system_ns / 1e9;
		t.max_rss_kib = MAX(t.max_rss_kib, (double)record->max_rss_kib);
		if (!record->copy_ns || mib <= 0)
			continue;
		t.inverse_rates += (double)record->copy_ns / 1e9 / mib;
		t.rated++;
	}
	return t;
}

/* The second line is off its columns by one, as parsers know it. */
static int print_head(int pid)
{
	int ret = print_line("stress-ng: metrc: [%d] stressor       bogo ops real time  "
			     "usr time  sys time   bogo ops/s     bogo ops/s CPU used "
			     "per       RSS Max",
			     pid);

	return ret
		       ?: print_line("stress-ng: metrc: [%d] %26s(secs)    (secs)    "
				     "(secs)   "
				     "(real time) (usr+sys time) instance (%%)          "
				     "(KB)",
				     pid, "");
}

int print_metrics(const struct crew_result *result)
{
	const struct totals t = add_up(result);
	double ops = (double)result->ops, cpu = t.user + t.system;
	int pid = getpid(), ret = print_head(pid);

	if (!ret)
		ret = print_line("stress-ng: metrc: [%d] %-13s %9.0f %9.2f %9.2f %9.2f "
				 "%12.2f %14.2f %12.2f %13.0f",
				 pid, STRESSOR, ops, t.real, t.user, t.system,
				 per(ops, t.real), per(ops, cpu),
				 100 * per(cpu, t.real) / result->workers, t.max_rss_kib);
	if (!ret && t.rated)
		ret = print_line("stress-ng: metrc: [%d] %-13s %13.2f MB per sec copy "
				 "rate (harmonic mean of %u instances)",
				 pid, STRESSOR, t.rated / t.inverse_rates, t.rated);
	/* What follows it is not taken for a row. */
	return ret
		       ?: print_line("stress-ng: info:  [%d] for a %.2fs run time:", pid,
				     t.real);
}
