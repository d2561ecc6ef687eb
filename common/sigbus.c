// SPDX-License-Identifier: GPL-2.0-or-later
/* sigbus - which byte of the file behind a mapping could not be had, and why. */
#include "common/region.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Of the largest folio of the page cache, where pages are of 4 KiB. */
#define FOLIO_BYTES (2 * MiB)

/* The thread's own comes first: its fault is signalled to the thread itself. */
static _Thread_local const struct backing *own;
/* Written by each thread that asks; the process that did, whose children inherit the handler. */
static const struct backing *_Atomic explained;
static _Atomic pid_t explainer;

/* The page that holds ADDRESS: its offset in its file, by /proc/self/maps (proc_pid_maps(5)). */
static bool file_offset_of(uint64_t address, uint64_t *offset)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t start, end, at;
	bool found = false;
	char line[512];

	while (!found && maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end,
			   &at) != 3)
			continue;
		found = start <= address && address < end;
	}
	if (maps)
		fclose(maps);
	if (found)
		*offset = at + (address - start) / base_page_bytes() * base_page_bytes();
	return found;
}

/* Of those that B begins with, the one that is mapped at ADDRESS; B itself where there is no
 * telling. By the inode there is none: two new filesystems give their first files the same. */
static const struct backing *backing_of(const struct backing *b, uint64_t address)
{
	for (const struct backing *each = b; each; each = each->next)
		if (address - (uintptr_t)each->mapped.start < each->mapped.bytes)
			return each;
	return b;
}

/* A fault may ask for the blocks of the whole folio that holds its page: then too little is left,
 * although that page could be had. */
static bool has_room(const struct backing *b)
{
	struct statvfs fs;

	/* Some that are in memory have no blocks, and tell of none. */
	return fstatvfs(b->fd, &fs) || !fs.f_blocks ||
	       (uint64_t)fs.f_bavail * fs.f_frsize >= FOLIO_BYTES;
}

static const char *reason_at(const struct backing *b, int code, uint64_t offset)
{
	struct stat st;

	if (code == BUS_MCEERR_AR || code == BUS_MCEERR_AO)
		return "memory failure";
	if (!fstat(b->fd, &st) && S_ISREG(st.st_mode) && offset >= (uint64_t)st.st_size)
		return "file is shorter than the mapping";
	/* Asks the filesystem for the very page that was to be written, if it can be asked. */
	if (b->writable &&
	    fallocate(b->fd, FALLOC_FL_KEEP_SIZE, (off_t)offset,
		      (off_t)base_page_bytes()) &&
	    errno != EOPNOTSUPP && errno != EINTR)
		return errno == ENOSPC || errno == EDQUOT ? "no space left"
							  : strerror(errno);
	return has_room(b) ? "no space left, or an I/O error" : "no space left";
}

/* SIGBUS comes from the walk's own load or store, never from within the C library, so that
 * everything may be called here. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	uint64_t address = (uintptr_t)info->si_addr, offset = 0;
	const struct backing *b = own ?: explained;

	(void)context;
	if (info->si_code <= 0 || !b) { /* sent by somebody, or not ours: die of it */
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	if (b->fd < 0 || !file_offset_of(address, &offset))
		broken("SIGBUS at address %#" PRIx64 ": %s", address,
		       b->huge ? "no huge page is free" : strerror(EFAULT));
	else {
		b = backing_of(b, address);
		broken("SIGBUS at offset %ju of %s: %s", (uintmax_t)offset,
		       b->path ?: b->source->name, reason_at(b, info->si_code, offset));
	}
	/* A child says it as a shell would: its parent makes a failure of it. */
	_exit(getpid() == explainer ? 1 : 128 + SIGBUS);
}

void explain_sigbus(const struct backing *b)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	own = b;
	explained = b;
	explainer = getpid();
	sigaction(SIGBUS, &action, NULL);
}
