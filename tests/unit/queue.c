// SPDX-License-Identifier: GPL-2.0-or-later
/* queue - tests of common/queue.c, on recorded machines. */
#include "common/queue.h"
#include "tests/unit/machine.h"

#include <sys/sysmacros.h>

/* "-": not known. */
static const struct {
	const char *name;
	unsigned major, minor;
	const char *key, *text;
} rows[] = {
	{ "disk", 259, 0, "scheduler", "none" },
	{ "disk", 259, 0, "max_sectors_kb", "512" },
	{ "disk", 259, 0, "max_hw_sectors_kb", "1280" },
	{ "disk", 259, 0, "rotational", "0" },
	{ "disk", 259, 0, "logical_block_bytes", "4096" },
	{ "disk", 259, 0, "write_cache", "write through" },
	{ "disk", 259, 0, "nr_requests", "-" },
	{ "disk", 259, 0, "loop_backing_file", "-" },
	{ "partition", 259, 2, "max_sectors_kb", "512" },
	{ "partition", 259, 2, "scheduler", "none" },
	{ "loop", 7, 3, "scheduler", "none" },
	{ "loop", 7, 3, "max_sectors_kb", "1280" },
	{ "loop", 7, 3, "read_ahead_kb", "128" },
	{ "loop", 7, 3, "rotational", "1" },
	{ "loop", 7, 3, "loop_backing_file", "/srv/an image" },
};

/* Devices that nothing is known of. */
static const struct {
	const char *name, *tree;
	unsigned major, minor;
} unknown[] = {
	{ "no device", "copies-x86", 0, 0 },
	{ "not there", "copies-x86", 259, 7 },
	{ "no sysfs", "bare", 259, 0 },
};

int main(void)
{
	struct fact facts[QUEUE_FACTS];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK(queue_read(facts, machine("copies-x86"),
				 makedev(rows[i].major, rows[i].minor)));
		check_fact(rows[i].name, facts, QUEUE_FACTS, rows[i].key, rows[i].text);
		facts_free(facts, QUEUE_FACTS);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		bool known = queue_read(facts, machine(unknown[i].tree),
					makedev(unknown[i].major, unknown[i].minor));

		CHECK_U64(unknown[i].name, known, false);
		check_fact(unknown[i].name, facts, QUEUE_FACTS, "scheduler", "-");
	}
	return check_result();
}
