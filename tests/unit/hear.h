/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hear - what is written on a descriptor of this process, and in how many writes. */
#ifndef TESTS_UNIT_HEAR_H
#define TESTS_UNIT_HEAR_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A datagram is a write. The socket has room for a few of them only. */
struct heard {
	int fd, kept, ear;
	unsigned writes;
	size_t len;
	char text[16 * 1024];
};

static inline void hear_begin(struct heard *h, int fd)
{
	int ends[2];

	fflush(stdout);
	h->fd = fd;
	h->kept = dup(fd);
	if (h->kept < 0 || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) ||
	    dup2(ends[1], fd) < 0)
		abort();
	close(ends[1]);
	h->ear = ends[0];
}

/* Put the descriptor back, and fill in the rest of H. */
static inline void hear_end(struct heard *h)
{
	ssize_t n;

	h->writes = 0;
	h->len = 0;
	dup2(h->kept, h->fd);
	close(h->kept);
	while ((n = recv(h->ear, h->text + h->len, sizeof(h->text) - 1 - h->len,
			 MSG_DONTWAIT)) > 0) {
		h->writes++;
		h->len += (size_t)n;
	}
	close(h->ear);
	h->text[h->len] = '\0';
}

#endif
