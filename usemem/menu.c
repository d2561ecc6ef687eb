// SPDX-License-Identifier: GPL-2.0-or-later
/* menu - asks after each unit what to do with it. */
#include "common/clock.h"
#include "usemem/task.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { GROWTH = 10, LOOK_MS = 100 };

static int unlock(struct task *task, uint64_t unit)
{
	return munlock(task->units[unit], mapped_bytes(task, unit)) ? failed("munlock")
								    : 0;
}

static int grow(struct task *task, uint64_t unit)
{
	uint64_t bytes = mapped_bytes(task, unit);
	int ret;

	if (cfg.backing.source->heap)
		return broken("mremap: expected a mapping, not memory from malloc()");
	/* It may move, and the other threads would not know. */
	if (cfg.shared && cfg.run.threads > 1)
		return broken("mremap: expected memory that no other threads use");
	ret = region_grow(&cfg.backing, bytes, bytes * GROWTH, &task->units[unit]);
	if (!ret)
		task->mapped[unit] = bytes * GROWTH;
	return ret;
}

static int do_all(struct task *task, uint64_t unit)
{
	int ret = lock_unit(task, unit);

	if (!ret)
		ret = unlock(task, unit);
	return ret ?: grow(task, unit);
}

static const struct key {
	char key;
	bool goes_on;
	int (*act)(struct task *task, uint64_t unit); /* NULL: nothing */
} keys[] = {
	{ 'l', false, lock_unit }, { 'u', false, unlock }, { 'r', false, grow },
	{ 'a', true, do_all },     { 'q', true, NULL },
};

static int show_menu(uint64_t unit)
{
	const char *menu =
		"l mlock, u munlock, r mremap to ten times the size, a all three "
		"and on, q on";

	if (run_prints_lines(&cfg.run))
		return print_line("process %d, unit %ju: %s", getpid(), (uintmax_t)unit,
				  menu);
	note("process %d, unit %ju: %s", getpid(), (uintmax_t)unit, menu);
	return 0;
}

/* One byte, as read(2) has it. Of several tasks that see input, one gets it: where reading can
 * wait, the others must not, for then nothing could stop them. */
static ssize_t read_byte(char *c)
{
	struct iovec to = { c, 1 };
	struct stat st;
	ssize_t n = -1;

	errno = EOPNOTSUPP;
	if (!fstat(STDIN_FILENO, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		n = preadv2(STDIN_FILENO, &to, 1, -1, RWF_NOWAIT);
	return n < 0 && errno == EOPNOTSUPP ? read(STDIN_FILENO, c, 1) : n;
}

/* The next key, NULL at the end of input or to stop. (A signal that comes just before the wait is
 * seen soon after.) */
static const struct key *read_key(const struct worker *w)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	while (!crew_stopping(w)) {
		char c;
		ssize_t n;

		if (poll(&input, 1, LOOK_MS) <= 0)
			continue;
		n = read_byte(&c);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n != 1)
			return NULL;
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (keys[i].key == c)
				return &keys[i];
	}
	return NULL;
}

int ask_menu(struct worker *w, uint64_t unit)
{
	uint64_t began_ns = now_ns();
	bool over = !keep_going(w);
	const struct key *key;
	int ret;

	do {
		ret = show_menu(unit);
		key = ret ? NULL : read_key(w);
		if (key && key->act)
			ret = key->act(w->data, unit);
	} while (!ret && key && !key->goes_on);
	w->tally->paused_ns += now_ns() - began_ns;
	/* What is left of the run time begins to run again. */
	if (!ret && !over && !crew_stopping(w))
		ret = phase_begin(w, w->tally->began_ns + w->tally->paused_ns);
	return ret;
}
