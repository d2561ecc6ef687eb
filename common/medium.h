/* SPDX-License-Identifier: GPL-2.0-or-later */
/* medium - the filesystem that a file lies on, and how it is mounted. */
#ifndef COMMON_MEDIUM_H
#define COMMON_MEDIUM_H

#include "common/base.h"

#include <stdbool.h>
#include <sys/types.h>

/* Texts too long are cut. */
struct medium {
	char type[64];      /* "xfs", or "block device"; "": unknown */
	char options[4096]; /* as the kernel shows them: "rw,noatime,attr2" */
	char device[4096];  /* what is mounted: "/dev/vda", "tmpfs", "host:/export" */
	dev_t dev;          /* of the block device; 0: there is none, or unknown */
	/* Of the filesystem, as stat(2) gives it, or the block device itself: tells two apart, be
	 * there a device or not. */
	dev_t st_dev;
	uint64_t block_bytes;
	bool tmpfs; /* or another filesystem in memory */
	/* overlayfs, a network filesystem, one in user space: what is measured includes more than
	 * one local filesystem. */
	bool indirect;
};

/* The filesystem of FD, any open file or directory. What cannot be found out stays empty. 0, or
 * -errno after saying so. */
must_check int medium_of(int fd, struct medium *m);

#endif
