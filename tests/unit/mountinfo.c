// SPDX-License-Identifier: GPL-2.0-or-later
/* mountinfo - tests of common/mountinfo.c: lines as kernels write them, and others. */
#include "common/mountinfo.h"
#include "tests/check.h"

static const struct {
	const char *text;
	bool found;
	uint64_t id;
	unsigned major, minor;
	const char *root, *point, *options, *type, *source, *super;
} rows[] = {
	{ "26 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard", true, 26, 254, 0, "/",
	  "/", "rw,relatime", "ext4", "/dev/vda", "rw,discard" },
	/* Any number of optional fields. */
	{ "36 35 98:10 /m1 /m2 rw,noatime master:1 - xfs /dev/root rw\n", true, 36, 98,
	  10, "/m1", "/m2", "rw,noatime", "xfs", "/dev/root", "rw" },
	{ "1 2 0:3 / /x ro shared:7 master:2 unbindable - tmpfs none rw,size=4k", true, 1,
	  0, 3, "/", "/x", "ro", "tmpfs", "none", "rw,size=4k" },
	/* A blank, a newline, a backslash, and a colon and bytes that are no UTF-8. */
	{ "1 2 0:3 /a\\040b /c\\012d\\134e rw - x /dev/\\0401:\xff rw", true, 1, 0, 3,
	  "/a b", "/c\nd\\e", "rw", "x", "/dev/ 1:\xff", "rw" },
	/* Not three octal digits. */
	{ "1 2 0:3 /\\08 /\\04 rw - x y rw", true, 1, 0, 3, "/\\08", "/\\04", "rw", "x",
	  "y", "rw" },
	/* A source of no length. */
	{ "1 2 0:3 / / rw - x  rw", true, 1, 0, 3, "/", "/", "rw", "x", "", "rw" },
	{ "18446744073709551615 2 0:3 / / rw - x y rw", true, UINT64_MAX, 0, 3, "/", "/",
	  "rw", "x", "y", "rw" },
	/* Lines that are none are passed over. */
	{ "\n\n5 1 1:2 / / rw - x y rw", true, 5, 1, 2, "/", "/", "rw", "x", "y", "rw" },
	{ "a b c\n5 1 1:2 / / rw - x y rw", true, 5, 1, 2, "/", "/", "rw", "x", "y",
	  "rw" },
	{ .text = "" },
	{ .text = "\n" },
	{ .text = "1" },
	{ .text = "1 2 0:3 / / rw" },
	{ .text = "1 2 0:3 / / rw -" },
	{ .text = "1 2 0:3 / / rw - x y" },
	{ .text = "1 2 03 / / rw - x y rw" },
	{ .text = "x 2 0:3 / / rw - x y rw" },
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = strdup(rows[i].text), *rest = text;
		const char *what = rows[i].text;
		struct mountinfo m = { 0 };

		CHECK_U64(what, mountinfo_next(&rest, &m), rows[i].found);
		if (rows[i].found && m.super) {
			CHECK_U64(what, m.id, rows[i].id);
			CHECK_U64(what, m.major, rows[i].major);
			CHECK_U64(what, m.minor, rows[i].minor);
			CHECK_TEXT(what, m.root, rows[i].root);
			CHECK_TEXT(what, m.point, rows[i].point);
			CHECK_TEXT(what, m.options, rows[i].options);
			CHECK_TEXT(what, m.type, rows[i].type);
			CHECK_TEXT(what, m.source, rows[i].source);
			CHECK_TEXT(what, m.super, rows[i].super);
		}
		CHECK_U64(what, mountinfo_next(&rest, &m), false);
		free(text);
	}
	return check_result();
}
