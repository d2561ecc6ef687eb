# SPDX-License-Identifier: GPL-2.0-or-later
# checks - what the jobs of the guests have in common. Each check is a line; a failed one says why.
# shellcheck shell=sh
failed=0 passed=0

pass()
{
	passed=$((passed + 1))
	echo "ok      $1"
}

# fail NAME WHY; and what the program said.
fail()
{
	failed=$((failed + 1))
	echo "FAILED  $1: $2"
	head -n 12 /tmp/said | sed 's/^/        | /'
}

skip()
{
	echo "skipped $1: $2"
}

# expect NAME STATUS PATTERN COMMAND...: it ends with STATUS and prints a line that has PATTERN.
expect()
{
	name=$1 wanted_status=$2 pattern=$3
	shift 3
	"$@" >/tmp/said 2>&1 </dev/null
	status=$?
	if [ "$status" -ne "$wanted_status" ]; then
		fail "$name" "status $status instead of $wanted_status: $*"
	elif ! grep -Eq -e "$pattern" /tmp/said; then
		fail "$name" "no line with '$pattern': $*"
	else
		pass "$name"
	fi
}

# same NAME WANTED GOT
same()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "'$3' instead of '$2'"
	fi
}

# between NAME LEAST MOST GOT
between()
{
	if [ "${4:--1}" -ge "$2" ] && [ "$4" -le "$3" ]; then
		pass "$1"
	else
		fail "$1" "'$4' instead of $2 to $3"
	fi
}

# COMMAND with tasks that hold their memory from here on; their pids, in the order of the tasks, in
# $holders. "hold -n 2 64m", or "hold_with PREFIX... -- -n 2 64m" for a command in front of usemem.
hold()
{
	hold_with -- "$@"
}

hold_with()
{
	prefix=
	while [ "$1" != -- ]; do
		prefix="$prefix $1"
		shift
	done
	shift
	rm -f /tmp/pids
	holders=
	# shellcheck disable=SC2086
	if $prefix usemem -d -p /tmp/pids -s -1 "$@" >/tmp/said 2>&1 </dev/null; then
		holders=$(tr '\n' ' ' </tmp/pids)
		holders=${holders% }
	else
		fail "hold $*" "status $?"
	fi
}

# Let the holders go, and wait until they and their memory are gone.
release()
{
	# shellcheck disable=SC2086
	[ -z "$holders" ] || kill $holders
	for pid in $holders; do
		while [ -d "/proc/$pid" ]; do
			sleep 0.05
		done
	done
	holders=
}

# The CPUs that each holder may use: "0-1 2-3".
cpus_of_holders()
{
	for pid in $holders; do
		sed -n 's/^Cpus_allowed_list:[^0-9]*//p' "/proc/$pid/status"
	done | tr '\n' ' ' | sed 's/ $//'
}

# The nodes where each holder has memory, a word a holder: "0 0,2". Only of mappings with at least a
# MiB, and of neither the program itself nor its heap: malloc() maps what -a asks for.
nodes_of_holders()
{
	for pid in $holders; do
		awk '
			!/ file=\/bin\/| heap / {
				kib = 4
				split("", pages)
				sum = 0
				for (i = 3; i <= NF; i++) {
					split($i, pair, "=")
					if (pair[1] == "kernelpagesize_kB")
						kib = pair[2]
					else if (pair[1] ~ /^N[0-9]+$/) {
						pages[substr(pair[1], 2)] = pair[2]
						sum += pair[2]
					}
				}
				if (sum * kib >= 1024)
					for (node in pages)
						on[node] = 1
			}
			END {
				for (node = 0; node < 64; node++)
					if (node in on)
						list = list (list == "" ? "" : ",") node
				print list == "" ? "none" : list
			}' "/proc/$pid/numa_maps"
	done | tr '\n' ' ' | sed 's/ $//'
}

# Sum of field $1 of /proc/PID/smaps_rollup of all holders, in KiB.
kib_of_holders()
{
	for pid in $holders; do
		sed -n "s/^$1: *//p" "/proc/$pid/smaps_rollup"
	done | awk '{ sum += $1 } END { print sum + 0 }'
}

# The time of the line that the last command printed.
usecs_said()
{
	sed -n 's,^[0-9]* bytes / \([0-9]*\) usecs.*,\1,p' /tmp/said | head -n 1
}

# COMMAND in cgroup $1.
in_cgroup()
{
	cgroup=$1
	shift
	# shellcheck disable=SC2016
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "/sys/fs/cgroup/$cgroup" "$@"
}

# A fresh cgroup $1 with settings FILE=VALUE.
make_cgroup()
{
	cgroup=/sys/fs/cgroup/$1
	shift
	mkdir "$cgroup" || fail "make $cgroup" "it is not to be made"
	for setting; do
		echo "${setting#*=}" >"$cgroup/${setting%%=*}" || fail "set $setting" "not possible"
	done
}

# zram as swap of $1 bytes. Fails where there is none.
swap_on()
{
	[ -e /sys/block/zram0 ] || return
	echo "$1" >/sys/block/zram0/disksize &&
		mkswap /dev/zram0 >/dev/null 2>&1 && swapon /dev/zram0
}

swap_off()
{
	swapoff /dev/zram0
	echo 1 >/sys/block/zram0/reset
}

# check_fill FILL LEAST MOST: what zram makes of it, in percent. In swap of its own: the kernel frees the
# pages of those who are gone some time later.
check_fill()
{
	swap_on 268435456
	hold --madv-pageout -O --fill "$1" 32m
	between "--fill $1 in zram, in percent" "$2" "$3" \
		"$(awk '{ print $1 ? int($2 * 100 / $1) : -1 }' /sys/block/zram0/mm_stat)"
	release
	swap_off
}

