// SPDX-License-Identifier: GPL-2.0-or-later
/* queue - how the kernel talks to a block device: limits, scheduler, cache, and the file of a loop device. */
#include "common/queue.h"

#include <stdio.h>
#include <sys/sysmacros.h>

static const struct fact_source queue_sources[] = {
	{ "scheduler", "queue/scheduler", FACT_TEXT, word_in_brackets },
	{ "max_sectors_kb", "queue/max_sectors_kb", FACT_NUMBER, line_of },
	{ "max_hw_sectors_kb", "queue/max_hw_sectors_kb", FACT_NUMBER, line_of },
	{ "nr_requests", "queue/nr_requests", FACT_NUMBER, line_of },
	{ "read_ahead_kb", "queue/read_ahead_kb", FACT_NUMBER, line_of },
	{ "rotational", "queue/rotational", FACT_BOOL, line_of },
	{ "logical_block_bytes", "queue/logical_block_size", FACT_NUMBER, line_of },
	{ "write_cache", "queue/write_cache", FACT_TEXT, line_of },
	{ "loop_backing_file", "loop/backing_file", FACT_TEXT, line_of },
};

bool queue_read(struct fact facts[static QUEUE_FACTS], const char *root, dev_t dev)
{
	char folder[64];

	_Static_assert(ARRAY_SIZE(queue_sources) == QUEUE_FACTS, "a fact for each row");
	snprintf(folder, sizeof(folder), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	if (facts_read(facts, queue_sources, QUEUE_FACTS, root, folder))
		return true;
	/* What has neither a queue nor a file is a partition, and lies in the folder of its disk. */
	snprintf(folder, sizeof(folder), "/sys/dev/block/%u:%u/..", major(dev),
		 minor(dev));
	return facts_read(facts, queue_sources, QUEUE_FACTS, root, folder);
}
