# SPDX-License-Identifier: GPL-2.0-or-later
"""compare - how long compare takes for many metrics and for many files, and how much memory.

python3 compare.py BINARY"""
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
import comparing  # noqa: E402

# What is told, files a side, metrics of each, seconds and MiB at most.
SCALES = [('10,000 metrics, 30 runs a side', 30, 10000, 2.0, 200), ('1,000 files', 500, 300, 2.0, 200)]
ROUNDS = 5


def make(folder, files, metrics):
    rng = random.Random(1)
    for side in ('base', 'head'):
        os.mkdir(os.path.join(folder, side))
        for i in range(files):
            system = {f'proc-vmstat.m{k}': [rng.random() * 1e6] for k in range(metrics)}
            document = comparing.throughput([1000 + rng.random() * 10], system=system)
            comparing.write(os.path.join(folder, side), f'{i:03}.json', json.dumps(document, indent=1))
    return [os.path.join(folder, side) for side in ('base', 'head')]


def main():
    missed = 0
    for name, files, metrics, seconds, mib in SCALES:
        with tempfile.TemporaryDirectory(prefix='pagemill-bench-') as folder:
            sides = make(folder, files, metrics)
            took = []
            for _ in range(ROUNDS):
                began = time.monotonic()
                subprocess.run([sys.argv[1], '--all', *sides], stdout=subprocess.DEVNULL, check=True)
                took.append(time.monotonic() - began)
        # Of children the largest: nothing else has been run here.
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        median = sorted(took)[ROUNDS // 2]
        print(f'{name}: {median:.2f} s (wanted below {seconds:g}), at most {largest:.0f} MiB (wanted below {mib})')
        missed += median >= seconds or largest >= mib
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
