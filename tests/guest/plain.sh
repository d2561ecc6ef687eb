#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# plain - checks of what usemem says in a guest that lacks what the others have; see run.sh.
# shellcheck disable=SC1091
. /checks.sh

check_guest()
{
	same "the guest's nodes" "0" "$(cat /sys/devices/system/node/online)"
	same "the guest's huge pages" "hugepages-2048kB" "$(ls /sys/kernel/mm/hugepages)"
	same "the guest's swap" 1 "$(wc -l </proc/swaps)"
}

check_huge_pages()
{
	for options in -U -UO "-U --memfd" --hugetlb=2m -H "-H --hugetlb=2m" "-U --dry-run"; do
		# shellcheck disable=SC2086
		expect "$options with an empty pool" 77 "huge pages of 2m: the pool is empty" usemem $options 4m
	done
	expect "--hugetlb=1g without that size" 77 "huge pages of 1g: this machine has 2m" usemem --hugetlb=1g 1g
	expect "-H --hugetlb=1g without that size" 77 "huge pages of 1g: this machine has 2m" usemem -H --hugetlb=1g 1g
	expect "-U -f on hugetlbfs with an empty pool" 1 "0 of 0 pages of 2m are free" usemem -U -f /dev/hugepages/file 4m
	rm -f /dev/hugepages/file
	echo 4 >/proc/sys/vm/nr_overcommit_hugepages
	expect "-U with surplus pages" 0 "^4194304 bytes" usemem -U 4m
	expect "-U with too few surplus pages" 1 "map 16m of huge pages: 0 of 0 pages of 2m are free" usemem -U 16m
	echo 0 >/proc/sys/vm/nr_overcommit_hugepages
}

check_nodes()
{
	hold --numa-cpu 0 --numa-memory 0 16m
	same "--numa-cpu 0 --numa-memory 0 runs on all CPUs" 0-1 "$(cpus_of_holders)"
	same "--numa-cpu 0 --numa-memory 0 lies on 0" 0 "$(nodes_of_holders)"
	release
	expect "--numa-cpu 1, which is not there" 2 "--numa-cpu '1'" usemem --numa-cpu 1 1m
	expect "--numa-memory 1, which is not there" 2 "--numa-memory '1'" usemem --numa-memory 1 1m
	hold --bind node -n 2 1m
	same "--bind node with a single one" "0-1 0-1" "$(cpus_of_holders)"
	release
}

check_memory()
{
	expect "a walk" 0 "^67108864 bytes / [0-9]+ usecs = [0-9]+ KB/s$" usemem 64m
	expect "more than memory" 2 "2.00 GiB to be written" usemem 2g
	expect "more than memory, read" 0 "^1048576 bytes" usemem -o -j 16k 2g
	expect "--force: the OOM killer's work is named" 1 "usemem: .*[Kk]ill" usemem --force -n 2 600m
	expect "--summary without memory cgroup and swap" 0 "^faults: " usemem --summary 1m
	same "it has no line of swap" "" "$(grep '^swap' /tmp/said)"
	same "it has no line of a memory cgroup" "" "$(grep '^events' /tmp/said)"
	expect "50%" 0 "may use [0-9.]+ MiB$" usemem --dry-run 50%
	expect "--madv-pageout without swap" 0 "^16777216 bytes" usemem --madv-pageout 16m
	hold -O --madv-pageout 16m
	between "-O --madv-pageout keeps the memory, in KiB" 16384 20480 "$(kib_of_holders Anonymous)"
	release
}

check_guest
check_huge_pages
check_nodes
check_memory
finish
