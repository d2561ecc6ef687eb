# SPDX-License-Identifier: GPL-2.0-or-later
"""options - each option of usemem that needs no partner: command line, exit status, lines, files.

Usage: options.py BINARY [SECTION]...
"""
import contextlib
import fcntl
import json
import os
import re
import resource
import signal
import statistics
import struct
import sys
import time
import zlib

sys.dont_write_bytecode = True
from harness import (FIVE, MIB, PAGE, WORD, Run, Skip, Tests, alive, be_nobody, brief, left_of,  # noqa: E402
                     need_root, read_lines, run, status_line, until)
from faults import flip_until_it_ends, limit, both  # noqa: E402
from table import (AVAILABLE, IGNORED, SEED, check_files, check_stderr, indices, no_strict_overcommit,  # noqa: E402
                   prepare)

FOR_EVER = ['-r', '1000000000000']
SMALL = 64 << 10
SMALL_PAGES = SMALL // PAGE
DONE = 'punch holes done'
SOME = r'W\d+'       # a walk that was cut
MENU = r'.*\bl mlock.*\bu munlock.*\br mremap.*\bq\b.*'
HUGE = 2 * MIB
POOL = '/sys/kernel/mm/hugepages/hugepages-2048kB/'


class Row:
    """A command line (args: words) and what it must give.

    out: each task's lines, tasks: how many tasks, once: the lines that come once, before those of
    the tasks. A line is 'W12' (a walk of 12 bytes), 'Z12' (read again), 'F' (freed), 'I' (set-up),
    or a pattern for all of it. A single task's lines have this order. err: a pattern for the one
    line on stderr; '' for none; errs: one for each of several lines. files, made, content, needs: as
    in table.py; data: a function of a file's bytes that says what is wrong; stdin: what is read
    there; before: called in the child; check: a function of (tests, row, result, pid, folder) for
    the rest.
    """

    def __init__(self, name, args, status=0, out=(), err='', **more):
        self.name, self.status, self.err = name, status, err
        self.out = out if out is None else list(out)
        self.args = args.split() if isinstance(args, str) else args
        self.tasks = more.pop('tasks', 1)
        self.once = more.pop('once', [])
        self.files = more.pop('files', {})
        self.made = more.pop('made', {name: None if callable(what) else what for name, what in self.files.items()})
        self.content = more.pop('content', {})
        self.data = more.pop('data', {})
        self.mode = {}
        self.errs = more.pop('errs', None)
        self.needs = more.pop('needs', None)
        self.stdin = more.pop('stdin', None)
        self.before = more.pop('before', None)
        self.prefix = more.pop('prefix', ())
        self.check = more.pop('check', None)
        assert not more, more


def good(name, args, size, **more):
    """A run that walks SIZE bytes in each task; SIZE may be a list of such lines itself."""
    again, free = more.pop('again', None), more.pop('free', True)
    out = size if isinstance(size, list) else [f'W{size}'] if size else []
    out = out + ([f'Z{again}'] if again else []) + more.pop('then', []) + (['F'] if free else [])
    return Row(name, args, 0, out, **more)


def wrong(name, args, err, **more):
    """A command line that is refused: exit 2, one line, nothing else."""
    return Row(name, args, 2, [], err, **more)


def broken(name, args, err, **more):
    return Row(name, args, 1, more.pop('out', []), err, **more)


def accepted(name, args, **more):
    """What needs a partner to run is only read here."""
    return Row(name, '--dry-run ' + args, 0, None, **more)


def as_text(line):
    """A line of read_lines() in the form of the rows."""
    return f'{line[0]}{line[1] or ""}' if isinstance(line, tuple) else line


def fits(want, got):
    return want == got or (not re.fullmatch(r'[WZFI]\d*', want) and re.fullmatch(want, got) is not None)


def check_stdout(tests, row, result):
    if row.out is None:
        return
    got = [as_text(line) for line in read_lines(result.out)]
    want = row.once + row.out * row.tasks
    if row.tasks == 1:
        same = len(want) == len(got) and all(map(fits, want, got))
        tests.check(f'{row.name}: stdout', want, result.out, same)
        return
    once, rest = got[:len(row.once)], got[len(row.once):]
    for line in row.out * row.tasks:
        match = next((text for text in rest if fits(line, text)), None)
        if match is None:
            tests.check(f'{row.name}: stdout', want, result.out, False)
            return
        rest.remove(match)
    tests.check(f'{row.name}: stdout', want, result.out, not rest and all(map(fits, row.once, once)))


def check_complaints(tests, row, result):
    if not row.errs:
        check_stderr(tests, row, result)
        return
    lines = result.err.decode(errors='replace').splitlines()
    tests.check(f'{row.name}: stderr', f'lines like {row.errs!r}', result.err,
                bool(lines) and all(re.search(row.errs, line) for line in lines))


def check_data(tests, row, folder):
    for name, complain in row.data.items():
        with open(os.path.join(folder, name), 'rb') as file:
            tests.check(f'{row.name}: bytes of {name!a}', '', complain(file.read()))


def run_fed(tests, row, folder):
    """Its result and its pid."""
    how = {'cwd': folder, 'before': row.before, 'prefix': row.prefix}
    if row.stdin is None:
        with Run(tests, row.args, **how) as running:
            return running.finish(10), running.pid
    reader, writer = os.pipe()
    os.write(writer, row.stdin)
    os.close(writer)
    try:
        with Run(tests, row.args, stdin=reader, **how) as running:
            return running.finish(10), running.pid
    finally:
        os.close(reader)


def try_row(tests, row):
    try:
        if row.needs:
            row.needs()
    except Skip as reason:
        tests.skip(row.name, reason)
        return
    with tests.folder() as folder:
        prepare(row, folder)
        result, pid = run_fed(tests, row, folder)
        tests.check(f'{row.name}: status', row.status, result.status)
        check_stdout(tests, row, result)
        check_complaints(tests, row, result)
        check_files(tests, row, folder)
        check_data(tests, row, folder)
        if row.check:
            row.check(tests, row.name, result, pid, folder)


def rows_of(table):
    def try_rows(tests):
        names = [row.name for row in table]
        assert len(set(names)) == len(names), 'two rows of one name'
        for row in table:
            try_row(tests, row)
    return try_rows


@contextlib.contextmanager
def holder(tests, args, lines, folder='/', **how):
    """A run that sleeps for ever, once it has printed that many lines: its Run, its first worker, and the lines."""
    with Run(tests, [*args.split(), '-s', '-1'], cwd=folder, **how) as running:
        said = [running.process.stdout.readline() for _ in range(lines)]
        pids = running.workers(1)
        yield running, pids[0], read_lines(b''.join(said))


def holding(data, mode=0o644):
    """A file with these bytes."""
    def write(path):
        with open(path, 'wb') as file:
            file.write(data)
        os.chmod(path, mode)
    return write


def filled(byte, size=SMALL):
    return holding(bytes([byte]) * size)


