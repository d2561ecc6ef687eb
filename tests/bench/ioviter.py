#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ioviter - its ubuf and iovec against a bare loop of the same calls: averages, and how wide they scatter.

Usage: ioviter.py IOVITER BARE_IOV     PAIRS=7
"""
import json
import os
import statistics
import subprocess
import sys

IOVITER, BARE = sys.argv[1:3]
PAIRS = int(os.environ.get('PAIRS', 7))
SAMPLES = 16
VOLUME = 256 << 20
# Kind, bytes of a call, the share of the bare loop's speed that is wanted.
ROWS = (('ubuf', 4096, 0.97), ('ubuf', 65536, 0.99), ('ubuf', VOLUME, 0.99),
        ('iovec', 4096, 0.97), ('iovec', 65536, 0.99), ('iovec', 4 << 20, 0.99))


def ours(kind, way, call):
    out = subprocess.run([IOVITER, '-q', '--json', '--kinds', kind, '--direction', way, '--sizes', str(call), '--samples',
                          str(SAMPLES)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return json.loads(out)['metrics'][f'{kind}_{way}_ns']['samples']


def bare(kind, way, call):
    out = subprocess.run([BARE, kind, way, str(call), str(VOLUME), str(SAMPLES)], check=True, stdout=subprocess.PIPE).stdout
    return [int(line) for line in out.split()]


def compare(kind, way, call, wanted):
    speeds, own, widths, theirs_widths = [], [], [], []
    for _ in range(PAIRS):
        theirs, mine = bare(kind, way, call), ours(kind, way, call)
        speeds.append(statistics.mean(theirs) / statistics.mean(mine))
        own.append(statistics.mean(theirs) / statistics.mean(bare(kind, way, call)))
        widths.append(statistics.stdev(mine) / statistics.mean(mine))
        theirs_widths.append(statistics.stdev(theirs) / statistics.mean(theirs))
    print(f'{kind} {way}, calls of {call}: {statistics.median(speeds):.3f} of its speed ({min(speeds):.3f} to '
          f'{max(speeds):.3f}; wanted {wanted:.2f}), it against itself {statistics.median(own):.3f} ({min(own):.3f} to '
          f'{max(own):.3f}); deviation {100 * statistics.median(widths):.1f} %, its own '
          f'{100 * statistics.median(theirs_widths):.1f} %', flush=True)


for row in ROWS:
    for direction in ('read', 'write'):
        compare(row[0], direction, *row[1:])
