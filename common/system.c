// SPDX-License-Identifier: GPL-2.0-or-later
/* system - what the machine did while a repetition lasted, as rows of the results. */
#include "common/system.h"

#include "common/derived.h"
#include "common/procfile.h"
#include "common/statfiles.h"
#include "common/usage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

struct system {
	struct stat_sources sources;
	struct window window;
	char *disks[16];
	unsigned disk_count;
	struct usage begun, used; /* used: of the repetition, without what looking took */
};

struct system *system_new(void)
{
	struct system *s = calloc(1, sizeof(*s));

	if (!s)
		failed("memory for the counters of the system");
	if (s && !sources_open(&s->sources, ""))
		return s;
	system_free(s);
	return NULL;
}

void system_free(struct system *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->disk_count; i++)
		free(s->disks[i]);
	window_free(&s->window);
	sources_close(&s->sources);
	free(s);
}

void system_add_device(struct system *s, dev_t dev)
{
	char *text = s && dev ? procfile_read("", "/proc/diskstats") : NULL;
	char *name = text ? diskstats_name(text, major(dev), minor(dev)) : NULL;

	free(text);
	for (unsigned i = 0; name && i < s->disk_count; i++) {
		if (strcmp(s->disks[i], name))
			continue;
		free(name);
		return;
	}
	if (name && s->disk_count < ARRAY_SIZE(s->disks))
		s->disks[s->disk_count++] = name;
	else
		free(name);
}

void system_begin(struct system *s)
{
	s->window.readings = 0;
	s->window.closed = false;
	s->used = (struct usage){ 0 };
	usage_of_all(&s->begun);
}

void system_see(struct system *s, enum crew_moment moment)
{
	struct usage before, after;

	usage_of_self(&before);
	window_see(&s->window, &s->sources, moment);
	usage_of_self(&after);
	/* Nobody works at either end, and all do in between. */
	if (moment == WINDOW_LASTS)
		before.at_ns = after.at_ns;
	usage_take_off(&s->used, &before, &after);
}

void system_end(struct system *s, bool left)
{
	struct usage end;

	usage_of_all(&end);
	usage_add(&s->used, &s->begun, &end);
	if (left)
		usage_forget(&s->used);
}

void system_rows(const struct system *s, row_hook *each, void *context)
{
	if (!s->window.closed || !s->window.readings)
		return;
	usage_rows(&s->used, program_invocation_short_name, each, context);
	derived_rows(&s->window, each, context);
	for (unsigned i = 0; i < s->disk_count; i++)
		disk_rows(&s->window, s->disks[i], each, context);
	window_rows(&s->window, each, context);
}
