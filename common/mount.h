/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mount - a mount namespace of our own, and a filesystem mounted in it. For fs.c. */
#ifndef COMMON_MOUNT_H
#define COMMON_MOUNT_H

#include "common/base.h"

#include <stdbool.h>

/* Go into a mount namespace of our own. What is mounted there is not seen outside; what is
 * unmounted outside is unmounted there. Without privilege by a user namespace as well, which
 * allows a tmpfs and no more, if USER_NAMESPACE. 0, or -errno after saying so. */
must_check int mount_namespace(bool user_namespace);
/* Does this kernel have filesystem TYPE, as a module perhaps? 0 or unsupported(). */
must_check int mount_require(const char *type);
/* Mount a filesystem of TYPE, from the device SOURCE, over DIR. OPTIONS are mount options as
 * mount(8) has them, of which the later count; empty ones are ignored. 0, or -errno after saying
 * so. */
must_check int mount_over(const char *type, const char *source, const char *dir,
			  const char *options);

/* The flags of mount(2) in OPTIONS; the options left over go to DATA, which has as much room as
 * OPTIONS takes. For mount.c and its test. */
unsigned long mount_flags(const char *options, char *data);

#endif
