// SPDX-License-Identifier: GPL-2.0-or-later
/* mount - tests of common/mount.c: which options are flags of mount(2), and who may mount. */
#include "common/mount.h"
#include "tests/check.h"
#include "tests/unit/child.h"

#include <sys/mount.h>

static const struct {
	const char *options;
	unsigned long flags;
	const char *data;
} rows[] = {
	{ "", 0, "" },
	{ ",,,", 0, "" },
	{ "defaults", 0, "" },
	{ "ro,nosuid,nodev,noexec", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "" },
	{ "sync,dirsync,lazytime", MS_SYNCHRONOUS | MS_DIRSYNC | MS_LAZYTIME, "" },
	{ "sync,async,lazytime,nolazytime,nodiratime,diratime", 0, "" },
	/* The later counts. */
	{ "ro,rw", 0, "" },
	{ "rw,ro", MS_RDONLY, "" },
	{ "noatime", MS_NOATIME, "" },
	{ "noatime,strictatime", MS_STRICTATIME, "" },
	{ "strictatime,relatime,noatime", MS_NOATIME, "" },
	{ "noatime,atime", 0, "" },
	{ "strictatime,relatime", MS_RELATIME, "" },
	{ "noatime,nodiratime", MS_NOATIME | MS_NODIRATIME, "" },
	/* The rest is for the filesystem, in its order, and names are whole. */
	{ "discard", 0, "discard" },
	{ ",size=1m,,noatime,mode=0700,", MS_NOATIME, "size=1m,mode=0700" },
	{ "ro=1,rox,r,noinit_itable", 0, "ro=1,rox,r,noinit_itable" },
	{ "\xff,a b:c", 0, "\xff,a b:c" },
};

static int require(const void *type)
{
	return exit_status(mount_require(type));
}

static int mount_unknown(const void *type)
{
	return exit_status(mount_namespace(true) ?: mount_over(type, "x", "/", ""));
}

static void check_kernel(void)
{
	struct child c;

	child_run(&c, require, "tmpfs");
	CHECK_U64("tmpfs", c.status, 0);
	CHECK_TEXT("tmpfs", c.err, "");
	/* Without privilege only mount(2) can tell, with it this does. */
	if (!geteuid()) {
		child_run(&c, require, "nosuchfs");
		CHECK_U64("nosuchfs", c.status, 77);
		CHECK(strstr(c.err, "this kernel has no nosuchfs\n"));
	}
	child_run(&c, mount_unknown, "nosuchfs");
	CHECK_U64("nosuchfs", c.status, 77);
}

int main(void)
{
	char data[128];

	base_init();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_U64(rows[i].options, mount_flags(rows[i].options, data),
			  rows[i].flags);
		CHECK_TEXT(rows[i].options, data, rows[i].data);
	}
	check_kernel();
	return check_result();
}
