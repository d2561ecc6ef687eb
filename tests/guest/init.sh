#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# init - the first process of a guest: mount what a job expects, run it, say its status, switch off.
export PATH=/bin HOME=/tmp
/bin/busybox --install -s /bin
mount -t devtmpfs none /dev
mount -t proc none /proc
mount -t sysfs none /sys
mount -t tmpfs none /tmp
mkdir -p /dev/shm /dev/hugepages
mount -t tmpfs none /dev/shm
mount -t hugetlbfs none /dev/hugepages 2>/dev/null
mount -t cgroup2 none /sys/fs/cgroup
for module in /modules/*; do
	insmod "$module"
done
# The kernel asks for the modules of the others itself.
if [ -d /lib/modules ]; then
	ln -s bin /sbin
	depmod
fi

# Comes from the kernel's command line.
talk=/dev/${guest_talks:?}
stty -F "$talk" raw -echo
cd /tmp || exit
# In a session of its own, so that what it leaves running gets no signal from here.
exec >"$talk" 2>&1
setsid sh /job.sh </dev/null
echo "guest status $?"
sync
poweroff -f
