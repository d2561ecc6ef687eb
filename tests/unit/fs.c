// SPDX-License-Identifier: GPL-2.0-or-later
/* fs - tests of common/fs.c: what is made, and who may make it. */
#include "common/fs.h"
#include "common/loop.h"
#include "common/medium.h"
#include "common/scratch.h"
#include "tests/unit/child.h"
#include "tests/unit/fsdir.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>

/* What medium_of() finds from the inside. */
static struct medium *inside;

static unsigned open_files(void)
{
	DIR *fds = opendir("/proc/self/fd");
	unsigned n = 0;

	while (fds && readdir(fds))
		n++;
	if (fds)
		closedir(fds);
	return n;
}

static int look_inside(const struct fs_made *made)
{
	int fd = scratch_file(made->dir, 64 * KiB, SCRATCH_WRITTEN), ret, named;
	char path[PATH_MAX + 16];

	if (fd < 0)
		return fd;
	ret = medium_of(fd, inside);
	close(fd);
	snprintf(path, sizeof(path), "%s/named", made->dir);
	named = creat(path, 0600);
	if (named < 0)
		return failed("creat %s", path);
	close(named);
	if (holder_self)
		holder_self->beats = open_files();
	return ret;
}

struct made_row {
	struct fs_config config;
	uint64_t size_bytes, block_bytes,
		allocation_groups; /* 0: not compared, but the last */
	int reflink;
	const char *options;  /* among those of the mount */
	const char *image_on; /* NULL: fsdir */
};

static void check_outside(const struct holder *h)
{
	char path[128];
	struct stat st = { 0 }, root = { 0 };

	CHECK(!fsdir_has_mount() && !fsdir_has_names());
	snprintf(path, sizeof(path), "/proc/%d/root%s/named", h->pid, fsdir);
	CHECK(!access(path, F_OK));
	snprintf(path, sizeof(path), "/proc/%d/root%s", h->pid, fsdir);
	CHECK(!stat(fsdir, &st) && !stat(path, &root));
	CHECK_U64("mode", root.st_mode, st.st_mode);
	CHECK(root.st_dev != st.st_dev);
}

static void check_loop(const struct made_row *row, const struct fs_made *made)
{
	char *direct;

	CHECK(!strncmp(inside->device, "/dev/loop", 9));
	CHECK_U64("major", major(inside->dev), 7);
	direct = procfile_read("", "/sys/dev/block/7:%u/loop/dio", minor(inside->dev));
	CHECK_U64("direct I/O", made->loop_direct_io, direct && *direct == '1');
	free(direct);
	CHECK_TEXT("image on", made->image_on, row->image_on ?: fsdir);
}

static void check_made(const struct made_row *row, const char *dir)
{
	const char *type = row->config.type;
	unsigned before = open_files();
	struct holder h = holder_start(&row->config, dir, look_inside);
	const struct fs_made *made = &h.told->made;

	if (!holder_await(&h, &h.told->done)) {
		CHECK_U64(type, exit_status(h.told->result), 77);
		printf("%s not tested\n", type);
		holder_kill(&h, SIGKILL);
		return;
	}
	CHECK_U64(type, h.told->result, 0);
	CHECK_TEXT("dir", made->dir, fsdir);
	CHECK(!strncmp(inside->type, type, strcspn(type, ",")));
	CHECK_U64("files left open", h.told->beats, before);
	CHECK(!row->size_bytes || made->size_bytes == row->size_bytes);
	CHECK(!row->block_bytes || inside->block_bytes == row->block_bytes);
	CHECK_U64(type, made->allocation_groups, row->allocation_groups);
	CHECK_U64(type, made->reflink, row->reflink);
	if (!strstr(inside->options, row->options))
		CHECK_TEXT(type, inside->options, row->options);
	if (inside->tmpfs)
		CHECK_TEXT(type, made->image_on, "");
	else
		check_loop(row, made);
	check_outside(&h);
	holder_kill(&h, SIGKILL);
	fsdir_check_away(type);
}

static const struct made_row made[] = {
	{ { .type = "tmpfs", .size_bytes = 1 * MiB }, 1 * MiB, 0, 0, 0, "relatime", "" },
	{ { .type = "tmpfs,noatime,size=2m" }, 2 * MiB, 0, 0, 0, "noatime", "" },
	{ { .type = "ext4" }, 0, 0, 0, 0, "noinit_itable", NULL },
	{ { .type = "ext4,noatime",
	    .size_bytes = 64 * MiB,
	    .mkfs_options = " -b 1024  -m 0 ",
	    .mount_options = "nosuid,data=journal",
	    .on = "tmpfs" },
	  64 * MiB,
	  1024,
	  0,
	  0,
	  "rw,nosuid,noatime",
	  "tmpfs" },
	{ { .type = "xfs", .size_bytes = 320 * MiB, .mkfs_options = "-d agcount=3" },
	  320 * MiB,
	  4096,
	  3,
	  1,
	  "rw,relatime",
	  NULL },
	{ { .type = "xfs", .size_bytes = 512 * MiB, .mkfs_options = "-m reflink=0" },
	  512 * MiB,
	  4096,
	  4,
	  0,
	  "rw,relatime",
	  NULL },
	{ { .type = "btrfs", .size_bytes = 256 * MiB, .on = "/var" },
	  256 * MiB,
	  4096,
	  0,
	  1,
	  "rw,relatime",
	  "/var" },
};

static int check(const void *config)
{
	return exit_status(fs_check(config));
}

