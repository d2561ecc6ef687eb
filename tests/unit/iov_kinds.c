// SPDX-License-Identifier: GPL-2.0-or-later
/* iov_kinds - tests of ioviter/kinds.c and trial.c: every kind moves the right bytes both ways, from and to
 * the right places in memory, and what is wrong is found. */
#include "common/region.h"
#include "common/scratch.h"
#include "ioviter/ioviter.h"
#include "tests/check.h"
#include "tests/unit/child.h"
#include "tests/unit/short_calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* No multiple of any call: the last one of a walk is shorter. */
enum { SIZE = 400001 };

static const uint64_t calls[] = { 1, 4096, 5000, 65536, 262144 };
static const uint64_t aligns[] = { 0, 1, 63, 64 };
static const unsigned segments[] = { 1, 7, 1024 };
static int file;
static struct area area;
static char text[160]; /* names the row */

static void *zeroed(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		abort();
	return memory;
}

static void make_file(void)
{
	uint64_t *words = zeroed((SIZE / 8 + 1) * sizeof(uint64_t));

	if (!words)
		abort();
	for (uint64_t i = 0; i <= SIZE / 8; i++)
		words[i] = scratch_word(i);
	CHECK_U64("write", pwrite(file, words, SIZE, 0), SIZE);
	free(words);
}

static struct trial trial_of(const struct kind *k, bool write, uint64_t align,
			     uint64_t call, unsigned most)
{
	struct trial t = {
		.fd = file,
		.name = "FILE",
		.file_bytes = SIZE,
		.write = write,
		.memory = area.memory + align,
		.span_bytes = area.bytes - align,
		.most_segments = most,
		.page_bytes = cfg.page_bytes,
	};

	t.call_bytes = kind_call_bytes(k, &t, call);
	snprintf(text, sizeof(text), "%s %s, align %ju, calls of %ju (%ju), %u segments",
		 k->name, write ? "write" : "read", (uintmax_t)align, (uintmax_t)call,
		 (uintmax_t)t.call_bytes, most);
	return t;
}

/* Unreachable kinds are not; nor is what was not built, or is forbidden, which says so. */
static bool is_there(const struct kind *k)
{
	struct trial t = trial_of(k, false, 0, 65536, 1);
	void *state = zeroed(k->state_bytes + 1);
	int ret = k->unreachable ? -1 : k->open(state, &t);

	if (!ret && k->close)
		k->close(state);
	free(state);
	if (!k->unreachable && exit_status(ret) == 77)
		printf("skipped: %s\n", k->name);
	return ret != -1 && exit_status(ret) != 77;
}

/* The segments of a call add up, lie in the memory, and are what the kind promises. */
static void check_layout(const struct kind *k, const struct trial *t)
{
	static struct iovec iov[MOST_SEGMENTS];
	unsigned count = k->lay(t, 0, t->call_bytes, iov);
	uint64_t bytes = 0, page = t->page_bytes;

	CHECK_U64(text, count, kind_segments(k, t));
	for (unsigned i = 0; i < count; i++) {
		uintptr_t start = (uintptr_t)iov[i].iov_base;

		bytes += iov[i].iov_len;
		CHECK(start >= (uintptr_t)t->memory &&
		      start + iov[i].iov_len <= (uintptr_t)t->memory + t->span_bytes);
		if (k == &kind_iovec)
			CHECK_U64(text, start % page, (uintptr_t)t->memory % page);
		if (k == &kind_iovec && i + 1 < count)
			CHECK_U64(text, iov[i].iov_len, page);
		if (k == &kind_iovec_split && i + 1 < count)
			CHECK(iov[i].iov_len % 2 && start % page &&
			      start / page != (start + iov[i].iov_len - 1) / page);
	}
	CHECK_U64(text, bytes, t->call_bytes);
	if (k == &kind_bvec_split) {
		uintptr_t first = (uintptr_t)iov[0].iov_base;

		k->lay(t, t->call_bytes, t->call_bytes, iov);
		CHECK((first - (uintptr_t)t->memory) % 2 &&
		      ((uintptr_t)iov[0].iov_base - (uintptr_t)t->memory) % 2 &&
		      (uintptr_t)iov[0].iov_base != first);
	}
}

