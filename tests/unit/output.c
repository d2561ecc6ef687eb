// SPDX-License-Identifier: GPL-2.0-or-later
/* output - tests of common/output.c: which file is there when, and what is lost is said. */
#include "common/output.h"
#include "tests/check.h"
#include "tests/unit/child.h"
#include "tests/unit/hear.h"
#include "tests/unit/no_tmpfile.h"
#include "tests/unit/tempdir.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define RESULT "{\"a\": 1}\n"
/* Longer than the result, which is to leave nothing of it. */
#define OLD    "what was here before, and goes on for some more lines\n"

static char file_path[128];

static void write_file(const char *path, const char *text)
{
	int fd = openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK_U64("write", write_all(fd, text, strlen(text)), 0);
	close(fd);
}

/* WANT is what is in the file; NULL: there is none. */
static void check_file(const char *row, const char *path, const char *want)
{
	int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t n;

	if (fd < 0 || !want) {
		CHECK_TEXT(row, fd < 0 ? "no file" : "a file", want ?: "no file");
		close(fd);
		return;
	}
	n = read(fd, text, sizeof(text) - 1);
	text[MAX(n, 0)] = '\0';
	CHECK_TEXT(row, text, want);
	close(fd);
}

/* What is there before the result, and between opening and writing; NULL: nothing. */
static const struct place {
	const char *name;
	const char *before, *opened;
	const char *meanwhile; /* put there between opening and writing */
	int tmpfile_error;
	mode_t mode; /* at the end; 0: whatever it is */
} places[] = {
	{ .name = "new", .mode = 0640 },
	{ .name = "new, no O_TMPFILE",
	  .tmpfile_error = EOPNOTSUPP,
	  .opened = "",
	  .mode = 0640 },
	{ .name = "new, an old kernel",
	  .tmpfile_error = EISDIR,
	  .opened = "",
	  .mode = 0640 },
	{ .name = "there", .before = OLD, .opened = OLD },
	{ .name = "there, empty", .before = "", .opened = "" },
	{ .name = "there, no O_TMPFILE",
	  .before = OLD,
	  .opened = OLD,
	  .tmpfile_error = EOPNOTSUPP,
	  .mode = 0600 },
	{ .name = "made meanwhile", .meanwhile = OLD, .mode = 0640 },
};

static void check_place(const struct place *row)
{
	struct output file;
	struct stat st = { 0 };

	if (row->before)
		write_file(file_path, row->before);
	tmpfile_error = row->tmpfile_error;
	CHECK_U64(row->name, output_open(&file, file_path), 0);
	tmpfile_error = 0;
	CHECK_U64(row->name, fcntl(file.fd, F_GETFD), FD_CLOEXEC);
	check_file(row->name, file_path, row->opened);
	if (row->meanwhile)
		write_file(file_path, row->meanwhile);
	CHECK_U64(row->name, output_write(&file, RESULT), 0);
	CHECK(fcntl(file.fd, F_GETFD) < 0 && errno == EBADF);
	check_file(row->name, file_path, RESULT);
	CHECK_U64(row->name, tempdir_names(0), 1);
	CHECK_U64(row->name, stat(file_path, &st), 0);
	if (row->mode)
		CHECK_U64(row->name, st.st_mode & 07777, row->mode);
	unlink(file_path);
}

static void check_places(void)
{
	struct output file;
	mode_t mask = umask(0027);

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		check_place(&places[i]);
	umask(mask);
	/* A name without a directory. */
	CHECK_U64("chdir", chdir(tempdir), 0);
	CHECK_U64("here", output_open(&file, "here"), 0);
	CHECK_U64("here", output_write(&file, RESULT), 0);
	check_file("here", "here", RESULT);
	unlink("here");
	CHECK_U64("chdir", chdir("/"), 0);
	/* What is never written leaves no name. */
	CHECK_U64("never written", output_open(&file, file_path), 0);
	close(file.fd);
	CHECK_U64("never written", tempdir_names(0), 0);
}

