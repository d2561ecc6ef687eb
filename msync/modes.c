// SPDX-License-Identifier: GPL-2.0-or-later
/* modes - the calls that flush a range of a mapped file. */
#include "msync/modes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static int flush_sync(const struct range *r)
{
	return msync(r->memory, r->bytes, MS_SYNC);
}

static int flush_async(const struct range *r)
{
	return msync(r->memory, r->bytes, MS_ASYNC);
}

static int flush_invalidate(const struct range *r)
{
	return msync(r->memory, r->bytes, MS_SYNC | MS_INVALIDATE);
}

static int flush_fsync(const struct range *r)
{
	return fsync(r->fd);
}

static int flush_fdatasync(const struct range *r)
{
	return fdatasync(r->fd);
}

static int flush_file_range(const struct range *r)
{
	return sync_file_range(r->fd, (off_t)r->at, (off_t)r->bytes,
			       SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				       SYNC_FILE_RANGE_WAIT_AFTER);
}

const struct mode modes[MODES] = {
	{ .name = "sync",
	  .call = "msync(MS_SYNC)",
	  .flush = flush_sync,
	  .writes_out = true },
	{ .name = "async",
	  .call = "msync(MS_ASYNC)",
	  .flush = flush_async,
	  .to_be_known = "MS_ASYNC starts no write-out (since Linux 2.6.19): nothing was "
			 "flushed" },
	{ .name = "invalidate",
	  .call = "msync(MS_SYNC|MS_INVALIDATE)",
	  .flush = flush_invalidate,
	  .writes_out = true,
	  .may_be_busy = true },
	{ .name = "fsync",
	  .call = "fsync()",
	  .flush = flush_fsync,
	  .whole_file = true,
	  .writes_out = true },
	{ .name = "fdatasync",
	  .call = "fdatasync()",
	  .flush = flush_fdatasync,
	  .whole_file = true,
	  .writes_out = true },
	{ .name = "sync_file_range",
	  .call = "sync_file_range()",
	  .flush = flush_file_range,
	  .writes_out = true,
	  .to_be_known =
		  "sync_file_range() writes no metadata and leaves the disk's cache "
		  "alone: no crash is outlived" },
	{ .name = "none", .call = "no call", .to_be_known = "nothing was flushed" },
};