/* Bytes of the call's memory, in order. */
static void gather(const struct kind *k, const struct trial *t, const struct span *block,
		   char *data, bool out)
{
	static struct iovec iov[MOST_SEGMENTS];
	unsigned count = k->lay(t, block->at, block->len, iov);

	for (unsigned i = 0; i < count; i++) {
		memcpy(out ? data : iov[i].iov_base, out ? iov[i].iov_base : data,
		       iov[i].iov_len);
		data += iov[i].iov_len;
	}
}

/* All bits of DATA, turned, to TO. */
static void turn(char *to, const char *data, uint64_t len)
{
	for (uint64_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t bytes = MIN(sizeof(uint64_t), len - i), word = 0;

		memcpy(&word, data + i, bytes);
		word = ~word;
		memcpy(to + i, &word, bytes);
	}
}

/* Call by call through the whole file; what is in it stays what it is, but for a write, which turns all
 * bits. */
static void check_walk(const struct kind *k, const struct trial *t, void *state)
{
	struct cursor c = cursor_begin(SIZE, t->call_bytes, ORDER_SEQ, 0), look;
	char *memory = zeroed(t->call_bytes), *data = zeroed(t->call_bytes);
	uint64_t bytes = 0, wrong = 0;
	struct span b;

	if (!memory || !data)
		abort();
	while (look = c, cursor_next(&look, &b)) {
		bool on = shorten.on;

		shorten.on = false;
		CHECK_U64(text, pread(t->fd, data, b.len, (off_t)b.at), b.len);
		memset(memory, 0xee, b.len);
		if (t->write)
			turn(memory, data, b.len);
		gather(k, t, &b, memory, false);
		c.end = c.next + 1;
		shorten.on = on;
		bytes += (uint64_t)k->pump(state, &c);
		shorten.on = false;
		c.end = look.end;
		if (t->write)
			CHECK_U64(text, pread(t->fd, data, b.len, (off_t)b.at), b.len);
		gather(k, t, &b, memory, true);
		wrong += memcmp(memory, data, b.len) != 0;
		shorten.on = on;
	}
	CHECK_U64(text, k->pump(state, &c), 0);
	CHECK_U64(text, bytes, SIZE);
	CHECK_U64(text, wrong, 0);
	free(memory);
	free(data);
}

static void check_trial(const struct kind *k, const struct trial *t, bool meddle)
{
	void *state = zeroed(k->state_bytes);
	int ret = k->open(state, t);

	CHECK_U64(text, ret, 0);
	if (!ret) {
		shorten = (struct shorten){ .on = meddle, .unit = 1 };
		check_walk(k, t, state);
		shorten.on = false;
		/* The program's own look agrees. */
		CHECK_U64(text, trial_verify(t, k, state), 0);
		if (k->close)
			k->close(state);
	}
	free(state);
}

static void check_kind(const struct kind *k)
{
	for (size_t c = 0; c < ARRAY_SIZE(calls); c++)
		for (size_t a = 0; a < ARRAY_SIZE(aligns); a++)
			for (size_t s = 0; s < ARRAY_SIZE(segments); s++)
				for (int way = 0; way < 2; way++) {
					struct trial t = trial_of(k, way, aligns[a],
								  calls[c], segments[s]);

					/* A byte at a time is a walk without end. */
					if (t.call_bytes < 4000)
						continue;
					check_layout(k, &t);
					check_trial(k, &t, false);
					check_trial(k, &t, !k->rings && calls[c] > 5000);
				}
}

