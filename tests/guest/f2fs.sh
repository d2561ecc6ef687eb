#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# f2fs - checks of scratch filesystems, f2fs among them, and of what lacks for them; see run.sh.
# shellcheck disable=SC1091
. /checks.sh

f2fs="--dir /tmp/d --fs f2fs --fs-size 256m"

# expect_77 NAME PATTERN [PREFIX]: all three programs say so.
expect_77()
{
	lack=$1 said=$2
	shift 2
	# shellcheck disable=SC2086
	{
		expect "readtwice: $lack" 77 "^readtwice: $said" "$@" /bin/readtwice $f2fs -n 1 -s 8m
		expect "msync: $lack" 77 "^msync: $said" "$@" /bin/msync $f2fs -s 1m -r 1
		expect "usemem: $lack" 77 "^usemem: $said" "$@" /bin/usemem $f2fs -f data -S 1m
	}
}

# shellcheck disable=SC2317 # expect calls it
as_nobody()
{
	program=$1
	shift
	start-stop-daemon -S -c 1000:1000 -x "$program" -- "$@"
}

check_guest()
{
	mkdir /tmp/d /etc
	echo nobody:x:1000:1000::/tmp:/bin/sh >/etc/passwd
	same "no loop device is there" "" "$(ls /dev/loop* 2>/dev/null)"
}

# Before any module is loaded: each lack is the first that is met.
check_lacks()
{
	mkdir /tmp/away
	mv /bin/mkfs.f2fs /tmp/away
	expect_77 "no mkfs.f2fs" "mkfs.f2fs is not installed: package f2fs-tools$"
	mv /tmp/away/mkfs.f2fs /bin
	mv /lib/modules /tmp/away
	expect_77 "no f2fs in the kernel" "this kernel has no f2fs$"
	mv /tmp/away/modules /lib
	expect_77 "no loop devices" "there is no /dev/loop-control: no loop devices here"
	expect_77 "nobody" "mounting needs root .CAP_SYS_ADMIN.$" as_nobody
	expect_77 "root of a user namespace" "mounting needs root .CAP_SYS_ADMIN., not that of a user namespace$" unshare -r
	expect "nobody has tmpfs" 0 "^data: holes on tmpfs .tmpfs." as_nobody /bin/readtwice --dir /tmp/d --fs tmpfs --allow-tmpfs -n 1 -s 1m
	modprobe loop || fail "modprobe loop" "status $?"
}

check_sizes()
{
	expect "f2fs of its smallest size" 0 "^verified 1048576 bytes" msync --dir /tmp/d --fs f2fs --fs-size 64m -s 1m -r 1 --verify
	expect "f2fs that is too small" 2 "--fs-size 63m: f2fs needs at least 64m$" msync --dir /tmp/d --fs f2fs --fs-size 63m
	expect "f2fs of a size that is left out" 0 "^medium: f2fs on /dev/loop0" msync --dir /tmp/d --fs f2fs -s 1m -r 1
	expect "f2fs in memory" 0 "^    \"image_on\": \"tmpfs\",$" msync --dir /tmp/d --fs f2fs,noatime --fs-on tmpfs -s 1m -r 1 --json
	same "its options are told" 1 "$(grep -c '^    "options": "rw,noatime,.*[,"]background_gc=' /tmp/said)"
	expect "a written file that f2fs has no room for" 2 "--fill written: 128 MiB of files in /tmp/d, where .* are free" \
		readtwice --dir /tmp/d --fs f2fs --fs-size 64m -n 1 -s 128m --fill written
	expect "it is written all the same" 1 "No space left on device" \
		readtwice --dir /tmp/d --fs f2fs --fs-size 64m -n 1 -s 128m --fill written --force
	expect "a mapped one" 1 "no space left|No space left" \
		usemem --dir /tmp/d --fs f2fs --fs-size 64m -f data 128m
	nothing_left "a full f2fs" f2fs
	expect "mkfs.f2fs that refuses its options" 1 "^readtwice: mkfs.f2fs failed with exit status" \
		readtwice --dir /tmp/d --fs f2fs --fs-size 64m --mkfs-options "-O nonsense" -n 1 -s 1m
	nothing_left "a failed mkfs.f2fs" f2fs
}

check_device()
{
	used="/dev/loop7 --dir /tmp/d -s 1m -r 1 --verify"
	truncate -s 419430400 /tmp/image
	losetup /dev/loop7 /tmp/image || fail "losetup" "status $?"
	# shellcheck disable=SC2086
	{
		for type in f2fs ext4 btrfs xfs f2fs f2fs; do
			expect "$type over what an earlier run left" 0 "^medium: $type on /dev/loop7 ./tmp/d.$" msync --wipe --fs $type --fs-on $used
		done
		expect "a device without --wipe" 2 "what it holds would be lost" msync --fs f2fs --fs-on $used
		mount -t f2fs /dev/loop7 /mnt || fail "mount f2fs" "status $?"
		expect "a device that is mounted" 2 "/dev/loop7 is mounted on /mnt$" msync --wipe --fs f2fs --fs-on $used
		umount /mnt
		for label in page pagemill2 ""; do
			mkfs.f2fs -q -f -l "$label" /dev/loop7 >/dev/null 2>&1 || fail "mkfs.f2fs" "status $?"
			expect "f2fs with the label '$label'" 2 "holds a filesystem .f2fs. that is not labelled" msync --wipe --fs f2fs --fs-on $used
		done
	}
	losetup -d /dev/loop7
	rm /tmp/image
	nothing_left "what was made on a device" f2fs
}

# It is memory, though it has a name of its own.
check_rootfs()
{
	mkdir /data
	expect "readtwice on the initramfs" 2 "where a hole that is read leaves nothing in the page cache" readtwice --dir /data -n 1 -s 1m
	expect "readtwice on the initramfs, allowed" 0 "^data: holes on rootfs" readtwice --dir /data -n 1 -s 1m --allow-tmpfs
	expect "msync on the initramfs" 0 "warning: /data is in memory .rootfs.: a flush does nothing there" msync --dir /data -s 1m -r 1
	expect "msync on the initramfs, allowed" 0 ": a flush does nothing there$" msync --dir /data -s 1m -r 1 --allow-tmpfs
}

check_rings()
{
	for method in io_uring libaio; do
		# shellcheck disable=SC2086
		readtwice $f2fs -m $method -n 1 -s 1m --direct >/tmp/said 2>&1
		if grep -q "method $method: built without" /tmp/said; then
			skip "readtwice -m $method on f2fs" "the host has no static library for it"
			continue
		fi
		# shellcheck disable=SC2086
		expect "readtwice -m $method --direct on f2fs" 0 "^8388608 bytes .* copied" \
			readtwice $f2fs -m $method -n 1 -s 8m --fill written --verify --direct --block 16k --order random
	done
}

check_guest
check_lacks
check_rootfs
check_filesystem f2fs 256m
check_rings
check_sizes
check_filesystem ext4 64m
check_filesystem btrfs 128m
check_filesystem xfs 300m
check_device
finish
