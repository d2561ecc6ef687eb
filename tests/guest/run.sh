#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run - boot a small guest in QEMU and let it check the programs on memory and filesystems that this
# machine lacks.
set -u
unset CDPATH
export LC_ALL=C

FETCHED=2     # goes up whenever what fetch.sh makes changes

usage()
{
	cat <<-'END'
	Usage: [NAME=VALUE]... sh tests/guest/run.sh GUEST

	GUEST is
	  numa    three nodes, one of them without CPUs, huge pages of 2 MiB and 1 GiB, cgroup v2, swap
	  plain   one node, no huge pages, no 1 GiB pages at all, no memory cgroup, no swap
	  pages   ppc64le with base pages of 64 KiB, and xfs, ext4 and btrfs
	  f2fs    one node, and xfs, ext4, btrfs and f2fs on loop devices
	and runs the job of that name, GUEST.sh beside this script, with static programs. The processor is
	emulated: no KVM and no root are needed, nothing is installed, and the times mean nothing. What the
	guest is made of (about 100 MB, more for pages) is downloaded once.

	Environment:
	  CACHE     folder of what was downloaded (default XDG_CACHE_HOME or ~/.cache, pagemill-guest in it)
	  BUILD     the build folder of the static programs (default build-guest-ARCHITECTURE)
	  TIMEOUT   seconds until the guest is stopped (default 600)
	  CONSOLE   file that gets the guest's kernel messages

	Exit status: 0 every check is well, 1 one is not, 2 a wrong argument, 77 skipped: this machine
	cannot download or build it, 99 the guest itself failed, 128+N signal N.
	END
}

say()
{
	printf 'run.sh: %s\n' "$*" >&2
}

die()
{
	say "$*"
	exit 1
}

skip()
{
	echo "skipped: $*"
	exit 77
}

refuse()
{
	say "unexpected argument '$1': expected numa, plain, pages or f2fs"
	exit 2
}

clean_up()
{
	[ -z "${qemu_pid:-}" ] || kill "$qemu_pid" 2>/dev/null
	[ -z "${tmp:-}" ] || rm -rf -- "$tmp"
}

# For programs that were unpacked, with the libraries that were unpacked with them.
use_unpacked()
{
	PATH=$PATH:$root/usr/bin:$root/bin
	export LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu"
	export QEMU_MODULE_DIR="$root/usr/lib/x86_64-linux-gnu/qemu"
}

unpacked()
{
	(use_unpacked && exec "$@")
}

# What meson has to know for the guest of 64 KiB pages. An unpacked compiler looks for its library
# where it would be installed, and so does the script libc.so, without which only static programs are
# linked.
cross_file()
{
	cross=$root/usr/powerpc64le-linux-gnu
	cat <<-END
	[binaries]
	c = 'powerpc64le-linux-gnu-gcc'
	ar = 'powerpc64le-linux-gnu-ar'
	strip = 'powerpc64le-linux-gnu-strip'
	pkgconfig = 'pkg-config'
	[built-in options]
	c_args = ['-isystem', '$cross/include']
	c_link_args = ['-static', '-B$cross/lib', '-L$cross/lib']
	[properties]
	sys_root = '$fetched/libraries'
	pkg_config_libdir = '$fetched/libraries/usr/lib/powerpc64le-linux-gnu/pkgconfig'
	[host_machine]
	system = 'linux'
	cpu_family = 'ppc64'
	cpu = 'power9'
	endian = 'little'
	END
}

# A build folder of this very source, for what was fetched there; one that was moved is made anew.
set_up_build()
{
	echo "# $source" >"$tmp/guest.ini"
	set -- "$source" "$build" -Dstatic=true
	if [ "$architecture" != x86_64 ]; then
		cross_file >>"$tmp/guest.ini"
		set -- "$@" --cross-file "$build/guest.ini"
	fi
	if [ -f "$build/build.ninja" ] && cmp -s "$tmp/guest.ini" "$build/guest.ini"; then
		return
	fi
	[ ! -e "$build/guest.ini" ] || rm -rf -- "$build"
	mkdir -p "$build" && cp "$tmp/guest.ini" "$build/" || exit 1
	unpacked meson setup "$@" >"$tmp/build.log" 2>&1 && return
	tail -n 20 "$tmp/build.log" >&2
	die "cannot set up $build"
}

build_programs()
{
	set_up_build
	# shellcheck disable=SC2086
	if ! unpacked meson compile -C "$build" $programs >"$tmp/build.log" 2>&1; then
		tail -n 40 "$tmp/build.log" >&2
		die "the build in $build failed"
	fi
}

