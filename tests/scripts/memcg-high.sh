#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# memcg-high - write more than the high limit of a memory cgroup, and print the cgroup's counters.
# shellcheck source=lib.sh
. "$(dirname -- "$0")/lib.sh"

usage()
{
	cat <<-'END'
	Usage: [NAME=VALUE]... sh tests/scripts/memcg-high.sh

	Makes a memory cgroup with memory.high and runs in it
	  usemem --init-time -w -O -b 1 -s SLEEP -n N -q SIZE
	whose tasks sleep when done, so that there is time to look at what they hold. Prints usemem's
	lines, the cgroup's counters while the tasks sleep, and those that remain when all have ended.
	Where there is only cgroup v1, which has no memory.high, memory.limit_in_bytes takes its place:
	the same reclaim, but a hard limit, and nobody is throttled. A machine without swap gets a zram
	device as swap. What was made is gone afterwards, after a signal too.

	Environment:
	  N          tasks (default 30)
	  SIZE       memory of each (default 8m)
	  HIGH       memory.high (default 128m); it fails if this was never reached
	  SLEEP      seconds that each task holds its memory (default 10)
	  SWAP_SIZE  size of the zram device, if one is needed (default 1g)
	  BUILD      the build folder, with usemem/usemem in it (default build)

	Exit status: 0 done, 1 something failed or HIGH was never reached, 2 a wrong value, 77 this
	machine cannot do it (not root, no cgroup, no swap), 128+N signal N.
	END
}

limit()
{
	case $version in
	2)
		echo "$high" >"$cgroup/memory.high" || die "cannot set memory.high to $high"
		held="memory.current memory.swap.current"
		counters="memory.peak memory.events memory.swap.events"
		;;
	1)
		say "cgroup v1 has no memory.high: memory.limit_in_bytes, a hard limit, takes its place"
		echo "$high" >"$cgroup/memory.limit_in_bytes" || die "cannot set memory.limit_in_bytes to $high"
		held="memory.usage_in_bytes memory.memsw.usage_in_bytes"
		counters="memory.max_usage_in_bytes memory.memsw.max_usage_in_bytes memory.failcnt memory.oom_control"
		;;
	esac
}

# Each file of the cgroup named in $2 and the following; its lines with $1 and its name before them.
show()
{
	when=$1
	shift
	for file; do
		# Some kernels lack one or the other.
		[ ! -r "$cgroup/$file" ] || sed "s/^/$when: $file: /" "$cgroup/$file"
	done
}

all_have_said()
{
	! kill -0 "$child" 2>/dev/null || [ "$(grep -c ' bytes / ' "$dir/said")" -ge "$n" ]
}

# What the counters say while all hold their memory, if there is such a time.
# shellcheck disable=SC2086
run()
{
	enter "$usemem" --init-time -w -O -b 1 -s "$sleep_s" -n "$n" -q "$size" >"$dir/said" </dev/null &
	child=$!
	until_true 600 all_have_said || die "after 600 s some tasks still write"
	show "while held" $held
	wait "$child"
	status=$?
	child=
	cat "$dir/said"
	[ "$status" -eq 0 ] || die "usemem failed with status $status"
}

times_reached()
{
	case $version in
	2) sed -n 's/^high //p' "$cgroup/memory.events" ;;
	1) cat "$cgroup/memory.failcnt" ;;
	esac
}

no_words "$@"
n=${N:-30} size=${SIZE:-8m} high=${HIGH:-128m} sleep_s=${SLEEP:-10} swap_size=${SWAP_SIZE:-1g}
check_count N "$n" 1
check_size SIZE "$size"
check_size HIGH "$high"
check_count SLEEP "$sleep_s" 0
check_size SWAP_SIZE "$swap_size"

begin
make_cgroup
[ "$(wc -l </proc/swaps)" -gt 1 ] || make_swap "$swap_size"
limit
run
# shellcheck disable=SC2086
show afterwards $counters
said=$(grep -c ' bytes / ' "$dir/said")
[ "$said" -eq "$n" ] || die "$said of $n tasks printed their line"
[ "$(times_reached)" -gt 0 ] || die "$n times $size never reached $high: make N or SIZE larger"
