#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# reproducer - walk and flush sparse files one after the other, and sum up the rates in five lines.
set -u
unset CDPATH
export LC_ALL=C

SEED_SIZE=449340754     # bytes that the walks in the mail to linux-kernel mapped
TOTAL_MS=30000          # what all runs should take together
WALKING_MS=26000        # of that in usemem's own clock; the rest goes into files made and removed
CALIBRATION_SIZE=$((32 << 20))
SMALLEST_SIZE=$((1 << 20))

usage()
{
	cat <<-'END'
	Usage: [NAME=VALUE]... sh tests/reproducer.sh

	Makes sparse files in twos and threes, walks each of them with
	  usemem --runtime RUNTIME -S -f FILE -F --prealloc --open-rw SIZE
	removes them before the next are made, and prints count, total, range, mean and deviation of the
	rates in KB/s: the only five lines on standard output. What was chosen and a line for each run go
	to standard error. No root is needed and no setting of the machine is changed.

	Environment:
	  WORKDIR    the files are in a fresh folder in here (default TMPDIR, else /var/tmp)
	  RUNS       number of files and walks (default 27)
	  SIZE       bytes mapped and walked. By default a walk of 32 MiB shows the rate of this machine,
	             and SIZE is what makes all runs last about 30 s; at most 449340754 rounded down to
	             whole pages, a twelfth of the free room and a quarter of the available memory;
	             at least 1 MiB
	  RUNTIME    seconds after which a walk stops early (default: three times the expected time)
	  FILE_SIZE  length of the sparse files (default 10g, or what the filesystem allows)
	  BUILD      the build folder, with usemem/usemem in it (default build)

	Sizes are bytes, or have one letter k, m, g or t, powers of 1024.
	Exit status: 0 done, 1 a walk failed or something is missing, 2 a wrong value, 128+N signal N.
	END
}

say()
{
	printf '%s\n' "$*" >&2
}

die()
{
	say "reproducer.sh: $*"
	exit 1
}

refuse()
{
	say "reproducer.sh: $*"
	exit 2
}

# Bytes of a size such as 4096, 64k or 10G; $1 is its name.
bytes_of()
{
	digits=${2%[kKmMgGtT]}
	case $digits in
	'' | *[!0-9]* | ??????????????*) refuse "$1 is '$2': expected bytes, or a number and k, m, g or t" ;;
	esac
	# Without the zeros that would make it octal.
	digits=${digits#"${digits%%[!0]*}"}
	case $2 in
	*[kK]) shift_by=10 ;;
	*[mM]) shift_by=20 ;;
	*[gG]) shift_by=30 ;;
	*[tT]) shift_by=40 ;;
	*) shift_by=0 ;;
	esac
	bytes=$((${digits:-0} << shift_by))
	if [ "$bytes" -le 0 ] || [ $((bytes >> shift_by)) -ne "$digits" ]; then
		refuse "$1 is '$2': expected a size from 1 byte to 8191 petabytes"
	fi
	echo "$bytes"
}

# A whole number from 1 on; $1 is its name.
count_of()
{
	case $2 in
	'' | *[!0-9]* | 0* | ?????????*) refuse "$1 is '$2': expected a whole number from 1 to 99999999" ;;
	esac
	echo "$2"
}

at_most()
{
	[ "$size" -le "$1" ] || { size=$1; because=$2; }
}

clean_up()
{
	[ -z "${walk:-}" ] || kill "$walk" 2>/dev/null
	[ -z "${walk:-}" ] || wait "$walk" 2>/dev/null
	[ -z "${dir:-}" ] || rm -rf -- "$dir"
}

# One field of what df knows about the work folder.
df_field()
{
	df -B1 --output="$1" -- "$dir" 2>/dev/null | tail -n 1 | sed 's/^ *//; s/ *$//'
}

# What of the memory cgroup of this process is left; nothing without a limit.
cgroup_room()
{
	v2=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup 2>/dev/null)
	v1=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup 2>/dev/null)
	for pair in "$v2/memory.max" "$v1/memory.limit_in_bytes"; do
		[ ! -r "$pair" ] || limit=$(cat "$pair")
		case ${limit:-max} in *[!0-9]*) ;; *) echo "$limit"; return ;; esac
	done
}

