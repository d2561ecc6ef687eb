#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# many-holders - thousands of processes at once that hold nothing, sleep, and end by themselves.
# shellcheck source=lib.sh
. "$(dirname -- "$0")/lib.sh"

usage()
{
	cat <<-'END'
	Usage: [NAME=VALUE]... sh tests/scripts/many-holders.sh

	Starts
	  usemem -n N 0 --detach --sleep SLEEP -p PIDS
	looks whether the pid of each is in the file PIDS, and waits until all have ended by themselves.
	No root is needed. What still runs when this script ends, by a signal too, is ended.

	Environment:
	  N      processes (default 10000)
	  SLEEP  seconds that each sleeps (default 10)
	  WAIT   seconds after that until all must have ended (default 60)
	  BUILD  the build folder, with usemem/usemem in it (default build)

	Exit status: 0 done, 1 something failed, 2 a wrong value, 77 this machine cannot have so many
	processes, 128+N signal N.
	END
}

# Others need some as well.
need_room()
{
	room=$(($(cat /proc/sys/kernel/pid_max) - 1000))
	[ "$n" -le "$room" ] || skip "kernel.pid_max has room for $room processes, not for $n"
	room=$(sh -c 'ulimit -u' 2>/dev/null) || room=unlimited
	[ "$room" = unlimited ] || [ "$n" -lt "$room" ] || skip "ulimit -u is $room, not more than $n"
}

no_words "$@"
n=${N:-10000} sleep_s=${SLEEP:-10} wait_s=${WAIT:-60}
check_count N "$n" 1
check_count SLEEP "$sleep_s" 0
check_count WAIT "$wait_s" 1
need_room

begin
attend "$usemem" -n "$n" 0 --detach --sleep "$sleep_s" -p "$pids" >"$dir/said" || die "usemem failed with status $?"
found=$(count_pids)
[ "$found" -eq "$n" ] || die "$found of $n pids in the pid file"
say "$found processes detached"
all_gone $((sleep_s + wait_s)) || die "$wait_s s after their sleep some still run"
freed=$(grep -c ' usecs to free memory$' "$dir/said")
[ "$freed" -eq "$n" ] || die "$freed of $n processes printed their last line"
say "all of them ended"
