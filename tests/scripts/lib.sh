# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# lib - what the scripts in this folder share: words, settings, holders, a swap device, a cgroup.
#
# A script calls begin after it has looked at its settings; from there on whatever was made is taken
# down again when it ends, by a signal too. These variables are set then:
#   usemem  the program
#   dir     a folder for files of this run
#   pids    file in it for usemem's -p; the processes in it are ended
set -u
unset CDPATH
export LC_ALL=C
me=${0##*/}

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf '%s: %s\n' "$me" "$*" >&2
	exit 1
}

refuse()
{
	printf '%s: %s\n' "$me" "$*" >&2
	exit 2
}

# This machine cannot do it.
skip()
{
	printf 'skipped: %s\n' "$*" >&2
	exit 77
}

# The words of the command line: none but --help.
no_words()
{
	case $#:${1-} in
	0:) ;;
	*:-h | *:--help) usage; exit 0 ;;
	*) refuse "unexpected argument '$1': settings are NAME=VALUE before sh, see --help" ;;
	esac
}

# Is $2, the value of $1, a whole number from $3 (0 or 1) to 9999999?
check_count()
{
	case $2 in
	0) [ "$3" -eq 0 ] && return ;;
	*[!0-9]* | 0* | ????????*) ;;
	?*) return ;;
	esac
	refuse "$1 is '$2': expected a whole number from $3 to 9999999"
}

# Is $2, the value of $1, bytes, or a number and one letter? Both the kernel and usemem read it.
check_size()
{
	case ${2%[kKmMgG]} in
	'' | *[!0-9]* | 0* | ?????????????*) refuse "$1 is '$2': expected bytes, or a number and k, m or g" ;;
	esac
}

need_root()
{
	[ "$(id -u)" -eq 0 ] || skip "not root"
}

begin()
{
	build=${BUILD:-$(cd -- "$(dirname -- "$0")/../.." && pwd)/build}
	usemem=$(cd -- "$build/usemem" 2>/dev/null && pwd)/usemem
	[ -x "$usemem" ] || die "no $build/usemem/usemem: build it first (sh quickstart.sh)"
	# mkswap is not in the PATH of everybody.
	PATH=$PATH:/usr/sbin:/sbin
	child='' zram='' cgroup=''
	trap take_down EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	dir=$(mktemp -d) || die "cannot make a folder in ${TMPDIR:-/tmp}"
	pids=$dir/pids
	: >"$pids"
}

# What ends this script ends these first: no holder outlives the swap device its memory is on.
take_down()
{
	trap '' HUP INT TERM
	if [ -n "$child" ]; then
		kill "$child" 2>/dev/null
		wait "$child"
	fi
	if [ -n "${dir:-}" ]; then
		end_holders
		rm -rf -- "$dir"
	fi
	[ -z "$cgroup" ] || until_true 10 rmdir "$cgroup" || complain "$cgroup stays"
	[ -z "$zram" ] || remove_zram
}

complain()
{
	printf '%s: %s\n' "$me" "$*" >&2
}

# Run a command until it succeeds, for at most $1 seconds; what it says is dropped.
until_true()
{
	deadline=$(($(date +%s) + $1))
	shift
	until "$@" 2>/dev/null; do
		[ "$(date +%s)" -le "$deadline" ] || return 1
		sleep 0.1
	done
}

# Run a command in the background, so that a signal to this script ends both at once; its status.
attend()
{
	"$@" </dev/null &
	child=$!
	wait "$child"
	status=$?
	child=
	return "$status"
}

# Is process $1 a usemem that lives? It may be a zombie where nobody waits for orphans, and its
# number may by now belong to another process.
holds()
{
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
	case $stat in
	*') Z '* | *') X '*) return 1 ;;
	*' (usemem) '*) return 0 ;;
	esac
	return 1
}

# How many numbers there are in the pid file: each a number of its own.
count_pids()
{
	grep -x '[1-9][0-9]*' "$pids" | sort -u | wc -l
}

# Wait until all in the pid file have ended, for at most $1 seconds.
all_gone()
{
	deadline=$(($(date +%s) + $1))
	while read -r pid; do
		while holds "$pid"; do
			[ "$(date +%s)" -le "$deadline" ] || return 1
			sleep 0.1
		done
	done <"$pids"
}

end_holders()
{
	while read -r pid; do
		! holds "$pid" || kill "$pid" 2>/dev/null
	done <"$pids"
	all_gone 10 || complain "some of the processes stay: see ps -C usemem"
}

# A counter of /proc/vmstat, up to date: each CPU keeps its own and adds it now and then.
vmstat()
{
	cat /proc/sys/vm/stat_refresh >/dev/null 2>&1
	awk -v key="$1" '$1 == key { value = $2 } END { print value + 0 }' /proc/vmstat
}

# A zram device of $1 bytes as swap that is used before all other.
make_swap()
{
	need_root
	for tool in mkswap swapon swapoff; do
		command -v "$tool" >/dev/null || skip "no $tool"
	done
	[ -e /sys/class/zram-control ] || modprobe zram num_devices=0 2>/dev/null
	[ -r /sys/class/zram-control/hot_add ] || skip "no zram module"
	zram=$(cat /sys/class/zram-control/hot_add 2>/dev/null) || { zram=; skip "cannot add a zram device"; }
	echo "$1" >"/sys/block/zram$zram/disksize" || die "zram$zram cannot have $1 bytes"
	until_true 10 test -b "/dev/zram$zram" || die "/dev/zram$zram does not come"
	mkswap "/dev/zram$zram" >"$dir/said" 2>&1 || die "mkswap /dev/zram$zram: $(cat "$dir/said")"
	# The swapon of an initramfs may know no priorities.
	swapon -p 32767 "/dev/zram$zram" 2>/dev/null || swapon "/dev/zram$zram" ||
		die "swapon /dev/zram$zram failed"
}

# Something else may look at a device that has just gone out of use.
remove_zram()
{
	if grep -q "^/dev/zram$zram " /proc/swaps; then
		swapoff "/dev/zram$zram" || complain "swapoff /dev/zram$zram failed"
	fi
	until_true 10 reset_zram || complain "/dev/zram$zram cannot be reset"
	until_true 10 drop_zram || complain "/dev/zram$zram stays"
}

# In a shell of its own, which says nothing when the kernel does not want to.
reset_zram()
{
	sh -c 'echo 1 >"/sys/block/zram$1/reset"' sh "$zram"
}

drop_zram()
{
	sh -c 'echo "$1" >/sys/class/zram-control/hot_remove' sh "$zram"
}

# Where the memory controller lets us make a cgroup. With v2 it may be there, but not handed down.
cgroup_top()
{
	while read -r _ where kind options _; do
		case $kind in
		cgroup2) ! grep -qsw memory "$where/cgroup.subtree_control" || echo "2 $where" ;;
		cgroup) case ,$options, in *,memory,*) echo "1 $where" ;; esac ;;
		esac
	done </proc/mounts | sort -r | head -n 1
}

# A memory cgroup: its folder is $cgroup, its version $version.
# shellcheck disable=SC2034
make_cgroup()
{
	need_root
	top=$(cgroup_top)
	[ -n "$top" ] || skip "no memory controller of cgroups that is handed down"
	version=${top%% *}
	cgroup=${top#* }/pagemill-${me%.sh}-$$
	mkdir "$cgroup" 2>/dev/null || { cgroup=; skip "cannot make a cgroup in ${top#* }"; }
}

# Become a command in the cgroup: to be called in the background.
enter()
{
	echo 0 >"$cgroup/cgroup.procs" || exit 1
	exec "$@"
}
