#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# style - check licence lines, layout, shell scripts and trailing blanks in the source tree.
#
# Usage: sh tests/style/style.sh [spdx|format|shell|blanks]...
#
# Without a name all four are checked. Exit status: 0 all is well, 1 a file is wrong (it is named),
# 77 nothing is wrong, but a check had to be skipped.
set -u
unset CDPATH

# Every file of the tree that is ours: what git has or could add; without git, all but build folders.
all_files()
{
	if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
		git -c core.quotePath=off ls-files --cached --others --exclude-standard | sort -u
	else
		find . -name .git -prune -o -path './build*' -prune -o -name __pycache__ -prune -o \
			-type f -print | sed 's,^\./,,'
	fi
}

# Those that someone wrote: recorded files and seeds stay as they are.
written_files()
{
	all_files | while IFS= read -r file; do
		case $file in
		tests/fixtures/README.md) ;;
		LICENSE | tests/fixtures/* | tests/golden/* | tests/fuzz/corpus/*) continue ;;
		esac
		[ ! -f "$file" ] || printf '%s\n' "$file"
	done
}

wrong()
{
	printf '%s: %s\n' "$1" "$2"
	status=1
}

skip()
{
	echo "skipped: $1"
	skipped=77
}

check_spdx()
{
	while IFS= read -r file; do
		head -n 3 -- "$file" | grep -q 'SPDX-License-Identifier: [^ ]' ||
			wrong "$file" "no SPDX line in its first three lines"
	done <"$tmp/files"
}

check_blanks()
{
	while IFS= read -r file; do
		lines=$(grep -nI '[[:blank:]]$' -- "$file" | cut -d: -f1 | tr '\n' ' ')
		[ -z "$lines" ] || wrong "$file" "trailing blanks in line ${lines% }"
	done <"$tmp/files"
}

# The layout of one major version: another lays out differently.
clang_format_14()
{
	for tool in clang-format-14 clang-format; do
		case $("$tool" --version 2>/dev/null) in
		*version\ 14.*) echo "$tool"; return 0 ;;
		esac
	done
	return 1
}

check_format()
{
	if ! formatter=$(clang_format_14); then
		skip "no clang-format of version 14"
		return
	fi
	grep '\.[ch]$' "$tmp/files" >"$tmp/c"
	# All at once is done in a tenth of the time; only what is wrong is looked at by itself.
	tr '\n' '\0' <"$tmp/c" | xargs -0 "$formatter" --style=file --dry-run -Werror >/dev/null 2>&1 && return
	while IFS= read -r file; do
		"$formatter" --style=file "$file" >"$tmp/formatted" && cmp -s "$file" "$tmp/formatted" && continue
		wrong "$file" "not as $formatter lays it out:"
		diff -u -- "$file" "$tmp/formatted" | tail -n +3 | head -n 20
	done <"$tmp/c"
}

check_shell()
{
	if ! shellcheck --version >/dev/null 2>&1; then
		skip "no shellcheck"
		return
	fi
	grep -e '\.sh$' -e '^\.ci/run$' "$tmp/files" >"$tmp/scripts"
	while IFS= read -r file; do
		shellcheck -x -P SCRIPTDIR -- "$file" || wrong "$file" "shellcheck objects"
	done <"$tmp/scripts"
}

[ $# -gt 0 ] || set -- spdx format shell blanks
for name; do
	case $name in
	spdx | format | shell | blanks) ;;
	*) printf "style.sh: unexpected argument '%s': expected spdx, format, shell or blanks\\n" "$name" >&2
		exit 2 ;;
	esac
done
cd -- "$(dirname -- "$0")/../.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
status=0 skipped=0
written_files >"$tmp/files"
[ -s "$tmp/files" ] || wrong . "no file found"
for name; do
	case $name in
	spdx) check_spdx ;;
	format) check_format ;;
	shell) check_shell ;;
	blanks) check_blanks ;;
	esac
done
[ "$status" -ne 0 ] || status=$skipped
exit "$status"