/* Where a link leads is written, whether or not there is a file; the link stays. */
static void check_links(void)
{
	struct output file;
	struct stat st = { 0 };
	char target[128];

	for (unsigned there = 0; there < 2; there++) {
		const char *name = there ? "a link" : "a link to nothing";

		CHECK_U64(name, symlink(tempdir_path(target, "target"), file_path), 0);
		if (there)
			write_file(target, OLD);
		CHECK_U64(name, output_open(&file, file_path), 0);
		if (there)
			check_file(name, target, OLD);
		CHECK_U64(name, output_write(&file, RESULT), 0);
		CHECK_U64(name, tempdir_names(0), 2);
		CHECK(!lstat(file_path, &st) && S_ISLNK(st.st_mode));
		check_file(name, target, RESULT);
		unlink(target);
		unlink(file_path);
	}
}

/* A file beside the result is not ours, whatever its name. */
static void check_neighbours(void)
{
	char name[64], neighbour[128];
	struct output file;

	snprintf(name, sizeof(name), "result.%d", getpid());
	write_file(tempdir_path(neighbour, name), "a neighbour's");
	write_file(file_path, OLD);
	CHECK_U64("neighbour", output_open(&file, file_path), 0);
	CHECK_U64("neighbour", output_write(&file, RESULT), 0);
	check_file("neighbour: the result", file_path, RESULT);
	check_file("neighbour: its file", neighbour, "a neighbour's");
	CHECK_U64("neighbour: names", tempdir_names(1), 2);
}

static void check_stdout(void)
{
	static const char *const paths[] = { "", "-" };
	static struct heard heard;
	struct output file;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		hear_begin(&heard, STDOUT_FILENO);
		ret = output_open(&file, paths[i]) ?: output_write(&file, RESULT);
		/* It is still open. */
		ret = ret ?: write_all(STDOUT_FILENO, "more\n", 5);
		hear_end(&heard);
		CHECK_U64("stdout", ret, 0);
		CHECK_U64("stdout", heard.writes, 2);
		CHECK_TEXT("stdout", heard.text, RESULT "more\n");
	}
}

/* A pipe is written in place, in one write. */
static void check_pipe(void)
{
	struct output file;
	char got[64] = "";
	int fd;

	CHECK_U64("pipe", mkfifo(file_path, 0600), 0);
	fd = openat(AT_FDCWD, file_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK_U64("pipe", output_open(&file, file_path), 0);
	CHECK_U64("pipe", output_write(&file, RESULT), 0);
	CHECK_U64("pipe", read(fd, got, sizeof(got) - 1), strlen(RESULT));
	CHECK_TEXT("pipe", got, RESULT);
	close(fd);
	unlink(file_path);
}

/* Where results cannot go. */
static const struct lost {
	const char *name, *path;
	int opened, written;
	const char *said;
} losses[] = {
	{ "a directory", "/tmp", -EISDIR, 0, "prog: create /tmp: Is a directory\n" },
	{ "below no directory", "/no/such/file", -ENOENT, 0,
	  "prog: create /no/such/file: No such file or directory\n" },
	{ "below a file", "/dev/null/x", -ENOTDIR, 0,
	  "prog: create /dev/null/x: Not a directory\n" },
	{ "a full device", "/dev/full", 0, -ENOSPC,
	  "prog: write results to /dev/full: No space left on device\n" },
	{ "standard output, full", "", 0, -ENOSPC,
	  "prog: write results to standard output: No space left on device\n" },
};

static int lose_results(const void *arg)
{
	const struct lost *row = arg;
	struct output file;
	int ret;

	if (!row->path[0])
		dup2(openat(AT_FDCWD, "/dev/full", O_WRONLY), STDOUT_FILENO);
	ret = output_open(&file, row->path);
	if (ret != row->opened)
		return 1;
	if (ret)
		return 0;
	return output_write(&file, RESULT) == row->written ? 0 : 2;
}

static void check_losses(void)
{
	static struct child child;

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		child_run(&child, lose_results, &losses[i]);
		CHECK_U64(losses[i].name, child.status, 0);
		CHECK_TEXT(losses[i].name, child.err, losses[i].said);
	}
}

enum { NOT_POSSIBLE = 99 };

static int write_beyond_the_limit(const void *arg)
{
	const struct rlimit limit = { 300, 300 };
	static char much[400];
	struct output file;

	memset(much, 'x', sizeof(much) - 1);
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) || output_open(&file, arg))
		return NOT_POSSIBLE;
	return output_write(&file, much) == -EFBIG ? 0 : 1;
}

