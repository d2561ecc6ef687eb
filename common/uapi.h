/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uapi - numbers of the kernel's interface that are newer than the headers of old systems. */
#ifndef COMMON_UAPI_H
#define COMMON_UAPI_H

/* Under names of our own, so that it does not matter which headers come before or after. */

/* A flag of preadv2(2), pwritev2(2): pages that come into the cache leave it again. Linux 6.14. */
#define UAPI_RWF_DONTCACHE 0x80

/* statx(2), Linux 6.1: what O_DIRECT wants, and where in struct statx the two 32-bit numbers are. */
#define UAPI_STATX_DIOALIGN       0x2000u
#define UAPI_STX_DIO_MEM_ALIGN    0x98
#define UAPI_STX_DIO_OFFSET_ALIGN 0x9c

/* Flags of io_uring_setup(2): Linux 5.19, 6.0 and 6.1. */
#define UAPI_RING_COOP_TASKRUN  (1u << 8)
#define UAPI_RING_SINGLE_ISSUER (1u << 12)
#define UAPI_RING_DEFER_TASKRUN (1u << 13)

#endif
