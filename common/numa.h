/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa - the memory policy of this process. */
#ifndef COMMON_NUMA_H
#define COMMON_NUMA_H

#include "common/base.h"
#include "common/topo.h"

/* Is there such a NODE? NAME is the option that asks. 0, refused(), or unsupported() where the
 * kernel has no nodes. */
must_check int numa_check(const struct topo *topo, const char *name, uint64_t node);
/* Take memory from NODE only, this thread and all that it starts (set_mempolicy(2), MPOL_BIND). 0
 * or -errno after saying so. */
must_check int numa_bind_memory(const struct topo *topo, uint64_t node);

#endif
