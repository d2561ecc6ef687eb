#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""copyfile - its operations against a bare loop of the same calls, and its whole files against cp.

Usage: copyfile.py COPYFILE BARE_COPIER [PART]...     PAIRS=7 BENCH_DIRS=/var/tmp:/dev/shm
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from pairs import MIB, PAIRS, Timed, by_bare, by_json, compare, run  # noqa: E402

COPYFILE, BARE = sys.argv[1:3]
DIRS = os.environ.get('BENCH_DIRS', '/var/tmp:/dev/shm').split(':')
SIZE = 64 * MIB
BLOCK = 128 << 10
OPS = {'/dev/shm': 100000}
FILE_SIZE = 1024 * MIB
# cp(1) asks copy_file_range(2) for 2 GiB at a time.
BLOCKS = {'readwrite': [], 'sendfile': ['--block', '1g'], 'copy_file_range': ['--block', '1g']}


def ours(*args, metric='total_bytes'):
    return lambda: run([COPYFILE, '-q', '--allow-tmpfs', '--json', *args], by_json(metric))


def null():
    """What is around an operation that copies nothing."""
    cost = []
    for _ in range(PAIRS):
        out = subprocess.run([COPYFILE, '-q', '--json', '-m', 'null', '--refill', 'no', '--flush', 'none', '--source',
                              'hole', '--depth', '1', '--ops', '20000000'], check=True, stdout=subprocess.PIPE).stdout
        metrics = json.loads(out)['metrics']
        cost.append(metrics['window_ns']['samples'][0] / metrics['copied_count']['samples'][0])
    print(f'null: {statistics.median(cost):.2f} ns an operation ({min(cost):.2f} to {max(cost):.2f}; '
          f'wanted at most 50)', flush=True)


def random():
    """A block rewritten, copied and flushed: operations a second."""
    for folder in DIRS:
        ops = OPS.get(folder, 4000)
        compare(f'copy_file_range, 128 KiB random in {folder}, against a bare loop',
                ours('--dir', folder, '--size', str(SIZE), '--ops', str(ops), metric='copied_count'),
                lambda folder=folder, ops=ops: run([BARE, folder, str(SIZE), str(BLOCK), str(ops)], by_bare), 0.97,
                unit=('operations/s', 1))


def cp(source, folder, *args):
    """cp(1) to a file that is not there: its whole time."""
    def once():
        target = os.path.join(folder, 'target')
        began = time.monotonic_ns()
        subprocess.run(['cp', *args, source, target], check=True)
        ns = time.monotonic_ns() - began
        os.unlink(target)
        return Timed(os.path.getsize(source), ns, ns)
    return once


def whole():
    """Whole files, each to one that is not there."""
    for place in DIRS:
        folder = tempfile.mkdtemp(prefix='pagemill-bench-', dir=place)
        try:
            source = os.path.join(folder, 'source')
            with open(source, 'wb') as out:
                for _ in range(FILE_SIZE // MIB):
                    out.write(os.urandom(MIB))
                os.fsync(out.fileno())
            how = ['--pattern', 'seq', '--from', source, '--to', folder]
            for method, args in ('readwrite', ['--reflink=never']), ('sendfile', []), ('copy_file_range', []):
                compare(f'{method}, 1 GiB in {place}, against cp {" ".join(args)}'.rstrip(),
                        ours('-m', method, *BLOCKS[method], *how), cp(source, folder, *args), 1.0)
        finally:
            shutil.rmtree(folder)


def stress_ng():
    """stress-ng's figure beside ours: other work, no target."""
    if not shutil.which('stress-ng'):
        print('skipped: stress-ng is not there')
        return
    for folder in DIRS:
        for name, command in (('stress-ng copy-file', ['stress-ng', '--temp-path', folder, '--copy-file', '1',
                                                       '--timeout', '5', '--metrics']),
                              ('copyfile', [COPYFILE, '-q', '--allow-tmpfs', '--dir', folder, '-T', '5', '--metrics'])):
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            print(f'{name} in {folder}:\n' + ''.join(line + '\n' for line in done.stdout.splitlines()
                                                    if 'metrc' in line), flush=True)


PARTS = {'null': null, 'random': random, 'whole': whole, 'stress-ng': stress_ng}


def main():
    for name in sys.argv[3:] or PARTS:
        PARTS[name]()


main()
