// SPDX-License-Identifier: GPL-2.0-or-later
/* topo - the CPUs this process may use, in the order to use them, and the NUMA nodes. */
#include "common/topo.h"
#include "common/parse.h"
#include "common/procfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cpus_append(struct cpus *set, unsigned id)
{
	unsigned room = set->room ? 2 * set->room : 16;
	unsigned *ids;

	if (set->count == set->room) {
		ids = reallocarray(set->ids, room, sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		set->ids = ids;
		set->room = room;
	}
	set->ids[set->count++] = id;
	return 0;
}

bool cpus_has(const struct cpus *set, unsigned id)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (set->ids[i] == id)
			return true;
	}
	return false;
}

int cpus_add(struct cpus *set, unsigned id)
{
	return cpus_has(set, id) ? 0 : cpus_append(set, id);
}

void cpus_free(struct cpus *set)
{
	free(set->ids);
	*set = CPUS_EMPTY;
}

static int compare_ids(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

static void sort(struct cpus *set)
{
	if (set->count)
		qsort(set->ids, set->count, sizeof(*set->ids), compare_ids);
}

static int copy(struct cpus *to, const struct cpus *from)
{
	for (unsigned i = 0; i < from->count; i++) {
		if (cpus_append(to, from->ids[i]))
			return -ENOMEM;
	}
	return 0;
}

static void print_ranges(FILE *out, const struct cpus *sorted)
{
	const char *comma = "";
	unsigned first, last;

	for (unsigned i = 0; i < sorted->count; i++) {
		first = last = sorted->ids[i];
		while (i + 1 < sorted->count && sorted->ids[i + 1] == last + 1)
			last = sorted->ids[++i];
		fprintf(out, "%s%u", comma, first);
		if (last > first)
			fprintf(out, "-%u", last);
		comma = ",";
	}
}

char *cpus_text(const struct cpus *set)
{
	struct cpus sorted = CPUS_EMPTY;
	char *text = NULL;
	size_t len;
	FILE *out = copy(&sorted, set) ? NULL : open_memstream(&text, &len);

	if (out) {
		sort(&sorted);
		print_ranges(out, &sorted);
		fclose(out);
	}
	cpus_free(&sorted);
	return text;
}

int cpus_bind(const struct cpus *set)
{
	cpu_set_t *mask = NULL;
	unsigned most = 0;
	size_t size;
	int ret;

	for (unsigned i = 0; i < set->count; i++)
		most = MAX(most, set->ids[i]);
	size = CPU_ALLOC_SIZE(most + 1);
	errno = EINVAL;
	if (most < CPU_NUMBERS)
		mask = CPU_ALLOC(most + 1);
	if (!mask)
		return failed("bind to CPU %u", most);
	CPU_ZERO_S(size, mask);
	for (unsigned i = 0; i < set->count; i++)
		CPU_SET_S(set->ids[i], size, mask);
	ret = sched_setaffinity(0, size, mask);
	CPU_FREE(mask);
	if (!ret)
		return 0;
	return set->count == 1 ? failed("bind to CPU %u", most)
			       : failed("bind to %u CPUs, %u the last", set->count, most);
}

int cpu_bind(unsigned id)
{
	const struct cpus one = { .ids = &id, .count = 1 };

	return cpus_bind(&one);
}

/* The numbers in a list file of sysfs. -ENOENT in silence, another -errno after saying
 * so. */
static int read_list(const char *root, const char *path, struct cpus *set)
{
	char *text = procfile_read(root, "%s", path);
	int ret;

	if (!text && errno == ENOENT)
		return -ENOENT;
	if (!text)
		return failed("read %s%s", root, path);
	ret = parse_cpus(text, set);
	free(text);
	if (!ret)
		return 0;
	errno = -ret;
	return failed("read %s%s", root, path);
}

/* The same for a file that may be missing; the set is then left empty. */
static int read_list_if_any(const char *root, const char *path, struct cpus *set)
{
	int ret = read_list(root, path, set);

	return ret == -ENOENT ? 0 : ret;
}

static int take_mask(const cpu_set_t *mask, size_t size, struct cpus *allowed)
{
	for (unsigned id = 0; id < 8 * size; id++) {
		if (CPU_ISSET_S(id, size, mask) && cpus_append(allowed, id))
			return -ENOMEM;
	}
	return 0;
}

/* The kernel refuses a mask that is smaller than its own, with EINVAL. */
static int read_affinity(struct cpus *allowed)
{
	cpu_set_t *mask;
	size_t size;
	int ret = -EINVAL;

	for (unsigned room = 1024; room <= CPU_NUMBERS && ret == -EINVAL; room *= 2) {
		mask = CPU_ALLOC(room);
		if (!mask)
			return -ENOMEM;
		size = CPU_ALLOC_SIZE(room);
		ret = sched_getaffinity(0, size, mask) ? -errno
						       : take_mask(mask, size, allowed);
		CPU_FREE(mask);
	}
	return ret;
}

static int read_recorded_mask(const char *root, struct cpus *mask)
{
	char *text = procfile_read(root, "/proc/self/status"), *line;
	const char *list;
	int ret = -EINVAL;

	if (!text)
		return -errno;
	list = procfile_line(text, "Cpus_allowed_list");
	if (list) {
		line = strndup(list, strcspn(list, "\n"));
		ret = line ? parse_cpus(line, mask) : -ENOMEM;
		free(line);
	}
	free(text);
	return ret;
}

/* A recorded tree has no system calls: there the mask comes from /proc/self/status, less
 * the CPUs that are offline, which sched_getaffinity(2) leaves out and this file does
 * not. */
static int read_recorded_affinity(const char *root, const struct cpus *online,
				  struct cpus *allowed)
{
	struct cpus mask = CPUS_EMPTY;
	int ret = read_recorded_mask(root, &mask);

	for (unsigned i = 0; i < mask.count && !ret; i++) {
		if (!online->count || cpus_has(online, mask.ids[i]))
			ret = cpus_append(allowed, mask.ids[i]);
	}
	cpus_free(&mask);
	return ret;
}

static int read_allowed(struct topo *topo, const char *root)
{
	int ret;

	if (*root)
		ret = read_recorded_affinity(root, &topo->online, &topo->allowed);
	else
		ret = read_affinity(&topo->allowed);
	if (!ret)
		return 0;
	errno = -ret;
	return failed("read the CPU affinity");
}

/* Where a CPU stands: the first allowed CPU of its core, and how many come before it
 * there. */
struct place {
	unsigned id, core, rank;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->core > y->core) - (x->core < y->core);
}

