#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# count - name the failed and skipped tests of meson's test logs and count all of them.
#
# Usage: sh tests/count.sh LOG.json...
#
# The last line is "N passed, N failed, N skipped". A log that is missing or broken, or that holds
# no test, counts as one failure: tests that did not run must not look like tests that passed. The
# exit status is 0 only if nothing failed and something passed.
set -u

if [ $# -eq 0 ]; then
	echo "count.sh: expected meson's testlog.json files" >&2
	exit 2
fi

exec python3 - "$@" <<'END'
import json
import sys

PASSED = ('OK', 'EXPECTEDFAIL')


def rows(path):
    """The tests of a log, or a reason why there are none."""
    try:
        with open(path, encoding='utf-8', errors='replace') as log:
            found = [json.loads(line) for line in log if line.strip()]
        return [(str(row['name']), str(row['result']), row) for row in found], 'no test in it'
    except OSError as error:
        return [], error.strerror
    except (ValueError, KeyError, TypeError):
        return [], "not a log of meson's"


def reason(row):
    """A skipped test says 'skipped: REASON'; failing that, the last thing that it said."""
    lines = [line.strip() for key in ('stderr', 'stdout') for line in (row.get(key) or '').splitlines()]
    lines = [line for line in lines if line]
    said = [line[len('skipped:'):].strip() for line in lines if line.startswith('skipped:')]
    return '; '.join(said) or (lines[-1] if lines else 'no reason given')


passed = failed = skipped = 0
sys.stdout.reconfigure(errors='backslashreplace')
for path in sys.argv[1:]:
    tests, why = rows(path)
    if not tests:
        print(f'failed: {path}: {why}')
        failed += 1
    for name, result, row in tests:
        if result in PASSED:
            passed += 1
        elif result == 'SKIP':
            print(f'skipped: {name}: {reason(row)}')
            skipped += 1
        else:
            print(f'failed: {name} ({result}, {path})')
            failed += 1
print(f'{passed} passed, {failed} failed, {skipped} skipped')
sys.exit(failed > 0 or passed == 0)
END
