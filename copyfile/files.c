// SPDX-License-Identifier: GPL-2.0-or-later
/* files - the sources and targets of copyfile: made or opened, and made as new. */
#include "common/scratch.h"
#include "copyfile/copyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Atomic bool *one_said;

/* More sources than this are synced as a whole. */
enum { MANY = 16 };

static struct pair *pairs; /* of each worker; NULL: not yet opened */
static struct source {
	int fd;
	uint64_t bytes;
} * sources; /* of --from */

const struct pair *pair_of(unsigned worker)
{
	return &pairs[worker];
}

/* Of each worker; several may have the same. */
static unsigned source_of(unsigned worker)
{
	return worker % cfg.from.count;
}

uint64_t source_bytes(unsigned worker)
{
	return cfg.from.count ? sources[source_of(worker)].bytes : cfg.size_bytes;
}

int source_fd(unsigned worker)
{
	return cfg.from.count ? sources[source_of(worker)].fd : -1;
}

const char *target_dir(unsigned worker)
{
	return cfg.to ?: run_dir(&cfg.run, worker);
}

static int look_at(struct source *source, const char *path)
{
	struct stat st;

	/* O_NONBLOCK: a pipe shall be found out, not waited for. */
	source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (source->fd < 0 || fstat(source->fd, &st))
		return failed("open %s", path);
	if (!S_ISREG(st.st_mode))
		return refused("--from %s: expected a regular file", path);
	source->bytes = (uint64_t)st.st_size;
	return 0;
}

int sources_look(void)
{
	int ret = 0;

	limits_raise_open_files();
	if (!cfg.from.count)
		return 0;
	sources = calloc(cfg.from.count, sizeof(*sources));
	if (!sources)
		return failed("memory for %u files", cfg.from.count);
	cfg.size_bytes = 0;
	for (unsigned i = 0; i < cfg.from.count && !ret; i++) {
		ret = look_at(&sources[i], cfg.from.at[i]);
		cfg.size_bytes = MAX(cfg.size_bytes, sources[i].bytes);
	}
	return ret;
}

/* A block at a time, with stamps of worker WORKER before its first operation: what is written at once
 * is mostly one folio, and in a larger one each refill would take longer. */
static int write_source(const struct pair *pair, unsigned worker)
{
	const uint64_t most = MIN(MAX(cfg.block_bytes, 4 * KiB), MiB);
	char *piece = malloc(most);
	int ret = 0;

	if (!piece)
		return failed("memory to write %s", pair->from_name);
	block_prepare(piece, most);
	for (uint64_t at = 0; at < pair->size_bytes && !ret; at += most) {
		uint64_t len = MIN(most, pair->size_bytes - at);

		block_stamp(piece, len, worker, 0, at);
		ret = stop_is_pending() ? -EINTR : write_all(pair->from, piece, len);
	}
	free(piece);
	errno = -ret;
	return ret && ret != -EINTR ? failed("write the %ju bytes of %s",
					     (uintmax_t)pair->size_bytes, pair->from_name)
				    : ret;
}

/* malloc'ed; NULL after saying so. */
static const char *name_file(const char *what, unsigned worker, const char *dir)
{
	char *name;

	if (asprintf(&name, "%s %u in %s", what, worker, dir) >= 0)
		return name;
	failed("memory for the name of a file");
	return NULL;
}

static int make_source(struct pair *pair, unsigned worker)
{
	const char *dir = run_dir(&cfg.run, worker);

	pair->from_name = name_file("source", worker, dir);
	if (!pair->from_name)
		return -ENOMEM;
	pair->size_bytes = cfg.size_bytes;
	pair->from = scratch_file_as(pair->from_name, dir,
				     cfg.source_written ? 0 : cfg.size_bytes,
				     SCRATCH_HOLE);
	if (pair->from < 0)
		return pair->from;
	if (!cfg.source_written)
		return 0;
	run_live_line(&cfg.run, "writing source %u of %u", worker + 1, cfg.run.workers);
	return write_source(pair, worker);
}

static int open_source(struct pair *pair, unsigned worker)
{
	const struct source *source;

	if (!cfg.from.count)
		return make_source(pair, worker);
	source = &sources[source_of(worker)];
	pair->from = source->fd;
	pair->size_bytes = source->bytes;
	pair->from_name = cfg.from.at[source_of(worker)];
	return 0;
}

static int open_pair(struct pair *pair, unsigned worker)
{
	int ret = open_source(pair, worker);

	if (ret)
		return ret;
	pair->to_dir = target_dir(worker);
	pair->to_name = name_file("target", worker, pair->to_dir);
	if (!pair->to_name)
		return -ENOMEM;
	pair->to = scratch_file_as(pair->to_name, pair->to_dir, 0, SCRATCH_HOLE);
	return MIN(pair->to, 0);
}