# The initramfs that was fetched, and after it what is ours; the kernel unpacks one after the other.
pack_initramfs()
{
	mkdir -p "$tmp/ours/bin" && ln -s busybox "$tmp/ours/bin/sh" || exit 1
	install -m 755 "$here/init.sh" "$tmp/ours/init"
	install -m 755 "$here/$guest.sh" "$tmp/ours/job.sh"
	install -m 644 "$here/checks.sh" "$tmp/ours/checks.sh"
	for program in $programs; do
		install -m 755 "$build/$program/$program" "$tmp/ours/bin/" || exit 1
	done
	for part in $parts; do
		cat "$fetched/$part.cpio" || exit 1
	done >"$tmp/initramfs"
	(cd "$tmp/ours" && find . | unpacked cpio -o -H newc 2>/dev/null) >>"$tmp/initramfs" ||
		die "cannot pack the initramfs"
}

# Nodes with CPUs first, each with a socket of its own, as a kernel expects them. Several threads of
# emulation have crashed kernels. Without erms the kernel clears pages by words, not by bytes, which
# emulation does one after the other.
boot_x86_64()
{
	set -- -M q35 -cpu "max,-erms,-fsrm$cpu_features" -L "$root/usr/share/seabios" -L "$root/usr/share/qemu" "$@"
	if [ "$guest" = numa ]; then
		set -- -smp 4,sockets=2,cores=2 -m 8G \
			-object memory-backend-ram,id=m0,size=4G -numa node,nodeid=0,memdev=m0,cpus=0-1 \
			-object memory-backend-ram,id=m1,size=2G -numa node,nodeid=1,memdev=m1,cpus=2-3 \
			-object memory-backend-ram,id=m2,size=2G -numa node,nodeid=2,memdev=m2 "$@"
	else
		set -- -smp 2 -m 1G "$@"
	fi
	qemu=qemu-system-x86_64 console=ttyS0 talk=ttyS1
	boot "$@"
}

boot_ppc64le()
{
	qemu=qemu-system-ppc64 console=hvc0 talk=hvc1
	boot -M pseries,x-vof=on,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off \
		-cpu power9 -smp 2 -m 1G -L "$root/usr/share/qemu" "$@"
}

# In the background, so that a signal to this script ends it at once.
boot()
{
	{
		use_unpacked
		exec timeout "$timeout" "$qemu" -nodefaults -no-user-config -display none -no-reboot \
			-accel tcg,thread=single -serial "file:$tmp/console" -serial "file:$tmp/said" \
			-kernel "$fetched/vmlinux" -initrd "$tmp/initramfs" \
			-append "console=$console guest_talks=$talk panic=-1 loglevel=5 $kernel_words" "$@"
	} </dev/null &
	qemu_pid=$!
	wait "$qemu_pid"
	qemu_status=$?
	qemu_pid=
}

# Its last line is the status of the job.
report()
{
	touch "$tmp/console" "$tmp/said"
	[ -z "${CONSOLE:-}" ] || cp "$tmp/console" "$CONSOLE"
	# Of its firmware's memory, which nobody has written to yet.
	grep -aE 'WARNING:|BUG:|Oops|INFO: task|soft lockup' "$tmp/console" | grep -av 'nvram corruption' >&2
	tr -d '\r' <"$tmp/said" | grep -av '^guest status '
	status=$(tr -d '\r' <"$tmp/said" | sed -n 's/^guest status \([0-9]*\)$/\1/p')
	[ -n "$status" ] && return "$status"
	tail -n 20 "$tmp/console" >&2
	if [ "$qemu_status" -eq 124 ]; then
		say "the guest was stopped after $timeout s"
	else
		say "the guest ended before its job did; $qemu's status is $qemu_status"
	fi
	return 99
}

[ $# -gt 0 ] || { usage >&2; exit 2; }
[ $# -eq 1 ] || refuse "$2"
guest=$1 architecture=x86_64 cpu_features='' kernel_words='' parts=base programs=usemem
case $guest in
-h | --help) usage; exit 0 ;;
numa) kernel_words="mitigations=off hugepagesz=1G hugepages=0:1,1:1 hugepagesz=2M hugepages=0:16,1:16" ;;
plain) kernel_words="mitigations=off cgroup_disable=memory" cpu_features=,-pdpe1gb ;;
pages) architecture=ppc64le parts="base fs" programs="usemem readtwice msync copyfile ioviter" ;;
f2fs) kernel_words="mitigations=off" parts="base fs" programs="usemem readtwice msync copyfile" ;;
*) refuse "$guest" ;;
esac

here=$(cd -- "$(dirname -- "$0")" && pwd) || exit 1
source=$(cd -- "$here/../.." && pwd) || exit 1
cache=${CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/pagemill-guest}
fetched=$cache/$architecture-$FETCHED
root=$fetched/root
timeout=${TIMEOUT:-600}
build=${BUILD:-$source/build-guest-$architecture}
[ "$(uname -m)" = x86_64 ] || skip "the host is no x86_64, for which the guests are made"

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
tmp=$(mktemp -d) || exit 1
sh "$here/fetch.sh" "$architecture" "$fetched" || exit
build_programs
pack_initramfs
"boot_$architecture"
report
