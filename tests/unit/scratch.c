// SPDX-License-Identifier: GPL-2.0-or-later
/* scratch - tests of common/scratch.c, on a disk, on tmpfs, and where there is no room.
 * */
#include "common/scratch.h"
#include "tests/check.h"
#include "tests/unit/no_tmpfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static unsigned count_names(const char *dir)
{
	DIR *names = opendir(dir);
	struct dirent *entry;
	unsigned n = 0;

	while (names && (entry = readdir(names)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	if (names)
		closedir(names);
	return n;
}

static bool on_tmpfs(int fd)
{
	struct statfs fs = { 0 };

	CHECK_U64("fstatfs", fstatfs(fd, &fs), 0);
	return fs.f_type == TMPFS_MAGIC;
}

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* No byte is 0, and no two whole words are the same. */
static void check_written(int fd, uint64_t size)
{
	unsigned char *data = malloc(size + 1);
	uint64_t zeros = 0, twice = 0, *words;

	CHECK_U64("read", pread(fd, data, size + 1, 0), size);
	for (uint64_t i = 0; i < size; i++)
		zeros += !data[i];
	words = (uint64_t *)data;
	qsort(words, size / 8, sizeof(*words), compare_words);
	for (uint64_t i = 1; i < size / 8; i++)
		twice += words[i] == words[i - 1];
	CHECK_U64("zero bytes", zeros, 0);
	CHECK_U64("words twice", twice, 0);
	free(data);
}

static void check_zeros(int fd, uint64_t size)
{
	char *data = malloc(size + 1);
	uint64_t others = 0;

	CHECK_U64("read", pread(fd, data, size + 1, 0), size);
	for (uint64_t i = 0; i < size; i++)
		others += data[i] != 0;
	CHECK_U64("other bytes", others, 0);
	free(data);
}

static void check_fill(const char *dir, uint64_t size, enum scratch_fill fill)
{
	struct stat st = { 0 };
	int fd = scratch_file(dir, size, fill);

	CHECK(fd >= 0);
	if (fd < 0)
		return;
	CHECK_U64("names left", count_names(dir), 0);
	CHECK_U64("fstat", fstat(fd, &st), 0);
	CHECK_U64("size", st.st_size, size);
	CHECK_U64("links", st.st_nlink, 0);
	CHECK_U64("mode", st.st_mode & 0777, 0600);
	CHECK_U64("offset", lseek(fd, 0, SEEK_CUR), 0);
	CHECK_U64("access", fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	CHECK_U64("close-on-exec", fcntl(fd, F_GETFD), FD_CLOEXEC);
	if (fill == SCRATCH_HOLE)
		CHECK_U64("blocks", st.st_blocks, 0);
	if (fill == SCRATCH_RESERVED)
		CHECK(st.st_blocks * UINT64_C(512) >= size);
	if (fill == SCRATCH_WRITTEN)
		check_written(fd, size);
	else
		check_zeros(fd, size);
	close(fd);
}

static void check_fills(const char *dir)
{
	static const uint64_t sizes[] = { 0,       1,   7,        8,      4096,
					  MiB - 1, MiB, MiB + 13, 3 * MiB };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_fill(dir, sizes[i], SCRATCH_HOLE);
		check_fill(dir, sizes[i], SCRATCH_RESERVED);
		check_fill(dir, sizes[i], SCRATCH_WRITTEN);
	}
}

static void check_without_tmpfile(const char *dir)
{
	static const int errors[] = { EOPNOTSUPP, EISDIR };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		tmpfile_error = errors[i];
		check_fill(dir, MiB, SCRATCH_HOLE);
		check_fill(dir, MiB, SCRATCH_WRITTEN);
	}
	CHECK_U64("no such directory", scratch_file("/no/such/place", 1, SCRATCH_HOLE),
		  -ENOENT);
	tmpfile_error = EACCES;
	CHECK_U64("forbidden", scratch_file(dir, 1, SCRATCH_HOLE), -EACCES);
	tmpfile_error = 0;
}

static void check_reopen(const char *dir)
{
	int fd = scratch_file(dir, 64 * KiB, SCRATCH_WRITTEN), again;
	struct stat first = { 0 }, second = { 0 };
	char c = 0;

	again = scratch_reopen(fd, O_RDONLY);
	CHECK(again >= 0 && again != fd);
	CHECK(!fstat(fd, &first) && !fstat(again, &second));
	CHECK_U64("inode", second.st_ino, first.st_ino);
	CHECK_U64("close-on-exec", fcntl(again, F_GETFD), FD_CLOEXEC);
	CHECK_U64("seek", lseek(fd, 4096, SEEK_SET), 4096);
	CHECK_U64("own offset", lseek(again, 0, SEEK_CUR), 0);
	CHECK_U64("read", read(again, &c, 1), 1);
	CHECK_U64("own offset", lseek(fd, 0, SEEK_CUR), 4096);
	CHECK(write(again, &c, 1) < 0 && errno == EBADF);
	CHECK_U64("own flags", fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	/* It outlives the first. */
	close(fd);
	CHECK_U64("read", read(again, &c, 1), 1);
	close(again);
	CHECK_U64("closed", scratch_reopen(again, O_RDONLY), -ENOENT);
}

/* On tmpfs it depends on the kernel's age. */
static void check_direct(const char *dir)
{
	int fd = scratch_file(dir, 64 * KiB, SCRATCH_WRITTEN), direct;

	if (!on_tmpfs(fd)) {
		direct = scratch_reopen(fd, O_RDWR | O_DIRECT);
		CHECK(direct >= 0);
		CHECK(fcntl(direct, F_GETFL) & O_DIRECT);
		CHECK(!(fcntl(fd, F_GETFL) & O_DIRECT));
		close(direct);
	}
	close(fd);
}

static void check_refusals(const char *dir)
{
	CHECK_U64("no directory", scratch_file("/dev/null", 1, SCRATCH_HOLE), -ENOTDIR);
	CHECK_U64("too big", scratch_file(dir, UINT64_C(1) << 63, SCRATCH_HOLE), -EFBIG);
	CHECK_U64("too big", scratch_file(dir, UINT64_MAX, SCRATCH_WRITTEN), -EFBIG);
	CHECK_U64("names left", count_names(dir), 0);
}

static void check_keep(const char *dir)
{
	int fd = scratch_file(dir, 64 * KiB, SCRATCH_WRITTEN), other;
	struct stat first = { 0 }, kept = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "%s/a name", dir);
	CHECK_U64("keep", scratch_keep(fd, dir, "a name"), 0);
	CHECK(!fstat(fd, &first) && !stat(path, &kept));
	CHECK_U64("inode", kept.st_ino, first.st_ino);
	CHECK_U64("links", kept.st_nlink, 1);
	other = scratch_file(dir, 0, SCRATCH_HOLE);
	CHECK_U64("taken", scratch_keep(other, dir, "a name"), -EEXIST);
	CHECK(!stat(path, &kept) && kept.st_ino == first.st_ino);
	CHECK_U64("no directory", scratch_keep(other, "/no/such/place", "x"), -ENOENT);
	close(other);
	close(fd);
	CHECK_U64("stays", unlink(path), 0);
	/* Made with a name that it lost at once: it cannot get another. */
	tmpfile_error = EOPNOTSUPP;
	fd = scratch_file(dir, 0, SCRATCH_HOLE);
	tmpfile_error = 0;
	CHECK_U64("lost its name", scratch_keep(fd, dir, "x"), -ENOENT);
	close(fd);
	CHECK_U64("names left", count_names(dir), 0);
}

/* In a directory of its own below PARENT. */
static void check_place(const char *parent)
{
	char dir[64];

	snprintf(dir, sizeof(dir), "%s/pagemill-scratch-XXXXXX", parent);
	if (!mkdtemp(dir)) {
		printf("not tested in %s: %s\n", parent, strerror(errno));
		return;
	}
	check_fills(dir);
	check_without_tmpfile(dir);
	check_reopen(dir);
	check_direct(dir);
	check_keep(dir);
	check_refusals(dir);
	CHECK_U64("nothing left", rmdir(dir), 0);
}

/* What scratch_file() says on stderr. */
static int scratch_said(char said[static 512], const char *dir, uint64_t size,
			enum scratch_fill fill)
{
	int kept = dup(STDERR_FILENO), memory = memfd_create("said", 0), ret;
	ssize_t n;

	dup2(memory, STDERR_FILENO);
	ret = scratch_file(dir, size, fill);
	dup2(kept, STDERR_FILENO);
	n = pread(memory, said, 511, 0);
	said[MAX(n, 0)] = '\0';
	close(memory);
	close(kept);
	return ret;
}

static void check_full(const char *dir)
{
	static const enum scratch_fill fills[] = { SCRATCH_RESERVED, SCRATCH_WRITTEN };
	char said[512];

	for (size_t i = 0; i < ARRAY_SIZE(fills); i++) {
		CHECK_U64("full", scratch_said(said, dir, 8 * MiB, fills[i]), -ENOSPC);
		CHECK(strstr(said, dir));
		CHECK(strstr(said, "8388608 bytes"));
		CHECK_U64("names left", count_names(dir), 0);
		/* What the failed one had taken is free again. */
		check_fill(dir, 3 * MiB, SCRATCH_WRITTEN);
	}
	check_fill(dir, 8 * MiB, SCRATCH_HOLE);
}

/* A tmpfs of 4 MiB over /var/tmp, for this process only: last, since it stays until we
 * exit. */
static void check_small_filesystem(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("pagemill", "/var/tmp", "tmpfs", 0, "size=4m,mode=0755")) {
		printf("a full filesystem not tested: %s\n", strerror(errno));
		return;
	}
	check_full("/var/tmp");
}

int main(void)
{
	base_init();
	check_place("/var/tmp");
	check_place("/dev/shm");
	check_small_filesystem();
	return check_result();
}
