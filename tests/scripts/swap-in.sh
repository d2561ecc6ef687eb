#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# swap-in - push the memory of detached writers out to swap, let all read it again at once.
# shellcheck source=lib.sh
. "$(dirname -- "$0")/lib.sh"

usage()
{
	cat <<-'END'
	Usage: [NAME=VALUE]... sh tests/scripts/swap-in.sh

	Makes a zram device the first swap of the machine and starts
	  usemem -d -p PIDS -n N --signal-verify -W SIZE
	whose tasks write their memory, stay behind holding it, and have it pushed out. Then all get
	SIGUSR1 at once, read all of it back, compare it, and end. Prints the line of each read, and how
	many pages went out and came in. What was made is gone afterwards, after a signal too.

	Environment:
	  N          writers (default 4)
	  SIZE       memory of each (default 64m)
	  PUSH       how it is pushed out (default pageout):
	               pageout  each writer does it itself, with --madv-pageout
	               cgroup   all are in a memory cgroup that has room for them only, where then one
	                        more usemem writes as much as they all hold
	  SWAP_SIZE  size of the swap device (default 1g)
	  WAIT       seconds until the readers must have ended (default 60)
	  BUILD      the build folder, with usemem/usemem in it (default build)

	Exit status: 0 done, 1 something failed or no page was swapped in, 2 a wrong value, 77 this
	machine cannot do it (not root, no zram, no cgroup), 128+N signal N.
	END
}

write_and_detach()
{
	"$@" "$usemem" -d -p "$pids" -n "$n" $pageout --signal-verify -W "$size" >"$dir/said" ||
		die "the writers failed with status $?"
	found=$(count_pids)
	[ "$found" -eq "$n" ] || die "$found of $n pids in the pid file"
}

# The cgroup is full with what the writers hold, so that as much again pushes all of it out.
push_out()
{
	case $version in
	1) usage=memory.usage_in_bytes limit=memory.limit_in_bytes ;;
	2) usage=memory.current limit=memory.max ;;
	esac
	held=$(cat "$cgroup/$usage")
	echo $((held + (4 << 20))) >"$cgroup/$limit" || die "cannot limit $cgroup"
	attend enter "$usemem" -O "$held" >"$dir/pusher" || die "the pusher failed with status $?"
}

wake_all()
{
	while read -r pid; do
		holds "$pid" || die "writer $pid is gone before it was told to read"
		kill -USR1 "$pid" || die "cannot signal writer $pid"
	done <"$pids"
}

no_words "$@"
n=${N:-4} size=${SIZE:-64m} swap_size=${SWAP_SIZE:-1g} wait_s=${WAIT:-60}
check_count N "$n" 1
check_size SIZE "$size"
check_size SWAP_SIZE "$swap_size"
check_count WAIT "$wait_s" 1
case ${PUSH:=pageout} in
pageout) pageout=--madv-pageout ;;
cgroup) pageout= ;;
*) refuse "PUSH is '$PUSH': expected pageout or cgroup" ;;
esac

begin
make_swap "$swap_size"
went_out=$(vmstat pswpout)
case $PUSH in
pageout) write_and_detach attend ;;
cgroup) make_cgroup; write_and_detach attend enter; push_out ;;
esac
went_out=$(($(vmstat pswpout) - went_out))
came_in=$(vmstat pswpin)
wake_all
all_gone "$wait_s" || die "after $wait_s s some of the readers still run"
came_in=$(($(vmstat pswpin) - came_in))

grep ' bytes / ' "$dir/said"
said=$(grep -c ' bytes / ' "$dir/said")
say "pages swapped out: $went_out"
say "pages swapped in: $came_in"
[ "$said" -eq "$n" ] || die "$said of $n readers printed their line"
[ "$came_in" -gt 0 ] || die "nothing was swapped in"
