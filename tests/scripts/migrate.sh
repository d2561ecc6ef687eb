#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# migrate - move the memory of a holder, found by its name, to the next node.
# shellcheck source=lib.sh
. "$(dirname -- "$0")/lib.sh"

usage()
{
	cat <<-'END'
	Usage: [NAME=VALUE]... sh tests/scripts/migrate.sh

	Starts
	  usemem -d -p PIDS -s -1 --numa-memory FROM SIZE
	finds the process that stays behind by its name, as pidof usemem does, moves its memory with
	  migratepages PID FROM TO
	(package numactl), and prints how many of its pages were on either node before and after. What
	was started is ended afterwards, after a signal too.

	Environment:
	  SIZE   memory of the holder (default 64m)
	  FROM   the node it is on first (default 0)
	  TO     the node it is moved to (default: the next one with memory)
	  BUILD  the build folder, with usemem/usemem in it (default build)

	Exit status: 0 done, 1 something failed or less than 9 of 10 pages moved, 2 a wrong value, 77
	this machine cannot do it (one node only, no migratepages), 128+N signal N.
	END
}

# pids of all processes of that name.
named()
{
	if command -v pidof >/dev/null; then
		pidof "$1" | tr ' ' '\n'
		return
	fi
	for comm in /proc/[0-9]*/comm; do
		{ read -r name <"$comm"; } 2>/dev/null || continue
		[ "$name" != "$1" ] || { comm=${comm#/proc/}; echo "${comm%/comm}"; }
	done
}

# The holder: of all that are called usemem the one that is in the pid file.
find_holder()
{
	[ "$(count_pids)" -eq 1 ] || die "expected one pid in the pid file, got: $(tr '\n' ' ' <"$pids")"
	holder=$(named usemem | grep -xF -f "$pids") || die "process $(cat "$pids") is not found by the name usemem"
	read -r name <"/proc/$holder/comm" || die "the holder has ended"
	[ "$name" = usemem ] || die "the holder is called '$name'"
	say "holder: process $holder, called $name"
}

# Nodes with memory after FROM.
next_node()
{
	cat /sys/devices/system/node/node*/meminfo 2>/dev/null |
		awk -v from="$from" '$3 == "MemTotal:" && $4 > 0 && $2 > from { print $2 }' | sort -n | head -n 1
}

# Anonymous pages of the holder on node $1; libraries are shared with others and stay.
pages_on()
{
	awk -v key="N$1" '
		/ anon=/ {
			for (i = 3; i <= NF; i++)
				if (split($i, pair, "=") == 2 && pair[1] == key)
					sum += pair[2]
		}
		END { print sum + 0 }' "/proc/$holder/numa_maps"
}

no_words "$@"
size=${SIZE:-64m} from=${FROM:-0}
check_size SIZE "$size"
check_count FROM "$from" 0
[ -z "${TO:-}" ] || check_count TO "$TO" 0

begin
attend "$usemem" -d -p "$pids" -s -1 --numa-memory "$from" "$size" >"$dir/said"
status=$?
case $status in
0) ;;
2) exit 2 ;;
77) skip "no NUMA support" ;;
*) die "usemem failed with status $status" ;;
esac
find_holder
to=${TO:-$(next_node)}
[ -n "$to" ] || skip "no node with memory after node $from; the holder was found by its name"
command -v migratepages >/dev/null || skip "no migratepages (package numactl); the holder was found by its name"
before=$(pages_on "$from")
say "before: $before pages on node $from, $(pages_on "$to") on node $to"
[ "$before" -gt 0 ] || die "no page is on node $from"
attend migratepages "$holder" "$from" "$to" || die "migratepages failed with status $?"
after=$(pages_on "$to")
say "after: $(pages_on "$from") pages on node $from, $after on node $to"
[ "$after" -ge $((before * 9 / 10)) ] || die "only $after of $before pages are on node $to"