available_memory()
{
	kib=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
	available=$((${kib:-0} << 10))
	limit=$(cgroup_room)
	if [ -n "$limit" ] && [ "${#limit}" -lt 19 ] && [ "$limit" -lt "$available" ]; then
		available=$limit
	fi
	echo "$available"
}

# An empty file of FILE_SIZE bytes; the size is halved until the filesystem takes it, unless it
# was asked for.
make_sparse()
{
	until truncate -s "$file_size" -- "$1" 2>"$dir/said"; do
		if [ -n "${FILE_SIZE:-}" ] || [ $((file_size / 2)) -lt "$size" ]; then
			die "cannot make $1 of $file_size bytes: $(cat "$dir/said")"
		fi
		file_size=$((file_size / 2))
	done
}

# Walk $1 bytes of file $2, at most $3 seconds; rate becomes the KB/s that usemem says. It runs in the
# background so that a signal to this script ends it at once.
walk()
{
	(cd -- "$build/usemem" && exec ./usemem --runtime "$3" -S -f "$2" -F --prealloc --open-rw "$1") \
		>"$dir/said" </dev/null &
	walk=$!
	wait "$walk"
	status=$?
	walk=
	[ "$status" -eq 0 ] || die "usemem failed with status $status on $2"
	rate=$(sed -n 's,^[0-9][0-9]* bytes / [0-9][0-9]* usecs = \([0-9][0-9]*\) KB/s$,\1,p' "$dir/said")
	case $rate in
	'' | *[!0-9]*) die "usemem did not print exactly one rate for $2: $(head -n 5 "$dir/said" | tr "\n" " ")" ;;
	esac
}

# Rate of a short walk, in KB/s.
calibrate()
{
	size=$CALIBRATION_SIZE
	at_most $((room / 4)) "a quarter of the free room"
	at_most "$file_size" "the length of the files"
	make_sparse "$dir/calibration"
	walk "$size" "$dir/calibration" 10
	rm -f -- "$dir/calibration"
	[ "$rate" -gt 0 ] || rate=1
	bytes_per_ms=$((rate * 1024 / 1000))
	say "calibration: $size bytes at $rate KB/s"
}

choose_size()
{
	expected_ms=$((WALKING_MS / runs))
	if [ -n "${SIZE:-}" ]; then
		size=$(bytes_of SIZE "$SIZE") || exit
		because="as asked for"
		expected_ms=$((size / bytes_per_ms))
		return
	fi
	size=$((bytes_per_ms * expected_ms))
	because="all $runs walks then take about $((TOTAL_MS / 1000)) s"
	at_most "$SEED_SIZE" "never more"
	at_most "$file_size" "the length of the files"
	at_most $((room / 12)) "a twelfth of the free room"
	at_most $(($(available_memory) / 4)) "a quarter of the available memory"
	size=$((size / page * page))
	if [ "$size" -lt "$SMALLEST_SIZE" ]; then
		size=$SMALLEST_SIZE
		because="never less"
	fi
	expected_ms=$((size / bytes_per_ms))
}

describe_place()
{
	kind=$(df_field fstype)
	device=$(df_field source)
	# In a chroot df may not know the mount; the filesystem itself always says what it is.
	case $kind in '' | -) kind=$(stat -f -c %T -- "$dir") device="a device that is not to be seen" ;; esac
	say "files in $dir: $kind on $device, $room bytes free"
	case $kind in
	tmpfs | ramfs) say "warning: $kind keeps files in memory: msync writes nothing there; set WORKDIR" ;;
	overlay*) say "warning: overlayfs adds work of its own to each flush; set WORKDIR to a disk's folder" ;;
	esac
	governors=$(cat /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor 2>/dev/null | sort -u | tr '\n' ' ')
	case $governors in
	'' | 'performance ') ;;
	*) say "note: CPU frequency governor ${governors% }; rates vary less with performance" ;;
	esac
}

