#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# numa - checks of nodes, huge pages, memory cgroups and swap, in a guest that has them all:
# CPUs 0-1 on node 0, CPUs 2-3 on node 1, memory without CPUs on node 2; see run.sh.
# shellcheck disable=SC1091
. /checks.sh

RATE='usecs = [0-9]+ KB/s$'

# Free huge pages of $1 KiB each.
free_pages()
{
	cat "/sys/kernel/mm/hugepages/hugepages-$1kB/free_hugepages"
}

holders_run_on()
{
	same "$1 runs on $2" "$2" "$(cpus_of_holders)"
	release
}

holders_lie_on()
{
	same "$1 lies on $2" "$2" "$(nodes_of_holders)"
	release
}

check_guest()
{
	same "the guest's nodes" "0-2 0-1 0-2" "$(cd /sys/devices/system/node && cat online has_cpu has_memory | tr '\n' ' ' | sed 's/ $//')"
	same "the guest's pools" "32 2" "$(free_pages 2048) $(free_pages 1048576)"
	# Nothing but usemem is to move pages.
	echo 0 >/proc/sys/kernel/numa_balancing
	echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
}

check_numa_cpu()
{
	for node in 0:0-1 1:2-3; do
		hold --numa-cpu "${node%:*}" -n 2 1m
		holders_run_on "--numa-cpu ${node%:*}" "${node#*:} ${node#*:}"
	done
	hold -b 1 -n 6 1m
	holders_run_on "--bind 1" "0 1 2 3 0 1"
	hold --numa-cpu 1 -b 1 -n 4 1m
	holders_run_on "--numa-cpu 1 --bind 1" "2 3 2 3"
	hold --numa-cpu 0 -b 3 -n 3 1m
	holders_run_on "--numa-cpu 0 --bind 3" "0 1 0"
	hold_with taskset a -- --numa-cpu 1 -b 1 -n 2 1m
	holders_run_on "--numa-cpu 1 --bind 1 with CPUs 1 and 3" "3 3"
	hold --bind node -n 4 1m
	holders_run_on "--bind node" "0-1 2-3 0-1 2-3"
	hold --bind node -n 4 16m
	holders_lie_on "--bind node" "0 1 0 1"
	hold --numa-cpu 1 -t 2 -b 1 1m
	same "--numa-cpu 1 --bind 1 -t 2 runs on" "2 3" \
		"$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/"$(cat /tmp/pids)"/task/*/status | sort -u | grep -v - | tr '\n' ' ' | sed 's/ $//')"
	release
	expect "--numa-cpu 2, which has no CPUs" 2 "--numa-cpu '2'" usemem --numa-cpu 2 1m
	expect "--numa-cpu 7, which is not there" 2 "--numa-cpu '7'" usemem --numa-cpu 7 1m
	expect "--numa-cpu 1 with CPUs of node 0 only" 2 "--numa-cpu '1'" taskset 3 usemem --numa-cpu 1 1m
}

check_numa_memory()
{
	for node in 0 1 2; do
		for how in "" "-P -F" "-P" "-O" "-a" "--memfd" "-f /dev/zero" "-f /dev/shm/file" "-F -u 1m" "-t 2" "--madv-thp"; do
			# shellcheck disable=SC2086
			hold --numa-memory "$node" $how 16m
			holders_lie_on "--numa-memory $node $how" "$node"
			rm -f /dev/shm/file
		done
		hold --numa-memory "$node" -n 2 16m
		holders_lie_on "--numa-memory $node -n 2" "$node $node"
	done
	hold --numa-cpu 0 --numa-memory 1 -n 2 16m
	same "--numa-cpu 0 --numa-memory 1 runs on 0-1" "0-1 0-1" "$(cpus_of_holders)"
	holders_lie_on "--numa-cpu 0 --numa-memory 1" "1 1"
	hold --numa-cpu 1 16m
	holders_lie_on "--numa-cpu 1 with no policy" 1
	expect "--numa-memory 7, which is not there" 2 "--numa-memory '7'" usemem --numa-memory 7 1m
	expect "--numa-memory 3, the first that is not there" 2 "--numa-memory '3'" usemem --numa-memory 3 1m
	expect "--numa-memory 2 walks" 0 "^16777216 bytes / [0-9]+ $RATE" usemem --numa-memory 2 16m
}

