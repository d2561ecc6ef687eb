// SPDX-License-Identifier: GPL-2.0-or-later
/* circumstances - what results depend on besides the program: options, machine, settings; and what of it
 * differs between two sides. */
#include "compare/circumstances.h"

#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What differs from run to run, or says nothing of what was measured. */
static const char *const ignored[] = {
	"options.json",
	"options.seed",
	"options.quiet",
	"options.interval_ns",
	"options.samples",
	"options.warmup",
	"options.force",
	"options.dry_run",
	"options.keep",
	"options.summary",
	"options.metrics",
	"options.perf_control",
	"environment.memory_available_bytes",
	"environment.swap_free_bytes",
	"environment.cgroup_memory_room_bytes",
	"environment.filesystems.*.queue.loop_backing_file",
	"environment.filesystems.*.device",
};

/* What makes for other work, or for another machine. */
static const char *const weighty[] = {
	"version",
	"host.machine",
	"environment.cpu_model",
	"environment.cpus_*",
	"environment.nodes",
	"environment.memory_bytes",
	"environment.page_bytes",
	"environment.cgroup_*",
	"environment.governor",
	"environment.filesystems.*.type",
	"environment.filesystems.*.options",
	"environment.filesystems.*.size_bytes",
	"environment.filesystems.*.block_bytes",
	"options.*size*",
	"options.*bytes*",
	"options.nproc",
	"options.thread",
	"options.bind",
	"options.runtime_ns",
	"options.ops",
	"options.passes",
	"options.repeat",
	"options.fs",
	"options.mkfs_options",
	"options.mount_options",
};

static bool matches(const char *const *globs, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(globs[i], path, 0))
			return true;
	return false;
}

static bool is_ignored(const char *path)
{
	return matches(ignored, ARRAY_SIZE(ignored), path);
}

static int add(struct side *side, const char *path, const json_t *value)
{
	size_t n = side->circumstance_count;
	struct circumstance *more;
	char *text;

	if (is_ignored(path))
		return 0;
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
	more = realloc(side->circumstances, (n + 1) * sizeof(*more));
	if (more)
		side->circumstances = more;
	if (!more || !text) {
		free(text);
		return -ENOMEM;
	}
	more[n].path = strdup(path);
	more[n].value = made_plain(text);
	if (!more[n].path) {
		free(text);
		return -ENOMEM;
	}
	made_plain(more[n].path);
	side->circumstance_count++;
	return 0;
}

/* Objects, and the objects of an array, are gone into; a name for each leaf. DEPTH ends what no result
 * of ours has. */
static int flatten(struct side *side, const char *path, json_t *value, unsigned depth)
{
	bool is_list_of_objects = json_is_array(value) &&
				  json_is_object(json_array_get(value, 0));
	char below[256];
	const char *key;
	json_t *part;
	size_t i;
	int ret = 0;

	if (depth == 6 || (!json_is_object(value) && !is_list_of_objects))
		return add(side, path, value);
	if (is_list_of_objects)
		json_array_foreach(value, i, part)
		{
			snprintf(below, sizeof(below), "%s.%zu", path, i);
			ret = ret ?: flatten(side, below, part, depth + 1);
		}
	else
		json_object_foreach(value, key, part)
		{
			snprintf(below, sizeof(below), "%s.%s", path, key);
			ret = ret ?: flatten(side, below, part, depth + 1);
		}
	return ret;
}

/* Of the parts of ROOT that results depend on. */
static int flatten_all(struct side *side, const json_t *root)
{
	static const char *const parts[] = { "version", "host", "environment",
					     "options" };
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		json_t *part = json_object_get(root, parts[i]);

		if (part && !ret)
			ret = flatten(side, parts[i], part, 0);
	}
	return ret;
}

static int by_path(const void *a, const void *b)
{
	const struct circumstance *x = a, *y = b;

	return strcmp(x->path, y->path);
}

int circumstances_of(struct side *side, const json_t *root)
{
	int ret = flatten_all(side, root);

	if (side->circumstance_count)
		qsort(side->circumstances, side->circumstance_count,
		      sizeof(*side->circumstances), by_path);
	return ret;
}

static int add_mixed(struct side *side, const char *name)
{
	char *more;

	if (side->mixed && strstr(side->mixed, name))
		return 0;
	if (asprintf(&more, "%s%s%s", side->mixed ?: "", side->mixed ? ", " : "", name) <
	    0)
		return -ENOMEM;
	free(side->mixed);
	side->mixed = made_plain(more);
	return 0;
}

static bool is_weighty(const char *path)
{
	return matches(weighty, ARRAY_SIZE(weighty), path);
}

int circumstances_mixed(struct side *side, const json_t *root)
{
	struct side other = { 0 };
	int ret = flatten_all(&other, root);

	for (size_t i = 0; i < other.circumstance_count && !ret; i++) {
		const struct circumstance *here = &other.circumstances[i], *found;

		found = bsearch(here, side->circumstances, side->circumstance_count,
				sizeof(*found), by_path);
		if ((!found || strcmp(found->value, here->value)) &&
		    (is_weighty(here->path) || !strncmp(here->path, "options.", 8)))
			ret = add_mixed(side, here->path);
	}
	side_free(&other);
	return ret;
}

void circumstances_differ(const struct side *a, const struct side *b,
			  void (*each)(void *context, const char *path, const char *a,
				       const char *b, bool weighty),
			  void *context)
{
	size_t i = 0, j = 0;

	while (i < a->circumstance_count || j < b->circumstance_count) {
		const struct circumstance *x = &a->circumstances[i],
					  *y = &b->circumstances[j];
		int order = i == a->circumstance_count   ? 1
			    : j == b->circumstance_count ? -1
							 : strcmp(x->path, y->path);
		const char *path = order <= 0 ? x->path : y->path;

		if (order || strcmp(x->value, y->value))
			each(context, path, order <= 0 ? x->value : NULL,
			     order >= 0 ? y->value : NULL, is_weighty(path));
		i += order <= 0;
		j += order >= 0;
	}
}
