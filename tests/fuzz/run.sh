#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run - run a fuzz target, starting from its seeds; print the input on which it fails.
#
# Usage: sh run.sh TARGET SEEDS PROGRAM MAX_LEN SECONDS
#
# FUZZ_SECONDS says for how long, if it is set. The dictionary is made of the names of
# PROGRAM's options. All that is written lies beside TARGET: what was found worth keeping in
# TARGET.corpus, the dictionary in TARGET.dict, an input that fails in TARGET.crash-... or the like.
set -u

target=$1 seeds=$2 program=$3 max_len=$4 seconds=$5
rm -f "$target".crash-* "$target".leak-* "$target".oom-* "$target".timeout-*
mkdir -p "$target.corpus"
"$program" --help | grep -oE -e '(^| )--?[[:alnum:]_-]+' | sed 's/ *\(.*\)/"\1"/' | sort -u >"$target.dict"
if [ ! -s "$target.dict" ]; then
	echo "no option in $program --help"
	exit 1
fi

"$target" -max_total_time="${FUZZ_SECONDS:-$seconds}" -max_len="$max_len" -timeout=20 -dict="$target.dict" \
	-artifact_prefix="$target." -print_final_stats=1 "$target.corpus" "$seeds" 2>&1
status=$?
for input in "$target".crash-* "$target".leak-* "$target".oom-* "$target".timeout-*; do
	[ -e "$input" ] || continue
	echo "failed on the input $input:"
	od -A d -c "$input"
done
# Not libFuzzer's own status: 77, which would be a test that was skipped.
[ "$status" -eq 0 ]