/* What cannot be written to its end gets no name, and takes nobody's place. */
static void check_incomplete(void)
{
	static struct child child;
	char said[512];

	snprintf(said, sizeof(said), "prog: write results to %s: File too large\n",
		 file_path);
	child_run(&child, write_beyond_the_limit, file_path);
	CHECK_U64("incomplete", child.status, 0);
	CHECK_TEXT("incomplete", child.err, said);
	check_file("incomplete", file_path, NULL);
	write_file(file_path, OLD);
	child_run(&child, write_beyond_the_limit, file_path);
	CHECK_U64("incomplete", child.status, 0);
	check_file("incomplete", file_path, OLD);
	CHECK_U64("incomplete: names", tempdir_names(1), 1);
}

/* As a user who owns nothing here. */
static int write_as_nobody(const void *arg)
{
	struct output file;

	if (setresuid(65534, 65534, 65534))
		return NOT_POSSIBLE;
	return exit_status(output_open(&file, arg) ?: output_write(&file, RESULT));
}

/* Modes of the directory and of the file in it (0: none), and whether it can be written. */
static const struct {
	const char *name;
	mode_t directory, file;
	bool written;
} permissions[] = {
	{ "a new file", 0777, 0, true },
	{ "a new file in a closed directory", 0755, 0, false },
	{ "a file", 0777, 0666, true },
	{ "a closed file", 0777, 0644, false },
	{ "a file in a closed directory", 0755, 0666, true },
	{ "a closed file in a closed directory", 0755, 0644, false },
};

static void check_permissions(void)
{
	static struct child child;
	char denied[512];

	if (geteuid()) {
		printf("permissions not tested: not root\n");
		return;
	}
	snprintf(denied, sizeof(denied), "prog: create %s: Permission denied\n",
		 file_path);
	for (size_t i = 0; i < ARRAY_SIZE(permissions); i++) {
		const char *name = permissions[i].name;
		bool there = permissions[i].file;

		if (there) {
			write_file(file_path, OLD);
			CHECK_U64(name, chmod(file_path, permissions[i].file), 0);
		}
		CHECK_U64(name, chmod(tempdir, permissions[i].directory), 0);
		child_run(&child, write_as_nobody, file_path);
		CHECK_U64(name, child.status, permissions[i].written ? 0 : 1);
		CHECK_TEXT(name, child.err, permissions[i].written ? "" : denied);
		CHECK_U64(name, chmod(tempdir, 0700), 0);
		check_file(name, file_path,
			   permissions[i].written ? RESULT
			   : there                ? OLD
						  : NULL);
		CHECK_U64(name, tempdir_names(1), permissions[i].written || there);
	}
}

/* As a container has it that is given one file of its host's. */
static int write_to_a_mount(const void *arg)
{
	struct output file;
	char other[128];

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(tempdir_path(other, "other"), arg, NULL, MS_BIND, NULL))
		return NOT_POSSIBLE;
	return exit_status(output_open(&file, arg) ?: output_write(&file, RESULT));
}

/* A mounted file cannot be replaced. */
static void check_mounted(void)
{
	static struct child child;
	char other[128];

	write_file(file_path, "");
	write_file(tempdir_path(other, "other"), OLD);
	child_run(&child, write_to_a_mount, file_path);
	if (child.status == NOT_POSSIBLE) {
		printf("a mounted file not tested\n");
	} else {
		CHECK_U64("mounted", child.status, 0);
		CHECK_TEXT("mounted", child.err, "");
		CHECK_U64("mounted: names", tempdir_names(0), 2);
		check_file("mounted", other, RESULT);
	}
	tempdir_names(1);
}

int main(void)
{
	static char prog[] = "prog";

	program_invocation_short_name = prog;
	tempdir_make();
	tempdir_path(file_path, "result");
	check_places();
	check_links();
	check_neighbours();
	check_stdout();
	check_pipe();
	check_losses();
	check_incomplete();
	check_permissions();
	check_mounted();
	CHECK_U64("names left", tempdir_names(0), 0);
	tempdir_remove();
	return check_result();
}
