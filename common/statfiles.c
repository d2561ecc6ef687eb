// SPDX-License-Identifier: GPL-2.0-or-later
/* statfiles - files of /proc that have a form of their own: stat, diskstats, softirqs, pressure. */
#include "common/statfiles.h"

#include "common/procfile.h"

#include <stdio.h>
#include <string.h>

enum { NAME_LEN = 192, WORD_LEN = 64 };

/* The line after AT's; NULL: there is none, or the end of the text cuts it off. */
static const char *whole_line(const char *at)
{
	return at && strchr(at, '\n') ? at : NULL;
}

static const char *next_line(const char *at)
{
	return whole_line(strchr(at, '\n') + 1);
}

/* The number after some blanks of this line; *AT is put behind it. */
static bool next_number(const char **at, uint64_t *value)
{
	*at += strspn(*at, " \t");
	return counter_number(at, value);
}

/* A word after some blanks of this line; *AT is put behind it. False: none, or it is too long. */
static bool next_word(const char **at, char word[static WORD_LEN])
{
	size_t len;

	*at += strspn(*at, " \t");
	len = strcspn(*at, " \t\n");
	if (!len || len >= WORD_LEN)
		return false;
	memcpy(word, *at, len);
	word[len] = '\0';
	*at += len;
	return true;
}

static void add(struct counters *set, const char *name, const char *more, const char *key,
		enum counter_kind kind, uint64_t value)
{
	char all[NAME_LEN];

	snprintf(all, sizeof(all), "%s%s%s", name, more, key);
	counters_add(set, all, kind, value);
}

static void add_cpu(struct counters *set, const char *name, const char *at)
{
	static const char *const fields[] = {
		"user", "nice",    "system", "idle",  "iowait",
		"irq",  "softirq", "steal",  "guest", "guest_nice",
	};
	uint64_t value;

	for (size_t i = 0; i < ARRAY_SIZE(fields) && next_number(&at, &value); i++)
		add(set, name, "cpu.", fields[i], COUNTER_GROWS, value);
}

void parse_stat(struct counters *set, const char *name, const char *text,
		enum counter_kind (*kind_of)(const char *key))
{
	static const struct {
		const char *key;
		bool level;
	} numbers[] = {
		{ "intr", false },
		{ "ctxt", false },
		{ "procs_running", true },
		{ "procs_blocked", true },
	};
	uint64_t value;

	for (const char *at = whole_line(text); at; at = next_line(at)) {
		char key[WORD_LEN];
		const char *rest = at;

		if (!next_word(&rest, key))
			continue;
		if (!strcmp(key, "cpu"))
			add_cpu(set, name, rest);
		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
			if (!strcmp(key, numbers[i].key) && next_number(&rest, &value))
				add(set, name, "", key,
				    numbers[i].level ? COUNTER_LEVEL : kind_of(key),
				    value);
	}
}

/* Of a line's "MAJOR MINOR NAME" the name; what follows it. NULL: it has none. */
static const char *disk_line(const char *at, uint64_t *major, uint64_t *minor,
			     char disk[static WORD_LEN])
{
	if (!next_number(&at, major) || !next_number(&at, minor) || !next_word(&at, disk))
		return NULL;
	return at;
}

void parse_diskstats(struct counters *set, const char *name, const char *text,
		     enum counter_kind (*kind_of)(const char *key))
{
	/* Times are in ms, and the kernel prints them modulo 2^32. */
	static const struct {
		const char *key;
		bool wraps;
	} fields[] = {
		{ ".reads", false },           { ".reads_merged", false },
		{ ".read_sectors", false },    { ".read_ms", true },
		{ ".writes", false },          { ".writes_merged", false },
		{ ".written_sectors", false }, { ".write_ms", true },
		{ ".in_flight", false },       { ".busy_ms", true },
		{ ".queue_ms", true },         { ".discards", false },
		{ ".discards_merged", false }, { ".discarded_sectors", false },
		{ ".discard_ms", true },       { ".flushes", false },
		{ ".flush_ms", true },
	};
	enum { FIELDS_LEAST = 11, FIELDS = ARRAY_SIZE(fields) };
	uint64_t major, minor, values[FIELDS];

	for (const char *at = whole_line(text); at; at = next_line(at)) {
		char disk[WORD_LEN];
		const char *rest = disk_line(at, &major, &minor, disk);
		size_t count = 0;

		while (rest && count < FIELDS && next_number(&rest, &values[count]))
			count++;
		for (size_t i = 0; count >= FIELDS_LEAST && i < count; i++)
			add(set, name, disk, fields[i].key,
			    fields[i].wraps ? COUNTER_GROWS_32 : kind_of(disk),
			    values[i]);
	}
}

char *diskstats_name(const char *text, unsigned major, unsigned minor)
{
	uint64_t its_major, its_minor;
	char disk[WORD_LEN];

	for (const char *at = whole_line(text); at; at = next_line(at))
		if (disk_line(at, &its_major, &its_minor, disk) && its_major == major &&
		    its_minor == minor)
			return strdup(disk);
	return NULL;
}

void parse_softirqs(struct counters *set, const char *name, const char *text,
		    enum counter_kind (*kind_of)(const char *key))
{
	for (const char *at = whole_line(text); at; at = next_line(at)) {
		char key[WORD_LEN];
		const char *rest = at;
		uint64_t sum = 0, value;

		if (!next_word(&rest, key) || key[strlen(key) - 1] != ':')
			continue;
		key[strlen(key) - 1] = '\0';
		while (next_number(&rest, &value))
			sum += value;
		add(set, name, "", key, kind_of(key), sum);
	}
}

void parse_pressure(struct counters *set, const char *name, const char *text,
		    enum counter_kind (*kind_of)(const char *key))
{
	for (const char *at = whole_line(text); at; at = next_line(at)) {
		char key[WORD_LEN], word[WORD_LEN];
		const char *rest = at, *total;
		uint64_t value;

		if (!next_word(&rest, key))
			continue;
		while (next_word(&rest, word)) {
			total = word + strlen("total=");
			if (!strncmp(word, "total=", strlen("total=")) &&
			    counter_number(&total, &value))
				add(set, name, key, "_us", kind_of(key), value);
		}
	}
}
