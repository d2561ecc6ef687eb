/* SPDX-License-Identifier: GPL-2.0-or-later */
/* environment - what a run's results depend on besides the program, as the JSON results have it. */
#ifndef COMMON_ENVIRONMENT_H
#define COMMON_ENVIRONMENT_H

#include "common/fs.h"
#include "common/limits.h"
#include "common/medium.h"
#include "common/topo.h"

/* jansson.h calls it json_t. */
struct json_t;

/* Add CPUs, limits and what host.h knows of this machine to the object ENVIRONMENT. */
void environment_machine(struct json_t *environment, const struct topo *topo,
			 const struct limits *limits);
/* Add a filesystem to its "filesystems", once however often it is told. MADE: what fs_open() made it to
 * be; NULL: it was there before. */
void environment_filesystem(struct json_t *environment, const struct medium *m,
			    const struct fs_made *made);

#endif
