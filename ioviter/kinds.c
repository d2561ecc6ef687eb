// SPDX-License-Identifier: GPL-2.0-or-later
/* kinds - the kinds of iov_iter that the kernel has, and how a process comes to one. */
#include "ioviter/kinds.h"

#include <string.h>

const struct kind *const kinds[] = {
	&kind_ubuf, &kind_iovec, &kind_iovec_split, &kind_bvec,   &kind_bvec_split,
	&kind_pipe, &kind_kvec,  &kind_xarray,      &kind_folioq, NULL,
};

const struct kind *kind_find(const char *name)
{
	const struct kind *const *k = kinds;

	while (*k && strcmp((*k)->name, name) != 0)
		k++;
	return *k;
}

int kind_list(void)
{
	int ret = 0;

	for (const struct kind *const *k = kinds; *k && !ret; k++)
		ret = print_line("%-12s %s", (*k)->name, (*k)->unreachable ?: (*k)->help);
	return ret;
}

uint64_t kind_call_bytes(const struct kind *k, const struct trial *t, uint64_t size_bytes)
{
	uint64_t most = k->most_bytes ? k->most_bytes() : UINT64_MAX;

	if (k->segment_bytes)
		most = MIN(most, k->segment_bytes(t) * t->most_segments);
	return MIN(size_bytes, most);
}

unsigned kind_segments(const struct kind *k, const struct trial *t)
{
	uint64_t each = k->segment_bytes ? k->segment_bytes(t) : t->call_bytes;

	return (unsigned)((t->call_bytes - 1) / each + 1);
}

unsigned lay_one(const struct trial *t, uint64_t offset, uint64_t len, struct iovec *iov)
{
	(void)offset;
	iov[0] = (struct iovec){ t->memory, len };
	return 1;
}

int trial_failed(const struct trial *t, const char *call, uint64_t offset, ssize_t n)
{
	if (n < 0)
		return failed("%s at offset %ju of %s", call, (uintmax_t)offset, t->name);
	return broken("%s at offset %ju of %s: %zd bytes, and no more", call,
		      (uintmax_t)offset, t->name, n);
}