def shifted(content, offset):
    return {i + offset // WORD: value for i, value in content.items()}


# memory: -B, --show-addr, --madv-thp, --touch-alloc, --numa-cpu, --numa-memory

ADDRESS = r'(\d+) 0x([0-9a-f]+)-0x([0-9a-f]+)'


def allocations(result):
    """(pid, start, length) of each line of --show-addr."""
    found = re.findall(rf'^{ADDRESS}$'.encode(), result.out, re.M)
    return [(int(pid), int(start, 16), int(end, 16) - int(start, 16)) for pid, start, end in found]


def shows(processes, lengths, main=False):
    """By how many processes, and how long, in any order; MAIN: by usemem itself."""
    def check(tests, row, result, pid, _):
        said = allocations(result)
        tests.check(f'{row}: lengths', sorted(lengths), sorted(length for _, _, length in said))
        tests.check(f'{row}: processes', processes, len({who for who, _, _ in said}))
        tests.check(f'{row}: usemem itself', main, {who for who, _, _ in said} == {pid})
        tests.check(f'{row}: usemem among them', main, pid in {who for who, _, _ in said})
    return check


def apart(tests, row, result, *_):
    """The allocations of a process do not overlap: END is exclusive."""
    ranges = sorted(allocations(result))
    good_order = all(a[0] != b[0] or a[1] + a[2] <= b[1] for a, b in zip(ranges, ranges[1:]))
    tests.check(f'{row}: ranges', 'apart', ranges, good_order)


def nodes():
    if not os.path.isdir('/sys/devices/system/node/node0') or os.path.isdir('/sys/devices/system/node/node9'):
        raise Skip('needs a node 0 and no node 9')


def huge_advice():
    if not os.path.exists('/sys/kernel/mm/transparent_hugepage/enabled'):
        raise Skip('no transparent huge pages')


memory = [
    good('-B', f'-f f -B {PAGE} {SMALL}', SMALL, files={'f': SMALL + PAGE},
         content={'f': shifted(indices(SMALL), PAGE)}),
    good('--offset with a letter', '--offset=64k -f f 64k', SMALL, files={'f': 4 * SMALL},
         content={'f': shifted(indices(SMALL), SMALL)}),
    good('-B in hex', '-B 0x10000 -f f 64k', SMALL, files={'f': 2 * SMALL},
         content={'f': shifted(indices(SMALL), SMALL)}),
    good('-B 0', '-B 0 -f f 64k', SMALL, files={'f': SMALL}, content={'f': indices(SMALL)}),
    good('-B of a missing file', '-f new -B 64k 5000', 5000, made={'new': SMALL + 5000},
         content={'new': shifted(indices(5000), SMALL)}),
    good('-B -u', f'-f f -B 64k -u {2 * PAGE} {5 * PAGE + 80}', 5 * PAGE + 80, files={'f': 2 * SMALL},
         content={'f': shifted(indices(5 * PAGE + 80, 2 * PAGE), SMALL)}),
    good('-B -P -u', f'-f f -B 64k -P -u {2 * PAGE} {5 * PAGE}', 5 * PAGE, files={'f': 2 * SMALL}, free=False,
         content={'f': shifted(indices(5 * PAGE, 2 * PAGE), SMALL)}),
    good('-B by many', '-f f -B 64k -n 2 -t 2 64k', SMALL, tasks=4, files={'f': 2 * SMALL},
         content={'f': shifted(indices(SMALL), SMALL)}),
    good('-B -o', '-f f -B 64k -o 64k', SMALL, files={'f': 2 * SMALL}, content={'f': {}}),
    good('-B --touch-alloc', '-f f -B 64k --touch-alloc -o 64k', SMALL, files={'f': 2 * SMALL},
         content={'f': shifted(indices(SMALL), SMALL)}),
    good('-B --memfd', '--memfd -B 64k 64k', SMALL),
    good('-B --memfd -f -r 3', '--memfd -f new -B 64k -n 2 -r 3 64k', 3 * SMALL, tasks=2),
    good('-B -f /dev/zero', '-f /dev/zero -B 64k 64k', SMALL),
    broken('-B to the end of the file', '-f f -B 64k 64k', r'\bf\b.*file is shorter than the mapping.*\b65536\b',
           files={'f': SMALL}),
    broken('-B a byte beyond', f'-f f -B 64k {SMALL + 1}', 'file is shorter than the mapping',
           files={'f': 2 * SMALL}),
    broken('-B of a missing file, -o', '-f new -o -B 64k 64k', 'new: No such file'),
    wrong('-B not whole pages', '-f f -B 5000 64k', '--offset', files={'f': 4 * SMALL}, content={'f': {}}),
    wrong('-B foo', '-f f -B foo 64k', "offset.*'foo'", files={'f': SMALL}),
    wrong('-B 2^64', '-f f -B 16777216t 64k', "offset.*'16777216t'", files={'f': SMALL}),
    wrong('-B longer than a file can be', '-f f -B 16777215t 64k', '.*', files={'f': SMALL}),

    good('--show-addr', '--show-addr 64k', [ADDRESS, f'W{SMALL}'], check=shows(1, [SMALL])),
    good('--show-addr of no whole page', '--show-addr 5000', [ADDRESS, 'W5000'], check=shows(1, [5000])),
    good('--show-addr -n', '--show-addr -n 3 64k', [ADDRESS, f'W{SMALL}'], tasks=3, check=shows(3, 3 * [SMALL])),
    good('--show-addr -t', '--show-addr -t 3 64k', [ADDRESS, f'W{SMALL}'], tasks=3, check=shows(1, 3 * [SMALL])),
    good('--show-addr -P', '--show-addr -P -n 3 64k', SMALL, free=False, tasks=3, once=[ADDRESS],
         check=shows(1, [SMALL], main=True)),
    good('--show-addr -P -u', f'--show-addr -P -u {PAGE} 64k', SMALL, free=False, once=[ADDRESS],
         check=shows(1, [SMALL], main=True)),
    good('--show-addr -E', '--show-addr -E 64k', SMALL, free=False, once=[ADDRESS],
         check=shows(1, [SMALL], main=True)),
    good('--show-addr -u', '--show-addr -u 16k 64k', 4 * [ADDRESS] + [f'W{SMALL}'], check=shows(1, 4 * [16 << 10])),
    good('--show-addr -u does not divide', '--show-addr -u 3000 10000', 4 * [ADDRESS] + ['W10000'],
         check=shows(1, [1000, 3000, 3000, 3000])),
    good('--show-addr -u apart', '--show-addr -u 16k -n 2 64k', 4 * [ADDRESS] + [f'W{SMALL}'], tasks=2, check=apart),
    good('--show-addr -a', '--show-addr -a 64k', [ADDRESS, f'W{SMALL}'], check=shows(1, [SMALL])),
    good('--show-addr -a -u', '--show-addr -a -u 3000 10000', 4 * [ADDRESS] + ['W10000'],
         check=shows(1, [1000, 3000, 3000, 3000])),
    good('--show-addr --memfd -f', '--show-addr --memfd -f x -n 2 64k', [ADDRESS, f'W{SMALL}'], tasks=2,
         check=shows(2, 2 * [SMALL])),
    good('--show-addr -Z shows once', '--show-addr -Z 64k', [ADDRESS, f'W{SMALL}'], again=SMALL),
    good('--show-addr of nothing', '--show-addr 0', []),

    good('--madv-thp', '--madv-thp 4m', 4 * MIB, needs=huge_advice),
    good('--madv-thp -P', '--madv-thp -P -n 2 64k', SMALL, tasks=2, free=False, needs=huge_advice),
    good('--madv-thp --memfd', '--madv-thp --memfd 64k', SMALL, needs=huge_advice),
    good('--madv-thp -f', '--madv-thp -f f 64k', SMALL, files={'f': SMALL}, needs=huge_advice),
    good('--madv-thp -a', '--madv-thp -a 1m', MIB, needs=huge_advice),
    good('--madv-thp -a of no whole page', '--madv-thp -a 1000', 1000, needs=huge_advice),

    good('--touch-alloc -o', '--touch-alloc -o 64k', SMALL),
    good('--touch-alloc -o -n -t', '--touch-alloc -o -n 2 -t 2 64k', SMALL, tasks=4),
    good('--touch-alloc -o -f', '--touch-alloc -o -f f 64k', SMALL, files={'f': SMALL},
         content={'f': indices(SMALL)}),
    good('--touch-alloc -o -f missing', '--touch-alloc -o -f new 5000', 5000, made={'new': 5000},
         content={'new': indices(5000)}),
    good('--touch-alloc -o -j', '--touch-alloc -o -j 4k -f f 64k', SMALL // 512, files={'f': SMALL},
         content={'f': indices(SMALL)}),
    good('--touch-alloc -o -u', f'--touch-alloc -o -u {2 * PAGE} -f f {5 * PAGE}', 5 * PAGE, files={'f': 5 * PAGE},
         content={'f': indices(5 * PAGE, 2 * PAGE)}),
    good('--touch-alloc -o -P -u', f'--touch-alloc -o -P -u {2 * PAGE} -f f {5 * PAGE}', 5 * PAGE, free=False,
         files={'f': 5 * PAGE}, content={'f': indices(5 * PAGE, 2 * PAGE)}),
    good('--touch-alloc -r 0', '--touch-alloc -r 0 -f f 64k', [], files={'f': SMALL}, content={'f': indices(SMALL)}),
    good('--touch-alloc -o -Z -y', '--touch-alloc -o -Z -y 64k', SMALL, again=SMALL),
    good('--touch-alloc is not cut', '--touch-alloc -o -T 1ms -e 1s -f f 1m', 8, files={'f': MIB},
         content={'f': indices(MIB)}),
    good('--touch-alloc --main-write-data', '--touch-alloc --main-write-data 7 -j 4k -f f 64k', SMALL // 512,
         files={'f': SMALL}, content={'f': {**indices(SMALL), **{i: 7 for i in range(0, SMALL // 8, 512)}}}),

    good('--numa-memory 0', '--numa-memory 0 64k', SMALL, needs=nodes),
    good('--numa-cpu 0 --numa-memory 0', '--numa-cpu 0 --numa-memory 0 -n 2 -t 2 64k', SMALL, tasks=4, needs=nodes),
    good('--numa-cpu 0 -b 1', '--numa-cpu 0 -b 1 -n 3 64k', SMALL, tasks=3, needs=nodes),
    good('--numa-memory 0 -P -F', '--numa-memory 0 -P -F 64k', SMALL, free=False, needs=nodes),
    wrong('--numa-cpu 9', '--numa-cpu 9 64k', '--numa-cpu.*9', needs=nodes),
    wrong('--numa-memory 9', '--numa-memory 9 64k', '--numa-memory.*9', needs=nodes),
    wrong('--numa-memory 9 --numa-cpu 0', '--numa-cpu 0 --numa-memory 9 64k', '--numa-memory.*9', needs=nodes),
    wrong('--numa-cpu 2^32', '--numa-cpu 4294967296 64k', '--numa-cpu.*4294967296', needs=nodes),
    wrong('--numa-memory 2^32', '--numa-memory 4294967296 64k', '--numa-memory.*4294967296', needs=nodes),
    wrong('--numa-cpu 9 --dry-run', '--dry-run --numa-cpu 9 64k', '--numa-cpu', needs=nodes),
    wrong('--numa-cpu x', '--numa-cpu x 64k', "numa-cpu.*'x'"),
    wrong('--numa-cpu -1', '--numa-cpu -1 64k', "numa-cpu.*'-1'"),
]


def mapping_at(pid, start):
    """{key: value} of the mapping in /proc/PID/smaps that has address START, 'range' its bounds."""
    found = {}
    with open(f'/proc/{pid}/smaps', encoding='ascii', errors='replace') as smaps:
        for line in smaps:
            bounds = re.match(r'([0-9a-f]+)-([0-9a-f]+) ', line)
            if bounds:
                if found:
                    break
                first, end = (int(text, 16) for text in bounds.groups())
                if first <= start < end:
                    found['range'] = (first, end)
            elif found:
                key, _, value = line.partition(':')
                found[key] = value.strip()
    return found


def first_address(lines):
    return int(re.fullmatch(ADDRESS, next(line for line in lines if isinstance(line, str))).group(2), 16)


def advised_mappings_are_huge(tests):
    huge_advice()
    for args in ('', '-O', '-a', '-P', '-u 2m'):
        lines = 5 if args == '-u 2m' else 2
        for thp in (False, True):
            with holder(tests, f'--show-addr {args} {"--madv-thp" if thp else ""} 8m', lines) as (_, pid, said):
                flags = mapping_at(pid, first_address(said) + MIB).get('VmFlags', '').split()
                tests.check(f'--madv-thp {args}: {thp}: VmFlags', thp, 'hg' in flags)


def memory_policy_is_inherited(tests):
    nodes()
    if not os.path.exists('/proc/self/numa_maps'):
        raise Skip('no numa_maps')
    with holder(tests, '--show-addr --numa-memory 0 --numa-cpu 0 -O 1m', 2) as (_, pid, said):
        start = mapping_at(pid, first_address(said))['range'][0]
        with open(f'/proc/{pid}/numa_maps', encoding='ascii', errors='replace') as maps:
            policy = [line.split()[1] for line in maps if int(line.split()[0], 16) == start]
        tests.check('--numa-memory 0: policy', ['bind:0'], policy)
        with open('/sys/devices/system/node/node0/cpulist', encoding='ascii') as cpus:
            on_node = set(cpu_numbers(cpus.read()))
        allowed = set(cpu_numbers(status_line(pid, 'Cpus_allowed_list')))
        tests.check('--numa-cpu 0: CPUs', sorted(on_node & os.sched_getaffinity(0)), sorted(allowed))


def mappings_of(pid, end):
    """The lengths of the mappings whose line ends so."""
    with open(f'/proc/{pid}/maps', encoding='ascii', errors='replace') as maps:
        bounds = [line.split()[0].split('-') for line in maps if line.endswith(end + '\n')]
    return [int(last, 16) - int(first, 16) for first, last in bounds]


def units_are_mappings(tests):
    """Each unit is a mapping of its own; those of -O lie side by side, and merge. A memfd has its name."""
    with holder(tests, f'-u {PAGE} {20 * PAGE}', 1) as (_, pid, _):
        tests.check('-u: mappings', 20 * [PAGE], mappings_of(pid, ' /dev/zero'))
    with holder(tests, f'--show-addr -O -u {PAGE} {20 * PAGE}', 21) as (_, pid, said):
        starts = [int(re.fullmatch(ADDRESS, line).group(2), 16) for line in said if isinstance(line, str)]
        ranges = {mapping_at(pid, start)['range'] for start in starts}
        # A gap that the first ones fill may lie elsewhere.
        tests.check('-O -u: units', 20, len(set(starts)))
        tests.check('-O -u: mappings', 'a few', ranges, len(ranges) < 5)
    with holder(tests, f'--memfd -f a-name -u {2 * PAGE} {4 * PAGE}', 1) as (_, pid, _):
        tests.check('--memfd -f: name', 4 * PAGE, sum(mappings_of(pid, '/memfd:a-name (deleted)')))


def cpu_numbers(text):
    for part in text.strip().split(','):
        first, _, last = part.partition('-')
        yield from range(int(first), int(last or first) + 1)


# setup: -E, -L, -D, -N, --init-time, --first-access-speed

def segments_of(creator):
    if not os.path.exists('/proc/sysvipc/shm'):
        return []
    with open('/proc/sysvipc/shm', encoding='ascii') as table:
        head = table.readline().split()
        return [line for line in table if int(line.split()[head.index('cpid')]) == creator]


def no_segment(tests, row, _result, pid, _folder):
    tests.check(f'{row}: System V segments left', [], segments_of(pid))


def no_locked_memory():
    be_nobody()
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))


def resident(count, pages):
    return f'{count} of {pages} pages resident'


def json_is_whole(tests, row, _result, _pid, folder):
    with open(os.path.join(folder, 'result'), 'rb') as file:
        document = json.load(file)
    tests.check(f'{row}: outcome', 'ok', document['outcome'])
    tests.check(f'{row}: workers', [], document['workers'])


def json_on_stdout(tests, row, result, _pid, _folder):
    tests.check(f'{row}: outcome', 'ok', json.loads(result.out)['outcome'])


setup = [
    good('-E', '-E 64k', SMALL, free=False),
    good('--remap', '--remap 64k', SMALL, free=False),
    good('-E -n', '-E -n 3 64k', SMALL, tasks=3, free=False),
    good('-E -t', '-E -t 3 64k', SMALL, tasks=3, free=False),
    good('-E -u', f'-E -u {PAGE} 64k', SMALL, free=False),
    good('-E -u not whole pages', '-E -u 3000 10000', 10000, free=False),
    good('-E -F -Z', '-E -F -Z 64k', SMALL, again=SMALL, free=False),
    good('-E --memfd', '-E --memfd 64k', SMALL, free=False),
    good('-E -f', '-E -f f 64k', SMALL, free=False, files={'f': SMALL}, content={'f': indices(SMALL)}),
    good('-E -f /dev/zero', '-E -f /dev/zero -n 2 64k', SMALL, tasks=2, free=False),
    good('-E --init-time', '-E --init-time 64k', SMALL, free=False, once=['I']),
    wrong('-E -a', '-E -a 64k', '--remap|--malloc'),
    wrong('-E 0', '-E 0', '--remap'),

    good('-L', '-L 64k', SMALL, check=no_segment),
    good('--lock', '--lock 64k', SMALL, check=no_segment),
    good('--Lock', '--Lock 64k', SMALL, check=no_segment),
    good('-L once for all', '-L -n 2 -t 2 64k', SMALL, tasks=4, check=no_segment),
    good('-L -f', '-L -f f 64k', SMALL, files={'f': SMALL}, content={'f': indices(SMALL)}),
    good('-L -P', '-L -P 64k', SMALL, free=False),
    good('-L and letters together', '-OLZ 64k', SMALL, again=SMALL),
    wrong('-L 0', '-L 0', '--lock'),
    wrong('-L of more than there is', f'-L -o -j 1t {2 * AVAILABLE}', '--force'),
    broken('-L without the right to lock', '-L 64k', '(?i)lock', before=no_locked_memory, check=no_segment,
           needs=need_root),

    good('-D FILE', '-D f 64k', SMALL, files={'f': SMALL}, content={'f': {}}),
    good('--advise FILE', '--advise f 64k', SMALL, files={'f': SMALL}, content={'f': {}}),
    good('--advice FILE', '--advice f 64k', SMALL, files={'f': SMALL}, content={'f': {}}),
    good('--advise=FILE', '--advise=f 64k', SMALL, files={'f': SMALL}, content={'f': {}}),
    good('SIZE -D FILE', '64k -D f', SMALL, files={'f': SMALL}),
    good('-D FILE that is called like a size', '-D ./64k 4k', 4096, files={'64k': 10}),
    good('-D SIZE -f', '-f f -D 64k', SMALL, files={'f': SMALL}, content={'f': indices(SMALL)}),
    good('-D SIZE -f behind it', '-D 64k -f f', SMALL, files={'f': SMALL}, content={'f': indices(SMALL)}),
    good('-D share', '-O -f f -o -j 1t -D 1%', 8, files={'f': SMALL}),
    good('-D option', '-f f -D -o 64k', SMALL, files={'f': SMALL}, content={'f': {}}),
    good('-D at the end', '64k -f f -D', SMALL, files={'f': SMALL}),
    good('-D FILE -f', '-D g -f f 64k', SMALL, files={'f': SMALL, 'g': SMALL},
         content={'f': indices(SMALL), 'g': {}}),
    good('-D in letters together', '-OZD f 64k', SMALL, again=SMALL, files={'f': SMALL}),
    good('-D in letters together, SIZE', '-f f -ZD 64k', SMALL, again=SMALL, files={'f': SMALL}),
    good('-D in the middle of letters', '-f f -DZ 64k', SMALL, again=SMALL, files={'f': SMALL}),
    good('-D -P -E -L', '-D f -P -E -L 64k', SMALL, free=False, files={'f': SMALL}),
    good('-D --init-time', '-D f --init-time 64k', SMALL, once=['I'], files={'f': SMALL}),
    Row('-D FILE and no SIZE', '-D f', 0, ['F'], files={'f': SMALL}),
    Row('-D FILE and no SIZE, three tasks', '-D f -n 3', 0, ['F'], tasks=3, files={'f': SMALL}),
    wrong('-D without any FILE', '-D 64k', '--advise'),
    wrong('-D and nothing', '-D', '--advise|SIZE'),
    wrong('-D -f and no SIZE', '-f f -D', 'SIZE', files={'f': SMALL}),
    wrong('-D FILE and two SIZEs', '-D f 64k 64k', '64k', files={'f': SMALL}),
    broken('-D missing FILE', '-D new 64k', 'new: No such file'),
    broken('-D missing FILE and no SIZE', '-D new', 'new: No such file'),
    broken('-D missing file of -f', '-O -f new -D 64k', 'new: No such file'),
    broken('-D a pipe', '-D p 64k', r'\bp\b', files={'p': os.mkfifo}),

    Row('-N', '-N 64k', 0, [resident(0, SMALL_PAGES)]),
    Row('--mincore', '--mincore 64k', 0, [resident(0, SMALL_PAGES)]),
    Row('-N -F', '-N -F 64k', 0, [resident(SMALL_PAGES, SMALL_PAGES)]),
    Row('-N -o', '-N -o 64k', 0, [resident(0, SMALL_PAGES)]),
    Row('-N -o -F', '-N -o -F 64k', 0, [resident(SMALL_PAGES, SMALL_PAGES)]),
    Row('-N --touch-alloc', '-N --touch-alloc 64k', 0, [resident(SMALL_PAGES, SMALL_PAGES)]),
    Row('-N -O -F', '-N -O -F 16m', 0, [resident(16 * MIB // PAGE, 16 * MIB // PAGE)]),
    Row('-N ends without tasks', '-N -n 20 -t 3 64k', 0, [resident(0, SMALL_PAGES)]),
    Row('-N of no whole pages', f'-N {PAGE + 1}', 0, [resident(0, 2)]),
    Row('-N -a', '-N -a 16m', 0, [rf'\d+ of ({16 * MIB // PAGE}|{16 * MIB // PAGE - 1}) pages resident']),
    Row('-N -a --touch-alloc', '-N -a --touch-alloc 16m', 0, [r'(\d+) of \1 pages resident']),
    Row('-N --memfd', '-N --memfd 64k', 0, [resident(0, SMALL_PAGES)]),
    Row('-N -f sparse', '-N -f f 64k', 0, [resident(0, SMALL_PAGES)], files={'f': SMALL}, content={'f': {}}),
    Row('-N -f written', '-N -f f 64k', 0, [resident(SMALL_PAGES, SMALL_PAGES)], files={'f': filled(1)}),
    Row('-N -o -f written, -B', f'-N -o -f f -B {PAGE} {SMALL - PAGE}', 0,
        [resident(SMALL_PAGES - 1, SMALL_PAGES - 1)], files={'f': filled(1)}),
    Row('-N -E', '-N -E 64k', 0, [resident(0, SMALL_PAGES)]),
    Row('-N -H', '-N -H 64k', 0, [resident(0, SMALL_PAGES)]),
    Row('-N comes before the line of --init-time', '-N --init-time 64k', 0, [resident(0, SMALL_PAGES)]),
    Row('-N comes before the wait', '-N --signal-fork 64k', 0, [resident(0, SMALL_PAGES)]),
    Row('-N --show-addr', '-N --show-addr 64k', 0, [ADDRESS, resident(0, SMALL_PAGES)]),
    Row('-N -W -M -Z -d -p', '-N -W -M -Z -d -p pids 64k', 0, [resident(0, SMALL_PAGES)]),
    Row('-N --json=FILE', '-N --json=result 64k', 0, [resident(0, SMALL_PAGES)], made={'result': None},
        check=json_is_whole),
    Row('-N --json', '-N --json 64k', 0, None, check=json_on_stdout),
    accepted('-N writes nothing', f'-N {2 * AVAILABLE}'),
    accepted('-N -o -F writes nothing', f'-N -o -F {2 * AVAILABLE}'),
    wrong('-N 0', '-N 0', '--mincore'),
    broken('-N -f missing, -o', '-N -o -f new 64k', 'new: No such file'),

    good('--first-access-speed', '--first-access-speed 64k', SMALL),
    good('--first-access-speed -P -n', '--first-access-speed -P -n 2 64k', SMALL, tasks=2, free=False),
    good('--init-time -L -D -E', '--init-time -L -D f -E 64k', SMALL, free=False, once=['I'], files={'f': SMALL}),
    good('--init-time -P -t', '--init-time -P -t 2 64k', SMALL, tasks=2, free=False, once=['I']),
]


def range_is_ten_times(tests):
    size = SMALL + PAGE
    for args in ('', '-n 2', '-o', '-a --punch-holes'):
        lines = {'-n 2': 2, '-a --punch-holes': 2}.get(args, 1)
        with holder(tests, f'-E {args} {size}', lines) as (_, pid, _):
            tests.check(f'-E {args}: length of the range', [10 * size], mappings_of(pid, ' /dev/zero'))


def lock_segment_is_gone_at_the_walk(tests):
    with holder(tests, '-L 1m', 1) as (running, _, _):
        tests.check('-L: segments during the walk', [], segments_of(running.pid))


def advice_drops_the_cache(tests):
    with tests.folder() as folder:
        path = os.path.join(folder, 'f')

        def cached():
            with open(path, 'rb', buffering=0) as file:
                try:
                    return os.preadv(file.fileno(), [bytearray(PAGE)], 0, os.RWF_NOWAIT) > 0
                except BlockingIOError:
                    return False
                except OSError as error:
                    raise Skip(f'RWF_NOWAIT: {error.strerror}')

        def fill():
            with open(path, 'wb') as file:
                file.write(b'x' * MIB)
                file.flush()
                os.fsync(file.fileno())

        fill()
        with open(path, 'rb') as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if cached():
            raise Skip('this filesystem keeps its cache')
        for args in (['-D', path], ['-D', path, '64k'], ['-O', '-f', path, '-D', '64k']):
            fill()
            tests.check(f'-D: {args[:-1]}: cached before', True, cached())
            run(tests, args)
            tests.check(f'-D: {args[:-1]}: cached after', False, cached())


def set_up_counts_or_not(tests):
    """Populating many pages is set-up, and takes longer than all the rest: a walk of one word, and starting."""
    def usecs(args):
        result = run(tests, [*args, '-P', '-F', '--summary', '-j', '1g', '64m'])
        tests.check(f'{args} -P -F: status', 0, result.status)
        walk = next((line[2] for line in read_lines(result.out) if line[0] == 'W'), 0)
        spent = int(re.search(rb'set-up: (\d+) usecs', result.out).group(1))
        init = next((line[2] for line in read_lines(result.out) if line[0] == 'I'), None)
        return walk, spent, init, result.seconds * 10**6

    walk, spent, _, _ = usecs([])
    tests.check('-P: the time of set-up', f'at least {spent}', walk, walk >= spent)
    for args in (['--init-time'], ['--first-access-speed']):
        walk, spent, init, total = usecs(args)
        tests.check(f'-P {args}: no time of set-up', f'at most {total} - {spent}', walk, walk + spent <= total)
        if args == ['--init-time']:
            tests.check('--init-time: the time of set-up', spent, init, abs(init - spent) <= 1)


def every_line_needs_its_stdout(tests):
    for args in (['-N', '64k'], ['--init-time', '-E', '64k'], ['--show-addr', '64k'], ['--show-addr', '-P', '64k'],
                 ['--punch-holes', '64k'], ['-g', '64k'], ['--summary', '64k']):
        with open('/dev/full', 'wb') as full, Run(tests, args, stdout=full) as running:
            result = running.finish()
            tests.check(f'{args} >/dev/full: status', 1, result.status)
            tests.check(f'{args} >/dev/full: stderr', 'No space left', result.err, b'No space left' in result.err)
            tests.check(f'{args} >/dev/full: processes left', True, until(lambda: not left_of(running.pid)))


# huge: -H, -U, --hugetlb

@contextlib.contextmanager
def pool(pages):
    """A pool of at least that many free huge pages, put back afterwards. One at a time has one."""
    with open('/tmp/pagemill-hugepages.lock', 'a', encoding='ascii') as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        before = pool_number('nr_hugepages')
        set_pool(before + pages)
        try:
            if pool_number('free_hugepages') < pages:
                raise Skip(f'no {pages} huge pages are to be had')
            yield
        finally:
            set_pool(before)


def need_pools():
    need_root()
    if not os.access(POOL + 'nr_hugepages', os.W_OK):
        raise Skip('no pool of 2m that may be changed')
    with open('/proc/meminfo', encoding='ascii') as meminfo:
        if 'Hugepagesize:       2048 kB' not in meminfo.read():
            raise Skip('the default huge page is not 2m')


def pool_number(name):
    with open(POOL + name, encoding='ascii') as file:
        return int(file.read())


def set_pool(pages):
    with open(POOL + 'nr_hugepages', 'w', encoding='ascii') as file:
        file.write(str(pages))


def pools_of(size):
    path = f'/sys/kernel/mm/hugepages/hugepages-{size}kB/'
    numbers = []
    for name in ('nr_hugepages', 'nr_overcommit_hugepages'):
        with contextlib.suppress(OSError), open(path + name, encoding='ascii') as file:
            numbers.append(int(file.read()))
    return sum(numbers)


def no_gigantic_pages():
    if pools_of(1 << 20):
        raise Skip('this machine has huge pages of 1g')


def no_pool(name, args):
    return Row(name, args, 77, [], '(?i)huge.*2m.*pool')


without_pool = [
    no_pool('-U without a pool', '-U 2m'),
    no_pool('--hugetlb=2m without a pool', '--hugetlb=2m 2m'),
    no_pool('-U --memfd without a pool', '-U --memfd 2m'),
    no_pool('-H without a pool', '-H 2m'),
]

needs_no_pool = [
    Row('--hugetlb=1g', '--hugetlb=1g 1g', 77, [], '(?i)huge.*1g', needs=no_gigantic_pages),
    Row('--hugetlb=1g -H', '--hugetlb=1g -H 1g', 77, [], '(?i)huge.*1g', needs=no_gigantic_pages),
    Row('--hugetlb=4t', '--hugetlb=4t 64k', 77, [], '(?i)huge.*4t'),
    wrong('--hugetlb=3m', '--hugetlb=3m 6m', '--hugetlb'),
    wrong('--hugetlb=foo', '--hugetlb=foo 2m', "hugetlb.*'foo'"),
    wrong('--hugetlb=-2m', '--hugetlb=-2m 2m', "hugetlb.*'-2m'"),
    wrong('-U2m is letters', '-U2m 2m', '-2'),
    wrong('-H 0', '-H 0', '--mincore-hgpg'),
    wrong('--mncr_hgpgs 0', '--mncr_hgpgs 0', '--mincore-hgpg|--mncr_hgpgs'),
    good('-U -a', '-U -a 64k', SMALL, err=IGNORED),
    broken('-U -f not on hugetlbfs', '-U -f f 2m', r'\bf\b.*hugetlbfs', files={'f': 2 * MIB}, content={'f': {}}),
    broken('-U -f missing, not on hugetlbfs', '-U -f new 2m', r'\bnew\b.*hugetlbfs'),
    broken('-U -f in a folder that is missing', '-U -f no/new 2m', 'no/new'),
]

with_pool = [
    good('-U', '-U 4m', 4 * MIB),
    good('-UO', '-UO 4m', 4 * MIB),
    good('--hugetlb=2m', '--hugetlb=2m 4m', 4 * MIB),
    good('-U does not take the next word', '4m -U', 4 * MIB),
    good('-U not whole huge pages', '-U 3m', 3 * MIB),
    good('-U a word', '-U 8', 8),
    good('-U -u less than a huge page', '-U -u 1m 4m', 4 * MIB),
    good('-U -u not whole huge pages', '-U -u 3m 5m', 5 * MIB),
    good('-U -u -P', '-U -u 1m -P 4m', 4 * MIB, free=False),
    good('-U -P', '-U -P 4m', 4 * MIB, free=False),
    good('-U -P -t 2 -r 3', '-U -P -t 2 -r 3 4m', 12 * MIB, tasks=2, free=False),
    good('-U -P -n 2', '-U -P -n 2 4m', 4 * MIB, tasks=2, free=False),
    good('-U -n 2 -t 2', '-U -n 2 -t 2 2m', 2 * MIB, tasks=4),
    good('-U -j 2m', '-U -j 2m 8m', 32),
    good('-U -Z -S -M', '-U -Z -S -M 4m', 4 * MIB, again=4 * MIB),
    good('-U -f /dev/zero', '-U -f /dev/zero -n 2 2m', 2 * MIB, tasks=2),
    good('-U -e -T', '-U -e 3600s -T 20ms 4m', 8),
    good('-U --touch-alloc', '-U --touch-alloc -o 4m', 4 * MIB),
    good('-U --show-addr', '-U --show-addr 4m', [ADDRESS, f'W{4 * MIB}'], check=shows(1, [4 * MIB])),
    good('-U --memfd', '-U --memfd 4m', 4 * MIB),
    good('-U --memfd not whole huge pages', '-U --memfd 3m', 3 * MIB),
    good('-U --memfd -f -n 2', '-U --memfd -f name -n 2 -r 2 4m', 8 * MIB, tasks=2),
    good('-U --punch-holes', '-U --punch-holes 6m', 6 * MIB, then=[DONE]),
    good('-U --punch-holes -M', '-U --punch-holes -M 4m', 4 * MIB, then=[DONE]),
    good('-U --fallocate-punch-holes --memfd', '-U --memfd -f x --punch-holes --fallocate-punch-holes 6m', 6 * MIB,
         then=[DONE]),
    good('-U --punch-holes -a', '-U --punch-holes -a 4m', 4 * MIB, then=[DONE], err='malloc.*ignored'),
    wrong('-U --memfd -u not whole huge pages', '-U --memfd -u 1m 4m', '--unit'),
    broken('-U beyond the pool', '-U 100g', 'huge pages.*free.*Cannot allocate memory'),
    Row('-N -U', '-N -U 4m', 0, [resident(0, 4 * MIB // PAGE)]),
    Row('-N -U -F', '-N -U -F 4m', 0, [resident(4 * MIB // PAGE, 4 * MIB // PAGE)]),
    Row('-H', '-H 2m', 0, [r'[01] of 1 pages resident'], check=no_segment),
    Row('-H of fresh pages', '-H 6m', 0, [resident(0, 3)]),
    Row('-H rounds up', '-H 64k', 0, [resident(0, 1)]),
    Row('-H rounds up to the second', f'-H {2 * MIB + 1}', 0, [resident(0, 2)]),
    Row('--mincore-hgpg', '--mincore-hgpg 2m', 0, [resident(0, 1)]),
    Row('--mncr_hgpgs', '--mncr_hgpgs 2m', 0, [resident(0, 1)]),
    Row('-H ends without tasks', '-H -n 3 --init-time --signal-fork 2m', 0, [resident(0, 1)]),
    Row('-H --json=FILE', '-H --json=result 2m', 0, [resident(0, 1)], made={'result': None}, check=json_is_whole),
    broken('-H beyond the pool', '-H 64m', r'System V segment', check=no_segment),
]


def huge_pages(tests):
    need_pools()
    with pool(0):
        if not pools_of(2048):
            rows_of(without_pool)(tests)
        else:
            tests.skip('without a pool', 'there is one')
    with pool(10):
        total, free = pool_number('nr_hugepages'), pool_number('free_hugepages')
        for row in with_pool:
            try_row(tests, row)
            tests.check(f'{row.name}: pool', total, pool_number('nr_hugepages'))
            tests.check(f'{row.name}: free in the pool', True, until(lambda: pool_number('free_hugepages') == free, 5))
        huge_pages_are_freed(tests)
        huge_segment_needs_its_stdout(tests)
        huge_files(tests)


def huge_pages_are_freed(tests):
    """Holes are whole huge pages: the first and every other one, the last of an odd number not."""
    free = pool_number('free_hugepages')
    for args, kept in (('-U 8m', 4), ('-U --punch-holes 8m', 2), ('-U --punch-holes 6m', 2), ('-U --punch-holes 2m', 1),
                       ('-U --punch-holes -u 6m 12m', 4), ('-U -P --punch-holes 8m', 2),
                       ('-U --memfd -f x --punch-holes --fallocate-punch-holes 6m', 2),
                       ('-U -u 1m 4m', 4), ('-U 3m', 2)):
        with holder(tests, f'--show-addr {args}', 2 + (DONE[:5] in args) + (' -u 6m' in args) + 3 * ('-u 1m' in args)) \
                as (_, pid, said):
            tests.check(f'{args}: huge pages held', kept, resident_huge(pid, said))
    tests.check('huge pages left', True, until(lambda: pool_number('free_hugepages') == free, 5))


def resident_huge(pid, said):
    """Huge pages that are mapped in the allocations of these lines."""
    count = 0
    for line in said:
        match = re.fullmatch(ADDRESS, line) if isinstance(line, str) else None
        if match:
            start, end = int(match.group(2), 16), int(match.group(3), 16)
            count += sum(present(pid, start, -(-(end - start) // HUGE), HUGE))
    return count


def present(pid, start, count, page=PAGE):
    """Which of COUNT pages from START are there: /proc/PID/pagemap, bit 63."""
    with open(f'/proc/{pid}/pagemap', 'rb', buffering=0) as pagemap:
        return [struct.unpack('Q', os.pread(pagemap.fileno(), 8, (start + i * page) // PAGE * 8))[0] >> 63
                for i in range(count)]


def huge_segment_needs_its_stdout(tests):
    with open('/dev/full', 'wb') as full, Run(tests, ['-H', '2m'], stdout=full) as running:
        tests.check('-H >/dev/full: status', 1, running.finish().status)
        tests.check('-H >/dev/full: segments left', [], segments_of(running.pid))


def huge_files(tests):
    """Files on a hugetlbfs that only the run sees; then their lengths are printed on stderr."""
    script = 'mount -t hugetlbfs none "$0" && cd "$0" && { "$@"; status=$?; stat -c %s * >&2; exit $status; }'
    with tests.folder() as folder:
        probe = ['unshare', '-m', 'sh', '-c', script, folder]
        for args, size, length, again in (('-U -f f 4m', 4 * MIB, 4 * MIB, None),
                                          ('-U -f f 3m', 3 * MIB, 4 * MIB, None),
                                          ('-U -f f -B 2m 3m', 3 * MIB, 6 * MIB, None),
                                          ('-U -f f -n 2 -r 2 -Z 4m', 8 * MIB, 4 * MIB, 8 * MIB),
                                          ('-U -f f -u 2m 6m', 6 * MIB, 6 * MIB, None)):
            result = run(tests, args.split(), prefix=probe)
            if b'mount' in result.err or b'unshare' in result.err:
                raise Skip('no hugetlbfs: ' + result.err.decode(errors='replace').strip())
            tests.check(f'{args} on hugetlbfs: status', 0, result.status)
            walks = [line[1] for line in read_lines(result.out) if line[0] == 'W']
            tests.check(f'{args} on hugetlbfs: walks', [size] * len(walks) or [size], walks)
            tests.check(f'{args} on hugetlbfs: read again', [again] * len(walks) if again else [],
                        [line[1] for line in read_lines(result.out) if line[0] == 'Z'])
            tests.check(f'{args} on hugetlbfs: length of the file', f'{length}\n'.encode(), result.err)
        punched = run(tests, '-U -f f --punch-holes --fallocate-punch-holes 6m'.split(), prefix=probe)
        tests.check('-U --fallocate-punch-holes on hugetlbfs: status', 0, punched.status)
        tests.check('-U --fallocate-punch-holes on hugetlbfs: done', 1, punched.out.count(DONE.encode()))
        small = run(tests, '-U -f f -u 64k 2m'.split(), prefix=probe)
        tests.check('-U -f -u less than a huge page: status', 2, small.status)
        other = run(tests, '--hugetlb=1g -f f 2m'.split(), prefix=probe)
        tests.check('--hugetlb=1g on hugetlbfs of another size: status', 2, other.status)
        tests.check('--hugetlb=1g on hugetlbfs of another size: stderr', '--hugetlb.*2m', other.err,
                    b'--hugetlb: expected 2m, the pages of f' in other.err)


# afterwards: -M, --punch-holes, --madv-pageout, -s, -x, -d, -p, -g

def without_holes(content, start, pages, unit_pages=0):
    """The words that stay: every other page of each unit is freed, the first one, the last of an odd number not."""
    unit_pages = unit_pages or pages
    freed = set()
    for first in range(0, pages, unit_pages):
        count = min(unit_pages, pages - first)
        freed |= {start // PAGE + first + i for i in holes_of(count)}
    return {i: value for i, value in content.items() if i * WORD // PAGE not in freed}


def holes_of(pages):
    return [i for i in range(0, pages, 2) if i != pages - 1] if pages > 1 else []


def pids_are(count, before=b''):
    """The pid file: what was there before, then so many pids, one a line, of processes that are no longer there."""
    def complain(data):
        rest = data[len(before):].decode()
        if not data.startswith(before):
            return f'begins with {data[:100]!r}'
        if not re.fullmatch(r'(\d+\n){%d}' % count, rest) or len(set(rest.split())) != count:
            return f'not {count} pids: {rest!r}'
        return ''
    return complain


def same_bytes(want):
    return lambda data: '' if data == want else f'{data[:100]!r}'


def nobody_is_left(tests, row, _result, pid, _folder):
    tests.check(f'{row}: processes left', True, until(lambda: not left_of(pid)))


def frees_come_last(tests, row, result, *_):
    kinds = ''.join(as_text(line)[:1] for line in read_lines(result.out))
    tests.check(f'{row}: order', 'nothing else behind the first that frees', kinds,
                re.fullmatch('[^F]*F+', kinds) is not None)


def took(nanoseconds):
    """At least; how long it took beyond that is for the machine to say."""
    return lambda tests, row, result, *_: tests.check(f'{row}: time', f'at least {nanoseconds} ns', result.seconds,
                                                      result.seconds * 10**9 >= nanoseconds)


def closed_stdin():
    os.close(0)


def menus(count):
    """So many at least, and nothing unknown but them."""
    def check(tests, row, result, *_):
        lines = [as_text(line) for line in read_lines(result.out)]
        seen = sum(re.fullmatch(MENU, line) is not None for line in lines)
        tests.check(f'{row}: menus', count, seen)
    return check


def walked_and_freed(tests, row, result, *_):
    """Menus as many as there may be, then the usual lines."""
    lines = [as_text(line) for line in read_lines(result.out)]
    rest = [line for line in lines if not re.fullmatch(MENU, line)]
    again = [f'Z{SMALL}'] if '-Z' in row else []
    tests.check(f'{row}: lines but the menu', [f'W{SMALL}', *again, 'F'], rest)
    tests.check(f'{row}: a menu', True, len(rest) < len(lines))


PUNCH = f'--punch-holes -f f {5 * PAGE}'
FALLOCATE = '--fallocate-punch-holes ' + PUNCH

afterwards = [
    good('-M', '-M 64k', SMALL),
    good('-M -n -t', '-M -n 2 -t 2 64k', SMALL, tasks=4),
    good('-M -u', '-M -u 4k 64k', SMALL),
    good('-M -P', '-M -P -n 2 64k', SMALL, tasks=2, free=False),
    good('-M -f', '-M -f f 64k', SMALL, files={'f': SMALL}),
    broken('-M without the right to lock', '-M 64k', r"mlock.*ulimit -l.*\b0\b", out=[f'W{SMALL}'],
           before=no_locked_memory, needs=need_root),
    broken('-M beyond the limit', '-M -u 4k 64k', r"mlock.*ulimit -l.*\b16k\b", out=[f'W{SMALL}'], needs=need_root,
           before=both(be_nobody, limit(resource.RLIMIT_MEMLOCK, 16 << 10))),

    good('--punch-holes', '--punch-holes 64k', SMALL, then=[DONE]),
    good('--punch-holes -n -t', '--punch-holes -n 2 -t 2 64k', SMALL, then=[DONE], tasks=4),
    good('--punch-holes -Z', '--punch-holes -Z 64k', SMALL, again=SMALL, then=[DONE]),
    good('--punch-holes -u', '--punch-holes -u 4k 64k', SMALL, then=[DONE]),
    good('--punch-holes -P -u not whole pages', '--punch-holes -P -u 3000 10000', 10000, then=[DONE], free=False),
    good('--punch-holes -M', '--punch-holes -M 64k', SMALL, then=[DONE]),
    good('--punch-holes -x', '--punch-holes -x -n 2 64k', SMALL, then=[DONE], tasks=2, check=frees_come_last),
    good('--punch-holes of nothing', '--punch-holes 0', [], then=[DONE]),
    good('--punch-holes -a', '--punch-holes -a 64k', SMALL, then=[DONE], err='--malloc.*ignored'),
    good('--punch-holes -f leaves the file', PUNCH, 5 * PAGE, then=[DONE], files={'f': 5 * PAGE},
         content={'f': indices(5 * PAGE)}),
    good('--punch-holes -f -a', PUNCH + ' -a', 5 * PAGE, then=[DONE], files={'f': 5 * PAGE},
         err='--malloc.*ignored', content={'f': indices(5 * PAGE)}),
    good('--fallocate-punch-holes, odd', FALLOCATE, 5 * PAGE, then=[DONE], files={'f': 5 * PAGE},
         content={'f': without_holes(indices(5 * PAGE), 0, 5)}),
    good('--fallocate-punch-holes, even', f'-f f --punch-holes --fallocate-punch-holes {4 * PAGE}', 4 * PAGE,
         then=[DONE], files={'f': 4 * PAGE}, content={'f': without_holes(indices(4 * PAGE), 0, 4)}),
    good('--fallocate-punch-holes, one page', f'-f f --punch-holes --fallocate-punch-holes {PAGE}', PAGE,
         then=[DONE], files={'f': PAGE}, content={'f': indices(PAGE)}),
    good('--fallocate-punch-holes, two pages', f'-f f --punch-holes --fallocate-punch-holes {2 * PAGE}', 2 * PAGE,
         then=[DONE], files={'f': 2 * PAGE}, content={'f': without_holes(indices(2 * PAGE), 0, 2)}),
    good('--fallocate-punch-holes -u', FALLOCATE.replace(str(5 * PAGE), str(8 * PAGE)) + f' -u {3 * PAGE}', 8 * PAGE,
         then=[DONE], files={'f': 8 * PAGE}, content={'f': without_holes(indices(8 * PAGE, 3 * PAGE), 0, 8, 3)}),
    good('--fallocate-punch-holes -P -u', FALLOCATE.replace(str(5 * PAGE), str(8 * PAGE)) + f' -P -u {3 * PAGE}',
         8 * PAGE, then=[DONE], free=False, files={'f': 8 * PAGE},
         content={'f': without_holes(indices(8 * PAGE, 3 * PAGE), 0, 8, 3)}),
    good('--fallocate-punch-holes, more units than 32', f'--fallocate-punch-holes --punch-holes -u {2 * PAGE} -f f '
         f'{100 * PAGE}', 100 * PAGE, then=[DONE], files={'f': 100 * PAGE},
         content={'f': without_holes(indices(100 * PAGE, 2 * PAGE), 0, 100, 2)}),
    good('--fallocate-punch-holes -B', f'--fallocate-punch-holes --punch-holes -r 0 -B {3 * PAGE} -f f {4 * PAGE}', [],
         then=[DONE], files={'f': filled(7, 10 * PAGE)},
         content={'f': without_holes({i: 0x0707070707070707 for i in range(10 * PAGE // 8)}, 3 * PAGE, 4)}),
    good('--fallocate-punch-holes --memfd', '--memfd --punch-holes --fallocate-punch-holes 64k', SMALL, then=[DONE]),

    good('--madv-pageout', '--madv-pageout 64k', SMALL),
    good('--madv-pageout -n -u', '--madv-pageout -n 2 -u 4k 64k', SMALL, tasks=2),
    good('--madv-pageout -f', '--madv-pageout -f f 64k', SMALL, files={'f': SMALL}, content={'f': indices(SMALL)}),
    good('all advice with -a', '-S -A --madv-thp --madv-pageout -a 64k', SMALL, needs=huge_advice),
    good('all advice with -a, an odd size', '-A -S --madv-thp --madv-pageout -a -u 3000 10000', 10000,
         needs=huge_advice),

    good('-s 30ms', '-s 30ms 64k', SMALL, check=took(30 * 10**6)),
    good('--sleep in each task', '--sleep 5ms -n 2 -t 2 64k', SMALL, tasks=4, check=took(5 * 10**6)),
    good('-s -T: never cut', '-s 40ms -T 1ms 4k', [SOME], check=took(40 * 10**6)),
    good('-s -1 and then another', '-s -1 -s 1ms 64k', SMALL),
    accepted('-s a second, a minute, an hour', '-s 1s -s 1m -s 1h -s -1 -s 20 64k'),
    wrong('-s x', '-s x 64k', "sleep.*'x'"),
    wrong('-s -x', '-s -x 64k', "sleep.*'-x'"),

    good('-x -n', '-x -n 3 64k', SMALL, tasks=3, check=frees_come_last),
    good('-x -t', '-x -t 3 64k', SMALL, tasks=3, check=frees_come_last),
    good('--sync-free -n -t -Z', '--sync-free -n 3 -t 3 -Z 64k', SMALL, again=SMALL, tasks=9, check=frees_come_last),
    good('-x -T', '-x -T 20ms -n 2 -r 1000000000 4k', [SOME], tasks=2, check=frees_come_last),

    good('-d -p', '-d -p pids 64k', SMALL, made={'pids': None}, data={'pids': pids_are(1)}, check=nobody_is_left),
    good('--detach --pid-file', '--detach --pid-file pids 64k', SMALL, made={'pids': None},
         data={'pids': pids_are(1)}),
    good('-d -p -n', '-d -p pids -n 3 64k', SMALL, tasks=3, made={'pids': None}, data={'pids': pids_are(3)}),
    good('-d -p -t', '-d -p pids -n 2 -t 3 64k', SMALL, tasks=6, made={'pids': None}, data={'pids': pids_are(2)},
         check=nobody_is_left),
    good('-d -p appends', '-d -p pids -n 2 64k', SMALL, tasks=2, files={'pids': holding(b'1\n2\n')},
         data={'pids': pids_are(2, b'1\n2\n')}),
    good('-d without -p', '-d -n 2 64k', SMALL, tasks=2, check=nobody_is_left),
    good('-d -x', '-d -x -p pids -n 3 64k', SMALL, tasks=3, made={'pids': None}, data={'pids': pids_are(3)},
         check=frees_come_last),
    good('-d -Z -M --punch-holes', '-d -Z -M --punch-holes -p pids 64k', SMALL, again=SMALL, then=[DONE],
         made={'pids': None}, data={'pids': pids_are(1)}),
    good('-d -f', '-d -f f -p pids 64k', SMALL, files={'f': SMALL}, made={'f': SMALL, 'pids': None},
         content={'f': indices(SMALL)}, data={'pids': pids_are(1)}),
    good('-p without -d', '-p pids -n 2 64k', SMALL, tasks=2),
    Row('-d -p --dry-run', '--dry-run -d -p pids 64k', 0, None),
    broken('-d -p in a folder that is missing', '-d -p no/pids -n 2 64k', 'no/pids: No such file',
           check=nobody_is_left),
    broken('-d -p a folder', '-d -p d -n 2 64k', r'\bd: Is a directory', files={'d': os.mkdir}, check=nobody_is_left),
    broken('-d -p full', '-d -p /dev/full 64k', '', errs='/dev/full', out=None, check=nobody_is_left),
    broken('-d -p full, many', '-d -p /dev/full -n 3 -s -1 64k', '', errs='/dev/full', out=None,
           check=nobody_is_left),
    broken('-d -p as one who may not', '-d -p pids 64k', 'pids: Permission denied', before=be_nobody, needs=need_root),
    broken('-d -M without the right to lock', '-d -M -n 2 -s -1 -p pids 64k', '', errs='mlock.*ulimit -l', out=None,
           files={'pids': holding(b'1\n', 0o666)}, data={'pids': same_bytes(b'1\n')},
           before=no_locked_memory, needs=need_root, check=nobody_is_left),
    broken('-d and the file is short', '-d -f f -s -1 -p pids 64k', 'shorter', files={'f': 10},
           check=nobody_is_left),

    good('-g at the end of input', '-g 64k', [MENU, f'W{SMALL}'], stdin=b'', check=menus(1)),
    good('--getchar q', '--getchar 64k', [MENU, f'W{SMALL}'], stdin=b'q'),
    good('-g a', '-g 64k', [MENU, f'W{SMALL}'], stdin=b'a'),
    good('-g -u', '-g -u 16k 64k', 4 * [MENU] + [f'W{SMALL}'], stdin=b'qqqq', check=menus(4)),
    good('-g -u at the end of input', '-g -u 16k 64k', 4 * [MENU] + [f'W{SMALL}'], stdin=b'q'),
    good('-g -n', '-g -n 2 64k', [MENU, f'W{SMALL}'], stdin=b'', tasks=2),
    good('-g l before --punch-holes', '-g --punch-holes 64k', [MENU, MENU, f'W{SMALL}', DONE], stdin=b'lq'),
    broken('-g r of what threads share', '-g -P -t 2 64k', 'mremap.*threads', out=None, stdin=b'rqq'),
    good('-M --madv-pageout', '-M --madv-pageout 64k', SMALL, err='--mlock.*--madv-pageout'),
    good('--fallocate-punch-holes although -o', '-o -f f --punch-holes --fallocate-punch-holes 64k', SMALL,
         then=[DONE], files={'f': SMALL}),
    good('-g without stdin', '-g 64k', [MENU, f'W{SMALL}'], before=closed_stdin),
    Row('-g l u r q', '-g 64k', 0, None, stdin=b'lurq', check=walked_and_freed),
    Row('-g with a line of nonsense', '-g 64k', 0, None, stdin=b'?\nX\nq', check=walked_and_freed),
    Row('-g r -Z -u', '-g -Z -u 16k 64k', 0, None, stdin=b'rqaaa', check=walked_and_freed),
    good('-g of nothing', '-g 0', [], stdin=b''),
]


def pages_that_stay(tests):
    """Of each unit the first page and every other one go, of an odd number the last one stays."""
    unit = [i not in holes_of(3) for i in range(3)]
    three = unit + unit + [False, True]
    cases = (
        ('', 5, [i not in holes_of(5) for i in range(5)]), ('', 4, [False, True, False, True]), ('', 1, [True]),
        ('-O', 6, 3 * [False, True]), ('-P', 5, [False, True, False, True, True]), ('-M', 4, 2 * [False, True]),
        ('-o --memfd --fallocate-punch-holes', 5, [False, True, False, True, True]),
        ('--memfd -f x --fallocate-punch-holes', 4, 2 * [False, True]),
        ('--memfd', 4, 2 * [False, True]), (f'-P -u {3 * PAGE}', 8, three), (f'-O -P -u {3 * PAGE}', 8, three),
        (f'--memfd -f x -P -u {3 * PAGE} --fallocate-punch-holes', 8, three),
    )
    for args, pages, want in cases:
        with holder(tests, f'--show-addr --punch-holes {args} {pages * PAGE}', 3) as (_, pid, said):
            there = present(pid, first_address(said), pages)
            tests.check(f'--punch-holes {args}, {pages} pages', want, [bool(bit) for bit in there])


def locked_in_the_process_that_stays(tests):
    for args, kib in (('-M 64k', 64), (f'-M -u {PAGE} {100 * PAGE}', 100 * PAGE >> 10), ('-M -t 2 64k', 128),
                      ('-M -f /dev/zero -P 64k', 64), ('64k', 0)):
        with holder(tests, args, 2 if '-t' in args else 1) as (_, pid, _):
            until(lambda: status_line(pid, 'VmLck').split()[0] == str(kib))   # the lines come before the locks
            tests.check(f'{args}: VmLck', f'{kib} kB', status_line(pid, 'VmLck'))


def sleeps_until_told(tests):
    for seconds in ('-1', '-7'):
        with Run(tests, ['-s', seconds, '64k']) as running:
            tests.check(f'-s {seconds}: line', 'its walk', running.process.stdout.readline()[:6] == b'65536 ', True)
            worker = running.workers(1)[0]
            os.kill(running.pid, signal.SIGTERM)
            tests.check(f'-s {seconds}: status', 128 + signal.SIGTERM, running.finish().status)
            tests.check(f'-s {seconds}: worker', False, alive(worker))


def detached_stay(tests):
    """usemem ends at once; they hold their memory, in its session and group, and bear its name."""
    for args in ('-n 2', '-n 2 -t 2', '-n 2 -x', '-n 2 -P -M', '-n 2 -x -s -1'):
        with tests.folder() as folder:
            path = os.path.join(folder, 'pids')
            with open(os.path.join(folder, 'out'), 'w+b') as out, \
                    Run(tests, [*f'-d -s -1 {args} -p'.split(), path, '64k'], stdout=out) as running:
                running.process.wait(10)
                tests.check(f'-d {args}: status', 0, running.process.returncode)
                with open(path, encoding='ascii') as file:
                    pids = [int(line) for line in file]
                tests.check(f'-d {args}: who is left', sorted(pids), sorted(left_of(running.pid)))
                tests.check(f'-d {args}: processes', 2, len(pids))
                for pid in pids:
                    tests.check(f'-d {args}: group', running.pid, os.getpgid(pid))
                    tests.check(f'-d {args}: name', 'usemem', status_line(pid, 'Name'))
                out.seek(0)
                lines = read_lines(out.read())
                tests.check(f'-d {args}: lines', f'{4 if "-t" in args else 2}xW{SMALL}', brief(lines))


def pids_are_in_task_order(tests):
    """Task i has the allowed CPU of rank i with -b 1."""
    ranks = sorted(os.sched_getaffinity(0))
    if len(ranks) < 2:
        raise Skip('one CPU only')
    with tests.folder() as folder:
        path = os.path.join(folder, 'pids')
        with open('/dev/null', 'wb') as out, \
                Run(tests, ['-d', '-s', '-1', '-n', '4', '-b', '1', '-p', path, '64k'], stdout=out) as running:
            running.process.wait(10)
            with open(path, encoding='ascii') as file:
                allowed = [status_line(int(line), 'Cpus_allowed_list') for line in file]
            tests.check('-d -p: order', [str(ranks[i % len(ranks)]) for i in range(4)], allowed)


def the_menu_does_what_it_says(tests):
    with Run(tests, ['-g', '-u', '64k', '128k'], stdin=-1) as running:
        def press(key):
            running.process.stdin.write(key)
            running.process.stdin.flush()
            return running.process.stdout.readline()

        running.process.stdout.readline()
        pid = running.workers(1)[0]
        for key, kib, length in ((b'l', 64, SMALL), (b'u', 0, SMALL), (b'l', 64, SMALL), (b'u', 0, SMALL),
                                 (b'r', 0, 10 * SMALL), (b'q', 0, 11 * SMALL), (b'l', 64, 11 * SMALL)):
            press(key)
            tests.check(f'-g {key!r}: VmLck', f'{kib} kB', status_line(pid, 'VmLck'))
            tests.check(f'-g {key!r}: length of the mappings', length, sum(mappings_of(pid, ' /dev/zero')))
        running.process.stdin.write(b'a')
        result = running.finish()
        tests.check('-g a, the last: status', 0, result.status)
        tests.check('-g a, the last: lines', f'1xF 1xW{2 * SMALL}', brief(read_lines(result.out)))


def the_menu_waits_untimed(tests):
    """What was spent at the menu is in nobody's USECS."""
    with Run(tests, ['-g', '-u', '32k', '64k'], stdin=-1) as running:
        spent = 0
        for _ in range(2):
            running.process.stdout.readline()
            began = time.monotonic()
            time.sleep(0.15)
            spent += time.monotonic() - began
            running.process.stdin.write(b'q')
            running.process.stdin.flush()
        result = running.finish()
        walk = next((line[2] for line in read_lines(result.out) if line[0] == 'W'), 0)
        most = (result.seconds - spent) * 10**6
        tests.check('-g: the walk without the menu', f'1 to {most} usecs', walk, 0 < walk <= most)


# walk: -e, --main-write-data, --fill, --no-check, -T, the 0 that is not given

def constant(value, size=SMALL, step=8):
    return {i: value for i in range(0, size // 8, step // 8) if value}


def every_page(data):
    return [data[at:at + PAGE] for at in range(0, len(data), PAGE)]


def random_words(data):
    pages, values = every_page(data), memoryview(data).cast('Q')
    if len(set(pages)) != len(pages):
        return 'two pages are alike'
    if len(set(values)) != len(values):
        return 'two words are alike'
    return '' if all(len(zlib.compress(page)) > len(page) * 0.95 for page in pages) else 'a page can be compressed'


def compressible(percent):
    """Each page alone, as zswap does it."""
    def complain(data):
        shares = [100 * len(zlib.compress(page)) / PAGE for page in every_page(data)]
        mean = statistics.mean(shares)
        if abs(mean - percent) > 5 or max(shares) - min(shares) > 5:
            return f'compresses to {min(shares):.1f} to {max(shares):.1f} %'
        return 'pages are alike' if percent and len(set(every_page(data))) != len(shares) else ''
    return complain


def random_where_written(data):
    return '' if len(set(memoryview(data).cast('Q')[::PAGE // 8])) == len(data) // PAGE else 'words are alike'


def holds(nanoseconds):
    def check(tests, row, result, *_):
        walk = min((line[2] for line in read_lines(result.out) if line[0] in 'WZ'), default=0)
        tests.check(f'{row}: usecs', f'at least {nanoseconds // 1000}', walk, walk * 1000 >= nanoseconds)
    return check


def delayed(args, size, **more):
    return good(args, f'{args}', size, **more)


def defaults(tests, row, _result, _pid, folder):
    with open(os.path.join(folder, 'result'), 'rb') as file:
        options = json.load(file)['options']
    want = {'nproc': 1, 'thread': 1, 'bind': 0, 'unit_bytes': SMALL, 'step_bytes': 8, 'runtime_ns': 0, 'delay_ns': 0,
            'random_seed': 0}
    tests.check(f'{row}: options', want, {key: options[key] for key in want})


def distinct_words(least):
    """Tasks with one random stream would meet in the same words."""
    def complain(data):
        count = sum(value != 0 for value in memoryview(data).cast('Q'))
        return '' if count >= least else f'{count} words were written, not {least}'
    return complain


walk = [
    delayed('-e 1000ns 64k', SMALL, check=holds(SMALL_PAGES * 1000)),
    delayed('-e 10u 64k', SMALL, check=holds(SMALL_PAGES * 10**4)),
    delayed('-e 1m 64k', SMALL, check=holds(SMALL_PAGES * 10**6)),
    delayed('--delay 1ms 64k', SMALL, check=holds(SMALL_PAGES * 10**6)),
    delayed('-e 1s 8', 8, check=holds(10**9)),
    delayed('-e 100u -o -Z 64k', SMALL, again=SMALL, check=holds(SMALL_PAGES * 10**5)),
    delayed('-e 100u -Z -P -n 2 64k', SMALL, again=SMALL, tasks=2, free=False, check=holds(SMALL_PAGES * 10**5)),
    delayed('-e 100u -r 3 64k', 3 * SMALL, check=holds(3 * SMALL_PAGES * 10**5)),
    delayed(f'-e 100u -j {2 * PAGE} 64k', SMALL_PAGES * 4, check=holds(SMALL_PAGES // 2 * 10**5)),
    delayed('-e 100u -u 3000 10000', 10000, check=holds(4 * 10**5)),
    delayed('-e 100u -t 3 64k', SMALL, tasks=3, check=holds(SMALL_PAGES * 10**5)),
    delayed('-R --random-seed 3 -e 1u 64k', SMALL, check=holds(SMALL // 8 * 1000)),
    delayed('-R --random-seed 3 -e 100u -j 4k 64k', SMALL // 512, check=holds(SMALL // 4096 * 10**5)),
    delayed('-e 10u --fill random -r 2 64k', 2 * SMALL),
    delayed('-e 10u --main-write-data 9 -r 2 -f f 64k', 2 * SMALL, files={'f': SMALL}, content={'f': constant(9)}),
    delayed('-e 3600s -T 20ms 64k', 8),
    delayed('-e 3600s -T 20ms -o -n 2 64k', 8, tasks=2),
    delayed('-R --random-seed 1 -e 3600s -T 20ms 64k', 8),
    delayed('-e 3600s -T 20ms -Z 64k', 8, again=8, check=holds(20 * 10**6)),
    delayed('-e 3600s -T 20ms -t 2 -u 4k -r 3 64k', 8, tasks=2),
    delayed('-e 1m 0', []),
    wrong('-e x', '-e x 64k', "delay.*'x'"),
    wrong('-e 5k', '-e 5k 64k', "delay.*'5k'"),
    wrong('-e 1h', '-e 1h 64k', "delay.*'1h'"),
    wrong('-e 1n', '-e 1n 64k', "delay.*'1n'"),
    wrong('-e 2^64', '-e 18446744073709551616 64k', 'delay'),

    good('--main-write-data', '--main-write-data 5 -f f 64k', SMALL, files={'f': SMALL}, content={'f': constant(5)}),
    good('--main-write-data 0', '--main-write-data 0 -f f 64k', SMALL, files={'f': filled(7)}, content={'f': {}}),
    good('--main-write-data 0x10', '--main-write-data=0x10 -f f 64k', SMALL, files={'f': SMALL},
         content={'f': constant(16)}),
    good('--main-write-data 2^64-1', '--main-write-data 18446744073709551615 -f f 64k', SMALL, files={'f': SMALL},
         content={'f': constant(2**64 - 1)}),
    good('--main-write-data is not octal', '--main-write-data 010 -f f 64k', SMALL, files={'f': SMALL},
         content={'f': constant(10)}),
    good('--main-write-data -r 3', '--main-write-data 5 -r 3 64k', 3 * SMALL),
    good('--main-write-data 0 -r 3 -j', '--main-write-data 0 -r 3 -j 64 64k', 3 * SMALL // 8),
    good('--main-write-data -r 3 -u', '--main-write-data 5 -r 3 -u 4k -n 2 64k', 3 * SMALL, tasks=2),
    good('--main-write-data -r 3, shared', '--main-write-data 5 -r 3 -P -t 2 64k', 3 * SMALL, tasks=2, free=False),
    good('--main-write-data -R -r 3', '--main-write-data 5 -R --random-seed 4 -r 3 64k', 3 * SMALL),
    good('--main-write-data -j', '--main-write-data 5 -j 64 -f f 64k', SMALL // 8, files={'f': SMALL},
         content={'f': constant(5, SMALL, 64)}),
    good('--main-write-data -o', '--main-write-data 5 -o -w -f f 64k', SMALL, files={'f': SMALL}, content={'f': {}}),
    good('--main-write-data of a file that had others', '--main-write-data 5 -r 2 -f f 64k', 2 * SMALL,
         files={'f': filled(7)}, content={'f': constant(5)}),
    wrong('--main-write-data x', '--main-write-data x 64k', "main-write-data.*'x'"),
    wrong('--main-write-data 2^64', '--main-write-data 18446744073709551616 64k', 'main-write-data'),

    good('--fill zero', '--fill zero -f f 64k', SMALL, files={'f': filled(7)}, content={'f': {}}),
    good('--fill index', '--fill index -f f 64k', SMALL, files={'f': SMALL}, content={'f': indices(SMALL)}),
    good('--fill=index -u', f'--fill=index -u {PAGE} -f f 64k', SMALL, files={'f': SMALL},
         content={'f': indices(SMALL, PAGE)}),
    good('--fill random', '--fill random -f f 64k', SMALL, files={'f': SMALL}, data={'f': random_words}),
    good('--fill random -u', f'--fill random -u {PAGE} -f f 64k', SMALL, files={'f': SMALL}, data={'f': random_words}),
    good('--fill random -j', f'--fill random -j {PAGE} -f f 64k', SMALL_PAGES * 8, files={'f': SMALL},
         data={'f': random_where_written}),
    good('--fill random -r 3', '--fill random -r 3 -f f 64k', 3 * SMALL, files={'f': SMALL},
         data={'f': random_words}),
    good('--fill random -r 3, by many', '--fill random -r 3 -n 2 -t 2 -f f 64k', 3 * SMALL, tasks=4,
         files={'f': SMALL}, data={'f': random_words}),
    good('--fill random -r 3, shared', '--fill random -r 3 -P -n 2 -t 2 64k', 3 * SMALL, tasks=4, free=False),
    good('--fill random -r 3 -R', '--fill random -r 3 -R 64k', 3 * SMALL, err=SEED),
    good('--fill random -o', '--fill random -o -w -f f 64k', SMALL, files={'f': SMALL}, content={'f': {}}),
    good('--fill compress=25%', '--fill compress=25% -f f 64k', SMALL, files={'f': SMALL},
         data={'f': compressible(25)}),
    good('--fill compress=25% -r 3 -u', f'--fill compress=25% -r 3 -u {2 * PAGE} -f f 64k', 3 * SMALL,
         files={'f': SMALL}, data={'f': compressible(25)}),
    good('--fill compress=75%, 1m', '--fill compress=75% -n 2 -f f 1m', MIB, tasks=2, files={'f': MIB},
         data={'f': compressible(75)}),
    good('--fill compress=0%', '--fill compress=0% -f f 64k', SMALL, files={'f': filled(7)},
         data={'f': compressible(0)}),
    good('--fill compress=100%', '--fill compress=100% -f f 64k', SMALL, files={'f': SMALL},
         data={'f': compressible(100)}),
    good('--fill, the last counts', '--fill random --fill zero -f f 64k', SMALL, files={'f': filled(7)},
         content={'f': {}}),
    wrong('--fill foo', '--fill foo 64k', "--fill.*'foo'"),
    wrong('--fill zer', '--fill zer 64k', "--fill.*'zer'"),
    wrong('--fill compress=', '--fill compress= 64k', "--fill.*'compress='"),
    wrong('--fill compress=25', '--fill compress=25 64k', "--fill.*'compress=25'"),
    wrong('--fill compress=101%', '--fill compress=101% 64k', "--fill.*'compress=101%'"),
    wrong('--fill compress=x%', '--fill compress=x% 64k', "--fill.*'compress=x%'"),

    good('--no-check -r 3', '--no-check -r 3 -n 2 -f f 64k', 3 * SMALL, tasks=2, files={'f': SMALL},
         content={'f': indices(SMALL)}),
    good('--no-check -r 3 --fill', '--no-check -r 3 --fill random -f f 64k', 3 * SMALL, files={'f': SMALL},
         data={'f': random_words}),
    good('--no-check -o -R', '--no-check -o -R --random-seed 1 -r 2 64k', 2 * SMALL),

    good('-R: another stream for each process', '-R --random-seed 3 -j 1k -n 2 -f f 1m', 8192, tasks=2,
         files={'f': MIB}, data={'f': distinct_words(1500)}),
    good('-R: another stream for each thread', '-R --random-seed 3 -j 1k -t 2 -f f 1m', 8192, tasks=2,
         files={'f': MIB}, data={'f': distinct_words(1500)}),
    good('-R: every pass goes elsewhere', '-R --random-seed 3 -j 1k -r 2 -f f 1m', 16384, files={'f': MIB},
         data={'f': distinct_words(1500)}),

    good('0 is not given', '-n 0 -t 0 -b 0 -u 0 -j 0 -T 0 -e 0 --random-seed 0 --signal-read-count 0 64k', SMALL),
    good('0 is not given, in the result',
         '-n 0 -t 0 -b 0 -u 0 -j 0 -T 0 -e 0 --random-seed 0 --signal-read-count 0 --json=result 64k', SMALL,
         made={'result': None}, err='.*', check=defaults),
    good('-m -n', '-m 1 -n 2', MIB, tasks=2),
    good('-m -P -u', '-m 1 -P -u 64k', MIB, free=False),
    good('-T of each phase', '-T 20ms -Z -r 1000000000000 64k', [SOME, r'Z\d+']),
    good('-T 1ms of many', '-T 1ms -n 2 -t 2 -r 1000000000000 64k', [SOME], tasks=4),
    good('-T --punch-holes', '-T 20ms --punch-holes -r 1000000000000 64k', [SOME], then=[DONE]),
    good('-T -F and little time', '-T 1ms -F 16m', [SOME]),
]


def other_data_is_let_pass(tests):
    for args in ([], ['-u', '64k'], ['-j', '64'], ['-P']):
        with tests.folder() as folder:
            path = os.path.join(folder, 'f')
            filled(0, MIB)(path)
            with Run(tests, ['-f', path, '--no-check', *args, '-T', '200ms', *FOR_EVER, '1m']) as running:
                flip_until_it_ends(path, 3 * PAGE, running)
                tests.check(f'--no-check {args} and other data', 0, running.finish().status)


def one_seed_one_order(tests):
    """The same seed comes to the same words, another one to others."""
    def touched(seed):
        with tests.folder() as folder:
            path = os.path.join(folder, 'f')
            filled(0)(path)
            run(tests, ['-R', '--random-seed', seed, '-j', '1k', '-n', '2', '-f', path, '64k'])
            with open(path, 'rb') as file:
                return file.read()
    tests.check('--random-seed: the same twice', True, touched('5') == touched('5'))
    tests.check('--random-seed: another', False, touched('5') == touched('6'))


# summary: the block behind the lines

def numbers(pattern, text):
    found = re.search(pattern, text, re.M)
    return [int(number) if number != '-' else None for number in found.groups()] if found else None


SPREAD = r'mean (\d+), min (\d+), max (\d+), stdev (\d+|-)'
BLOCK = (rf'tasks: \d+\nsum of the tasks\' rates: \d+ KB/s\n'
         r'rate over their common window: \d+ KB/s, \d+ for each task\n'
         rf'rate of a task: {SPREAD} KB/s\nset-up: \d+ usecs\naccess: {SPREAD} usecs\n(free: {SPREAD} usecs\n)?'
         r'faults: \d+ minor, \d+ major\n'
         r'(swap of the whole system: \d+ pages in, \d+ pages out(, \d+ pages of zeros kept out)?\n)?'
         r'(events of the memory cgroup:( \w+ \d+)+\n)?')


def check_block(tests, row, text, walks, frees, pages):
    """TEXT against the lines of its tasks: (bytes, usecs) of each walk, usecs of each free line."""
    if not tests.check(f'{row}: block', BLOCK, text, re.fullmatch(BLOCK, text) is not None):
        return
    rates = [size * 10**6 // 1024 // usecs for size, usecs in walks]
    tests.check(f'{row}: tasks', [len(walks)], numbers(r'^tasks: (\d+)$', text))
    tests.check(f'{row}: sum of rates', [sum(rates)], numbers(r'^sum of .*: (\d+) KB/s$', text))
    for what, unit, values in (('rate of a task', 'KB/s', rates), ('access', 'usecs', [usecs for _, usecs in walks]),
                               ('free', 'usecs', frees)):
        got = numbers(rf'^{what}: {SPREAD} {unit}$', text)
        if not values:
            tests.check(f'{row}: {what}', None, got)
            continue
        spread = statistics.stdev(values) if len(values) > 1 else None
        want = [statistics.mean(values), min(values), max(values), spread]
        near = got is not None and all((a is None) == (b is None) and (a is None or abs(a - b) <= 0.5)
                                       for a, b in zip(want, got))
        tests.check(f'{row}: {what}', want, got, near)
    window, share = numbers(r'common window: (\d+) KB/s, (\d+) for each task$', text)
    tests.check(f'{row}: share of the window', f'{window} / {len(rates)}', share, abs(share - window / len(rates)) <= 1)
    tests.check(f'{row}: common window', f'up to {sum(rates) + len(rates)}', window, window <= sum(rates) + len(rates))
    minor = numbers(r'^faults: (\d+) minor', text)[0]
    tests.check(f'{row}: faults', f'at least {pages}', minor, minor >= pages)


def split_runs(out):
    """(walks, frees, block) of each repetition: the lines of its tasks, then its block."""
    of_tasks = r'((?:\d+ bytes /.*\n|read again .*\n|\d+ usecs to free memory\n)*)'
    for text, block in re.findall(of_tasks + r'(tasks: .*\n(?:[a-z].*\n)*)', out):
        lines = read_lines(text.encode())
        yield [line[1:] for line in lines if line[0] == 'W'], [line[2] for line in lines if line[0] == 'F'], block


def blocks_agree_with_lines(tests):
    pages = MIB // PAGE
    for args, runs, tasks, frees, least in (
            ('', 1, 1, True, pages), ('-n 3', 1, 3, True, 3 * pages), ('-t 2', 1, 2, True, 2 * pages),
            ('-n 2 -P', 1, 2, False, 2 * pages), ('-n 2 -Z', 1, 2, True, 2 * pages),
            ('-n 2 -x -y', 1, 2, True, 2 * pages),
            ('-n 2 -u 64k -r 3', 1, 2, True, 2 * pages), ('--samples 2', 2, 1, True, pages),
            ('--samples 2 -n 2 -P', 2, 2, False, 2 * pages), ('--samples 2 --warmup 1 -n 2', 2, 2, True, 2 * pages),
            ('-T 20ms -r 1000000000000 -n 2', 1, 2, True, 2), ('--json=/dev/null', 1, 1, True, pages)):
        result = run(tests, ['--summary', *args.split(), '1m'])
        row = f'--summary {args}'
        tests.check(f'{row}: status', 0, result.status)
        tests.check(f'{row}: stderr', 'only warnings', result.err,
                    all(line.startswith(b'usemem: warning: ') for line in result.err.splitlines()))
        out, _, five = result.out.decode().partition('Count:')
        blocks = list(split_runs(out))
        tests.check(f'{row}: blocks', runs, len(blocks))
        tests.check(f'{row}: five lines', '--samples' in args, FIVE.fullmatch(b'Count:' + five.encode()) is not None)
        for walks, freed, block in blocks:
            tests.check(f'{row}: walks', tasks, len(walks))
            tests.check(f'{row}: free lines', tasks if frees else 0, len(freed))
            check_block(tests, row, block, walks, freed, least)


def block_without_a_walk(tests):
    for args, lines in (('0', 1), ('-n 3 0', 3), ('-r 0 64k', 1)):
        result = run(tests, ['--summary', *args.split()])
        tests.check(f'--summary {args}: status', 0, result.status)
        free, block = re.fullmatch(r'((?:\d+ usecs to free memory\n)*)((?:.*\n)*)', result.out.decode()).groups()
        tests.check(f'--summary {args}: free lines', lines, free.count('\n'))
        tests.check(f'--summary {args}: block', BLOCK, block, re.fullmatch(BLOCK, block) is not None)
        tests.check(f'--summary {args}: tasks', [lines], numbers(r'^tasks: (\d+)$', block))
        tests.check(f'--summary {args}: rates', [0], numbers(r'^sum of .*: (\d+) KB/s$', block))


def block_beside_json(tests):
    """Standard output is the document's: the block is on standard error then."""
    result = run(tests, ['--summary', '--json', '-n', '2', '1m'])
    tests.check('--summary --json: status', 0, result.status)
    metrics = json.loads(result.out)['metrics']
    walks = [(size, max(ns // 1000, 1)) for size, ns in zip(*(metrics[key]['per_worker'][0]
                                                              for key in ('walk_bytes', 'walk_ns')))]
    frees = [max(ns // 1000, 1) for ns in metrics['free_ns']['per_worker'][0]]
    text = ''.join(line + '\n' for line in result.err.decode().splitlines() if not line.startswith('usemem: '))
    check_block(tests, '--summary --json', text, walks, frees, 2 * MIB // PAGE)


def no_block_of_what_failed(tests):
    for args in ('-f new -o 64k', '--force 100000t'):
        result = run(tests, ['--summary', *args.split()])
        tests.check(f'--summary {args}: status', 1, result.status)
        tests.check(f'--summary {args}: stdout', b'', result.out)


# refused: options that change what was not asked for, and those that only begin with a partner

refused = [
    wrong('--fill, though other data is stored', '--main-write-data 5 --fill foo 64k', "--fill 'foo'"),
    good('-m 0', '-m 0', 0),
    wrong('--signal-punch-holes alone', '--signal-punch-holes 64k', '--signal-punch-holes'),
    wrong('--signal-punch-holes with another phase', '--signal-punch-holes -W 64k', '--signal-punch-holes'),
    wrong('--fallocate-punch-holes alone', '--fallocate-punch-holes 64k', '--fallocate-punch-holes'),
    wrong('--fallocate-punch-holes -f alone', '--fallocate-punch-holes -f f 64k', '--fallocate-punch-holes',
          files={'f': SMALL}),
    wrong('--fallocate-punch-holes without a file', '--fallocate-punch-holes --punch-holes 64k',
          '--fallocate-punch-holes'),
    wrong('--fallocate-punch-holes -O', '--fallocate-punch-holes --punch-holes -O 64k', '--fallocate-punch-holes'),
    wrong('--fallocate-punch-holes -O -f', '--fallocate-punch-holes --punch-holes -O -f f 64k',
          '--fallocate-punch-holes', files={'f': SMALL}, content={'f': {}}),
    wrong('--fallocate-punch-holes -O --memfd', '--fallocate-punch-holes --punch-holes -O --memfd 64k',
          '--fallocate-punch-holes'),
    wrong('--fallocate-punch-holes -a', '--fallocate-punch-holes --punch-holes -a 64k', '--fallocate-punch-holes'),
    wrong('--fallocate-punch-holes -f /dev/zero', '--fallocate-punch-holes --punch-holes -f /dev/zero 64k',
          '--fallocate-punch-holes'),
    wrong('--fallocate-punch-holes --dry-run', '--dry-run --fallocate-punch-holes 64k', '--fallocate-punch-holes'),
    wrong('--signal-read-count alone', '--signal-read-count 5 64k', '--signal-read-count'),
    wrong('--signal-read-count --write-signal-write', '--signal-read-count 5 --write-signal-write 64k',
          '--signal-read-count'),
    wrong('--signal-write-data alone', '--signal-write-data 5 64k', '--signal-write-data'),
    wrong('--signal-write-data 0 alone', '--signal-write-data 0 64k', '--signal-write-data'),
    wrong('--signal-write-data -W', '--signal-write-data 5 -W 64k', '--signal-write-data'),
    wrong('--signal-write-times alone', '--signal-write-times 5 64k', '--signal-write-times'),
    wrong('--signal-write-times -W', '--signal-write-times 5 -W 64k', '--signal-write-times'),
    wrong('--signal-read-random alone', '--signal-read-random 64k', '--signal-read-random'),
    wrong('--signal-read-random, madvise', '--signal-read-random --write-signal-madv-thp 64k', '--signal-read-random'),
    wrong('--signal-verify alone', '--signal-verify 64k', '--signal-verify'),
    wrong('--signal-verify -Z', '--signal-verify -Z 64k', '--signal-verify'),
    wrong('--signal-verify, madvise', '--signal-verify --write-signal-madv-thp 64k', '--signal-verify'),
    wrong('--signal-loop alone', '--signal-loop 64k', '--signal-loop'),
    wrong('--signal-loop --madv-pageout', '--signal-loop --madv-pageout 64k', '--signal-loop'),
    wrong('--signal-loop -s -d', '--signal-loop -s 1 -d 64k', '--signal-loop'),
    wrong('-E -D FILE and no SIZE', '-E -D f', '--remap', files={'f': 1}),
    wrong('-L -D FILE and no SIZE', '-L -D f', '--lock', files={'f': 1}),
    wrong('-y -u of -P', '-y -u 4k -P 64k', '--sync-rw|--unit'),
    wrong('--signal-read-count x', '-W --signal-read-count x 64k', "signal-read-count.*'x'"),
    wrong('--signal-write-data x', '--write-signal-write --signal-write-data x 64k', "signal-write-data.*'x'"),
    wrong('--signal-write-times x', '--write-signal-write --signal-write-times x 64k', "signal-write-times.*'x'"),
    accepted('-W and all that goes with it', '-W --signal-read-count 5 --signal-read-random --signal-verify '
             '--signal-loop --signal-fork 64k', err=SEED),
    accepted('--write-signal-read', '--write-signal-read --first-access-speed 64k'),
    accepted('--write-signal-write and all that goes with it', '--write-signal-write --signal-write-data 0x5 '
             '--signal-write-times 3 --signal-read-random --signal-verify --signal-loop -o 64k', err=SEED),
    accepted('--write-signal-madv-thp --signal-loop', '--write-signal-madv-thp --signal-loop --madv-pageout 64k'),
    accepted('all phases together', '-W --write-signal-write --write-signal-madv-thp --signal-punch-holes '
             '--punch-holes --madv-pageout -d -p pids -x -s -1 -M 64k', err='--mlock.*--madv-pageout'),
    accepted('--signal-read-count 0 alone', '--signal-read-count 0 64k'),
    accepted('--signal-fork alone', '--signal-fork 64k'),
    accepted('-m with all that must have a SIZE', '-m 1 -E -L -N -H'),
    accepted('--fallocate-punch-holes --memfd', '--fallocate-punch-holes --punch-holes --memfd 64k'),
    accepted('--fallocate-punch-holes -a -f', '--fallocate-punch-holes --punch-holes -a -f f 64k',
             err='--malloc.*ignored'),
]


# prefixes: every abbreviation of an old name that only this one has

class Name:
    """A long option of the contract that is not new: what follows it, and what --json then has for it."""

    def __init__(self, name, argument=None, want=True, key=None, apart=False):
        self.name, self.argument, self.want, self.apart = name, argument, want, apart
        self.key = key or name.replace('-', '_')

    def words(self, prefix):
        return [f'--{prefix}'] + ([self.argument] if self.argument is not None else [])


# apart: second names of an option, and options that spoil the others' effect.
OLD = [
    Name('nproc', '3', 3), Name('thread', '2', 2), Name('bind', '5', 5), Name('malloc', apart=True),
    Name('file', 'f', 'f'), Name('offset', '8192', 8192, 'offset_bytes'), Name('prefault'), Name('prealloc'),
    Name('unit', '64k', SMALL, 'unit_bytes'), Name('step', '24', 24, 'step_bytes'), Name('repeat', '7', 7),
    Name('readonly'), Name('open-rw'), Name('random'), Name('random-seed', '9', 9), Name('mlock'), Name('msync'),
    Name('msync-async', apart=True), Name('detach'), Name('sleep', '2', 2 * 10**9, 'sleep_ns'),
    Name('runtime', '4', 4 * 10**9, 'runtime_ns'), Name('pid-file', 'pids', 'pids'), Name('getchar'), Name('quiet'),
    Name('lock'), Name('Lock', None, True, 'lock', apart=True), Name('advise', 'f', 'f'),
    Name('advice', 'f', 'f', 'advise', apart=True), Name('remap'), Name('mincore', apart=True), Name('mincore-hgpg'),
    Name('mncr_hgpgs', None, True, 'mincore_hgpg', apart=True), Name('write-signal-read'), Name('write-signal-write'),
    Name('write-signal-madv-thp'), Name('signal-read-count', '6', 6), Name('signal-read-random'),
    Name('signal-write-data', '0x11', 17), Name('signal-write-times', '8', 8), Name('signal-verify'),
    Name('signal-loop'), Name('signal-fork'), Name('sync-rw'), Name('sync-free'),
    Name('delay', '10u', 10000, 'delay_ns'), Name('anonymous', apart=True),
    Name('hugetlb', None, 0, 'hugetlb_bytes', apart=True), Name('read-again'),
    Name('punch-holes'), Name('signal-punch-holes'), Name('fallocate-punch-holes'), Name('init-time'),
    Name('touch-alloc'), Name('main-write-data', '0x12', 18), Name('show-addr'), Name('memfd'), Name('madv-thp'),
    Name('madv-pageout'), Name('numa-cpu', '0', 0), Name('numa-memory', '0', 0), Name('first-access-speed'),
    Name('help', apart=True),
]
NEW = ['no-check', 'fill', 'summary', 'force', 'json', 'samples', 'warmup', 'interval', 'dry-run', 'version']


def all_prefixes():
    return sorted({name.name[:i] for name in OLD for i in range(1, len(name.name) + 1)})


def names_with(prefix):
    """The old options that a prefix can mean; a full name means itself."""
    exact = [name for name in OLD if name.name == prefix]
    return exact or [name for name in OLD if name.name.startswith(prefix)]


def meaning(prefix):
    """The one old option that it means, whatever names that option has, or None."""
    found = names_with(prefix)
    if len({name.key for name in found}) != 1 or prefix in NEW:
        return None
    return found[0]


def prefixes_of(name):
    return [p for p in all_prefixes() if meaning(p) is name]


def options_of(tests, args, folder):
    """The options that the run took, from its JSON result, or what it said instead."""
    path = os.path.join(folder, 'result')
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    result = run(tests, ['-N', *args, f'--json={path}', '64k'], cwd=folder)
    if result.status:
        return f'status {result.status}: {result.err.decode()}'
    with open(path, 'rb') as file:
        options = json.load(file)['options']
    return {key: value for key, value in options.items() if key not in ('json', 'size_bytes')}


def as_told(options, args):
    """What OPTIONS, those of a run without any, should be with these (name, prefix)."""
    want = dict(options, mincore=True, prealloc=True)
    for name, _ in args:
        want[name.key] = name.want
    return want


def tell_apart(tests, base, args, folder):
    """One by one: each with the others spelled out."""
    for name, prefix in args:
        words_of_all = [word for other, _ in args for word in other.words(prefix if other is name else other.name)]
        got = options_of(tests, words_of_all, folder)
        tests.check(f'--{prefix}', f'--{name.name}', got, matches(base, args, got))


def matches(base, args, got):
    want = as_told(base, args)
    return isinstance(got, dict) and all(same_value(want[key], got.get(key)) for key in want)


def same_value(want, got):
    return want == got or str(want) == str(got)


def try_together(tests, base, args, folder):
    """All in one run; if that is not as it should be, each alone."""
    got = options_of(tests, [word for name, prefix in args for word in name.words(prefix)], folder)
    if matches(base, args, got):
        for name, prefix in args:
            tests.check(f'--{prefix}', name.name, name.name)
    else:
        failures = tests.failures
        tell_apart(tests, base, args, folder)
        tests.check('prefixes ' + ' '.join(prefix for _, prefix in args), as_told(base, args), got,
                    tests.failures > failures)


def prefixes_of_old_names(tests):
    has_nodes = os.path.isdir('/sys/devices/system/node/node0')
    with tests.folder() as folder:
        filled(1, 4 * SMALL)(os.path.join(folder, 'f'))
        base = options_of(tests, [], folder)
        together = [(name, prefixes_of(name)) for name in OLD
                    if not name.apart and (has_nodes or not name.name.startswith('numa'))]
        for i in range(max(len(prefixes) for _, prefixes in together)):
            # An option whose prefixes are all tried is there with its last one, its full name.
            args = [(name, prefixes[min(i, len(prefixes) - 1)]) for name, prefixes in together]
            try_together(tests, base, args, folder)


def prefixes_of_second_names(tests):
    """Those that do not go together with all others, in runs of their own."""
    with tests.folder() as folder:
        filled(1, 4 * SMALL)(os.path.join(folder, 'f'))
        base = options_of(tests, [], folder)
        groups = (('malloc', 'hugetlb', 'anonymous', 'Lock', 'advice', 'mncr_hgpgs'), ('msync-async',))
        for group in groups:
            some = [(name, prefixes_of(name)) for name in OLD if name.name in group]
            for i in range(max(len(prefixes) for _, prefixes in some)):
                args = [(name, prefixes[min(i, len(prefixes) - 1)]) for name, prefixes in some]
                try_together(tests, base, args, folder)
    for prefix in prefixes_of(next(name for name in OLD if name.name == 'help')):
        tests.check(f'--{prefix}', b'Usage:', run(tests, [f'--{prefix}']).out[:6])


def prefixes_of_many(tests):
    """Of several old options: refused, as getopt_long does. The shortest and the longest of a kind show it."""
    many = [prefix for prefix in all_prefixes() if not meaning(prefix) and prefix not in NEW]
    for prefix in many:
        if len(prefix) > 1 and any(other[:-1] == prefix for other in many):
            continue
        result = run(tests, [f'--{prefix}', '64k', '1'])
        tests.check(f'--{prefix} of {len(names_with(prefix))}: status', 2, result.status)
        tests.check(f'--{prefix}: stderr', f'--{prefix}', result.err.decode(),
                    re.search(rf"--{prefix}'?:", result.err.decode()) is not None)


later = [
    good('--fil is --file', '--fil f 64k', SMALL, files={'f': SMALL}, content={'f': indices(SMALL)}),
    good('--fill is --fill', '--fill zero -f f 64k', SMALL, files={'f': filled(7)}, content={'f': {}}),
    wrong('--fi of two', '--fi f 64k', '--fi'),
    good('--no-c', '--no-c -r 2 64k', 2 * SMALL),
    good('--fo', '--fo 64k', SMALL),
    good('--js=FILE', '--js=result 64k', SMALL, made={'result': None}, err='.*'),
    Row('--su', '--su 0', 0, None),
    Row('--dr', '--dr 64k', 0, None),
    Row('--ver', '--ver', 0, [r'usemem .*\d.*']),
    Row('--sa', '--sa 2 4k', 0, None, err='.*'),
    good('--wa', '--wa 1 64k', SMALL),
    wrong('--w', '--w 64k', '--w'),
    good('--ve is --version, no other has it', '--ve', [r'usemem .*\d.*'], free=False),
    good('all the documented spellings', '--anonymous --sync-free --lock --advise f 64k', SMALL, files={'f': 1}),
]


# large: many units, long files, many page tables

def four_tib():
    try:
        with open(f'/tmp/pagemill-cli-{os.getpid()}', 'wb') as file:
            file.truncate(4 << 40)
    except OSError as error:
        raise Skip(f'a file of 4t: {error.strerror}')
    finally:
        os.unlink(f'/tmp/pagemill-cli-{os.getpid()}')


LONG = {'f': 4 << 40}

large = [
    accepted('--touch-alloc -P -o, once for all', f'--dry-run --touch-alloc -P -o -n 8 {AVAILABLE // 4}'),
    wrong('--touch-alloc -P, and copied', f'--touch-alloc -P -n 2 {AVAILABLE // 2}', '--force'),
    wrong('a page of each unit', f'-O -u {PAGE} -j 1g {2 * AVAILABLE}', 'to be written.*--force'),
    wrong('units of less than a page', f'-O -u 8 {AVAILABLE // 4}', 'to be written.*--force'),
    good('64 MiB in units of a page', '-u 4k 64m', 64 * MIB),
    good('the same, preallocated', '-u 4k -P 64m', 64 * MIB, free=False),
    good('the same, that merge', '-u 4k -O 64m', 64 * MIB),
    good('the same, locked, punched, read again', '-u 4k -M -Z --punch-holes 16m', 16 * MIB, again=16 * MIB,
         then=[DONE]),
    good('the same of a file', f'-u {PAGE} -f f 1m', MIB, files={'f': MIB}, content={'f': indices(MIB, PAGE)}),
    good('33 units', f'-u {PAGE} -n 2 -Z {33 * PAGE}', 33 * PAGE, again=33 * PAGE, tasks=2),
    Row('4t of a sparse file, read until the time is over', '-o -j 2m -T 100ms -f f 4t', 0, [SOME, 'F'],
        files=LONG, needs=four_tib),
    Row('4t of a sparse file, longer than it takes', '-o -j 256g -T 5 -f f 4t', 0, [f'W{8 * 16}', 'F'], files=LONG,
        needs=four_tib),
    good('4t, the last word of it', f'-o -j {(4 << 40) - 8} -f f 4t', 16, files=LONG, needs=four_tib),
    good('4t in random order', '-o -R -j 256g -f f 4t', 128, files=LONG, needs=four_tib, err=SEED),
    good('4t, -B', '-o -j 256g -B 2t -f f 2t', 64, files=LONG, needs=four_tib),
    good('4t in units of 256g', '-o -u 256g -j 256g -Z -f f 4t', 128, again=128, files=LONG, needs=four_tib),
    wrong('page tables of many', '-n 100 -o -f f 4t', 'page tables.*--force', files=LONG, needs=four_tib),
    wrong('page tables of many, threads', '-n 10 -t 10 -o -f f 4t', 'page tables', files=LONG, needs=four_tib),
    wrong('page tables of many, -P', '-n 100 -P -o -f f 4t', 'page tables', files=LONG, needs=four_tib),
    wrong('page tables of many, anonymous', '-n 100 -o 4t', 'page tables', needs=no_strict_overcommit),
    good('page tables of few', '-n 2 -o -j 256g -f f 4t', 128, tasks=2, files=LONG, needs=four_tib),
    Row('page tables of many, forced', '--force -n 100 -o -j 256g -T 100ms -f f 4t', 0, [SOME, 'F'], tasks=100,
        files=LONG, needs=four_tib),
    Row('page tables of few, forced', '--force -n 2 -o -j 2m -T 50ms -f f 4t', 0, [SOME, 'F'], tasks=2,
        files=LONG, needs=four_tib),
    accepted('page tables of many, --force', '--force -n 100 -o -f f 4t'),
    accepted('page tables of many that nobody walks', '-n 100 -r 0 -o -f f 4t'),
    accepted('page tables of many, few accesses', '-n 100 -o -j 256g -f f 4t'),
    accepted('20000 tasks of nothing', '-n 20000 0'),
    Row('100 tasks of nothing', '-n 100 0', 0, ['F'], tasks=100),
]

sections = {
    'memory': [rows_of(memory), units_are_mappings, advised_mappings_are_huge,
               memory_policy_is_inherited],
    'setup': [rows_of(setup), range_is_ten_times, lock_segment_is_gone_at_the_walk, advice_drops_the_cache,
              set_up_counts_or_not, every_line_needs_its_stdout],
    'huge': [rows_of(needs_no_pool), huge_pages],
    'afterwards': [rows_of(afterwards), pages_that_stay, locked_in_the_process_that_stays, sleeps_until_told,
                   detached_stay, pids_are_in_task_order, the_menu_does_what_it_says,
                   the_menu_waits_untimed],
    'walk': [rows_of(walk), other_data_is_let_pass, one_seed_one_order],
    'summary': [blocks_agree_with_lines, block_without_a_walk, block_beside_json, no_block_of_what_failed],
    'refused': [rows_of(refused)],
    'prefixes': [prefixes_of_old_names, prefixes_of_second_names, prefixes_of_many, rows_of(later)],
    'large': [rows_of(large)],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
