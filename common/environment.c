// SPDX-License-Identifier: GPL-2.0-or-later
/* environment - what a run's results depend on besides the program, as the JSON results have it. */
#include "common/environment.h"

#include "common/host.h"
#include "common/json.h"
#include "common/queue.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *json_set(const struct cpus *set)
{
	char *text = cpus_text(set);
	json_t *json = text ? json_string(text) : NULL;

	free(text);
	return json;
}

/* FACTS end here. */
static void record_facts(json_t *object, struct fact *facts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		json_object_set_new(object, facts[i].key, json_of_fact(&facts[i]));
	facts_free(facts, count);
}

static void record_text(void *context, const char *name, const char *text)
{
	json_object_set_new(context, name, json_of_text(text));
}

static void record_host(json_t *environment, const struct cpus *allowed)
{
	json_t *mitigations = json_object(), *thp = json_object(), *vm = json_object();
	struct fact facts[HOST_FACTS], of_thp[THP_FACTS], of_vm[VM_FACTS];

	host_read(facts, "", allowed);
	record_facts(environment, facts, HOST_FACTS);
	thp_read(of_thp, "");
	record_facts(thp, of_thp, THP_FACTS);
	thp_sizes("", record_text, thp);
	json_object_set_new(environment, "thp", thp);
	vm_read(of_vm, "");
	record_facts(vm, of_vm, VM_FACTS);
	json_object_set_new(environment, "vm", vm);
	host_mitigations("", record_text, mitigations);
	json_object_set_new(environment, "mitigations", mitigations);
}

void environment_machine(json_t *environment, const struct topo *topo,
			 const struct limits *limits)
{
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{ "cpus_online", topo->online.count },
		{ "cpus_allowed", topo->allowed.count },
		{ "nodes", topo->nodes.count },
		{ "page_bytes", limits->page_bytes },
		{ "hugepage_bytes", limits->hugepage_bytes },
		{ "memory_bytes", limits->memory_bytes },
		{ "memory_available_bytes", limits->memory_available_bytes },
		{ "swap_bytes", limits->swap_bytes },
		{ "swap_free_bytes", limits->swap_free_bytes },
		{ "cgroup_memory_max_bytes", limits->cgroup_max_bytes },
		{ "cgroup_memory_high_bytes", limits->cgroup_high_bytes },
		{ "cgroup_memory_room_bytes", limits->cgroup_room_bytes },
		{ "cgroup_cpu_millicpus", limits->cgroup_millicpus },
		{ "cgroup_pids_max", limits->cgroup_pids_max },
		{ "rlimit_memlock_bytes", limits->memlock_bytes },
		{ "rlimit_as_bytes", limits->address_space_bytes },
		{ "rlimit_nproc", limits->processes },
		{ "rlimit_nofile", limits->open_files },
		{ "rlimit_sigpending", limits->pending_signals },
		{ "rlimit_fsize_bytes", limits->file_bytes },
		{ "max_map_count", limits->max_map_count },
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		json_object_set_new(environment, counts[i].key,
				    counts[i].value == NO_LIMIT
					    ? json_null()
					    : json_of_count(counts[i].value));
	record_host(environment, &topo->allowed);
	json_object_set_new(environment, "cpus_allowed_list", json_set(&topo->allowed));
	json_object_set_new(environment, "nodes_list", json_set(&topo->nodes));
	json_object_set_new(environment, "memory_nodes_list",
			    json_set(&topo->memory_nodes));
}

/* What is unknown, or is not there, is null. */
static json_t *json_text_or_null(const char *text)
{
	return *text ? json_of_text(text) : json_null();
}

static json_t *json_queue(dev_t dev)
{
	struct fact queue[QUEUE_FACTS];
	json_t *object;

	if (!queue_read(queue, "", dev))
		return json_null();
	object = json_object();
	record_facts(object, queue, QUEUE_FACTS);
	return object;
}

static json_t *json_filesystem(const struct medium *m, const struct fs_made *made)
{
	json_t *object = json_pack(
		"{s:o, s:o, s:o, s:o}", "type", json_text_or_null(m->type), "options",
		json_text_or_null(m->options), "device", json_text_or_null(m->device),
		"block_bytes", json_of_count(m->block_bytes));

	json_object_set_new(object, "queue", json_queue(m->dev));
	if (!made)
		return object;
	json_object_set_new(object, "size_bytes", json_of_count(made->size_bytes));
	json_object_set_new(object, "allocation_groups",
			    made->allocation_groups
				    ? json_of_count(made->allocation_groups)
				    : json_null());
	json_object_set_new(object, "reflink",
			    made->reflink < 0 ? json_null()
					      : json_boolean(made->reflink));
	json_object_set_new(object, "image_on", json_text_or_null(made->image_on));
	json_object_set_new(object, "loop_direct_io",
			    made->image_on[0] ? json_boolean(made->loop_direct_io)
					      : json_null());
	return object;
}

void environment_filesystem(json_t *environment, const struct medium *m,
			    const struct fs_made *made)
{
	json_t *all = json_object_get(environment, "filesystems");
	json_t *object = json_filesystem(m, made);

	if (!all) {
		all = json_array();
		json_object_set_new(environment, "filesystems", all);
	}
	for (size_t i = 0; i < json_array_size(all); i++) {
		if (!json_equal(json_array_get(all, i), object))
			continue;
		json_decref(object);
		return;
	}
	json_array_append_new(all, object);
}
