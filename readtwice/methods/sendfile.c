// SPDX-License-Identifier: GPL-2.0-or-later
/* sendfile - sendfile(2) from the file into /dev/null. */
#include "readtwice/methods.h"
#include "readtwice/methods/buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

struct state {
	struct buffer buffer; /* the first: so buffer_pump() has it */
	int to; /* /dev/null; if somebody looks at the data, a file in memory */
};

static void sendfile_close(void *state)
{
	struct state *s = state;

	close(s->to);
	buffer_close(state);
}

static int sendfile_open(void *state, const struct target *t)
{
	struct state *s = state;
	int ret;

	s->to = t->check ? memfd_create("readtwice", MFD_CLOEXEC)
			 : open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (s->to < 0)
		return failed(t->check ? "memfd_create" : "open /dev/null");
	ret = buffer_open(state, t);
	if (ret)
		close(s->to);
	return ret;
}

/* Back from the file in memory. */
static ssize_t fetch(const struct state *s, char *to, size_t n)
{
	return lseek(s->to, 0, SEEK_SET) ? -1 : pread(s->to, to, n, 0);
}

static ssize_t sendfile_once(struct buffer *b, char *to, size_t len, uint64_t at)
{
	struct state *s = (struct state *)b;
	off_t from = (off_t)at;
	ssize_t n = sendfile(s->to, b->target->fd, &from, len);

	if (n > 0 && unlikely(b->target->check))
		n = fetch(s, to, (size_t)n);
	return n;
}

static ssize_t sendfile_pump(void *state, struct cursor *c)
{
	return buffer_pump(state, c, sendfile_once, "sendfile");
}

const struct method method_sendfile = {
	.name = "sendfile",
	.help = "sendfile(2) of a block into /dev/null: nothing is copied",
	.state_bytes = sizeof(struct state),
	.open = sendfile_open,
	.pump = sendfile_pump,
	.close = sendfile_close,
};