/* Segments that lie over each other: the file still gets, and memory has in the end, what is right. */
static void check_small(const struct kind *k)
{
	for (int way = 0; way < 2; way++) {
		struct trial t = trial_of(k, way, 1, 262144, 1024);
		void *state = zeroed(k->state_bytes);

		t.span_bytes = 16 * cfg.page_bytes;
		CHECK_U64(text, k->open(state, &t), 0);
		CHECK_U64(text, trial_verify(&t, k, state), 0);
		free(state);
	}
}

/* What other calls have memory for is not registered with io_uring: a buffer has a limit, and all of them
 * are locked. */
static void check_registered(const struct kind *k)
{
	struct trial t = trial_of(k, false, 0, 65536, 1);
	void *state = zeroed(k->state_bytes);
	int ret;

	t.span_bytes = GiB + MiB;
	t.memory = mmap(NULL, t.span_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(t.memory != MAP_FAILED);
	ret = k->open(state, &t);
	CHECK_U64(text, ret, 0);
	if (!ret) {
		CHECK_U64(text, trial_verify(&t, k, state), 0);
		k->close(state);
	}
	munmap(t.memory, t.span_bytes);
	free(state);
}

/* Whose pipes have taken all that a user's may gets small ones: a call moves what they hold. */
static int pipe_is_small(const void *arg)
{
	struct trial t = *(const struct trial *)arg;
	int ends[2], ret = setuid(60000 + (uid_t)(getpid() % 5000));
	bool limited = false;
	void *state;

	/* Not root: then it is our own limit. */
	if (ret && !geteuid())
		return 3;
	for (int i = 0; i < 200 && !limited; i++)
		limited = !pipe(ends) && fcntl(ends[1], F_SETPIPE_SZ, MiB) < 0;
	if (!limited)
		return 77;
	t.call_bytes = kind_call_bytes(&kind_pipe, &t, GiB);
	if (t.call_bytes >= MiB)
		return 1;
	state = zeroed(kind_pipe.state_bytes);
	ret = kind_pipe.open(state, &t) ?: trial_verify(&t, &kind_pipe, state);
	free(state);
	return exit_status(ret);
}

static void check_small_pipe(void)
{
	struct trial t = trial_of(&kind_pipe, false, 0, 65536, 1);
	static struct child c;

	child_run(&c, pipe_is_small, &t);
	if (c.status == 77)
		printf("skipped: the pipes of a user have no limit here\n");
	else
		CHECK_U64("a small pipe", c.status, 0);
}

/* A kind that moves a wrong byte, at the end of the third call. */
static unsigned flip_calls;
static const struct trial *flip_trial;

static void flip_in_file(uint64_t at)
{
	char byte;

	CHECK_U64("read", pread(file, &byte, 1, (off_t)at), 1);
	byte ^= 1;
	CHECK_U64("write", pwrite(file, &byte, 1, (off_t)at), 1);
}

static ssize_t flip_pump(void *state, struct cursor *c)
{
	struct cursor look = *c;
	struct span b;
	ssize_t n;

	if (!cursor_next(&look, &b))
		return 0;
	n = kind_ubuf.pump(state, c);
	if (++flip_calls != 3 || n <= 0)
		return n;
	if (flip_trial->write)
		flip_in_file(b.at + b.len - 1);
	else
		flip_trial->memory[b.len - 1] ^= 1;
	return n;
}

/* One that moves nothing, and says that all is well. */
static ssize_t idle_pump(void *state, struct cursor *c)
{
	struct span b;

	(void)state;
	return cursor_next(c, &b) ? (ssize_t)b.len : 0;
}

static int verify_idle(const void *arg)
{
	const struct trial *t = arg;
	struct kind idle = kind_ubuf;
	void *state = zeroed(kind_ubuf.state_bytes);
	int ret;

	/* What an honest one has left, in the file and in memory, passes for nothing. */
	ret = kind_ubuf.open(state, t) ?: trial_verify(t, &kind_ubuf, state);
	if (ret)
		return 100;
	idle.pump = idle_pump;
	return exit_status(trial_verify(t, &idle, state));
}

static int verify_flipped(const void *arg)
{
	const struct trial *t = arg;
	struct kind flips = kind_ubuf;
	void *state = zeroed(kind_ubuf.state_bytes);

	flip_trial = t;
	flips.name = "flips";
	flips.pump = flip_pump;
	return kind_ubuf.open(state, t) ?: exit_status(trial_verify(t, &flips, state));
}

static void check_found(void)
{
	for (int way = 0; way < 2; way++) {
		struct trial t = trial_of(&kind_ubuf, way, 63, 65536, 1);
		static struct child c;

		child_run(&c, verify_flipped, &t);
		CHECK_U64(text, c.status, 1);
		CHECK(strstr(c.err,
			     way ? "flips, write, memory at byte 63 of a page: wrong "
				   "data at offset 196607 of FILE"
				 : "flips, read, memory at byte 63 of a page: wrong "
				   "data at offset 196607 of FILE"));
		make_file();
		for (uint64_t call = 4096; call <= 262144; call *= 64) {
			t = trial_of(&kind_ubuf, way, 0, call, 1);
			t.file_bytes = call; /* one call is all of it */
			child_run(&c, verify_idle, &t);
			CHECK_U64(text, c.status, 1);
		}
		make_file();
	}
}

/* A file that is cut meanwhile, and a call that fails: said, with the offset. */
static int walk(const void *arg)
{
	const struct trial *t = arg;
	const struct kind *k = kind_find(t->name);
	struct cursor c = cursor_begin(SIZE, t->call_bytes, ORDER_SEQ, 0);
	void *state = zeroed(k->state_bytes);
	int ret = k->open(state, t);
	ssize_t n = 1;

	if (ret)
		return exit_status(ret);
	shorten = (struct shorten){ .on = t->write, .error_at = 3, .error = EIO };
	while (n > 0)
		n = k->pump(state, &c);
	return exit_status((int)n);
}

static void check_trouble(const struct kind *k)
{
	static struct child c;
	struct trial t = trial_of(k, false, 0, 65536, 1024);

	t.name = k->name;
	CHECK(!ftruncate(file, 100000));
	child_run(&c, walk, &t);
	CHECK_U64(text, c.status, 1);
	CHECK(strstr(c.err, "at offset 100000 of ") &&
	      strstr(c.err, "0 bytes, and no more"));
	make_file();
	if (k->rings)
		return;
	t.write = true;
	child_run(&c, walk, &t);
	CHECK_U64(text, c.status, 1);
	CHECK(strstr(c.err, "Input/output error"));
}

static void check_table(void)
{
	static const char *const names[] = { "ubuf", "iovec",      "iovec_split",
					     "bvec", "bvec_split", "pipe",
					     "kvec", "xarray",     "folioq" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && kinds[i]; i++) {
		CHECK_TEXT("kind", kinds[i]->name, names[i]);
		CHECK(!kinds[i]->help == !!kinds[i]->unreachable);
		CHECK(kind_find(names[i]) == kinds[i]);
	}
	CHECK_U64("kinds", i, ARRAY_SIZE(names));
	CHECK(!kinds[i] && !kind_find("none"));
}

int main(void)
{
	base_init();
	cfg.page_bytes = base_page_bytes();
	file = memfd_create("iov_kinds", MFD_CLOEXEC);
	CHECK(file >= 0);
	make_file();
	CHECK_U64("area", area_open(&area, PAGES_BASE, 262144 + 65536), 0);
	check_table();
	for (size_t i = 0; kinds[i]; i++) {
		if (!is_there(kinds[i]))
			continue;
		check_kind(kinds[i]);
		check_trouble(kinds[i]);
		if (kinds[i]->segment_bytes)
			check_small(kinds[i]);
		if (kinds[i]->rings)
			check_registered(kinds[i]);
	}
	check_small_pipe();
	check_found();
	return check_result();
}