static int find_place(const char *root, const struct cpus *allowed, struct place *place)
{
	struct cpus siblings = CPUS_EMPTY;
	char path[96];
	int ret;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
		 place->id);
	ret = read_list_if_any(root, path, &siblings);
	for (unsigned i = 0; i < siblings.count; i++) {
		if (siblings.ids[i] >= place->id || !cpus_has(allowed, siblings.ids[i]))
			continue;
		place->rank++;
		place->core = MIN(place->core, siblings.ids[i]);
	}
	cpus_free(&siblings);
	return ret;
}

static int spread_over_cores(struct topo *topo, const char *root)
{
	const struct cpus *allowed = &topo->allowed;
	struct place *places = calloc(MAX(allowed->count, 1), sizeof(*places));
	int ret = 0;

	if (!places)
		return failed("order the CPUs");
	for (unsigned i = 0; i < allowed->count && !ret; i++) {
		places[i].id = places[i].core = allowed->ids[i];
		ret = find_place(root, allowed, &places[i]);
	}
	if (!ret)
		qsort(places, allowed->count, sizeof(*places), compare_places);
	for (unsigned i = 0; i < allowed->count && !ret; i++) {
		if (cpus_append(&topo->spread, places[i].id))
			ret = failed("order the CPUs");
	}
	free(places);
	return ret;
}

int topo_read(struct topo *topo, const char *root)
{
	int ret;

	*topo = (struct topo){ 0 };
	ret = read_list_if_any(root, "/sys/devices/system/cpu/online", &topo->online);
	if (ret)
		return ret;
	ret = read_allowed(topo, root);
	if (ret)
		return ret;
	sort(&topo->allowed);
	if (!topo->online.count && copy(&topo->online, &topo->allowed))
		return failed("copy the CPU affinity");
	ret = spread_over_cores(topo, root);
	if (ret)
		return ret;
	ret = read_list_if_any(root, "/sys/devices/system/node/online", &topo->nodes);
	if (ret)
		return ret;
	return read_list_if_any(root, "/sys/devices/system/node/has_memory",
				&topo->memory_nodes);
}

void topo_free(struct topo *topo)
{
	cpus_free(&topo->online);
	cpus_free(&topo->allowed);
	cpus_free(&topo->spread);
	cpus_free(&topo->nodes);
	cpus_free(&topo->memory_nodes);
}

int topo_node_cpus(const char *root, unsigned node, const struct cpus *allowed,
		   struct cpus *set)
{
	struct cpus all = CPUS_EMPTY;
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node);
	ret = read_list(root, path, &all);
	for (unsigned i = 0; i < all.count && !ret; i++) {
		if (cpus_has(allowed, all.ids[i]) && cpus_add(set, all.ids[i]))
			ret = failed("list the CPUs of node %u", node);
	}
	cpus_free(&all);
	return ret;
}
