// SPDX-License-Identifier: GPL-2.0-or-later
/* verify - is what lies in a target what was to be copied there? */
#include "copyfile/copyfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Compared at once: whole steps of stamps. */
enum { PIECE_BYTES = 8 * STAMP_STEP };

/* All of it, from AT on. 0 or -errno after saying so. */
static int read_piece(int fd, const char *name, uint64_t at, char *piece, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = pread(fd, piece + done, bytes - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed("read back %zu bytes at offset %ju of %s",
				      bytes - done, (uintmax_t)(at + done), name);
		if (!n)
			return broken("%s ends at offset %ju, where %zu bytes more are "
				      "to be",
				      name, (uintmax_t)(at + done), bytes - done);
		done += (size_t)n;
	}
	return 0;
}

/* The stamp that byte AT of a piece belongs to. False: to none. */
static bool stamp_around(const char *piece, size_t at, size_t bytes, struct stamp *stamp)
{
	size_t first = at < sizeof(*stamp) ? 0 : at - sizeof(*stamp) + 1;

	for (size_t i = first; i <= at && i + sizeof(*stamp) <= bytes; i++) {
		memcpy(stamp, piece + i, sizeof(*stamp));
		if (stamp_is_one(stamp))
			return true;
	}
	return false;
}

/* "worker 3, operation 7, offset 8192" by the stamp, or the byte that is there in place of one. */
static const char *piece_text(const char *piece, size_t at, size_t bytes,
			      char buf[static 128])
{
	struct stamp stamp;

	if (stamp_around(piece, at, bytes, &stamp))
		snprintf(buf, 128, "worker %ju, operation %ju, offset %ju",
			 (uintmax_t)stamp.worker, (uintmax_t)stamp.op,
			 (uintmax_t)stamp.offset);
	else
		snprintf(buf, 128, "0x%02x", (unsigned char)piece[at]);
	return buf;
}

/* Two pieces that differ, from offset AT of the target on. */
static int say_wrong(unsigned worker, const struct pair *pair, uint64_t at,
		     const char *wanted, const char *found, size_t bytes)
{
	char wanted_text[128], found_text[128];
	size_t i = 0;

	while (wanted[i] == found[i])
		i++;
	return broken("worker %u: wrong data at offset %ju of %s: expected %s, found %s",
		      worker, (uintmax_t)(at + i), pair->to_name,
		      piece_text(wanted, i, bytes, wanted_text),
		      piece_text(found, i, bytes, found_text));
}

int verify_block(unsigned worker, const struct pair *pair, const struct span *block,
		 const void *expected)
{
	char source[PIECE_BYTES], found[PIECE_BYTES];
	size_t bytes;
	int ret = 0;

	for (uint64_t done = 0; done < block->len && !ret; done += bytes) {
		const char *wanted = expected ? (const char *)expected + done : source;

		bytes = MIN(sizeof(found), block->len - done);
		if (!expected)
			ret = read_piece(pair->from, pair->from_name, block->at + done,
					 source, bytes);
		if (!ret)
			ret = read_piece(pair->to, pair->to_name, block->to + done, found,
					 bytes);
		if (!ret && memcmp(wanted, found, bytes) != 0)
			ret = say_wrong(worker, pair, block->to + done, wanted, found,
					bytes);
	}
	return ret;
}
