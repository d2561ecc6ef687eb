# SPDX-License-Identifier: GPL-2.0-or-later
"""ops_table - reads an operations table as the parsers of others do.

Nothing counts before a line that holds "(secs)" three times. From there on a line of 10 or 12 words is a
result, until one that has "run time:" in it; lines with fail: or warn: are skipped. A result has 12 words
(10 without the last two figures): tag, metrc:, [pid], name, operations, real, user and system seconds,
operations a real second, operations a CPU second, and in the longer form CPU percent and KiB. Other metrics
are NUMBER UNIT... (harmonic mean of N instances), or geometric mean, or total of.
"""
import collections
import re

Result = collections.namedtuple('Result', 'name ops real user system per_real per_cpu cpu rss')
Extra = collections.namedtuple('Extra', 'name value unit mean instances')
NUMBER = re.compile(r'[0-9]+(\.[0-9]+)?')
EXTRA = re.compile(r'stress-ng: metrc: \[\d+\] (\S+) +([0-9.]+) (.+) \((harmonic mean|geometric mean|total) of (\d+) instances\)')

HEAD = [
    'stress-ng: metrc: [{pid}] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s '
    'CPU used per       RSS Max',
    'stress-ng: metrc: [{pid}]                           (secs)    (secs)    (secs)   (real time) (usr+sys time) '
    'instance (%)          (KB)',
]


def parse(text):
    """(results, extras) of TEXT, or a text that says what is wrong."""
    results, extras, inside = [], [], False
    for line in text.splitlines():
        if not inside:
            inside = line.count('(secs)') == 3
            continue
        if 'run time:' in line:
            return results, extras
        if 'fail:' in line or 'warn:' in line:
            continue
        words = line.split()
        extra = EXTRA.fullmatch(line)
        if extra:
            extras.append(Extra(extra[1], float(extra[2]), extra[3], extra[4], int(extra[5])))
        elif len(words) in (10, 12):
            if words[:2] != ['stress-ng:', 'metrc:'] or not re.fullmatch(r'\[\d+\]', words[2]):
                return f'taken for a result: {line!r}'
            if not all(NUMBER.fullmatch(word) for word in words[4:]):
                return f'no number in a result: {line!r}'
            results.append(Result(words[3], *map(float, words[4:])) if len(words) == 12 else None)
    return results, extras


def self_test():
    """The example that everybody knows, and lines that must not be taken for one. What is wrong, or None."""
    table = '\n'.join([*HEAD, 'stress-ng: metrc: [{pid}] copy-file         24270      8.15      0.09      4.56      '
                       '2977.16        5221.59        57.02          2544',
                       'stress-ng: metrc: [{pid}] copy-file           2783.55 MB per sec copy rate (harmonic mean of 1 '
                       'instances)']).format(pid=4754)
    want = ([Result('copy-file', 24270, 8.15, 0.09, 4.56, 2977.16, 5221.59, 57.02, 2544)],
            [Extra('copy-file', 2783.55, 'MB per sec copy rate', 'harmonic mean', 1)])
    for text, expected in ((table, want), (table + '\nx: for a 8.15s run time:\n' + 'a ' * 12, want),
                           ('a ' * 12 + '\n' + table, want), (table + '\n' + 'warn: ' + 'a ' * 11, want)):
        if parse(text) != expected:
            return f'{text!r} gives {parse(text)!r}'
    for bad in ('a ' * 12, 'b ' * 10, table.splitlines()[2].replace('8.15', '8,15')):
        if not isinstance(parse(table + '\n' + bad), str):
            return f'{bad!r} passes'
    return None