check_migration()
{
	make_cgroup moved cpuset.mems=0
	hold_with in_cgroup moved -- -n 2 16m
	same "holders in a cpuset of node 0" "0 0" "$(nodes_of_holders)"
	echo 2 >/sys/fs/cgroup/moved/cpuset.mems
	holders_lie_on "holders moved to node 2" "2 2"
	hold_with in_cgroup moved -- -P -F 16m
	holders_lie_on "-P -F in a cpuset of node 2" 2
	rmdir /sys/fs/cgroup/moved
}

# held NAME KIB PAGES OPTION...: while it holds its memory that many huge pages are gone from the pool,
# and none is afterwards.
held()
{
	name=$1 kib=$2 wanted=$3
	shift 3
	all=$(free_pages "$kib")
	hold "$@"
	same "$name takes $wanted huge pages" "$wanted" "$((all - $(free_pages "$kib")))"
	release
	same "$name gives them back" "$all" "$(free_pages "$kib")"
}

check_huge_pages()
{
	for how in -U -UO "-U -f /dev/zero" "-U --memfd" "-U --memfd -f name" --hugetlb=2m; do
		# shellcheck disable=SC2086
		expect "$how 7m" 0 "^7340032 bytes / [0-9]+ $RATE" usemem $how 7m
		same "$how 7m is freed" 32 "$(free_pages 2048)"
		# shellcheck disable=SC2086
		held "$how 7m" 2048 4 $how 7m
	done
	held "-U -P 7m" 2048 4 -U -P 7m
	held "-U -n 2 7m" 2048 8 -U -n 2 7m
	held "-U -t 2 7m" 2048 8 -U -t 2 7m
	held "-U -u 3m 7m" 2048 5 -U -u 3m 7m
	held "-U --memfd -n 2 -f name 8m" 2048 4 -U --memfd -f name -n 2 8m
	for node in 0 1; do
		hold -U --numa-memory "$node" 8m
		holders_lie_on "-U --numa-memory $node" "$node"
	done
	expect "-U --numa-memory 2, whose pool is empty" 1 "huge page" usemem -U --numa-memory 2 8m
	expect "-U with more than the pool" 1 "map 100m of huge pages: 32 of 32 pages of 2m are free" usemem -U 100m
	expect "-U -n 5 with more than the pool" 1 "of 32 pages of 2m are free" usemem -U -n 5 16m
	expect "-U --memfd with more than the pool" 1 "of 32 pages of 2m are free" usemem -U --memfd 100m
	same "the pool after what failed" 32 "$(free_pages 2048)"
	expect "--hugetlb=4m, of which there are none" 77 "4m" usemem --hugetlb=4m 8m
	expect "--hugetlb=3m" 2 "--hugetlb" usemem --hugetlb=3m 8m
	expect "-U -e 100ms holds each huge page" 0 "^4194304 bytes" usemem -U -e 100ms 4m
	between "-U -e 100ms 4m takes two times that long" 200000 3000000 "$(usecs_said)"
	expect "-U -Z" 0 "^read again 7340032 bytes" usemem -U -Z 7m
	expect "-U -P -Z" 0 "^read again 7340032 bytes" usemem -U -P -Z 7m
	expect "-U -o" 0 "^7340032 bytes" usemem -U -o 7m
	expect "-U -M" 0 "^7340032 bytes" usemem -U -M 7m
	expect "-U -r 3" 0 "^22020096 bytes" usemem -U -r 3 7m
	expect "-U -R" 0 "^7340032 bytes" usemem -U -R 7m
	expect "-U -B 4k --memfd" 2 "--offset: expected whole pages of 2m" usemem -U --memfd -B 4k 2m
	expect "-U -u 1m --memfd" 2 "--unit: expected whole pages of 2m" usemem -U --memfd -u 1m 2m
}