# Make $2 files from number $1 on, walk each, remove them.
run_group()
{
	for i in $(seq "$1" $(($1 + $2 - 1))); do
		make_sparse "$dir/sparse-msync-$i"
	done
	for i in $(seq "$1" $(($1 + $2 - 1))); do
		walk "$size" "$dir/sparse-msync-$i" "$runtime"
		say "run $i of $runs: sparse-msync-$i: $rate KB/s"
		echo "$rate" >>"$dir/rates"
	done
	for i in $(seq "$1" $(($1 + $2 - 1))); do
		rm -f -- "$dir/sparse-msync-$i"
	done
}

# Count, total, range, mean and sample deviation of the numbers on standard input.
summarize()
{
	awk '
		{ x[NR] = $1 + 0; total += x[NR] }
		NR == 1 || x[NR] < min { min = x[NR] }
		NR == 1 || x[NR] > max { max = x[NR] }
		function whole(value) { return int(value + 0.5) }
		END {
			mean = total / NR
			for (i = 1; i <= NR; i++)
				squares += (x[i] - mean) * (x[i] - mean)
			deviation = NR > 1 ? sprintf("%.0f", whole(sqrt(squares / (NR - 1)))) : "-"
			printf "Count: %.0f\nTotal: %.0f\nRange: %.0f...%.0f\nMean : %.0f\nStdev: %s\n",
				NR, total, min, max, whole(mean), deviation
		}'
}

case ${1-} in
'') [ $# -eq 0 ] || refuse "unexpected argument '': settings are NAME=VALUE before sh, see --help" ;;
-h | --help) usage; exit 0 ;;
*) refuse "unexpected argument '$1': settings are NAME=VALUE before sh, see --help" ;;
esac
runs=$(count_of RUNS "${RUNS:-27}") || exit
[ -z "${RUNTIME:-}" ] || runtime=$(count_of RUNTIME "$RUNTIME") || exit
[ -z "${SIZE:-}" ] || size=$(bytes_of SIZE "$SIZE") || exit
file_size=$(bytes_of FILE_SIZE "${FILE_SIZE:-10g}") || exit
workdir=${WORKDIR:-${TMPDIR:-/var/tmp}}
workdir=$(cd -- "$workdir" 2>/dev/null && pwd) || refuse "WORKDIR is '${WORKDIR:-${TMPDIR:-/var/tmp}}': no such folder"
if [ -n "${BUILD:-}" ]; then
	build=$(cd -- "$BUILD" 2>/dev/null && pwd) || refuse "BUILD is '$BUILD': no such folder"
else
	build=$(cd -- "$(dirname -- "$0")/.." && pwd)/build
fi
[ -x "$build/usemem/usemem" ] || die "no $build/usemem/usemem: build it first (sh quickstart.sh)"

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
dir=$(mktemp -d -- "$workdir/reproducer.XXXXXX") || die "cannot make a folder in $workdir"
page=$(getconf PAGESIZE) || die "cannot read the page size"
room=$(df_field avail)
case $room in '' | *[!0-9]*) die "cannot read how much room there is in $dir" ;; esac
[ "$room" -ge $((SMALLEST_SIZE * 12)) ] || die "only $room bytes free in $dir: expected at least $((SMALLEST_SIZE * 12))"

describe_place
calibrate
choose_size
[ "$file_size" -ge "$size" ] || refuse "FILE_SIZE is $file_size: expected at least the $size bytes walked"
: "${runtime:=$((expected_ms * 3 / 1000 + 1))}"
say "SIZE $size ($because), RUNTIME $runtime s, $runs files of $file_size bytes in twos and threes"

done=0 group=2
while [ "$done" -lt "$runs" ]; do
	[ "$group" -le $((runs - done)) ] || group=$((runs - done))
	run_group $((done + 1)) "$group"
	done=$((done + group))
	group=$((group == 2 ? 3 : 2))
done
summarize <"$dir/rates" || die "cannot write the summary"
