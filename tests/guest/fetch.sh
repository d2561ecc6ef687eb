#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch - download what a guest is made of: QEMU, a kernel, busybox, and a cross compiler if need be.
set -u
unset CDPATH
export LC_ALL=C

GUEST_SUITE=bookworm     # of the kernel and busybox inside the guest, whatever the host has
MODULES="mm/zsmalloc.ko drivers/block/zram/zram.ko"     # in the order in which they are loaded
# Of the filesystems, to be loaded when asked for; and what makes them, with its libraries.
FS_MODULES="crypto drivers/block/loop.ko fs/btrfs fs/ext4 fs/f2fs fs/jbd2 fs/mbcache.ko fs/xfs
	lib/crc16.ko lib/libcrc32c.ko lib/lz4 lib/raid6 lib/zstd"
FS_PROGRAMS="mkfs.btrfs mkfs.ext4 mkfs.f2fs mkfs.xfs"
FS_PACKAGES="btrfs-progs e2fsprogs f2fs-tools xfsprogs libblkid1 libc6 libcom-err2 libext2fs2
	libinih1 libudev1 liburcu8 libuuid1"

usage()
{
	cat <<-'END'
	Usage: sh tests/guest/fetch.sh x86_64|ppc64le DIR

	Makes the folder DIR with
	  vmlinux    the kernel, uncompressed
	  base.cpio  an initramfs with busybox and modules, but no /init
	  fs.cpio    more of it: xfs, ext4, btrfs and f2fs, the loop device, and mkfs for them
	  root/      QEMU and a cross compiler, unpacked, as far as they are not installed
	  libraries/ of the guest's architecture, for the cross compiler
	Nothing is installed, and the host's apt and dpkg stay as they are. DIR is there as a whole or not at
	all; if it is there already, nothing is done.

	Exit status: 0 done, 1 failed, 2 a wrong argument, 77 this machine cannot download it.
	END
}

say()
{
	printf 'fetch.sh: %s\n' "$*" >&2
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
	say "$*"
	exit 2
}

# apt with a state of its own: suite $1, Debian's architecture $2, what counts as installed $3.
private_apt()
{
	state=$new/apt/$1-$2
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial" || exit 1
	cat >"$state/sources.list" <<-END
	deb [signed-by=$keys] http://deb.debian.org/debian $1 main
	deb [signed-by=$keys] http://deb.debian.org/debian $1-updates main
	deb [signed-by=$keys] http://deb.debian.org/debian-security $1-security main
	END
	set -- "$@" -o "APT::Architecture=$2" -o "APT::Architectures::=$2" \
		-o "Dir::State=$state" -o "Dir::State::lists=$state/lists" \
		-o "Dir::State::status=$3" -o "Dir::Cache=$state/cache" \
		-o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o APT::Sandbox::User=root -o Acquire::Retries=3
	shift 3
	"$@"
}

apt_in_guest()
{
	private_apt "$GUEST_SUITE" "$guest_architecture" "$new/nothing" "$@"
}

apt_on_host()
{
	private_apt "$host_suite" "$(dpkg --print-architecture)" /var/lib/dpkg/status "$@"
}

# HOW is one of the two above. A mirror may lack one of several lists for a while: what can be had
# without it is not given up.
get_lists()
{
	"$1" apt-get update -qq >"$new/update.log" 2>&1 && return
	say "not all package lists of Debian could be downloaded:"
	grep '^[EW]:' "$new/update.log" | head -n 3 >&2
}

# unpack FOLDER HOW PACKAGE...: download them and unpack them there.
unpack()
{
	folder=$1 how=$2
	shift 2
	mkdir -p "$new/debs/$folder" || exit 1
	(cd "$new/debs/$folder" && "$how" apt-get download -qq "$@" >"$new/download.log" 2>&1) || {
		grep '^[EW]:' "$new/download.log" | tail -n 3 >&2
		skip "could not download $*"
	}
	for package in "$new/debs/$folder"/*.deb; do
		dpkg -x "$package" "$new/$folder" || die "cannot unpack $package"
	done
}

# What apt would install on this machine for the packages of the arguments, unpacked in root/.
unpack_for_host()
{
	get_lists apt_on_host
	apt_on_host apt-get install -s --no-install-recommends "$@" >"$new/plan" 2>/dev/null ||
		skip "apt cannot install $* of Debian $host_suite"
	# shellcheck disable=SC2046
	unpack root apt_on_host $(awk '/^Inst/ { print $2 }' "$new/plan")
}

# Unsigned number of $3 bytes at offset $2 of file $1.
number_at()
{
	od -An -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# A bzImage is unpacked to the ELF file in it: QEMU enters that through its PVH note, without the
# boot loader's and the kernel's own decompression, which are slow in emulation. (Linux x86 boot
# protocol: setup_sects at 0x1f1, payload_offset and payload_length at 0x248.)
uncompress_kernel()
{
	if [ "$(tail -c +515 "$1" | head -c 4 | tr -d '\0')" != HdrS ]; then
		cp "$1" "$2"
		return
	fi
	sectors=$(number_at "$1" 497 1)
	[ "$sectors" -ne 0 ] || sectors=4
	offset=$(((sectors + 1) * 512 + $(number_at "$1" 584 4)))
	tail -c +$((offset + 1)) "$1" | head -c "$(number_at "$1" 588 4)" >"$2.xz"
	# The payload ends in the size that it has unpacked, which is not for xz.
	xz -dc --single-stream "$2.xz" >"$2" || return
	rm "$2.xz"
}

unpack_guest()
{
	get_lists apt_in_guest
	kernel=$(apt_in_guest apt-cache depends "$kernel_package" | awk '/Depends: linux-image/ { print $2; exit }')
	[ -n "$kernel" ] || skip "apt finds no $kernel_package of Debian $GUEST_SUITE"
	# shellcheck disable=SC2086
	unpack guest apt_in_guest "$kernel" busybox-static $guest_packages
	uncompress_kernel "$(find "$new/guest/boot" -name 'vmlinu[xz]*')" "$new/vmlinux" ||
		die "cannot unpack the kernel $kernel"
	pack_base
	pack_filesystems
}

# The folder initramfs/ as FILE.
pack()
{
	(cd "$new/initramfs" && PATH=$PATH:$new/root/bin && find . | cpio -o -H newc 2>/dev/null) >"$new/$1" ||
		die "cannot pack the initramfs"
	rm -rf "$new/initramfs"
}

pack_base()
{
	for folder in bin dev mnt modules proc sys tmp; do
		mkdir -p "$new/initramfs/$folder"
	done
	cp "$new/guest/bin/busybox" "$new/initramfs/bin/" || exit 1
	i=0
	for module in $MODULES; do
		i=$((i + 1))
		cp "$new"/guest/lib/modules/*/kernel/"$module" "$new/initramfs/modules/$i-${module##*/}" ||
			die "no module $module in $kernel"
	done
	pack base.cpio
}