check_hugetlbfs()
{
	expect "-U -f on hugetlbfs" 0 "^7340032 bytes / [0-9]+ $RATE" usemem -U -f /dev/hugepages/file 7m
	same "its file is whole huge pages long" 8388608 "$(stat -c %s /dev/hugepages/file)"
	same "its file keeps them" 28 "$(free_pages 2048)"
	expect "-U -f -o on hugetlbfs" 0 "^7340032 bytes" usemem -U -o -f /dev/hugepages/file 7m
	expect "-U -f -B 2m on hugetlbfs" 0 "^6291456 bytes" usemem -U -B 2m -f /dev/hugepages/file 6m
	expect "-U -f longer than its file" 1 "file is shorter than the mapping" usemem -U -f /dev/hugepages/file 9m
	rm -f /dev/hugepages/file
	same "without the file they are free" 32 "$(free_pages 2048)"
	expect "-U -f with more than the pool" 1 "of 32 pages of 2m are free" usemem -U -f /dev/hugepages/file 100m
	rm -f /dev/hugepages/file
	expect "-U -f that is not on hugetlbfs" 1 "expected a file on hugetlbfs" usemem -U -f /dev/shm/file 8m
	mkdir -p /mnt/1g
	mount -t hugetlbfs -o pagesize=1G none /mnt/1g || fail "mount hugetlbfs of 1 GiB" "not possible"
	expect "-U -f on hugetlbfs of 1 GiB" 0 "^67108864 bytes / [0-9]+ $RATE" usemem -U -f /mnt/1g/file 64m
	same "its file is whole huge pages long" 1073741824 "$(stat -c %s /mnt/1g/file)"
	same "its file keeps the page" 1 "$(free_pages 1048576)"
	# The page is there: clearing it would take longer than to hold it.
	expect "-U -f -e 200ms on hugetlbfs of 1 GiB" 0 "^8192 bytes" usemem -U -f /mnt/1g/file -e 200ms -j 1m 1g
	between "-e 200ms takes that long, once" 200000 3000000 "$(usecs_said)"
	expect "-U -f -B 2m on hugetlbfs of 1 GiB" 2 "--offset: expected whole pages of 1g" usemem -U -B 2m -f /mnt/1g/file 2m
	rm -f /mnt/1g/file
	umount /mnt/1g
}

check_gigantic_pages()
{
	expect "--hugetlb=1g 64m" 0 "^67108864 bytes / [0-9]+ $RATE" usemem --hugetlb=1g 64m
	same "--hugetlb=1g 64m is freed" 2 "$(free_pages 1048576)"
	expect "--hugetlb=1G -j 1m 1g" 0 "^8192 bytes / [0-9]+ $RATE" usemem --hugetlb=1G -j 1m 1g
	held "--hugetlb=1g -j 1m 1100m" 1048576 2 --hugetlb=1g -j 1m 1100m
	held "--hugetlb=1g --memfd 1m" 1048576 1 --hugetlb=1g --memfd 1m
	hold --hugetlb=1g --numa-memory 1 1m
	holders_lie_on "--hugetlb=1g --numa-memory 1" 1
	expect "--hugetlb=1g with more than the pool" 1 "of huge pages: 2 of 2 pages of 1g are free" usemem --hugetlb=1g 3g
	held "--hugetlb=1g --punch-holes -j 1m 2g" 1048576 1 --hugetlb=1g --punch-holes -j 1m 2g
}

