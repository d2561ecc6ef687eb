#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sanitize - warnings as errors, static analysis, the tests under sanitizers, and fuzzing.
set -u
unset CDPATH

usage()
{
	cat <<-'END'
	Usage: sh tests/sanitize.sh [gcc|clang|analyze|tidy|asan|tsan|fuzz]...
	       sh tests/sanitize.sh --logs

	gcc, clang   build with that compiler and -Dwerror=true
	analyze      build with gcc -fanalyzer and -Dwerror=true
	tidy         run clang-tidy with the checks of .clang-tidy over all C files
	asan         run the suites unit, fault and fuzz under AddressSanitizer and UBSan (clang)
	tsan         run them under ThreadSanitizer (clang)
	fuzz         run the targets of tests/fuzz with libFuzzer, AddressSanitizer and UBSan (clang),
	             each for FUZZ_SECONDS, 30 or 60 if that is not set

	Without a name all are done, each from nothing in a folder build-NAME of its own. --logs only
	prints the names of the test logs, one a line, for tests/count.sh. The exit status is 0 only
	if nothing failed.
	END
}

every="gcc clang analyze tidy asan tsan fuzz"

log_of()
{
	echo "build-$1/meson-logs/testlog.json"
}

all_logs()
{
	for each in $every; do
		log_of "$each"
	done
}

# A log with one row, for what is not a run of meson test: name, result, what it says.
write_log()
{
	mkdir -p "build-$1/meson-logs"
	printf '{"name": "pagemill:sanitize / %s", "result": "%s", "stdout": "%s\\n"}\n' "$1" "$2" "$3" \
		>"$(log_of "$1")"
}

skip()
{
	echo "skipped: $1: $2"
	write_log "$1" SKIP "skipped: $2"
}

# build NAME COMPILER MESON-OPTION...
build()
{
	name=$1 compiler=$2
	shift 2
	echo "==> $name: build with $compiler $*"
	rm -rf "build-$name"
	if CC=$compiler meson setup "build-$name" "$@" >"$tmp/log" 2>&1 &&
		meson compile -C "build-$name" >"$tmp/log" 2>&1; then
		return
	fi
	grep -v '^\[[0-9]*/[0-9]*\]' "$tmp/log" | tail -n 60
	echo "failed: $name: the build"
	write_log "$name" FAIL "the build failed"
	return 1
}

warnings()
{
	if ! "$1" --version >/dev/null 2>&1; then
		skip "$1" "no $1"
		return 0
	fi
	build "$1" "$1" -Dwerror=true || return 1
	write_log "$1" OK "no warning"
}

# The first of the commands $2... that is of major version $1, as a pattern of the shell.
of_version()
{
	wanted=$1
	shift
	for each; do
		# shellcheck disable=SC2254
		case $("$each" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1) in
		$wanted.*) echo "$each"; return 0 ;;
		esac
	done
	return 1
}

# Other versions object to other things, with false alarms of their own.
analyze()
{
	if ! gcc=$(of_version 12 gcc-12 gcc); then
		skip analyze "no gcc of version 12"
		return 0
	fi
	build analyze "$gcc" -Dwerror=true "-Dc_args=-fanalyzer -fno-diagnostics-show-caret -fdiagnostics-path-format=separate-events" || return 1
	write_log analyze OK "no warning"
}

# The compile commands are clang's: gcc has options that it does not know.
tidy()
{
	if ! tidier=$(of_version '1[4-9]' clang-tidy-14 clang-tidy) || ! clang --version >/dev/null 2>&1; then
		skip tidy "no clang, or no clang-tidy of a version from 14 to 19"
		return 0
	fi
	echo "==> tidy: $tidier"
	rm -rf build-tidy
	if ! CC=clang meson setup build-tidy >"$tmp/log" 2>&1; then
		cat "$tmp/log"
	elif sed -n 's/^ *"file": "\(.*\)",*$/\1/p' build-tidy/compile_commands.json | sort -u |
		(cd build-tidy && xargs -P "$(nproc)" -n 1 "$tidier" -p . --quiet 2>/dev/null); then
		write_log tidy OK "no warning"
		return
	fi
	echo "failed: tidy"
	write_log tidy FAIL "clang-tidy objects"
	return 1
}

# Can a program that is the function $2 be built with sanitizer $1, and does it run here?
works_here()
{
	echo "int $2 { return 0; }" | clang "-fsanitize=$1" -x c -o "$tmp/probe" - >/dev/null 2>&1 &&
		$fixed_addresses "$tmp/probe" -runs=0 >/dev/null 2>&1
}

# sanitizer NAME CHECKS
sanitizer()
{
	if ! works_here "$2" 'main(void)'; then
		skip "$1" "a program built with clang -fsanitize=$2 does not run here"
		return 0
	fi
	build "$1" clang "-Db_sanitize=$2" -Db_lundef=false || return 1
	$fixed_addresses meson test -C "build-$1" --suite unit --suite fault --suite fuzz --print-errorlogs \
		--timeout-multiplier 4
}

fuzz()
{
	if ! works_here fuzzer,address,undefined 'LLVMFuzzerTestOneInput(const char *data, unsigned long size)'; then
		skip fuzz "a program built with clang -fsanitize=fuzzer,address,undefined does not run here"
		return 0
	fi
	build fuzz clang -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false || return 1
	$fixed_addresses meson test -C build-fuzz --suite fuzz --print-errorlogs
}

check()
{
	case $1 in
	gcc | clang) warnings "$1" ;;
	analyze) analyze ;;
	tidy) tidy ;;
	asan) sanitizer asan address,undefined ;;
	tsan) sanitizer tsan thread ;;
	fuzz) fuzz ;;
	esac
}

cd -- "$(dirname -- "$0")/.." || exit 1
for name; do
	case $name in
	-h | --help) usage; exit 0 ;;
	--logs) all_logs; exit 0 ;;
	gcc | clang | analyze | tidy | asan | tsan | fuzz) ;;
	*) printf "sanitize.sh: unexpected argument '%s': expected gcc, clang, analyze, tidy, asan, tsan or fuzz\\n" "$name" >&2
		exit 2 ;;
	esac
done
case ${FUZZ_SECONDS-30} in
'' | 0 | *[!0-9]*)
	echo "sanitize.sh: FUZZ_SECONDS '$FUZZ_SECONDS': expected a number of seconds" >&2
	exit 2 ;;
esac
# The names are single words.
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $every

# The sanitizers of clang 14 want the shadow memory's place free, and the kernel's widest address
# randomization (vm.mmap_rnd_bits) puts mappings there: "unexpected memory mapping".
fixed_addresses="setarch $(uname -m) -R"
$fixed_addresses true 2>/dev/null || fixed_addresses=
export ASAN_OPTIONS="${ASAN_OPTIONS-halt_on_error=1:abort_on_error=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS-halt_on_error=1:print_stacktrace=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS-halt_on_error=1}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

status=0
for name; do
	check "$name" || status=1
done
exit "$status"
