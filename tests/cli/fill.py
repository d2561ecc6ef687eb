# SPDX-License-Identifier: GPL-2.0-or-later
"""fill - what --fill stores, as a compressing swap device sees it, and what --summary says of swap.

Usage: fill.py BINARY [SECTION]...
"""
import collections
import contextlib
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from harness import MIB, PAGE, Run, Skip, Tests, alive, need_root, run, until  # noqa: E402

SIZE = 64 * MIB
PAGES = SIZE // PAGE
CONTROL = '/sys/class/zram-control'
TOOLS = dict(os.environ, PATH=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')

# The first columns of mm_stat: Documentation/admin-guide/blockdev/zram.rst.
Stored = collections.namedtuple('Stored', 'original compressed used limit used_max same compacted huge')


def read(path):
    with open(path, encoding='ascii') as file:
        return file.read()


def put(path, value):
    with open(path, 'w', encoding='ascii') as file:
        file.write(str(value))


def tool(*words):
    try:
        done = subprocess.run(words, env=TOOLS, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    except FileNotFoundError:
        raise Skip(f'no {words[0]}') from None
    if done.returncode:
        raise Skip(f'{" ".join(words)}: {done.stderr.decode(errors="replace").strip()}')


def swap_before_ours(device):
    """Another swap device that takes pages before ours does, or by turns with it."""
    rows = [line.split() for line in read('/proc/swaps').splitlines()[1:]]
    mine = max(int(row[4]) for row in rows if row[0] == device)
    return [row[0] for row in rows if row[0] != device and int(row[4]) >= mine]


def tried(act):
    """Devices may be in use for a moment by who looks at new ones."""
    def attempt():
        with contextlib.suppress(OSError):
            act()
            return True
        return False
    return until(attempt, 10)


@contextlib.contextmanager
def zram_swap(size):
    """A zram device that is swapped to before all others; gives its folder in /sys/block."""
    need_root()
    if not os.path.exists(CONTROL + '/hot_add'):
        with contextlib.suppress(Skip):
            tool('modprobe', 'zram', 'num_devices=0')
    try:
        number = int(read(CONTROL + '/hot_add'))
    except OSError as error:
        raise Skip(f'no zram: {error.strerror}') from None
    device, folder = f'/dev/zram{number}', f'/sys/block/zram{number}'
    try:
        put(folder + '/disksize', size)
        until(lambda: os.path.exists(device))
        tool('mkswap', device)
        tool('swapon', '-p', '32767', device)
        if swap_before_ours(device):
            raise Skip(f'{swap_before_ours(device)[0]} is swapped to as well')
        yield folder
    finally:
        with contextlib.suppress(Skip):
            tool('swapoff', device)
        if not tried(lambda: put(folder + '/reset', 1)) or not tried(lambda: put(CONTROL + '/hot_remove', number)):
            raise AssertionError(f'{device} stays')


def stored(folder):
    fields = [int(word) for word in read(folder + '/mm_stat').split()]
    return Stored(*fields[:len(Stored._fields)])


def zeros_kept_out():
    """Since 6.12 the kernel only notes where pages of zeros are, and counts them here."""
    with contextlib.suppress(OSError):      # not for all; it sums up the counters of each CPU
        put('/proc/sys/vm/stat_refresh', 1)
    counters = dict(line.split() for line in read('/proc/vmstat').splitlines())
    return int(counters.get('swpout_zero', 0))


@contextlib.contextmanager
def holder(tests, row, args):
    """A detached task that holds SIZE bytes until we are done; gives its pid, None if there is none."""
    with tests.folder() as folder, Run(tests, ['-d', '-p', folder + '/pids', '-s', '-1', *args, str(SIZE)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        result = running.finish()
        tests.check(f'{row}: status', 0, result.status)
        pids = [int(line) for line in read(folder + '/pids').split()] if result.status == 0 else []
        tests.check(f'{row}: pids', 1, len(pids))
        try:
            yield pids[0] if pids else None
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            until(lambda: not any(alive(pid) for pid in pids))


def swapped_out(pid):
    """Bytes of a process that are in swap."""
    found = [line.split()[1] for line in read(f'/proc/{pid}/status').splitlines() if line.startswith('VmSwap:')]
    return int(found[0]) * 1024


def near(row, tests, what, expected, got, points=5):
    tests.check(f'{row}: {what}', f'{expected} % within {points} points', f'{got:.1f} %', abs(got - expected) <= points)


def all_zero(tests, row, grown, zeros):
    near(row, tests, 'pages of one word', 100, 100 * (grown.same + zeros) / PAGES, 1)
    near(row, tests, 'compressed bytes', 0, 100 * grown.compressed / SIZE, 1)


def hardly(tests, row, grown, _):
    """Random words: a page takes a whole page."""
    near(row, tests, 'compressed', 100, 100 * grown.compressed / grown.original, 1)
    near(row, tests, 'incompressible pages', 100, 100 * grown.huge / PAGES, 1)


def by_itself(tests, row, grown, _):
    """An index: no two words are the same, yet it is far from random."""
    part = 100 * grown.compressed / grown.original
    tests.check(f'{row}: compressed', 'from 5 % to 75 %', f'{part:.1f} %', 5 <= part <= 75)


def to(percent):
    def compressed(tests, row, grown, _):
        near(row, tests, 'compressed', percent, 100 * grown.compressed / grown.original)
    return compressed


FILLS = [
    ('zero', all_zero),
    ('index', by_itself),
    (None, by_itself),
    ('random', hardly),
    ('compress=10%', to(10)),
    ('compress=25%', to(25)),
    ('compress=50%', to(50)),
    ('compress=75%', to(75)),
]


def ratios(tests):
    with zram_swap(4 * SIZE) as zram:
        for fill, looks_right in FILLS:
            row = f'--fill {fill}' if fill else 'no --fill'
            args = ['--fill', fill] if fill else []
            before, zeros = stored(zram), zeros_kept_out()
            with holder(tests, row, [*args, '--madv-pageout']) as pid:
                if not pid:
                    continue
                near(row, tests, 'swapped out', 100, 100 * swapped_out(pid) / SIZE, 1)
                now, zeros = stored(zram), zeros_kept_out() - zeros
            grown = Stored(*(b - a for a, b in zip(before, now)))
            if fill != 'zero':
                near(row, tests, 'original bytes', 100, 100 * grown.original / SIZE, 1)
                tests.check(f'{row}: pages of one word', 'at most 1 % of them', grown.same + zeros,
                            grown.same + zeros <= PAGES // 100)
            if fill == 'zero' or grown.original:
                looks_right(tests, row, grown, zeros)


SWAP_LINE = re.compile(rb'^swap of the whole system: (\d+) pages in, (\d+) pages out'
                       rb'(?:, (\d+) pages of zeros kept out)?$', re.MULTILINE)
WAITING = re.compile(rb'Read Process (\d+) is waiting signal\n')


def signalled(tests, args):
    """A run whose task gets its signal when it waits for it."""
    with Run(tests, args) as running:
        waiting = WAITING.match(running.process.stdout.readline())
        if waiting:
            os.kill(int(waiting.group(1)), signal.SIGUSR1)
        return running.finish()


def check_swap(tests, args, pages_in, pages_out, zeros=0):
    """At least so many: it is the whole system that is counted."""
    row = f'--summary {args}'
    result = (signalled if '-W' in args else run)(tests, ['--summary', *args])
    tests.check(f'{row}: status', 0, result.status)
    found = SWAP_LINE.findall(result.out)
    if tests.check(f'{row}: swap lines', 1, len(found)):
        went_in, went_out, kept_out = (int(number or 0) for number in found[0])
        tests.check(f'{row}: pages in', f'at least {pages_in}', went_in, went_in >= pages_in)
        tests.check(f'{row}: pages out', f'at least {pages_out}', went_out, went_out >= pages_out)
        tests.check(f'{row}: pages of zeros', f'at least {zeros}', kept_out, kept_out >= zeros)


def summary(tests):
    most = PAGES * 99 // 100
    with zram_swap(4 * SIZE):
        check_swap(tests, ['--madv-pageout', str(SIZE)], 0, most)
        check_swap(tests, ['-n', '2', '-t', '2', '--madv-pageout', str(SIZE // 4)], 0, most)
        check_swap(tests, ['-W', '--madv-pageout', str(SIZE)], most, most)
        with open('/proc/vmstat', encoding='ascii') as vmstat:
            kept_out = 'swpout_zero' in vmstat.read()
        check_swap(tests, ['--fill', 'zero', '--madv-pageout', str(SIZE)], 0, 0 if kept_out else most,
                   most if kept_out else 0)


sections = {
    'ratios': [ratios],
    'summary': [summary],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