check_residency()
{
	expect "-H" 0 "^0 of 2 pages resident$" usemem -H 3m
	expect "-H --hugetlb=2m" 0 "^0 of 4 pages resident$" usemem -H --hugetlb=2m 8m
	expect "-H --hugetlb=1g" 0 "^0 of 1 pages resident$" usemem -H --hugetlb=1g 1m
	same "-H leaves nothing" "32 2" "$(free_pages 2048) $(free_pages 1048576)"
	expect "-H with more than the pool" 1 "usemem: " usemem -H 100m
	expect "-N" 0 "^0 of 1024 pages resident$" usemem -N 4m
	expect "-N -F" 0 "^1024 of 1024 pages resident$" usemem -N -F 4m
	expect "-N -F -U" 0 "^1024 of 1024 pages resident$" usemem -N -F -U 4m
}

check_punched_holes()
{
	held "-U --punch-holes 16m" 2048 4 -U --punch-holes 16m
	held "-U --punch-holes of seven" 2048 4 -U --punch-holes 14m
	held "-U -u 4m --punch-holes 16m" 2048 4 -U -u 4m --punch-holes 16m
	held "-U -M --punch-holes 16m" 2048 4 -U -M --punch-holes 16m
	held "-U -P --punch-holes 16m" 2048 4 -U -P --punch-holes 16m
	held "-U --memfd --punch-holes --fallocate-punch-holes 16m" 2048 4 -U --memfd --punch-holes --fallocate-punch-holes 16m
	expect "-U --punch-holes says so" 0 "^punch holes done$" usemem -U --punch-holes 16m
	hold -O --punch-holes 16m
	between "-O --punch-holes 16m keeps half, in KiB" 8192 10240 "$(kib_of_holders Anonymous)"
	release
}

check_transparent_pages()
{
	hold -O --madv-thp 16m
	between "-O --madv-thp 16m has huge pages, in KiB" 14336 16384 "$(kib_of_holders AnonHugePages)"
	release
	hold -O 16m
	same "-O 16m has none" 0 "$(kib_of_holders AnonHugePages)"
	release
}


check_memory_cgroup()
{
	make_cgroup room memory.max=256m
	expect "--dry-run 50% of memory.max=256m" 0 "may use 25[0-9] MiB$" in_cgroup room usemem --dry-run 50%
	between "its SIZE, in MiB" 120 128 "$(sed -n 's/.*writes \([0-9]*\)k .*/\1/p' /tmp/said | awk '{ print int($1 / 1024) }')"
	expect "-n 4 --dry-run 50% of it" 0 "^4 tasks, each writes 3[0-9]{4}k " in_cgroup room usemem -n 4 --dry-run 50%
	expect "50% of it" 0 "^1[23][0-9]{7} bytes / [0-9]+ $RATE" in_cgroup room usemem 50%
	expect "more than memory.max" 2 "300 MiB to be written" in_cgroup room usemem 300m
	expect "more than memory.max, in all" 2 "320 MiB to be written" in_cgroup room usemem -n 4 80m
	expect "more than memory.max, read" 0 "^314572800 bytes" in_cgroup room usemem -o 300m
	expect "more than memory.max, every 64 KiB" 0 "^38400 bytes" in_cgroup room usemem -j 64k 300m
	expect "more than memory.max, of the memory above it" 2 "to be written" in_cgroup room usemem -P -F 300m
	echo 64m >/sys/fs/cgroup/room/memory.max
	expect "--force: the OOM killer's work is named" 1 "usemem: .*[Kk]ill" in_cgroup room usemem --force 128m
	same "nothing is left in the cgroup" "" "$(cat /sys/fs/cgroup/room/cgroup.procs)"
	between "the OOM killer was there" 1 9 "$(sed -n 's/^oom_kill //p' /sys/fs/cgroup/room/memory.events)"
	expect "--summary has its events" 0 "^events of the memory cgroup: high 0 max 0 oom 0 oom_kill 0$" in_cgroup room usemem --summary 16m
	rmdir /sys/fs/cgroup/room
	make_cgroup tasks pids.max=8
	expect "more tasks than pids.max" 1 "usemem: " in_cgroup tasks usemem -n 16 1m
	same "nothing is left in the cgroup of pids.max" "" "$(cat /sys/fs/cgroup/tasks/cgroup.procs)"
	rmdir /sys/fs/cgroup/tasks
}

