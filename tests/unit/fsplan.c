// SPDX-License-Identifier: GPL-2.0-or-later
/* fsplan - tests of common/fsplan.c: what would be made is told, and nothing is made. */
#include "common/fs.h"
#include "common/loop.h"
#include "common/scratch.h"
#include "tests/unit/child.h"
#include "tests/unit/fsdir.h"

static int print_plan(const void *config)
{
	char *text = NULL;
	int ret = fs_plan(config, fsdir, &text);

	if (!ret)
		printf("%s\n", text);
	fflush(stdout);
	free(text);
	return exit_status(ret);
}

/* What is said begins with BEGINS, has INSIDE in it, and fsdir at its end if ENDS. */
static void check_plan(const struct fs_config *config, const char *begins,
		       const char *inside, bool ends)
{
	struct child c;
	char end[80];

	child_run(&c, print_plan, config);
	CHECK_U64(begins, c.status, 0);
	CHECK_TEXT(begins, c.err, "");
	if (strncmp(c.out, begins, strlen(begins)) != 0)
		CHECK_TEXT("begins", c.out, begins);
	if (!strstr(c.out, inside))
		CHECK_TEXT("inside", c.out, inside);
	snprintf(end, sizeof(end), " in %s\n", fsdir);
	CHECK_U64(begins, !!strstr(c.out, end), ends);
	CHECK_TEXT(begins, fsdir_left(), "nothing");
}

static const struct {
	struct fs_config config;
	const char *begins, *inside;
	bool ends;
} rows[] = {
	{ { .type = "ext4", .size_bytes = 64 * MiB },
	  "a new ext4 of 64m, its image in /",
	  "",
	  true },
	{ { .type = "ext4,noatime" },
	  "a new ext4,noatime of ",
	  ", its image in /",
	  true },
	{ { .type = "ext4", .size_bytes = GiB, .on = "tmpfs" },
	  "a new ext4 of 1g, its image in memory\n",
	  "",
	  false },
	{ { .type = "ext4", .size_bytes = GiB, .on = "/var" },
	  "a new ext4 of 1g, its image in /var\n",
	  "",
	  false },
	{ { .type = "tmpfs", .size_bytes = 1 * MiB }, "a new tmpfs of 1m\n", "", false },
	{ { .type = "tmpfs,size=2m" }, "a new tmpfs,size=2m\n", "", false },
	{ { .type = "tmpfs,noatime" }, "a new tmpfs,noatime of ", "m\n", false },
};

/* An empty one, and one that holds something. */
static void check_device(void)
{
	int image = scratch_file(fsdir, 64 * MiB, SCRATCH_HOLE);
	char name[LOOP_NAME_LEN] = "", says[128];
	struct fs_config config = { .type = "ext4", .on = name, .wipe = true };
	int fd = loop_attach(image, name);
	struct child c;

	if (fd < 0) {
		printf("a device not tested\n");
		close(image);
		return;
	}
	snprintf(says, sizeof(says), "a new ext4 on %s, which would be overwritten\n",
		 name);
	child_run(&c, print_plan, &config);
	CHECK_U64("empty", c.status, 0);
	CHECK_TEXT("empty", c.out, says);
	CHECK_U64("write", pwrite(fd, "x", 1, 0), 1);
	child_run(&c, print_plan, &config);
	CHECK_U64("not empty", c.status, 2);
	CHECK_TEXT("not empty", c.out, "");
	CHECK(strstr(c.err, "holds something that no earlier run made"));
	close(fd);
	close(image);
}

static int print_plan_at_root(const void *config)
{
	char *text = NULL;
	int ret = fs_plan(config, "/", &text);

	free(text);
	return exit_status(ret);
}

static void check_refused(void)
{
	static const struct fs_config bad = { .type = "ext4", .size_bytes = 1 };
	static const struct fs_config good = { .type = "tmpfs", .size_bytes = MiB };
	struct child c;

	child_run(&c, print_plan, &bad);
	CHECK_U64("too small", c.status, 2);
	CHECK_TEXT("too small", c.out, "");
	child_run(&c, print_plan_at_root, &good);
	CHECK_U64("at /", c.status, 2);
	CHECK(strstr(c.err, "expected another directory than /"));
}

static void check_image_text(void)
{
	static const struct {
		struct fs_made made;
		const char *text;
	} texts[] = {
		{ { .image_on = "" }, "" },
		{ { .image_on = "tmpfs" }, ", image in memory" },
		{ { .image_on = "/tmpfs" }, ", image in /tmpfs" },
		{ { .image_on = "/a b", .loop_direct_io = true },
		  ", image in /a b, past its page cache" },
	};
	char text[FS_IMAGE_TEXT_LEN] = "before";

	CHECK_TEXT("none made", fs_image_text(NULL, text), "");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_TEXT(texts[i].made.image_on, fs_image_text(&texts[i].made, text),
			   texts[i].text);
}

int main(void)
{
	base_init();
	check_image_text();
	fsdir_make();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_plan(&rows[i].config, rows[i].begins, rows[i].inside, rows[i].ends);
	check_refused();
	if (!geteuid() && !access("/dev/loop-control", R_OK | W_OK))
		check_device();
	fsdir_check_away("at the end");
	fsdir_remove();
	return check_result();
}
