# SPDX-License-Identifier: GPL-2.0-or-later
"""pairs - rates and CPU times of whole programs, as ratios of interleaved pairs: medians."""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

PAIRS = int(os.environ.get('PAIRS', 7))
MIB = 1 << 20


class Timed:
    """What a program moved, how long it took itself to say, and the CPU time of all its processes."""

    def __init__(self, work, ns, cpu_ns):
        self.rate = work * 1e9 / ns
        self.cpu_per_work = cpu_ns / work if work else 0


def run(command, work_of):
    """WORK_OF makes (work, ns) of the program's standard output and error."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        said = out.read(), err.read()
    if process.returncode:
        sys.exit(f'{" ".join(command)}: exit status {process.returncode}\n' + said[1].decode(errors='replace'))
    return Timed(*work_of(*said), (usage.ru_utime + usage.ru_stime) * 1e9)


def by_json(metric='total_bytes'):
    """Of one of our programs: its own work over its common window."""
    def work_of(out, _):
        metrics = json.loads(out)['metrics']
        return metrics[metric]['samples'][0], metrics['window_ns']['samples'][0]
    return work_of


def by_bare(out, _):
    work, ns = out.split()
    return int(work), int(ns)


def by_dd(_, err):
    size, seconds = re.search(rb'(\d+) bytes .* copied, ([0-9.e-]+) s', err).groups()
    return int(size), float(seconds) * 1e9


def by_fio(out, _):
    """All jobs of a fio run, which read alike: ios, or bytes."""
    jobs = [job['read'] for job in json.loads(out)['jobs']]
    return sum(job['io_bytes'] for job in jobs), max(job['runtime'] for job in jobs) * 1e6


def compare(name, ours, other, wanted, noise=True, most_cpu=None, unit=('MB/s', 1e6)):
    """OURS and OTHER are functions that run a program once. Prints the medians of the ratios."""
    ours(), other()
    rates, cpus, own, scale = [], [], [], []
    for _ in range(PAIRS):
        theirs, mine = other(), ours()
        rates.append(mine.rate / theirs.rate)
        scale.append(mine.rate)
        cpus.append(mine.cpu_per_work / theirs.cpu_per_work)
        if noise:
            own.append(theirs.rate / other().rate)
    text = (f'{name}: {statistics.median(rates):.3f} of its rate ({min(rates):.3f} to {max(rates):.3f}; '
            f'wanted {wanted:.2f})')
    if noise:
        text += f', it against itself {statistics.median(own):.3f} ({min(own):.3f} to {max(own):.3f})'
    if most_cpu:
        text += (f', {statistics.median(cpus):.3f} of its CPU time ({min(cpus):.3f} to {max(cpus):.3f}; '
                 f'wanted at most {most_cpu:.2f})')
    print(f'{text}; {statistics.median(scale) / unit[1]:.1f} {unit[0]}', flush=True)
