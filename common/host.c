// SPDX-License-Identifier: GPL-2.0-or-later
/* host - what a result depends on besides the program: CPU, mitigations, settings, queues of disks. */
#include "common/host.h"

#include "common/procfile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"
#define THP             "/sys/kernel/mm/transparent_hugepage"

/* What is of interest in a file. */
enum how {
	WHOLE,    /* its text */
	NUMBER,   /* likewise, for JSON without quotes */
	BRACKETS, /* the word that is chosen: "always [madvise] never" */
	CPUINFO,  /* the line that begins with the last word of the row */
	COPIES,   /* of the flags there, those that decide how memory is copied */
	SMAP,     /* "1" if it is among the flags, "0" if not */
};

struct source {
	const char *key;
	enum how how;
	const char *file, *line;
};

static const struct source host_sources[] = {
	{ "command_line", WHOLE, "/proc/cmdline", NULL },
	{ "cpu_model", CPUINFO, "/proc/cpuinfo", "model name" },
	{ "microcode", CPUINFO, "/proc/cpuinfo", "microcode" },
	{ "string_copy_flags", COPIES, "/proc/cpuinfo", NULL },
	{ "smap", SMAP, "/proc/cpuinfo", NULL },
	{ "smt", NUMBER, "/sys/devices/system/cpu/smt/active", NULL },
	{ "governor", WHOLE, NULL, NULL }, /* its file is told by the CPU */
	{ "thp_enabled", BRACKETS, THP "/enabled", NULL },
	{ "thp_defrag", BRACKETS, THP "/defrag", NULL },
	{ "thp_shmem_enabled", BRACKETS, THP "/shmem_enabled", NULL },
	{ "mglru", WHOLE, "/sys/kernel/mm/lru_gen/enabled", NULL },
	{ "zswap", WHOLE, "/sys/module/zswap/parameters/enabled", NULL },
};

static const struct source queue_sources[] = {
	{ "scheduler", BRACKETS, "scheduler", NULL },
	{ "max_sectors_kb", NUMBER, "max_sectors_kb", NULL },
	{ "max_hw_sectors_kb", NUMBER, "max_hw_sectors_kb", NULL },
	{ "nr_requests", NUMBER, "nr_requests", NULL },
	{ "read_ahead_kb", NUMBER, "read_ahead_kb", NULL },
	{ "rotational", NUMBER, "rotational", NULL },
	{ "logical_block_bytes", NUMBER, "logical_block_size", NULL },
	{ "write_cache", WHOLE, "write_cache", NULL },
};

/* The words of x86's "flags" and arm64's "Features" that say so. */
static const char *const copy_flags[] = { "rep_good", "erms", "fsrm", "fzrm",
					  "fsrs",     "fsrc", "mops" };

/* Without the newline at its end. */
static char *first_line(char *text)
{
	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

/* "madvise" of "always [madvise] never"; some have one choice, and no brackets. */
static char *in_brackets(char *text)
{
	char *word = strchr(text, '[');

	if (!word)
		return first_line(text);
	word++;
	word[strcspn(word, "]")] = '\0';
	memmove(text, word, strlen(word) + 1);
	return text;
}

/* The line of /proc/cpuinfo, up to its end. */
static char *cpuinfo_line(const char *text, const char *key)
{
	const char *line = text ? procfile_line(text, key) : NULL;

	return line ? strndup(line, strcspn(line, "\n")) : NULL;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/* What of copy_flags[] is in FLAGS, blanks between them. */
static char *flags_of_copies(const char *flags)
{
	char text[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(copy_flags); i++)
		if (has_word(flags, copy_flags[i]))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? " " : "", copy_flags[i]);
	return strdup(text);
}

/* Of CPUs that have no such flags at all nothing is known. */
static char *of_flags(const char *cpuinfo, enum how how)
{
	char *flags = cpuinfo_line(cpuinfo, "flags"), *text;

	if (how == SMAP)
		text = flags ? strdup(has_word(flags, "smap") ? "1" : "0") : NULL;
	else {
		flags = flags ?: cpuinfo_line(cpuinfo, "Features");
		text = flags ? flags_of_copies(flags) : NULL;
	}
	free(flags);
	return text;
}

/* TEXT is what the file has, and is freed; NULL: there is none. */
static char *extract(const struct source *s, char *text)
{
	char *found;

	if (!text || s->how == WHOLE || s->how == NUMBER)
		return first_line(text);
	if (s->how == BRACKETS)
		return in_brackets(text);
	found = s->how == CPUINFO ? cpuinfo_line(text, s->line) : of_flags(text, s->how);
	free(text);
	return found;
}

static void set_fact(struct fact *fact, const struct source *s, char *text)
{
	fact->key = s->key;
	fact->text = extract(s, text);
	fact->is_number = s->how == NUMBER || s->how == SMAP;
}

void host_read(struct fact facts[static HOST_FACTS], const char *root, unsigned cpu)
{
	_Static_assert(ARRAY_SIZE(host_sources) == HOST_FACTS, "a fact for each row");
	for (size_t i = 0; i < HOST_FACTS; i++) {
		const struct source *s = &host_sources[i];
		char *text =
			s->file ? procfile_read(root, "%s", s->file)
				: procfile_read(root,
						"/sys/devices/system/cpu/cpu%u/cpufreq/"
						"scaling_governor",
						cpu);

		set_fact(&facts[i], s, text);
	}
}

/* A partition has no queue of its own. */
static char *queue_text(const char *root, dev_t dev, const char *file)
{
	char *text = procfile_read(root, "/sys/dev/block/%u:%u/queue/%s", major(dev),
				   minor(dev), file);

	return text
		       ?: procfile_read(root, "/sys/dev/block/%u:%u/../queue/%s",
					major(dev), minor(dev), file);
}

void queue_read(struct fact facts[static QUEUE_FACTS], const char *root, dev_t dev)
{
	_Static_assert(ARRAY_SIZE(queue_sources) == QUEUE_FACTS, "a fact for each row");
	for (size_t i = 0; i < QUEUE_FACTS; i++) {
		const struct source *s = &queue_sources[i];

		set_fact(&facts[i], s, dev ? queue_text(root, dev, s->file) : NULL);
	}
}

void facts_free(struct fact *facts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free(facts[i].text);
}

const char *fact_text(const struct fact *facts, unsigned count, const char *key)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(facts[i].key, key))
			return facts[i].text;
	return NULL;
}

void host_mitigations(const char *root,
		      void (*each)(void *context, const char *name, const char *text),
		      void *context)
{
	struct dirent **names;
	char *folder;
	int count = asprintf(&folder, "%s%s", root, VULNERABILITIES) < 0
			    ? -1
			    : scandir(folder, &names, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		char *text = names[i]->d_name[0] == '.'
				     ? NULL
				     : first_line(procfile_read(root,
								VULNERABILITIES "/%s",
								names[i]->d_name));

		if (text)
			each(context, names[i]->d_name, text);
		free(text);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	free(folder);
}
