// SPDX-License-Identifier: GPL-2.0-or-later
/* metrics - tests of copyfile/metrics.c: the operations table, blank for blank. */
#include "copyfile/copyfile.h"
#include "tests/check.h"
#include "tests/unit/hear.h"
#include "tests/unit/records.h"

enum { MOST = 3 };

/* @ stands for the process id. The first row is the table that everybody knows; a rate is
 * operations by seconds, of the clock and of the CPU. */
static const struct row {
	const char *name;
	struct measured {
		uint64_t ops, bytes, work_ns, copy_ns, user_ns, system_ns, max_rss_kib;
	} workers[MOST];
	const char *rows;
	const char *run_time;
} rows[] = {
	{ "as known",
	  { { 24270, 128 * KiB * 24270, 8152064000, 1089885218, 90000000, 4558009000,
	      2544 } },
	  "stress-ng: metrc: [@] copy-file         24270      8.15      0.09      4.56"
	  "      2977.16        5221.59        57.02          2544\n"
	  "stress-ng: metrc: [@] copy-file           2783.55 MB per sec copy rate "
	  "(harmonic mean of 1 instances)\n",
	  "8.15" },
	/* 100 and 300 MiB a second; 2 s and 1 s of work; 0.6 s of CPU. */
	{ "two that differ",
	  { { 100, 100 * MiB, 2000000000, 1000000000, 100000000, 200000000, 3000 },
	    { 50, 150 * MiB, 1000000000, 500000000, 0, 300000000, 2000 } },
	  "stress-ng: metrc: [@] copy-file           150      1.50      0.10      0.50"
	  "       100.00         250.00        20.00          3000\n"
	  "stress-ng: metrc: [@] copy-file            150.00 MB per sec copy rate "
	  "(harmonic mean of 2 instances)\n",
	  "1.50" },
	{ "one of three copied",
	  { { 0, 0, 1000000000, 0, 0, 0, 1000 },
	    { 8, 8 * MiB, 1000000000, 500000000, 0, 250000000, 1000 },
	    { 0, 0, 1000000000, 7, 0, 0, 1000 } },
	  "stress-ng: metrc: [@] copy-file             8      1.00      0.00      0.25"
	  "         8.00          32.00         8.33          1000\n"
	  "stress-ng: metrc: [@] copy-file             16.00 MB per sec copy rate "
	  "(harmonic mean of 1 instances)\n",
	  "1.00" },
	{ "no operation, no time",
	  { { .max_rss_kib = 1500 } },
	  "stress-ng: metrc: [@] copy-file             0      0.00      0.00      0.00"
	  "         0.00           0.00         0.00          1500\n",
	  "0.00" },
	{ "wider than the columns",
	  { { 12345678901, 12345678901 * 4096, 1000000000, 1000000000, 500000000, 0,
	      1500 } },
	  "stress-ng: metrc: [@] copy-file     12345678901      1.00      0.50      0.00"
	  " 12345678901.00 24691357802.00        50.00          1500\n"
	  "stress-ng: metrc: [@] copy-file       48225308.21 MB per sec copy rate "
	  "(harmonic mean of 1 instances)\n",
	  "1.00" },
};

static struct crew_result fill(const struct row *row)
{
	unsigned n = 1;
	struct crew_result result;

	while (n < MOST && row->workers[n].work_ns)
		n++;
	result = records_make(n, sizeof(struct copy_record));
	for (unsigned i = 0; i < n; i++) {
		const struct measured *m = &row->workers[i];
		struct copy_record *record = crew_record(&result, i);
		struct tally *tally = &result.tallies[i];

		/* A pause is no part of the work. */
		tally->began_ns = 1000;
		tally->paused_ns = 500;
		tally->ended_ns = 1500 + m->work_ns;
		tally->work_ops = m->ops;
		tally->work_bytes = m->bytes;
		record->copy_ns = m->copy_ns;
		record->user_ns = m->user_ns;
		record->system_ns = m->system_ns;
		record->max_rss_kib = m->max_rss_kib;
		result.ops += m->ops;
		result.bytes += m->bytes;
	}
	return result;
}

/* TEXT with the process id in place of @, as much as there is room for; TO is returned. */
static char *expand(const char *text, char *to, size_t size)
{
	size_t len = 0;

	for (; *text; text++)
		if (*text == '@')
			len += (size_t)snprintf(to + len, size - len, "%d", getpid());
		else
			len += (size_t)snprintf(to + len, size - len, "%c", *text);
	return to;
}

static void check_row(const struct row *row)
{
	static const char head[] =
		"stress-ng: metrc: [@] stressor       bogo ops real time  usr time  "
		"sys time   bogo ops/s     bogo ops/s CPU used per       RSS Max\n"
		"stress-ng: metrc: [@]                           (secs)    (secs)    "
		"(secs)   (real time) (usr+sys time) instance (%)          (KB)\n";
	struct crew_result result = fill(row);
	static struct heard heard;
	char text[2048], want[2048];
	unsigned lines = 0;
	int ret;

	snprintf(text, sizeof(text), "%s%sstress-ng: info:  [@] for a %ss run time:\n",
		 head, row->rows, row->run_time);
	hear_begin(&heard, STDOUT_FILENO);
	ret = print_metrics(&result);
	hear_end(&heard);
	records_free(&result);
	CHECK_U64(row->name, ret, 0);
	CHECK_TEXT(row->name, heard.text, expand(text, want, sizeof(want)));
	for (const char *c = heard.text; *c; c++)
		lines += *c == '\n';
	CHECK_U64("each line is a write", heard.writes, lines);
}

int main(void)
{
	base_init();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i]);
	return check_result();
}
