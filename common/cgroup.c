// SPDX-License-Identifier: GPL-2.0-or-later
/* cgroup - the cgroup of this process for one controller, and the way up from it. */
#include "common/cgroup.h"
#include "common/limits.h"
#include "common/mountinfo.h"
#include "common/procfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is WORD one of "cpu,cpuacct"? */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, word, len) && (!list[len] || list[len] == ','))
			return true;
	}
	return false;
}

/* The next line of *TEXT, cut off there; NULL at the end. */
static char *next_line(char **text)
{
	return **text ? strsep(text, "\n") : NULL;
}

/* From lines "4:cpu,cpuacct:/path" and "0::/path", the second being v2. A controller that
 * is in no v1 hierarchy is in v2, if it is anywhere. The path is inside TEXT; NULL:
 * neither. */
static char *find_path(char *text, const char *controller, bool *unified)
{
	char *line, *names, *in_v2 = NULL;

	*unified = false;
	while (text && (line = next_line(&text))) {
		strsep(&line, ":");
		names = strsep(&line, ":");
		if (!line)
			continue;
		if (has_word(names, controller))
			return line;
		if (!*names)
			in_v2 = line;
	}
	*unified = in_v2;
	return in_v2;
}

/* Is this a mount of the hierarchy that has the controller? */
static bool is_mount_of(const struct mountinfo *m, bool unified, const char *controller)
{
	return !strcmp(m->type, unified ? "cgroup2" : "cgroup") &&
	       (unified || has_word(m->super, controller));
}

/* What PATH adds to ROOT, "" or "/..."; NULL if it is not below it. Both are seen from
 * the root of the cgroup namespace, and outside of that they start with "/..". */
static const char *below(const char *path, const char *root)
{
	size_t len = strcmp(root, "/") ? strlen(root) : 0;

	if (!strcmp(path, root))
		return "";
	if (strncmp(path, root, len) || path[len] != '/')
		return NULL;
	path += len;
	return strcmp(path, "/..") && strncmp(path, "/../", 4) ? path : NULL;
}

/* The mount that shows our PATH, the one with most levels above it where there are
 * several. Where none shows it, a namespace hides our place: then the mount point, which
 * is either above us or the top of the container that we were put into. */
static int choose_directory(struct cgroup *cgroup, char *mounts, const char *controller,
			    const char *path)
{
	struct mountinfo mount, best = { .point = NULL };
	const char *rest = NULL, *found;

	while (mountinfo_next(&mounts, &mount)) {
		if (!is_mount_of(&mount, cgroup->unified, controller))
			continue;
		found = below(path, mount.root);
		if (best.point && (!found || (rest && strlen(found) <= strlen(rest))))
			continue;
		best = mount;
		rest = found;
	}
	if (!best.point)
		return -ENOENT;
	cgroup->top = strlen(best.point);
	if (asprintf(&cgroup->dir, "%s%s", best.point, rest ? rest : "") < 0)
		cgroup->dir = NULL;
	return cgroup->dir ? 0 : -ENOMEM;
}

int cgroup_find(struct cgroup *cgroup, const char *root, const char *controller)
{
	char *paths, *path, *mounts;
	int ret = -ENOENT;

	*cgroup = (struct cgroup){ .root = root };
	paths = procfile_read(root, "/proc/self/cgroup");
	mounts = procfile_read(root, "/proc/self/mountinfo");
	path = paths ? find_path(paths, controller, &cgroup->unified) : NULL;
	if (path && mounts)
		ret = choose_directory(cgroup, mounts, controller, path);
	free(paths);
	free(mounts);
	return ret;
}

bool cgroup_up(struct cgroup *cgroup)
{
	if (strlen(cgroup->dir) <= cgroup->top)
		return false;
	*strrchr(cgroup->dir, '/') = '\0';
	return true;
}

void cgroup_free(struct cgroup *cgroup)
{
	free(cgroup->dir);
	cgroup->dir = NULL;
}

static char *read_file(const struct cgroup *cgroup, const char *file)
{
	return procfile_read(cgroup->root, "%s/%s", cgroup->dir, file);
}

bool cgroup_has(const struct cgroup *cgroup, const char *file)
{
	char *text = read_file(cgroup, file);

	free(text);
	return text;
}

uint64_t cgroup_number(const struct cgroup *cgroup, const char *file, uint64_t otherwise)
{
	char *text = read_file(cgroup, file);
	uint64_t value = otherwise;

	if (text && *text >= '0' && *text <= '9')
		value = strtoull(text, NULL, 10);
	free(text);
	return value;
}

uint64_t cgroup_limit(const struct cgroup *cgroup, const char *file)
{
	uint64_t value = cgroup_number(cgroup, file, NO_LIMIT);

	/* v1 prints LONG_MAX rounded down to whole pages, which have at most 64 KiB. */
	return value >= (UINT64_C(1) << 63) - 64 * KiB ? NO_LIMIT : value;
}

uint64_t cgroup_sum(const struct cgroup *cgroup, const char *file,
		    const char *const *keys)
{
	char *text = read_file(cgroup, file);
	uint64_t value, sum = 0;

	for (; text && *keys; keys++) {
		if (procfile_number(text, *keys, &value))
			sum += value;
	}
	free(text);
	return sum;
}

/* v2's file is "QUOTA PERIOD", QUOTA "max" without one. v1's quota is -1 then, which
 * cgroup_number() does not take for a number. */
uint64_t cgroup_cpu_quota(const struct cgroup *cgroup)
{
	uint64_t quota, period = 0;
	char *text;

	quota = cgroup_number(cgroup, cgroup->unified ? "cpu.max" : "cpu.cfs_quota_us",
			      NO_LIMIT);
	if (quota == NO_LIMIT)
		return NO_LIMIT;
	if (cgroup->unified) {
		text = read_file(cgroup, "cpu.max");
		if (text && strchr(text, ' '))
			period = strtoull(strchr(text, ' '), NULL, 10);
		free(text);
	} else {
		period = cgroup_number(cgroup, "cpu.cfs_period_us", 0);
	}
	return period ? quota * 1000 / period : NO_LIMIT;
}
