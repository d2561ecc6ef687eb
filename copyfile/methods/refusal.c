// SPDX-License-Identifier: GPL-2.0-or-later
/* refusal - what is said when a block could not be copied. */
#include "copyfile/methods.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What the kernel says of calls that are not to be had, and what helps. */
static const struct {
	int error;
	const char *remedy;
} refusals[] = {
	{ EXDEV, "they are on two filesystems: another method copies between them" },
	{ EINVAL, "offsets or lengths off the filesystem's block grid, or files that it "
		  "does not take: another --block, or another method" },
	{ EOPNOTSUPP, "the filesystem has it not: another method, or another --dir" },
	{ ENOSYS, "the kernel has it not, or a seccomp filter forbids it: another "
		  "method" },
	{ EPERM, "an immutable or append-only file, or a security module forbids it" },
	{ ETXTBSY, "one of them is in use as a swap file" },
};

static const char *remedy_of(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		if (refusals[i].error == error)
			return refusals[i].remedy;
	return NULL;
}

/* CALL was for many blocks. */
static int many_failed(const struct target *t, const char *call, const char *remedy)
{
	if (!remedy)
		return failed("%s for %s to %s", call, t->name, t->to_name);
	return unsupported("%s: %s for %s: %s: %s", t->name, call, t->to_name,
			   strerrorname_np(errno), remedy);
}

int copy_failed(const struct target *t, const char *call, const struct span *block)
{
	const char *remedy = remedy_of(errno);
	char text[128];

	if (!block)
		return many_failed(t, call, remedy);
	if (!remedy)
		return failed("%s of %ju bytes from offset %ju of %s to offset %ju of %s",
			      call, (uintmax_t)block->len, (uintmax_t)block->at, t->name,
			      (uintmax_t)block->to, t->to_name);
	snprintf(text, sizeof(text), "%s of %ju bytes to offset %ju of ", call,
		 (uintmax_t)block->len, (uintmax_t)block->to);
	return unsupported("%s: %s%s: %s: %s", t->name, text, t->to_name,
			   strerrorname_np(errno), remedy);
}

int copy_ended_early(const struct target *t, uint64_t at)
{
	return broken("%s: the file ended early, at offset %ju", t->name, (uintmax_t)at);
}
