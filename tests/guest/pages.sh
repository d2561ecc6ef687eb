#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pages - checks of the programs where a base page has 64 KiB; see run.sh.
# shellcheck disable=SC1091
. /checks.sh

RATE='usecs = [0-9]+ KB/s$'

check_guest()
{
	same "the guest's base page, in KiB" 64 "$(base_page_kib)"
	echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
	mkdir /tmp/d
	modprobe loop || fail "modprobe loop" "status $?"
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

# Blocks of less and more than a page, and an end that is no end of a page.
check_reading()
{
	on="--dir /tmp/d --allow-tmpfs -n 1"
	# shellcheck disable=SC2086
	{
		for method in read pread readv preadv2 mmap splice sendfile null; do
			expect "readtwice -m $method" 0 "^together: 16777216 bytes" readtwice $on -s 8m -m $method
		done
		for method in read pread readv preadv2 mmap splice; do
			for block in 1000 4k 100000 1m 2m; do
				expect "readtwice -m $method --block $block --verify" 0 "^together: 6400002 bytes" \
					readtwice $on -s 3200001 --fill written --verify -m $method --block $block --order random
			done
			expect "readtwice -m $method --verify of holes" 0 "^together: 3200002 bytes" readtwice $on -s 1600001 --verify -m $method
		done
		for gap in 64k 256k 1m; do
			expect "readtwice --gap $gap" 0 "^together: 16777216 bytes" readtwice $on -s 8m --gap $gap --verify
		done
		expect "readtwice --gap of less than 16 blocks" 2 "--gap: expected 0, or at least 16 blocks" readtwice $on -s 8m --gap 960k --block 64k
		expect "readtwice --residency of holes in memory" 0 "^file 0 in /tmp/d: 0 of 128 pages cached, 0.0 %$" readtwice $on -s 8m --residency
		expect "readtwice --residency of data in memory" 0 "^file 0 in /tmp/d: 128 of 128 pages cached, 100.0 %$" \
			readtwice $on -s 8m --residency --fill written
	}
	expect "readtwice in memory" 2 "where a hole that is read leaves nothing in the page cache" readtwice --dir /tmp/d -n 1 -s 8m
	expect "readtwice -m mmap: page tables for pages of 64 KiB" 0 "^1 file of 1t" readtwice --dir /tmp/d --allow-tmpfs --dry-run -n 1 -s 1t -m mmap
	expect "readtwice -m mmap: page tables for too many of them" 2 "take 1.00 GiB of page tables" readtwice --dir /tmp/d --allow-tmpfs --dry-run -n 1 -s 4t -m mmap
}

# On ext4, whose blocks are smaller than a page.
check_reading_disk()
{
	on="--dir /tmp/d --fs ext4 --fs-size 64m -n 1"
	# shellcheck disable=SC2086
	{
		expect "readtwice: one page for a byte" 0 "^file 0 in /tmp/d: 1 of 1 pages cached, 100.0 %$" readtwice $on -s 1 --residency
		expect "readtwice: two pages" 0 "^file 0 in /tmp/d: 2 of 2 pages cached, 100.0 %$" readtwice $on -s 65537 --residency
		expect "readtwice -m null: no page" 0 "^file 0 in /tmp/d: 0 of 128 pages cached, 0.0 %$" readtwice $on -s 8m --residency -m null
		expect "readtwice --direct: no page" 0 "^file 0 in /tmp/d: 0 of 128 pages cached, 0.0 %$" \
			readtwice $on -s 8m --residency --fill written --direct --cold
		expect "readtwice --then dontneed" 0 "^8388608 bytes dropped in" readtwice $on -s 8m --then dontneed
		for block in 4k 16k 1m; do
			expect "readtwice --direct --block $block" 0 "^together: 16777216 bytes" \
				readtwice $on -s 8m --fill written --verify --direct --block $block -m preadv2
		done
		expect "readtwice --direct with half a sector" 2 "O_DIRECT takes blocks of a multiple of .* here, not 256" \
			readtwice $on -s 8m --direct --block 256
		for method in io_uring libaio; do
			expect "readtwice -m $method" 77 "method $method: built without lib" readtwice $on -s 8m --direct -m $method
		done
	}
}

check_flushing()
{
	on="--dir /tmp/d --fs ext4 --fs-size 64m"
	for size in 1 4k 32k 100000; do
		expect "msync --range $size" 2 "--range '[0-9]+': expected whole pages of 65536 bytes$" msync --dir /tmp/d -s 1m --range $size
		expect "msync --size $size" 2 "--size '[0-9]+': expected whole pages of 65536 bytes$" msync --dir /tmp/d -s $size
		expect "msync --order stride:$size" 2 "--order 'stride:$size': expected whole pages of 65536 bytes$" msync --dir /tmp/d --order stride:$size
	done
	# shellcheck disable=SC2086
	{
		expect "msync --range 64k" 0 "^dirtied 2097152 bytes, flushed 2097152 bytes in 32 calls$" msync $on -s 1m -R 64k -r 2 --verify
		same "it verifies" "verified 2097152 bytes, read back with O_DIRECT" "$(grep ^verified /tmp/said)"
		same "it has a line of latencies" 1 "$(grep -c '^flush latency: min [0-9.]* us, median .* max [0-9.]* us$' /tmp/said)"
		expect "msync --range 192k" 0 "^dirtied 1048576 bytes, flushed 1048576 bytes in 6 calls$" msync $on -s 1m -R 192k -r 1 --verify
		expect "msync --order stride:64k" 0 "^dirtied 1048576 bytes, flushed 1048576 bytes in 1 calls$" msync $on -s 1m -r 1 --order stride:64k --verify
		expect "msync --order stride:128k" 0 "^dirtied 524288 bytes, flushed 524288 bytes in 1 calls$" msync $on -s 1m -r 1 --order stride:128k --verify
		expect "msync --dirty 25%" 0 "^dirtied 262144 bytes, flushed 262144 bytes in 16 calls$" msync $on -s 1m -r 1 --dirty 25% -R 64k --order random --verify
		expect "msync --fill written" 0 "^verified 1048576 bytes" msync $on -s 1m -r 1 --fill written --verify --dirty 50%
		expect "msync --mlock" 0 "^verified 1048576 bytes" msync $on -s 1m -r 1 --mlock --verify
		expect "msync -m invalidate of locked pages" 0 "^busy: 1 calls found locked pages" msync $on -s 1m -r 1 --mlock -m invalidate
		expect "msync -m async" 0 "nothing was flushed$" msync $on -s 1m -r 1 -m async
		expect "msync --shared" 0 "^verified 4194304 bytes" msync $on -s 1m -r 2 -n 2 --shared -R 256k --verify
		expect "msync --populate no" 0 '"major_faults"' msync $on -s 1m -r 1 --populate no --json
		between "it faults each page in, once" 16 31 \
			"$(sed -n '/"m[a-z]*_faults"/,/]/s/^ *\([0-9][0-9]*\),*$/\1/p' /tmp/said | awk '{ sum += $1 } END { print sum }')"
	}
	expect "msync in memory" 0 "^medium: tmpfs on none ./tmp/d.: a flush does nothing there$" msync --dir /tmp/d -s 1m -r 1 --allow-tmpfs
	expect "f2fs, which wants pages of 4 KiB" 77 "^msync: this kernel has no f2fs$" msync --dir /tmp/d --fs f2fs -s 1m -r 1
}

check_copying()
{
	on="--dir /tmp/d --allow-tmpfs -q"
	# shellcheck disable=SC2086
	{
		for method in copy_file_range readwrite readvwritev preadv2 mmap mmap_write sendfile splice; do
			for block in 1000 4k 64k 100000 1m; do
				expect "copyfile -m $method --block $block" 0 "^verified 3200001 bytes$" \
					copyfile $on -m $method --pattern seq -s 3200001 --block $block --verify
			done
			expect "copyfile -m $method, anywhere" 0 "^verified 4000 bytes$" \
				copyfile $on -m $method -s 1m --block 100 --align 1 --ops 40 --verify
		done
		expect "copyfile -m reflink" 77 "FICLONERANGE of .*: EOPNOTSUPP: " copyfile $on -m reflink -s 1m
		expect "copyfile -m io_uring" 77 "method io_uring: built without liburing" copyfile $on -m io_uring -s 1m
		expect "copyfile -m libaio" 77 "built without libaio|has no direct I.O" copyfile $on -m libaio -s 1m
	}
	on="--dir /tmp/d --fs xfs --fs-size 300m -q --pattern seq -s 4m"
	# shellcheck disable=SC2086
	{
		expect "copyfile: a clone" 0 "^cloned: 4194304 of 4194304 bytes" copyfile $on
		expect "copyfile: a clone in blocks below a page" 0 "^cloned: 4194304 of 4194304 bytes" copyfile $on -m reflink --block 4k
		expect "copyfile: no clone" 0 "^cloned: 0 of [1-9][0-9]* bytes" copyfile $on --no-clone
	}
}

check_iterators()
{
	small="-q --size 1m --volume 1m --samples 2"
	# shellcheck disable=SC2086
	{
		expect "ioviter, all that there is" 0 "^ iov_iter_benchmark_pipe_write: avg [0-9]+ uS, stddev [0-9]+ uS$" ioviter $small --verify
		same "its lines" 8 "$(grep -c '^ iov_iter_benchmark_' /tmp/said)"
		same "what it lacks" 4 "$(grep -c '^ioviter: bvec.*: built without liburing$' /tmp/said)"
		expect "ioviter --align" 0 "^kind " ioviter $small --kinds ubuf,iovec,iovec_split,pipe --sizes 4k,64k,100000,1m \
			--align 0,1,4097,65535 --verify
		same "its cells" 128 "$(grep -cE '^(ubuf|iovec|iovec_split|pipe) .* [0-9]+\.[0-9]( one segment: a ubuf to the kernel)?$' /tmp/said)"
		expect "ioviter --align of a page" 2 "--align '65536': expected bytes below a page" ioviter $small --align 65536
		expect "ioviter: a segment is a page" 0 "^iovec +write +pagecache +1m +0 +base +1m +16 " \
			ioviter $small --kinds iovec --sizes 1m --form table
		expect "ioviter --buffer small" 0 "^iovec_split " ioviter $small --kinds iovec,iovec_split --sizes 1m --buffer small --verify --form table
	}
}

check_guest
check_walks
check_files
check_residency
check_hold
check_huge_pages
check_swap
check_reading
check_reading_disk
check_flushing
check_copying
check_iterators
check_filesystem ext4 64m
check_filesystem btrfs 128m
check_filesystem xfs 300m
finish
