#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runtime - how late a run ends after its --runtime: usemem, any step, 1 and 64 tasks."""
import json
import os
import statistics
import subprocess
import sys

RUNS = 100
STEPS = ['8', '64', '72', '4096', '1m', 'random']
LATE_MS = 10.0
# Tasks, the memory of each, and what that means.
ROWS = [(1, '1g', 'memory touched for the first time'),
        (64, '1m', 'memory that is there after the first pass'),
        (64, '16m', 'memory touched for the first time')]


def late_ms(usemem, tasks, size, step):
    """From the deadline to the end of the last walk."""
    how = ['--random'] if step == 'random' else ['--step', step if tasks == 1 or step != '1m' else '64k']
    run = subprocess.run([usemem, '-n', str(tasks), '-T', '1', '-r', '1000000000', '--json', *how, size],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    window = json.loads(run.stdout)['metrics']['window_ns']['samples'][0]
    return window / 1e6 - 1000


def main():
    usemem = sys.argv[1]
    runs = int(os.environ.get('RUNS', RUNS))
    for tasks, size, memory in ROWS:
        late = sorted(late_ms(usemem, tasks, size, STEPS[i % len(STEPS)]) for i in range(runs))
        in_time = sum(0 <= x <= LATE_MS for x in late)
        print(f'--runtime 1, {tasks} tasks of {size}, {memory}: {in_time} of {runs} runs ended 0 to '
              f'{LATE_MS:.0f} ms after it (wanted 95 %): median {statistics.median(late):.2f} ms, '
              f'latest {late[-1]:.2f} ms', flush=True)


main()