static int open_all(void)
{
	int ret = 0;

	pairs = calloc(cfg.run.workers, sizeof(*pairs));
	one_said = mmap(NULL, sizeof(*one_said), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!pairs || one_said == MAP_FAILED)
		return failed("memory for %u files", cfg.run.workers);
	for (unsigned i = 0; i < cfg.run.workers; i++)
		pairs[i].to = -1;
	for (unsigned i = 0; i < cfg.run.workers && !ret; i++)
		ret = open_pair(&pairs[i], i);
	run_live_line(&cfg.run, NULL);
	return ret;
}

/* The data of a source. In pieces: a signal ends this between two of them. */
static int write_out(const struct pair *pair, unsigned how)
{
	const uint64_t piece = 64 * MiB;

	for (uint64_t at = 0; at < pair->size_bytes;) {
		if (stop_is_pending())
			return -EINTR;
		if (!sync_file_range(pair->from, (off_t)at, (off_t)piece, how))
			at += piece;
		else if (errno != EINTR)
			return failed("write out %s", pair->from_name);
	}
	return 0;
}

/* What the filesystem has to know of the sources besides: of many by one call for each directory, since
 * a call for each file would flush the device as often; of few by calls that do not wait for what others
 * have written there. */
static int sync_sources(void)
{
	bool many = cfg.run.workers > MANY;
	unsigned calls = many ? distinct_pairs() : cfg.run.workers;

	for (unsigned i = 0; i < calls;) {
		if (stop_is_pending())
			return -EINTR;
		if (!(many ? syncfs(pairs[i].from) : fdatasync(pairs[i].from)))
			i++;
		else if (errno != EINTR)
			return failed("write out %s%s", pairs[i].from_name,
				      many ? ", and the others there" : "");
	}
	return 0;
}

/* Nothing shall be flushed beside what is copied. All are begun before one is waited for: so the device
 * has them in its own order. */
static int write_out_all(void)
{
	const unsigned begin = SYNC_FILE_RANGE_WRITE, end = SYNC_FILE_RANGE_WAIT_BEFORE |
							    SYNC_FILE_RANGE_WRITE |
							    SYNC_FILE_RANGE_WAIT_AFTER;
	int ret = 0;

	for (unsigned i = 0; i < cfg.run.workers && !ret; i++)
		ret = write_out(&pairs[i], begin);
	for (unsigned i = 0; i < cfg.run.workers && !ret; i++)
		ret = write_out(&pairs[i], end);
	return ret ?: sync_sources();
}

int files_open(void)
{
	bool dirty = !cfg.from.count && (cfg.source_written || cfg.refill);
	int ret = pairs ? 0 : open_all();

	if (dirty && !ret)
		ret = write_out_all();
	for (unsigned i = 0; i < cfg.run.workers && !ret; i++)
		ret = pair_reset(&pairs[i]);
	return ret;
}

/* Descriptors in a row. */
struct row {
	int first, end;
};

static void close_row(const struct row *row)
{
	if (row->end > row->first)
		close_range((unsigned)row->first, (unsigned)row->end - 1, 0);
}

/* FD is to be closed, with those before it if it is next to them. */
static void add_to_row(struct row *row, int fd)
{
	if (fd != row->end) {
		close_row(row);
		row->first = fd;
	}
	row->end = fd + 1;
}

void files_leave_others(unsigned worker)
{
	struct row row = { 0 };

	for (unsigned i = 0; i < cfg.run.workers; i++) {
		if (i == worker)
			continue;
		if (!cfg.from.count)
			add_to_row(&row, pairs[i].from);
		add_to_row(&row, pairs[i].to);
	}
	close_row(&row);
}

int pair_reset(const struct pair *pair)
{
	bool whole = cfg.pattern == PATTERN_RANDOM || cfg.method->maps;

	if (ftruncate(pair->to, 0) ||
	    (whole && ftruncate(pair->to, (off_t)pair->size_bytes)))
		return failed("make %s as new", pair->to_name);
	return 0;
}

/* As run_keep_file(), in the targets' directory. */
static int keep_target(const struct pair *pair, unsigned worker)
{
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "copyfile-%d-%u", getpid(), worker);
	ret = scratch_keep(pair->to, pair->to_dir, name);
	if (!ret)
		note("kept %s/%s", pair->to_dir, name);
	return ret;
}

int files_keep(void)
{
	int ret = 0;

	for (unsigned i = 0; i < cfg.run.workers && pairs && !ret; i++)
		ret = pairs[i].to < 0 ? 0 : keep_target(&pairs[i], i);
	return ret;
}
