#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""readtwice - its readers against a bare loop, dd and fio on the same file.

Usage: readtwice.py READTWICE BARE_READER [PART]...     PAIRS=7 BENCH_DIR=/var/tmp
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from pairs import MIB, PAIRS, by_bare, by_dd, by_fio, by_json, compare, run  # noqa: E402

READTWICE, BARE = sys.argv[1:3]
SIZE = 1024 * MIB
SECONDS = 5
PASSES = 4


def ours(*args, file):
    return lambda: run([READTWICE, '-q', '--json', *args, file], by_json())


def fio(*args, file):
    return lambda: run(['fio', '--name=bench', '--readonly', f'--filename={file}', '--output-format=json',
                        '--group_reporting', *args], by_fio)


def null(_):
    """What is around a block: files of holes that nobody reads."""
    cost = []
    for _ in range(PAIRS):
        out = subprocess.run([READTWICE, '-q', '--json', '-n', '1', '-r', '1', '-s', '1t', '--passes', '1',
                              '--method=null'], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        metrics = json.loads(out)['metrics']
        cost.append(metrics['window_ns']['samples'][0] / metrics['blocks_count']['samples'][0])
    print(f'null: {statistics.median(cost):.2f} ns a block ({min(cost):.2f} to {max(cost):.2f}; '
          f'wanted at most 10)', flush=True)


def cached(file):
    """One reader of a file that is in the page cache."""
    mine = ours('-r', '1', '--passes', str(PASSES), file=file)
    compare('read 4 KiB cached, against a bare loop', mine,
            lambda: run([BARE, file, '4096', str(PASSES)], by_bare), 0.97)
    once = ours('-r', '1', file=file)
    compare('read 4 KiB cached, against dd bs=4k', once,
            lambda: run(['dd', f'if={file}', 'of=/dev/null', 'bs=4k'], by_dd), 1.15)


def twice(file):
    """Two readers of it."""
    compare('two readers, 4 KiB cached, against fio psync',
            ours('-r', '2', '-m', 'pread', '-T', str(SECONDS), file=file),
            fio('--rw=read', '--bs=4k', '--ioengine=psync', '--numjobs=2', '--invalidate=0', '--time_based',
                f'--runtime={SECONDS}', file=file), 1.0, most_cpu=1.0)


def asynchronous(file):
    """Requests in flight."""
    deep = ['--iodepth=32', '--time_based', f'--runtime={SECONDS}']
    ring = ['--ioengine=io_uring', '--fixedbufs', '--registerfiles', *deep]
    how = ['-r', '1', '--depth', '32', '-T', str(SECONDS)]
    compare('io_uring, O_DIRECT, 4 KiB random, against fio',
            ours('-m', 'io_uring', '--direct', '--order', 'random', *how, file=file),
            fio('--rw=randread', '--bs=4k', '--direct=1', *ring, file=file), 0.98, most_cpu=1.0)
    compare('libaio, O_DIRECT, 4 KiB random, against fio',
            ours('-m', 'libaio', '--order', 'random', *how, file=file),
            fio('--rw=randread', '--bs=4k', '--direct=1', '--ioengine=libaio', *deep, file=file), 0.98, most_cpu=1.0)
    compare('io_uring, cached, 128 KiB, against fio',
            ours('-m', 'io_uring', '--block', '128k', *how, file=file),
            fio('--rw=read', '--bs=128k', '--invalidate=0', *ring, file=file), 0.98, most_cpu=1.0)


PARTS = {'null': (null, None), 'cached': (cached, 'dd'), 'twice': (twice, 'fio'), 'async': (asynchronous, 'fio')}


def main():
    folder = tempfile.mkdtemp(prefix='pagemill-bench-', dir=os.environ.get('BENCH_DIR', '/var/tmp'))
    try:
        file = os.path.join(folder, 'file')
        with open(file, 'wb') as out:
            for _ in range(SIZE // MIB):
                out.write(os.urandom(MIB))
            os.fsync(out.fileno())
        for name in sys.argv[3:] or PARTS:
            part, tool = PARTS[name]
            if tool and not shutil.which(tool):
                print(f'skipped: {name}: no {tool}')
                continue
            part(file)
    finally:
        shutil.rmtree(folder)


main()