check_swap()
{
	expect "--summary without swap" 0 "^faults: " usemem --summary 1m
	same "it has no line of swap" "" "$(grep ^swap /tmp/said)"
	same "it has no line of a memory cgroup, being in none" "" "$(grep ^events /tmp/said)"
	if ! swap_on 536870912; then
		skip "swap" "no zram"
		return
	fi
	expect "--madv-pageout -O 32m" 0 "^swap of the whole system: 0 pages in, 8[01][0-9]{2} pages out$" usemem --summary --madv-pageout -O 32m
	expect "--madv-pageout 32m" 0 "^swap of the whole system: 0 pages in, 8[01][0-9]{2} pages out$" usemem --summary --madv-pageout 32m
	expect "--madv-pageout -u 1m 32m" 0 "^swap of the whole system: 0 pages in, 8[01][0-9]{2} pages out$" usemem --summary --madv-pageout -u 1m 32m
	check_page_in
	check_high
	swap_off
	check_compression
}

check_page_in()
{
	usemem --summary --madv-pageout -W 32m >/tmp/said 2>&1 &
	main=$!
	until grep -q "is waiting signal" /tmp/said || [ ! -d /proc/$main ]; do
		sleep 0.1
	done
	kill -USR1 "$(sed -n 's/^Read Process \([0-9]*\) is waiting signal$/\1/p' /tmp/said)"
	wait "$main"
	same "--madv-pageout -W ends well" 0 "$?"
	same "it reads all" 33554432 "$(sed -n 's,^\([0-9]*\) bytes / .*,\1,p' /tmp/said)"
	between "it takes them from swap" 8000 8400 "$(sed -n 's/^swap of the whole system: \([0-9]*\) pages in.*/\1/p' /tmp/said)"
}

check_compression()
{
	check_fill compress=25% 20 30
	check_fill compress=50% 45 55
	check_fill compress=75% 70 80
	check_fill random 98 102
	swap_on 268435456
	hold --madv-pageout -O --fill zero 32m
	between "--fill zero in zram, pages of one word" 8000 8400 "$(awk '{ print $6 }' /sys/block/zram0/mm_stat)"
	release
	swap_off
}

check_high()
{
	make_cgroup high memory.high=32m
	expect "memory.high=32m refuses nothing" 0 "^67108864 bytes" in_cgroup high usemem --summary 64m
	between "its events are in the summary" 1 1000000 "$(sed -n 's/^events of the memory cgroup: high \([0-9]*\) .*/\1/p' /tmp/said)"
	expect "memory.high is no limit of --dry-run 50%" 0 "may use [0-9.]+ GiB$" in_cgroup high usemem --dry-run 50%
	echo max >/sys/fs/cgroup/high/memory.high
	echo 32m >/sys/fs/cgroup/high/memory.max
	expect "memory.max=32m with swap" 0 "^67108864 bytes" in_cgroup high usemem --summary 64m
	between "its events of max are in the summary" 1 1000000 "$(sed -n 's/^events of the memory cgroup: high 0 max \([0-9]*\) .*/\1/p' /tmp/said)"
	echo 0 >/sys/fs/cgroup/high/memory.swap.max
	expect "memory.max=32m with memory.swap.max=0" 2 "to be written" in_cgroup high usemem 64m
	rmdir /sys/fs/cgroup/high
}

check_guest
echo "+cpuset +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
check_numa_cpu
check_numa_memory
check_migration
check_huge_pages
check_hugetlbfs
check_gigantic_pages
check_residency
check_punched_holes
check_transparent_pages
check_memory_cgroup
check_swap
finish
