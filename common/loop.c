// SPDX-License-Identifier: GPL-2.0-or-later
/* loop - a loop device that is gone when its last user is. */
#include "common/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Others may take the device that we were told is free, so often in a row only if something is
 * wrong. */
enum { ATTEMPTS = 500, PAUSE_MS = 10 };

static int open_failed(const char *path)
{
	switch (errno) {
	case EPERM:
	case EACCES:
		return unsupported("%s may not be opened here: loop devices need root "
				   "(CAP_SYS_ADMIN), and a container must be given them",
				   path);
	case ENOENT:
	case ENODEV:
		return unsupported(
			"there is no %s: no loop devices here (modprobe loop), or a "
			"container that was not given them",
			path);
	default:
		return failed("open %s", path);
	}
}

/* The image, the flags and the hand-over at the last close are set in one step: no moment is
 * left at which our death would leave a device behind. */
static int configure(int loop, int image)
{
	struct loop_config config = {
		.fd = (uint32_t)image,
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
	};

	if (!ioctl(loop, LOOP_CONFIGURE, &config))
		return 0;
	if (errno != EINVAL)
		return -errno;
	config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
	return ioctl(loop, LOOP_CONFIGURE, &config) ? -errno : 0;
}

/* -EBUSY in silence: somebody else was faster. */
static int take_free(int control, int image, char name[static LOOP_NAME_LEN])
{
	int number = ioctl(control, LOOP_CTL_GET_FREE), loop, ret;

	if (number < 0)
		return failed("find a free loop device");
	snprintf(name, LOOP_NAME_LEN, "/dev/loop%d", number);
	loop = open(name, O_RDWR | O_CLOEXEC);
	if (loop < 0 && (errno == ENXIO || errno == EBUSY))
		return -EBUSY;
	if (loop < 0)
		return open_failed(name);
	ret = configure(loop, image);
	if (!ret)
		return loop;
	close(loop);
	if (ret == -EBUSY)
		return ret;
	if (ret == -EINVAL || ret == -ENOTTY)
		return unsupported(
			"%s: this kernel cannot set up a loop device in one step, "
			"as Linux 5.8 can",
			name);
	errno = -ret;
	return failed("put %s before an image", name);
}

int loop_attach(int image, char name[static LOOP_NAME_LEN])
{
	static const struct timespec pause = { .tv_nsec = PAUSE_MS * ns_per_ms };
	const char *control_name = "/dev/loop-control";
	int control = open(control_name, O_RDWR | O_CLOEXEC), loop = -EBUSY;

	if (control < 0)
		return open_failed(control_name);
	for (unsigned i = 0; i < ATTEMPTS && loop == -EBUSY; i++) {
		if (i)
			nanosleep(&pause, NULL);
		loop = take_free(control, image, name);
	}
	close(control);
	if (loop != -EBUSY)
		return loop;
	errno = EBUSY;
	return failed("find a free loop device, %d times", ATTEMPTS);
}

bool loop_is_direct(int loop)
{
	struct loop_info64 info;

	return !ioctl(loop, LOOP_GET_STATUS64, &info) &&
	       info.lo_flags & LO_FLAGS_DIRECT_IO;
}
