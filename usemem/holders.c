// SPDX-License-Identifier: GPL-2.0-or-later
/* holders - the processes that detach, and the file of their pids. */
#include "usemem/usemem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	int fd;
	off_t old_bytes; /* of the file; -1: no regular file */
	pid_t *pids;     /* of all repetitions */
	size_t count;
} holders = { .fd = -1 };

int holders_open(void)
{
	struct stat st;

	if (!cfg.detach || !cfg.pid_file || holders.fd >= 0)
		return 0;
	holders.fd = open(cfg.pid_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (holders.fd < 0)
		return failed("open %s", cfg.pid_file);
	holders.old_bytes = -1;
	if (!fstat(holders.fd, &st) && S_ISREG(st.st_mode))
		holders.old_bytes = st.st_size;
	return 0;
}

static int write_pids(const pid_t *pids, unsigned count)
{
	size_t room = count * sizeof("-2147483648"), len = 0;
	char *text = malloc(room);
	int ret;

	if (!text)
		return failed("memory for %u pids", count);
	for (unsigned i = 0; i < count; i++)
		len += (size_t)snprintf(text + len, room - len, "%d\n", pids[i]);
	ret = write_all(holders.fd, text, len);
	free(text);
	errno = -ret;
	return ret ? failed("write %s", cfg.pid_file) : 0;
}

int holders_leave(const pid_t *pids, unsigned count)
{
	pid_t *all = realloc(holders.pids, (holders.count + count) * sizeof(*all));

	if (!all)
		return failed("memory for %u pids", count);
	memcpy(all + holders.count, pids, count * sizeof(*all));
	holders.pids = all;
	holders.count += count;
	return holders.fd >= 0 ? write_pids(pids, count) : 0;
}

void holders_end(void)
{
	/* Only while it is a child of this process, a pid is sure to be its own. */
	for (size_t i = 0; i < holders.count; i++)
		if (!waitpid(holders.pids[i], NULL, WNOHANG))
			kill(holders.pids[i], SIGKILL);
	if (holders.count && holders.old_bytes >= 0 &&
	    ftruncate(holders.fd, holders.old_bytes))
		note("%s may end in pids of processes that are gone", cfg.pid_file);
}