# Libraries lie where their packages have them, the dynamic linker among them.
pack_filesystems()
{
	# shellcheck disable=SC2086
	unpack mkfs apt_in_guest $FS_PACKAGES
	modules=$(cd "$new/guest" && echo lib/modules/*)
	mkdir -p "$new/initramfs/bin" "$new/initramfs/$modules" || exit 1
	for module in $FS_MODULES; do
		(cd "$new/guest/$modules" && cp -r --parents "kernel/$module" "$new/initramfs/$modules/") ||
			die "no module $module in $kernel"
	done
	for program in $FS_PROGRAMS; do
		cp "$new/mkfs/sbin/$program" "$new/initramfs/bin/" || die "no $program in $FS_PACKAGES"
	done
	(cd "$new/mkfs" && find lib* usr/lib -name '*.so*' ! -path '*/gconv/*' -exec cp -P --parents {} "$new/initramfs/" ';') ||
		die "cannot copy the libraries of $FS_PACKAGES"
	pack fs.cpio
}

# What usemem is linked with, for the guest's architecture.
keep_guest_libraries()
{
	[ -n "$guest_packages" ] || return 0
	mkdir -p "$new/libraries/usr"
	mv "$new/guest/usr/include" "$new/guest/usr/lib" "$new/libraries/usr/" || exit 1
}

clean_up()
{
	[ -z "${new:-}" ] || rm -rf -- "$new"
}

case $#:${1-} in
*:-h | *:--help) usage; exit 0 ;;
2:x86_64)
	guest_architecture=amd64 kernel_package=linux-image-amd64 guest_packages=
	host_tools="qemu-system-x86_64:qemu-system-x86 cpio:cpio" ;;
2:ppc64le)
	guest_architecture=ppc64el kernel_package=linux-image-powerpc64le
	guest_packages=libjansson-dev
	host_tools="qemu-system-ppc64:qemu-system-ppc cpio:cpio powerpc64le-linux-gnu-gcc:gcc-powerpc64le-linux-gnu,libc6-dev-ppc64el-cross" ;;
*) refuse "expected x86_64 or ppc64le, and a folder; see --help" ;;
esac
dir=$2
[ ! -e "$dir" ] || exit 0

for tool in apt-get dpkg xz; do
	command -v "$tool" >/dev/null 2>&1 || skip "no $tool: the guest's parts are Debian packages"
done
host_suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null)
keys=/usr/share/keyrings/debian-archive-keyring.gpg
if ! grep -q '^ID=debian$' /etc/os-release 2>/dev/null || [ -z "$host_suite" ] || [ ! -r "$keys" ]; then
	skip "this machine is not Debian, whose packages make the guest"
fi

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir -p "$(dirname -- "$dir")" || exit 1
new=$(mktemp -d -- "$dir.XXXXXX") || exit 1
chmod 755 "$new"
: >"$new/nothing"
mkdir "$new/root"
lacking=
for tool in $host_tools; do
	command -v "${tool%%:*}" >/dev/null 2>&1 || lacking="$lacking $(echo "${tool#*:}" | tr , ' ')"
done
# shellcheck disable=SC2086
[ -z "$lacking" ] || unpack_for_host $lacking
unpack_guest
keep_guest_libraries
rm -rf "$new/apt" "$new/debs" "$new/guest" "$new/mkfs" "$new"/*.log "$new/nothing" "$new/plan"
# Whoever was faster did the same.
mv -T -- "$new" "$dir" 2>/dev/null || [ -e "$dir/vmlinux" ] || die "cannot make $dir"
