// SPDX-License-Identifier: GPL-2.0-or-later
/* media - what the sources and targets lie on. */
#include "common/medium.h"
#include "copyfile/copyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned distinct_pairs(void)
{
	uint64_t pairs = MAX(cfg.from.count, 1) * (uint64_t)cfg.run.dirs.count;

	return (unsigned)MIN(pairs, cfg.run.workers);
}

/* The directory that the source of WORKER lies in or, with --from, the file. */
static const char *source_place(unsigned worker)
{
	return cfg.from.count ? cfg.from.at[worker % cfg.from.count]
			      : run_dir(&cfg.run, worker);
}

static int look_at(const char *dir, struct medium *m)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;

	if (fd < 0)
		return failed("open directory %s", dir);
	ret = medium_of(fd, m);
	close(fd);
	return ret;
}

/* What was told of is not told again: of a filesystem, or of two between which is copied. */
struct told {
	unsigned count;
	struct {
		dev_t from, to;
	} of[];
};

/* With room for MOST; NULL after saying so. */
static struct told *told_new(unsigned most)
{
	struct told *told = calloc(1, sizeof(*told) + most * sizeof(told->of[0]));

	if (!told)
		failed("memory for %u filesystems", most);
	return told;
}

static bool tell_first(struct told *told, dev_t from, dev_t to)
{
	for (unsigned i = 0; i < told->count; i++)
		if (told->of[i].from == from && told->of[i].to == to)
			return false;
	told->of[told->count].from = from;
	told->of[told->count].to = to;
	told->count++;
	return true;
}

static int tell_target(struct report *r, struct told *told, unsigned worker)
{
	static struct medium m;
	const char *dir = target_dir(worker);
	int ret = look_at(dir, &m);

	if (ret || !tell_first(told, m.st_dev, m.st_dev))
		return ret;
	if (cfg.direct && !strcmp(m.type, "btrfs") && !strstr(m.options, "nodatasum") &&
	    !strstr(m.options, "nodatacow"))
		run_warning(r,
			    "%s is on btrfs, which buffers O_DIRECT writes of what has "
			    "checksums (--mount-options nodatasum has none)",
			    dir);
	if (cfg.direct && m.tmpfs)
		run_warning(r, "%s is in memory (%s): O_DIRECT changes nothing there",
			    dir, m.type);
	if (m.tmpfs && !cfg.run.allow_tmpfs)
		run_warning(r,
			    "%s is in memory (%s): what is copied goes to no disk there, "
			    "and a flush does nothing (another directory, or "
			    "--allow-tmpfs to have it so)",
			    dir, m.type);
	run_tell_medium(&cfg.run, r, dir, &m);
	return 0;
}

/* What is mounted over a file of --from may hide it: it is open. */
static int tell_source(struct report *r, struct told *told, unsigned worker)
{
	static struct medium m;
	const char *place = source_place(worker);
	int ret = cfg.from.count ? medium_of(source_fd(worker), &m) : look_at(place, &m);

	if (!ret && tell_first(told, m.st_dev, m.st_dev))
		run_tell_medium(&cfg.run, r, place, &m);
	return ret;
}

int media_check(struct report *r)
{
	unsigned pairs = distinct_pairs();
	struct told *told = told_new(2 * pairs);
	int ret = 0;

	if (!told)
		return -ENOMEM;
	/* Targets first: of these there is more to be said. */
	for (unsigned i = 0; i < pairs && !ret; i++)
		ret = tell_target(r, told, i);
	for (unsigned i = 0; i < pairs && !ret; i++)
		ret = tell_source(r, told, i);
	free(told);
	return ret;
}

/* "xfs on /dev/loop0 (/var/tmp), image in memory"; malloc'ed, NULL without memory. */
static char *medium_text(const struct medium *m, const char *place)
{
	char image[FS_IMAGE_TEXT_LEN], *text;

	fs_image_text(run_made(&cfg.run, m), image);
	return asprintf(&text, "%s on %s (%s)%s", m->type[0] ? m->type : "?",
			m->device[0] ? m->device : "?", place, image) < 0
		       ? NULL
		       : text;
}

/* One line for both where they lie on the same. */
static int print_pair(const struct medium *from, const struct medium *to, unsigned worker)
{
	char *from_text = medium_text(from, source_place(worker)),
	     *to_text = medium_text(to, target_dir(worker));
	int ret;

	if (!from_text || !to_text)
		ret = failed("memory for a line");
	else if (from->st_dev == to->st_dev)
		ret = print_line("medium: %s", to_text);
	else
		ret = print_line("medium: from %s to %s", from_text, to_text);
	free(from_text);
	free(to_text);
	return ret;
}

int media_print(void)
{
	static struct medium from, to;
	unsigned pairs = distinct_pairs();
	struct told *told = told_new(pairs);
	int ret = 0;

	if (!told)
		return -ENOMEM;
	for (unsigned i = 0; i < pairs && !ret; i++) {
		ret = medium_of(pair_of(i)->from, &from);
		if (!ret)
			ret = medium_of(pair_of(i)->to, &to);
		if (!ret && tell_first(told, from.st_dev, to.st_dev))
			ret = print_pair(&from, &to, i);
	}
	free(told);
	return ret;
}