base_page_kib()
{
	sed -n 's/^KernelPageSize: *\([0-9]*\) kB$/\1/p' /proc/self/smaps | sort -u
}

# Loop devices that have an image, and who uses the module $1: a mount in any namespace does.
left_of()
{
	echo "$(find /sys/block/loop*/loop -prune 2>/dev/null | wc -l)" \
		"$(awk -v module="$1" '$1 == module { print $3 }' /proc/modules)"
}

# nothing_left NAME TYPE: of a filesystem, soon after; and no process.
nothing_left()
{
	tries=0
	until [ "$(left_of "$2")" = "0 0" ] || [ $((tries += 1)) -gt 100 ]; do
		sleep 0.1
	done
	same "$1 leaves no loop device, no mount and no process" "0 0 " \
		"$(left_of "$2") $(pidof usemem readtwice msync copyfile "mkfs.$2")"
}

# How far process $1 has come.
has_loop_device()
{
	[ -d /sys/block/loop0/loop ]
}

has_workers()
{
	grep -q ' - [a-z0-9]* /dev/loop' "/proc/$1/mountinfo" && [ -n "$(cat "/proc/$1/task/$1/children")" ]
}

# check_killed TYPE WHEN COMMAND...: SIGKILL when WHEN says that it has come so far.
check_killed()
{
	type=$1 when=$2
	shift 2
	"$@" >/tmp/said 2>&1 </dev/null &
	pid=$! tries=0
	until "$when" "$pid" 2>/dev/null; do
		[ $((tries += 1)) -le 600 ] || { fail "$1 on $type" "it never $when"; break; }
		sleep 0.1
	done
	kill -KILL "$pid"
	{ wait "$pid"; } 2>/dev/null
	same "$1 on $type, killed as it $when" 137 $?
	nothing_left "$1 on $type, killed" "$type"
}

# The programs on a new filesystem of TYPE and SIZE.
check_filesystem()
{
	on="--dir /tmp/d --fs $1 --fs-size $2" pages=$((8192 / $(base_page_kib)))
	# shellcheck disable=SC2086
	{
		expect "readtwice on $1 verifies what was written" 0 "^data: 8388608 of 8388608 bytes on $1 ./dev/loop0, image in .*$" \
			readtwice $on -n 1 -s 8m --fill written --verify
		expect "readtwice on $1: cold, and the residency" 0 "^cold: yes" \
			readtwice $on -n 1 -s 8m --fill written --cold --residency
		same "all of it is cached" "file 0 in /tmp/d: $pages of $pages pages cached, 100.0 %" "$(grep '^file 0' /tmp/said)"
		expect "readtwice on $1 reads holes" 0 "^data: holes on $1 ./dev/loop0, image in .*.: no device was read" \
			readtwice $on -n 1 -s 8m --verify --then truncate
		expect "readtwice on $1: JSON tells it" 0 "^    \"type\": \"$1\",$" readtwice $on -n 1 -s 8m --json
		for call in read pread readv preadv2; do
			expect "readtwice -m $call --direct on $1" 0 "^8388608 bytes .* copied" \
				readtwice $on -n 1 -s 8m --fill written --verify -m $call --direct --block 256k --order random
		done
		expect "msync on $1 verifies" 0 "^verified 12582912 bytes, read back with O_DIRECT$" \
			msync $on -s 4m -r 3 -R 1m --verify
		for mode in invalidate fsync fdatasync sync_file_range; do
			expect "msync -m $mode on $1 verifies" 0 "^verified 1048576 bytes, read back with O_DIRECT$" \
				msync $on -s 1m -r 1 -m $mode --verify
		done
		expect "msync on $1: JSON tells it" 0 "^    \"type\": \"$1\",$" msync $on -s 1m -r 1 --json
		for call in copy_file_range readwrite readvwritev preadv2 mmap mmap_write sendfile splice; do
			expect "copyfile -m $call on $1 verifies" 0 "^verified 4194305 bytes$" \
				copyfile $on -q -m $call --pattern seq -s 4194305 --verify
			same "copyfile -m $call on $1: what is cloned" 1 "$(grep -c '^cloned: [0-9]* of [1-9][0-9]* bytes' /tmp/said)"
		done
		for call in copy_file_range readwrite mmap; do
			expect "copyfile -m $call on $1, at random" 0 "^verified 2621440 bytes$" copyfile $on -q -m $call -s 4m --ops 20 --verify
		done
		expect "copyfile -m readwrite --direct on $1" 0 "^verified 4194305 bytes$" \
			copyfile $on -q -m readwrite --direct --pattern seq -s 4194305 --verify
		expect "copyfile --no-clone on $1" 0 "^cloned: 0 of [1-9][0-9]* bytes" copyfile $on -q --no-clone --pattern seq -s 4m
		expect "copyfile on $1: JSON tells it" 0 "^    \"type\": \"$1\",$" copyfile $on -q -s 4m --ops 2 --json
		expect "usemem on $1" 0 "^8388608 bytes / [0-9]+ usecs = [0-9]+ KB/s$" usemem $on -f data -S 8m
		expect "usemem on $1: JSON tells it" 0 "^    \"type\": \"$1\",$" usemem $on -f data -S --json 8m
		nothing_left "what ended on $1" "$1"
		check_killed "$1" has_loop_device readtwice $on -q -n 1 -s 8m
		check_killed "$1" has_workers readtwice $on -q -n 1 -s 8m --passes 0 -T 300
		check_killed "$1" has_workers msync $on -q -s 4m -T 300
		check_killed "$1" has_workers copyfile $on -q -s 4m -T 300
		check_killed "$1" has_workers usemem $on -f data -S -s 300 8m
	}
}

# The status of the job: sum up.
finish()
{
	echo "$passed checks passed, $failed failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
	exit
}
