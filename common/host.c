// SPDX-License-Identifier: GPL-2.0-or-later
/* host - what a result depends on besides the program: CPU, mitigations, settings of the kernel. */
#include "common/host.h"

#include "common/procfile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CPUS            "sys/devices/system/cpu"
#define VULNERABILITIES CPUS "/vulnerabilities"
#define STAT_REFRESH    "/proc/sys/vm/stat_refresh"
#define THP             "/sys/kernel/mm/transparent_hugepage"

/* The words of x86's "flags" and arm64's "Features" that say so. Linux has names for fzrm, fsrs and fsrc,
 * but up to 6.18 does not print them: that they are missing says nothing. */
static const char *const copy_flags[] = { "rep_good", "erms", "fsrm", "fzrm",
					  "fsrs",     "fsrc", "mops" };

static char *cpuinfo_line(const char *cpuinfo, const char *key)
{
	const char *line = procfile_line(cpuinfo, key);

	return line ? line_of(line) : NULL;
}

static char *find_model(const char *cpuinfo)
{
	return cpuinfo_line(cpuinfo, "model name");
}

static char *find_microcode(const char *cpuinfo)
{
	return cpuinfo_line(cpuinfo, "microcode");
}

/* Of CPUs that have no such list nothing is known. */
static char *find_copy_flags(const char *cpuinfo)
{
	char *flags = cpuinfo_line(cpuinfo, "flags") ?: cpuinfo_line(cpuinfo, "Features");
	char *found = flags ? strdup("") : NULL;

	for (size_t i = 0; flags && i < ARRAY_SIZE(copy_flags); i++)
		if (has_word(flags, copy_flags[i]))
			found = add_word(found, copy_flags[i]);
	free(flags);
	return found;
}

/* arm64 has PAN in its place, and does not tell. */
static char *find_smap(const char *cpuinfo)
{
	char *flags = cpuinfo_line(cpuinfo, "flags");
	char *found = flags ? strdup(has_word(flags, "smap") ? "1" : "0") : NULL;

	free(flags);
	return found;
}

static const struct fact_source host_sources[] = {
	{ "command_line", "proc/cmdline", FACT_TEXT, line_of },
	{ "cpu_model", "proc/cpuinfo", FACT_TEXT, find_model },
	{ "microcode", "proc/cpuinfo", FACT_TEXT, find_microcode },
	{ "string_copy_flags", "proc/cpuinfo", FACT_WORDS, find_copy_flags },
	{ "smap", "proc/cpuinfo", FACT_BOOL, find_smap },
	{ "smt", CPUS "/smt/active", FACT_BOOL, line_of },
	{ "mglru", "sys/kernel/mm/lru_gen/enabled", FACT_TEXT, line_of },
	{ "zswap", "sys/module/zswap/parameters/enabled", FACT_BOOL, line_of },
	{ "numa_balancing", "proc/sys/kernel/numa_balancing", FACT_NUMBER, line_of },
	{ "ksm_run", "sys/kernel/mm/ksm/run", FACT_NUMBER, line_of },
};

static const struct fact_source thp_sources[] = {
	{ "enabled", "enabled", FACT_TEXT, word_in_brackets },
	{ "defrag", "defrag", FACT_TEXT, word_in_brackets },
	{ "shmem_enabled", "shmem_enabled", FACT_TEXT, word_in_brackets },
};

static const struct fact_source vm_sources[] = {
	{ "swappiness", "swappiness", FACT_NUMBER, line_of },
	{ "dirty_ratio", "dirty_ratio", FACT_NUMBER, line_of },
	{ "dirty_background_ratio", "dirty_background_ratio", FACT_NUMBER, line_of },
	{ "dirty_bytes", "dirty_bytes", FACT_NUMBER, line_of },
	{ "dirty_background_bytes", "dirty_background_bytes", FACT_NUMBER, line_of },
	{ "dirty_expire_centisecs", "dirty_expire_centisecs", FACT_NUMBER, line_of },
	{ "dirty_writeback_centisecs", "dirty_writeback_centisecs", FACT_NUMBER,
	  line_of },
	{ "vfs_cache_pressure", "vfs_cache_pressure", FACT_NUMBER, line_of },
	{ "overcommit_memory", "overcommit_memory", FACT_NUMBER, line_of },
	{ "overcommit_ratio", "overcommit_ratio", FACT_NUMBER, line_of },
	{ "min_free_kbytes", "min_free_kbytes", FACT_NUMBER, line_of },
	{ "watermark_scale_factor", "watermark_scale_factor", FACT_NUMBER, line_of },
	{ "zone_reclaim_mode", "zone_reclaim_mode", FACT_NUMBER, line_of },
	{ "page_cluster", "page-cluster", FACT_NUMBER, line_of },
	{ "compaction_proactiveness", "compaction_proactiveness", FACT_NUMBER, line_of },
	{ "laptop_mode", "laptop_mode", FACT_NUMBER, line_of },
	{ "nr_hugepages", "nr_hugepages", FACT_NUMBER, line_of },
};

