// SPDX-License-Identifier: GPL-2.0-or-later
/* method - the table of ways to move the blocks of a file, and what its rows share. */
#include "common/method.h"

#include "common/crew.h"
#include "common/parse.h"
#include "common/procfile.h"
#include "common/region.h"
#include "common/scratch.h"
#include "common/uapi.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

const struct method *method_find(const struct method *const *table, const char *name)
{
	while (*table && strcmp((*table)->name, name))
		table++;
	return *table;
}

int method_list(const struct method *const *table)
{
	int ret = 0;

	for (; *table && !ret; table++)
		ret = print_line("%-12s %s", (*table)->name, (*table)->help);
	return ret;
}

int method_refused(const struct target *t, const char *call, int error,
		   const char *remedy, ...)
{
	char text[256];
	va_list args;

	va_start(args, remedy);
	vsnprintf(text, sizeof(text), remedy, args);
	va_end(args);
	return unsupported("%s: %s: %s: %s", t->name, call,
			   strerrorname_np(error) ?: strerror(error), text);
}

int method_failed(const struct target *t, const char *call, uint64_t at)
{
	return failed("%s at offset %ju of %s", call, (uintmax_t)at, t->name);
}

int method_ended_early(const struct target *t, uint64_t at)
{
	return broken("%s: the file ended early, at offset %ju", t->name, (uintmax_t)at);
}

int method_needs(const struct target *t, const char *call, long number)
{
	if (syscall(number, -1, NULL, 0, 0, 0, 0) < 0 && errno == ENOSYS)
		return method_refused(
			t, call, errno,
			"the kernel has it not, or a seccomp filter forbids "
			"it: let it pass, or use another method");
	return 0;
}

struct dioalign {
	bool told;
	uint32_t memory, offset; /* 0: no direct I/O */
};

static int ask_dioalign(int fd, struct dioalign *d)
{
	struct statx st = { 0 };

	if (statx(fd, "", AT_EMPTY_PATH, UAPI_STATX_DIOALIGN, &st))
		return -errno;
	d->told = st.stx_mask & UAPI_STATX_DIOALIGN;
	memcpy(&d->memory, (char *)&st + UAPI_STX_DIO_MEM_ALIGN, sizeof(d->memory));
	memcpy(&d->offset, (char *)&st + UAPI_STX_DIO_OFFSET_ALIGN, sizeof(d->offset));
	return 0;
}

/* No device has smaller sectors. */
enum { SECTOR_BYTES = 512 };

/* Of the device that holds files of st_dev DEV, if it is one that sysfs knows. A partition's queue is
 * its parent's. */
static uint64_t sysfs_block_bytes(dev_t dev)
{
	static const char *const queues[] = { "queue", "../queue" };
	uint64_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(queues) && !bytes; i++) {
		char *text = procfile_read("",
					   "/sys/dev/block/%u:%u/%s/logical_block_size",
					   major(dev), minor(dev), queues[i]);

		bytes = text ? strtoull(text, NULL, 10) : 0;
		free(text);
	}
	return MAX(bytes, SECTOR_BYTES);
}

static int guess_alignment(int fd, const char *name, uint64_t *bytes)
{
	struct statfs fs;
	struct stat st;
	int sector = 0;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return failed("stat %s", name);
	if (S_ISBLK(st.st_mode) && ioctl(fd, BLKSSZGET, &sector))
		return failed("block size of %s", name);
	if (S_ISBLK(st.st_mode))
		*bytes = (uint64_t)MAX(sector, SECTOR_BYTES);
	else
		*bytes = MAX(sysfs_block_bytes(st.st_dev), (uint64_t)fs.f_frsize);
	return 0;
}

int direct_alignment(int fd, const char *name, uint64_t *bytes)
{
	struct dioalign d = { 0 };

	if (ask_dioalign(fd, &d) || !d.told)
		return guess_alignment(fd, name, bytes);
	if (!d.memory || !d.offset)
		return unsupported("%s: its filesystem has no direct I/O for this file: "
				   "leave O_DIRECT out, or give another directory",
				   name);
	*bytes = MAX(d.memory, d.offset);
	return 0;
}

