// SPDX-License-Identifier: GPL-2.0-or-later
/* host - tests of common/host.c, on recorded machines. */
#include "common/host.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

/* What a machine's facts are; "-": not known. */
static const struct row {
	const char *tree, *key, *text;
} rows[] = {
	{ "copies-x86", "command_line", "root=/dev/nvme0n1p2 quiet" },
	{ "copies-x86", "cpu_model", "Xeon 8380 @ 2.30GHz" },
	{ "copies-x86", "microcode", "0xd0003b9" },
	{ "copies-x86", "string_copy_flags", "rep_good erms fsrm" },
	{ "copies-x86", "smap", "1" },
	{ "copies-x86", "smt", "1" },
	{ "copies-x86", "governor", "performance" },
	{ "copies-x86", "thp_enabled", "madvise" },
	{ "copies-x86", "thp_shmem_enabled", "never" },
	{ "copies-x86", "thp_defrag", "-" },
	{ "copies-x86", "zswap", "-" },
	{ "copies-arm64", "cpu_model", "-" },
	{ "copies-arm64", "microcode", "-" },
	{ "copies-arm64", "string_copy_flags", "mops" },
	{ "copies-arm64", "smap", "-" },
	{ "bare", "string_copy_flags", "-" },
	{ "bare", "governor", "-" },
};

static const struct {
	unsigned minor;
	const char *key, *text;
} queues[] = {
	{ 0, "scheduler", "none" },
	{ 0, "max_sectors_kb", "512" },
	{ 0, "max_hw_sectors_kb", "1280" },
	{ 0, "rotational", "0" },
	{ 0, "logical_block_bytes", "4096" },
	{ 0, "write_cache", "write through" },
	{ 0, "nr_requests", "-" },
	{ 2, "max_sectors_kb", "512" },
	{ 2, "scheduler", "none" },
	{ 7, "scheduler", "-" },
};

static char root[4096];

static const char *tree(const char *name)
{
	const char *fixtures = getenv("PAGEMILL_FIXTURES");

	snprintf(root, sizeof(root), "%s/%s", fixtures ?: "tests/fixtures", name);
	return root;
}

static void check_host(const struct row *r)
{
	struct fact facts[HOST_FACTS];

	host_read(facts, tree(r->tree), 3);
	CHECK_TEXT(r->key, fact_text(facts, HOST_FACTS, r->key) ?: "-", r->text);
	facts_free(facts, HOST_FACTS);
}

static void add_mitigation(void *context, const char *name, const char *text)
{
	char *all = context;
	size_t used = strlen(all);

	snprintf(all + used, 256 - used, "%s=%s;", name, text);
}

int main(void)
{
	struct fact facts[QUEUE_FACTS];
	char all[256] = "";

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_host(&rows[i]);
	for (size_t i = 0; i < ARRAY_SIZE(queues); i++) {
		queue_read(facts, tree("copies-x86"), makedev(259, queues[i].minor));
		CHECK_TEXT(queues[i].key,
			   fact_text(facts, QUEUE_FACTS, queues[i].key) ?: "-",
			   queues[i].text);
		facts_free(facts, QUEUE_FACTS);
	}
	host_mitigations(tree("copies-x86"), add_mitigation, all);
	CHECK_TEXT("mitigations", all, "l1tf=Not affected;meltdown=Mitigation: PTI;");
	host_mitigations(tree("bare"), add_mitigation, all);
	CHECK_TEXT("no mitigations", all, "l1tf=Not affected;meltdown=Mitigation: PTI;");
	/* Without a device there is no queue. */
	queue_read(facts, tree("copies-x86"), 0);
	CHECK(!fact_text(facts, QUEUE_FACTS, "scheduler"));
	facts_free(facts, QUEUE_FACTS);
	return check_result();
}
