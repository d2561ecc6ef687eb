#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pages - checks of usemem where a base page has 64 KiB; see run.sh.
# shellcheck disable=SC1091
. /checks.sh

RATE='usecs = [0-9]+ KB/s$'

check_guest()
{
	same "the guest's base page, in KiB" 64 \
		"$(sed -n 's/^KernelPageSize: *\([0-9]*\) kB$/\1/p' /proc/self/smaps | sort -u)"
	echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
}

check_walks()
{
	for how in "" -a -O -P "-P -F" --memfd "-f /dev/zero" "-t 2" -R "-u 64k" "-u 4k" "-u 100000" -M -E -L "-j 8" --madv-thp "-S -a"; do
		# shellcheck disable=SC2086
		expect "usemem $how 1m" 0 "^1048576 bytes / [0-9]+ $RATE" usemem $how 1m
	done
	expect "usemem -r 3 1m" 0 "^3145728 bytes" usemem -r 3 1m
	expect "usemem -j 64k 1m" 0 "^128 bytes" usemem -j 64k 1m
	expect "usemem -Z 1m" 0 "^read again 1048576 bytes" usemem -Z 1m
	hold -O -j 64k 16m
	between "-O -j 64k 16m touches all of it, in KiB" 16384 24576 "$(kib_of_holders Anonymous)"
	release
	hold -O --punch-holes 16m
	between "-O --punch-holes 16m keeps half, in KiB" 8192 14336 "$(kib_of_holders Anonymous)"
	release
}

check_files()
{
	file=/dev/shm/file
	expect "-f -u 64k" 0 "^1048576 bytes / [0-9]+ $RATE" usemem -f $file -u 64k 1m
	same "its file is as long as SIZE" 1048576 "$(stat -c %s $file)"
	expect "-f -u 4k" 2 "--unit: expected whole pages of 64k" usemem -f $file -u 4k 1m
	expect "--memfd -u 4k" 2 "--unit: expected whole pages of 64k" usemem --memfd -u 4k 1m
	expect "-f -B 4096" 2 "--offset: expected whole pages of 64k" usemem -f $file -B 4096 64k
	expect "-f -B 64k" 0 "^983040 bytes" usemem -f $file -B 64k 960k
	expect "-f longer than its file" 1 "file is shorter than the mapping" usemem -f $file -B 64k 1m
	expect "-f -S 100000" 0 "^100000 bytes" usemem -f $file -S 100000
	rm -f $file
	expect "--memfd --punch-holes --fallocate-punch-holes" 0 "^punch holes done$" usemem --memfd --punch-holes --fallocate-punch-holes 1m
}

check_residency()
{
	expect "-N 1m" 0 "^0 of 16 pages resident$" usemem -N 1m
	expect "-N -F 1m" 0 "^16 of 16 pages resident$" usemem -N -F 1m
	expect "-N -F 65537" 0 "^2 of 2 pages resident$" usemem -N -F 65537
}

check_hold()
{
	expect "-e 100ms 256k" 0 "^262144 bytes" usemem -e 100ms 256k
	between "it holds each of four pages" 400000 3000000 "$(usecs_said)"
	expect "-e 100ms -j 32k 128k" 0 "^32 bytes" usemem -e 100ms -j 32k 128k
	between "it holds each of two pages once" 200000 2000000 "$(usecs_said)"
}

check_huge_pages()
{
	expect "-U with an empty pool" 77 "the pool is empty" usemem -U 1m
	kib=$(sed -n 's/^Hugepagesize: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
	pool=/sys/kernel/mm/hugepages/hugepages-${kib}kB
	echo 4 >"$pool/nr_hugepages"
	if [ "$(cat "$pool/free_hugepages")" -ne 4 ]; then
		skip "huge pages of $kib KiB" "the pool stays empty"
		return
	fi
	expect "-U with huge pages of $kib KiB" 0 "^$((kib * 1024 + 8)) bytes" usemem -U $((kib * 1024 + 8))
	hold -U $((kib * 1024 + 8))
	same "-U takes two of them" 2 "$(cat "$pool/free_hugepages")"
	release
	same "-U gives them back" 4 "$(cat "$pool/free_hugepages")"
	expect "-H" 0 "^0 of 2 pages resident$" usemem -H $((kib * 1024 + 8))
	expect "-N -F -U" 0 "^$((kib / 64)) of $((kib / 64)) pages resident$" usemem -N -F -U $((kib * 1024))
	expect "-U with more than the pool" 1 "4 of 4 pages of" usemem -U $((kib * 1024 * 5))
	hold -U --punch-holes $((kib * 1024 * 4))
	same "-U --punch-holes frees every other one" 2 "$(cat "$pool/free_hugepages")"
	release
	echo 0 >"$pool/nr_hugepages"
}

check_swap()
{
	if ! swap_on 268435456; then
		skip "swap" "no zram"
		return
	fi
	expect "--madv-pageout -O 32m" 0 "^swap of the whole system: 0 pages in, 5[01][0-9] pages out$" usemem --summary --madv-pageout -O 32m
	swap_off
	check_fill compress=25% 20 30
	check_fill compress=50% 45 55
	check_fill random 98 102
}

check_guest
check_walks
check_files
check_residency
check_hold
check_huge_pages
check_swap
finish