static int align_target(struct target *t)
{
	char block[FORMAT_LEN], align[FORMAT_LEN];
	int ret;

	t->align_bytes = 1;
	if (!t->direct)
		return 0;
	ret = direct_alignment(t->fd, t->name, &t->align_bytes);
	if (!ret && t->block_bytes % t->align_bytes)
		ret = refused(
			"%s: O_DIRECT takes blocks of a multiple of %s here, not %s",
			t->name, format_size(align, t->align_bytes),
			format_size(block, t->block_bytes));
	return ret;
}

int target_open(struct target *t, int fd)
{
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	t->fd = open(path, O_RDONLY | O_CLOEXEC | (t->direct ? O_DIRECT : 0));
	if (t->fd < 0 && t->direct && errno == EINVAL)
		return method_refused(t, "open with O_DIRECT", errno,
				      "its filesystem has no direct I/O: leave O_DIRECT "
				      "out, or give another directory");
	if (t->fd < 0)
		return failed("open %s again, by %s", t->name, path);
	ret = align_target(t);
	if (ret)
		close(t->fd);
	return ret;
}

int method_check(const struct method *m, const struct target *t)
{
	if (t->direct && m->direct == CANNOT)
		return refused("method %s does not work with O_DIRECT", m->name);
	if (!t->direct && m->direct == ALWAYS)
		return refused("method %s works with O_DIRECT only", m->name);
	if (t->uncached && m->uncached == CANNOT)
		return refused("method %s does not work uncached (RWF_DONTCACHE)",
			       m->name);
	return 0;
}

/* Whole lines, so that the states of two threads share none. */
static void *state_memory(size_t bytes)
{
	size_t whole = (MAX(bytes, 1) + CACHE_PAIR - 1) / CACHE_PAIR * CACHE_PAIR;
	void *state = aligned_alloc(CACHE_PAIR, whole);

	if (state)
		memset(state, 0, whole);
	return state;
}

int method_open(const struct method *m, const struct target *t, void **state)
{
	void *made = state_memory(m->state_bytes);
	int ret = 0;

	assert(t->depth || !m->many);
	if (!made)
		return failed("memory for method %s", m->name);
	if (m->open)
		ret = m->open(made, t);
	if (ret) {
		free(made);
		return ret;
	}
	*state = made;
	return 0;
}

void method_close(const struct method *m, void *state)
{
	if (m->close)
		m->close(state);
	free(state);
}

int target_probe(const struct target *t, void *memory)
{
	struct iovec iov = { memory, target_request(t, t->block_bytes) };
	/* The end of the file is as good a place to be refused at, and moves nothing into the cache. */
	off_t at = t->direct ? 0 : (off_t)t->size_bytes;
	ssize_t n;

	if (!t->direct && !t->uncached)
		return 0;
	do {
		n = preadv2(t->fd, &iov, 1, at, t->uncached ? UAPI_RWF_DONTCACHE : 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EOPNOTSUPP && t->uncached)
		return method_refused(t, "read with RWF_DONTCACHE", errno,
				      "it takes Linux 6.14 and a filesystem that knows "
				      "it: read cached, or from another filesystem");
	if (n < 0 && errno == EINVAL && t->direct)
		return method_refused(t, "read with O_DIRECT", errno,
				      "%ju bytes are not what its filesystem wants, in "
				      "memory that is a multiple of %ju",
				      (uintmax_t)iov.iov_len, (uintmax_t)t->align_bytes);
	return n < 0 ? method_failed(t, "read", (uint64_t)at) : 0;
}

void *target_memory(const struct target *t, uint64_t count, uint64_t *step)
{
	uint64_t align = MAX(base_page_bytes(), t->align_bytes), bytes;
	uint64_t block = (t->block_bytes + align - 1) / align * align;
	char size[FORMAT_LEN];
	void *memory = NULL;

	errno = ENOMEM;
	if (!__builtin_mul_overflow(block, count, &bytes) && bytes <= PTRDIFF_MAX)
		memory = aligned_alloc(align, bytes);
	if (!memory) {
		failed("memory for %ju blocks of %s", (uintmax_t)count,
		       format_size(size, t->block_bytes));
		return NULL;
	}
	/* Page faults come now, not in the first reads. */
	memset(memory, 0, bytes);
	*step = block;
	return memory;
}
