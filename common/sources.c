// SPDX-License-Identifier: GPL-2.0-or-later
/* sources - the files in which a kernel counts what it does, and what they say. */
#include "common/sources.h"

#include "common/cgroup.h"
#include "common/kinds.h"
#include "common/procfile.h"
#include "common/statfiles.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stat_source_row {
	/* Below the root, or, without a "/" before it, in the run's memory cgroup. */
	const char *file;
	/* Each "*" stands for what that of the file matched. */
	const char *name;
	void (*parse)(struct counters *set, const char *name, const char *text,
		      enum counter_kind (*kind_of)(const char *key));
	enum counter_kind (*kind_of)(const char *key);
	unsigned has;
};

enum {
	LEVELS = 1,
	RAW = 2, /* what others are made of */
};

/* The number that the file is; its kind is that of the name's last part. */
static void parse_number(struct counters *set, const char *name, const char *text,
			 enum counter_kind (*kind_of)(const char *key))
{
	const char *key = strrchr(name, '.');
	uint64_t value;

	if (counter_number(&text, &value))
		counters_add(set, name, kind_of(key ? key + 1 : name), value);
}

/* The lines of TEXT that begin with "total_", without that, malloc'ed; NULL: there are none. */
static char *total_lines(const char *text)
{
	char *lines = strstr(text, "\ntotal_") ? strdup(text) : NULL, *to = lines;

	if (!lines)
		return NULL;
	for (const char *at = text; (at = strstr(at, "\ntotal_"));) {
		const char *line = at + strlen("\ntotal_");
		size_t len = strcspn(line, "\n");

		memcpy(to, line, len);
		to += len;
		at = line + len;
		if (*at)
			*to++ = '\n';
	}
	*to = '\0';
	return lines;
}

/* Of cgroup v1 what stands under "total_" counts, the sum with all below it. */
static void parse_memcg(struct counters *set, const char *name, const char *text,
			enum counter_kind (*kind_of)(const char *key))
{
	char *lines = total_lines(text);

	counters_parse(set, name, lines ?: text, kind_of);
	free(lines);
}

#define THP  "/sys/kernel/mm/transparent_hugepage/hugepages-*/stats/*"
#define NODE "/sys/devices/system/node/node*/vmstat"

/* What is read first stands next to the window: at its opening the last is read first. */
static const struct stat_source_row rows[] = {
	{ "/proc/vmstat", "proc-vmstat.", counters_parse, kind_in_vmstat, LEVELS },
	{ "/proc/stat", "", parse_stat, kind_grows, LEVELS | RAW },
	{ "/proc/diskstats", "", parse_diskstats, kind_grows, RAW },
	{ "/proc/softirqs", "softirqs.", parse_softirqs, kind_grows_32, 0 },
	{ "/proc/pressure/*", "pressure.*.", parse_pressure, kind_grows, 0 },
	{ "memory.stat", "memcg.", parse_memcg, kind_in_memcg, LEVELS },
	{ "memory.events", "memcg.events.", counters_parse, kind_grows, 0 },
	{ "memory.swap.events", "memcg.swap_events.", counters_parse, kind_grows, 0 },
	{ "memory.oom_control", "memcg.events.", counters_parse, kind_in_oom_control, 0 },
	{ "memory.failcnt", "memcg.failcnt", parse_number, kind_grows, 0 },
	{ "memory.current", "memcg.usage", parse_number, kind_level, LEVELS },
	{ "memory.usage_in_bytes", "memcg.usage", parse_number, kind_level, LEVELS },
	{ "memory.swap.current", "memcg.swap_usage", parse_number, kind_level, LEVELS },
	{ "memory.memsw.usage_in_bytes", "memcg.memsw_usage", parse_number, kind_level,
	  LEVELS },
	{ "/proc/meminfo", "meminfo.", counters_parse, kind_level, LEVELS },
	{ NODE, "numa-vmstat.node*.", counters_parse, kind_in_vmstat, LEVELS },
	{ THP, "thp.hugepages-*.*", parse_number, kind_in_thp, LEVELS },
	{ "/sys/kernel/debug/zswap/*", "zswap.*", parse_number, kind_in_zswap, LEVELS },
};

/* NAME with what PATTERN's stars match in PATH, malloc'ed. */
static char *name_for(const char *name, const char *pattern, const char *path)
{
	char text[256], *to = text, *end = text + sizeof(text) - 1;

	for (; *name && to < end; name++) {
		if (*name != '*') {
			*to++ = *name;
			continue;
		}
		path += strcspn(pattern, "*");
		pattern += strcspn(pattern, "*") + 1;
		while (*path && *path != *pattern && to < end)
			*to++ = *path++;
	}
	*to = '\0';
	return strdup(text);
}

/* PATH, NULL for a lack of memory, ends here. */
static int add(struct stat_sources *all, const struct stat_source_row *row, char *path)
{
	struct stat_source *s = calloc(1, sizeof(*s));
	char *name = path ? name_for(row->name, row->file, path + strlen(all->root))
			  : NULL;

	if (!s || !name) {
		free(s);
		free(name);
		free(path);
		return failed("memory for the names of system files");
	}
	s->row = row;
	s->path = path;
	s->name = name;
	s->before = all->last;
	*(all->last ? &all->last->next : &all->first) = s;
	all->last = s;
	all->count++;
	return 0;
}

static int add_matches(struct stat_sources *all, const struct stat_source_row *row)
{
	char pattern[4096];
	glob_t found;
	int ret = 0;

	snprintf(pattern, sizeof(pattern), "%s%s", all->root, row->file);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && !ret; i++)
		ret = add(all, row, strdup(found.gl_pathv[i]));
	globfree(&found);
	return ret;
}

int sources_open(struct stat_sources *all, const char *root)
{
	struct cgroup memcg;
	bool has_memcg = !cgroup_find(&memcg, root, "memory");
	int ret = 0;

	*all = (struct stat_sources){ .root = root };
	for (size_t i = 0; i < ARRAY_SIZE(rows) && !ret; i++) {
		bool in_memcg = rows[i].file[0] != '/';
		char *path;

		if (strchr(rows[i].file, '*'))
			ret = add_matches(all, &rows[i]);
		else if (!in_memcg || has_memcg)
			ret = add(all, &rows[i],
				  asprintf(&path, "%s%s%s%s", root,
					   in_memcg ? memcg.dir : "", in_memcg ? "/" : "",
					   rows[i].file) < 0
					  ? NULL
					  : path);
	}
	cgroup_free(&memcg);
	return ret;
}

void sources_close(struct stat_sources *all)
{
	for (struct stat_source *s = all->first, *next; s; s = next) {
		next = s->next;
		free(s->path);
		free(s->name);
		free(s);
	}
	*all = (struct stat_sources){ 0 };
}

void source_read(const struct stat_source *s, struct counters *own, struct counters *raw)
{
	char *text = procfile_read("", "%s", s->path);

	if (text)
		s->row->parse(s->row->has & RAW ? raw : own, s->name, text,
			      s->row->kind_of);
	free(text);
}

bool source_has_levels(const struct stat_source *s)
{
	const char *key = strrchr(s->name, '.');

	if (s->row->parse == parse_number)
		return s->row->kind_of(key ? key + 1 : "") == COUNTER_LEVEL;
	return s->row->has & LEVELS;
}