/* A device of ours, then the same one again. */
static void check_device(void)
{
	int image = scratch_file(fsdir, 64 * MiB, SCRATCH_HOLE);
	char name[LOOP_NAME_LEN] = "";
	struct fs_config c = { .type = "ext4", .on = name, .wipe = true };
	int fd = loop_attach(image, name);
	struct child without;

	for (unsigned again = 0; again < 2 && fd >= 0; again++) {
		struct holder h = holder_start(&c, fsdir, look_inside);

		CHECK(holder_await(&h, &h.told->done));
		CHECK_U64("result", h.told->result, 0);
		CHECK_TEXT("device", inside->device, name);
		CHECK_TEXT("image on", h.told->made.image_on, "");
		CHECK_U64("size", h.told->made.size_bytes, 64 * MiB);
		CHECK(!h.told->made.loop_direct_io);
		holder_kill(&h, SIGKILL);
	}
	c.wipe = false;
	child_run(&without, check, &c);
	CHECK_U64("no --wipe", without.status, 2);
	CHECK(strstr(without.err, "what it holds would be lost; give --wipe"));
	c.wipe = true;
	c.size_bytes = 64 * MiB;
	child_run(&without, check, &c);
	CHECK_U64("a size", without.status, 2);
	CHECK(strstr(without.err, "is used as a whole"));
	close(fd);
	close(image);
	fsdir_check_away("device");
}

static int open_as_nobody(const void *config)
{
	static struct fs_made found;
	int ret;

	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534) ||
	    prctl(PR_SET_DUMPABLE, 1))
		return 99;
	ret = fs_open(config, fsdir, &found);
	return exit_status(ret ?: look_inside(&found));
}

static void check_unprivileged(void)
{
	static const struct fs_config disk = { .type = "ext4", .size_bytes = 64 * MiB };
	static const struct fs_config memory = { .type = "tmpfs", .size_bytes = 1 * MiB };
	struct child c;

	child_run(&c, open_as_nobody, &disk);
	CHECK_U64("ext4", c.status, 77);
	CHECK(strstr(c.err, ": mounting needs root (CAP_SYS_ADMIN)\n") ||
	      strstr(c.err, "is not installed"));
	CHECK(strchr(c.err, '\n') == strrchr(c.err, '\n'));
	child_run(&c, open_as_nobody, &memory);
	if (c.status == 77)
		printf("tmpfs of nobody not tested: %s", c.err);
	else
		CHECK_U64("tmpfs", c.status, 0);
	CHECK(c.status == 77 || inside->tmpfs);
	fsdir_check_away("unprivileged");
}

static int open_over(const void *dir)
{
	static const struct fs_config c = { .type = "tmpfs", .size_bytes = 1 * MiB };
	static struct fs_made found;

	return exit_status(fs_open(&c, dir, &found));
}

/* The root directory, by whatever name: it would go on as it is. */
static void check_root(void)
{
	static const char *const names[] = { "/", "/../", "/proc/self/root", "/usr/.." };
	struct child c;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		child_run(&c, open_over, names[i]);
		CHECK_U64(names[i], c.status, 2);
		CHECK(strstr(c.err, ": --dir: expected another directory than / with "
				    "--fs\n"));
	}
	child_run(&c, open_over, "/no/such");
	CHECK_U64("missing", c.status, 1);
}

/* As on a host whose mounts are shared, which systemd makes them: nothing of ours may be seen
 * outside, and what is unmounted outside must not be kept by us. */
static void share_mounts(void)
{
	CHECK(!unshare(CLONE_NEWNS));
	CHECK(!mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL));
}

static void check_unmounting(void)
{
	static const struct fs_config c = { .type = "tmpfs", .size_bytes = 1 * MiB };
	char other[] = "/var/tmp/pagemill-other-XXXXXX", *mounts;
	struct holder h;

	CHECK(mkdtemp(other) && !mount("other", other, "tmpfs", 0, NULL));
	h = holder_start(&c, fsdir, NULL);
	CHECK(holder_await(&h, &h.told->opened));
	CHECK(!umount(other));
	mounts = procfile_read("", "/proc/%d/mountinfo", h.pid);
	CHECK(mounts && strstr(mounts, fsdir) && !strstr(mounts, other));
	free(mounts);
	holder_kill(&h, SIGKILL);
	CHECK(!rmdir(other));
	fsdir_check_away("unmounting");
}

/* mkfs is not in the PATH of the child, nor where it is looked for besides. */
static int open_without_programs(const void *config)
{
	static struct fs_made found;

	setenv("PATH", "/no/such:", 1);
	return exit_status(fs_open(config, fsdir, &found));
}

static void check_missing(void)
{
	static const struct fs_config c = { .type = "f2fs", .size_bytes = 64 * MiB };
	struct child child;

	if (!access("/usr/sbin/mkfs.f2fs", X_OK) || !access("/sbin/mkfs.f2fs", X_OK))
		return;
	child_run(&child, open_without_programs, &c);
	CHECK_U64("f2fs", child.status, 77);
	CHECK(strstr(child.err, "mkfs.f2fs is not installed: package f2fs-tools\n"));
}

int main(void)
{
	base_init();
	inside = mmap(NULL, sizeof(*inside), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fsdir_require_root();
	fsdir_make();
	share_mounts();
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		check_made(&made[i], fsdir);
	if (!chdir(fsdir))
		check_made(&made[0], ".");
	CHECK(!chdir("/"));
	check_unmounting();
	check_root();
	check_device();
	check_unprivileged();
	check_missing();
	fsdir_remove();
	return check_result();
}