/* "1" or "0", malloc'ed. */
static char *may_read(const char *root, const char *file)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", root, file);
	return strdup(access(path, R_OK) ? "0" : "1");
}

/* Each once; NULL: there are none. */
static char *governors_of(const char *root, const struct cpus *cpus)
{
	char *all = strdup("");

	for (unsigned i = 0; all && i < cpus->count; i++) {
		char *text = procfile_read(
			root, "/" CPUS "/cpu%u/cpufreq/scaling_governor", cpus->ids[i]);

		if (text)
			text[strcspn(text, "\n")] = '\0';
		if (text && !has_word(all, text))
			all = add_word(all, text);
		free(text);
	}
	if (all && *all)
		return all;
	free(all);
	return NULL;
}

void host_read(struct fact facts[static HOST_FACTS], const char *root,
	       const struct cpus *cpus)
{
	enum { READ = ARRAY_SIZE(host_sources) };
	char *governors = governors_of(root, cpus);

	_Static_assert(READ + 2 == HOST_FACTS, "a fact for each row, and two more");
	facts_read(facts, host_sources, READ, root, "");
	facts[READ + 1] = (struct fact){ .key = "stat_refresh",
					 .kind = FACT_BOOL,
					 .text = may_read(root, STAT_REFRESH) };
	facts[READ] = (struct fact){
		.key = "governor",
		.kind = governors && strchr(governors, ' ') ? FACT_WORDS : FACT_TEXT,
		.text = governors,
	};
}

void vm_read(struct fact facts[static VM_FACTS], const char *root)
{
	_Static_assert(ARRAY_SIZE(vm_sources) == VM_FACTS, "a fact for each row");
	facts_read(facts, vm_sources, VM_FACTS, root, "/proc/sys/vm");
}

void thp_read(struct fact facts[static THP_FACTS], const char *root)
{
	enum { READ = ARRAY_SIZE(thp_sources) };
	int disabled = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);

	_Static_assert(READ + 1 == THP_FACTS, "a fact for each row, and the process");
	facts_read(facts, thp_sources, READ, root, THP);
	facts[READ] = (struct fact){ .key = "disabled_by_prctl", .kind = FACT_BOOL };
	if (disabled >= 0)
		facts[READ].text = strdup(disabled ? "1" : "0");
}

/* What MAKE finds in FOLDER/NAME/FILE, or FOLDER/NAME, for each NAME that begins with PREFIX. */
static void each_in(const char *root, const char *folder, const char *prefix,
		    const char *file, char *(*make)(const char *text),
		    void (*each)(void *context, const char *name, const char *text),
		    void *context)
{
	struct dirent **names;
	char *path;
	int count = asprintf(&path, "%s%s", root, folder) < 0
			    ? -1
			    : scandir(path, &names, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		const char *name = names[i]->d_name;
		char *text = name[0] == '.' || strncmp(name, prefix, strlen(prefix))
				     ? NULL
				     : procfile_read(root, "%s/%s%s", folder, name, file);
		char *found = text ? make(text) : NULL;

		if (found)
			each(context, name, found);
		free(found);
		free(text);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	free(path);
}

void thp_sizes(const char *root,
	       void (*each)(void *context, const char *name, const char *text),
	       void *context)
{
	each_in(root, THP, "hugepages-", "/enabled", word_in_brackets, each, context);
}

void host_mitigations(const char *root,
		      void (*each)(void *context, const char *name, const char *text),
		      void *context)
{
	each_in(root, "/" VULNERABILITIES, "", "", line_of, each, context);
}
