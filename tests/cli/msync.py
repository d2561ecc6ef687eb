# SPDX-License-Identifier: GPL-2.0-or-later
"""msync - command lines of msync, and the exit status, lines, files and JSON that each must give.

Usage: msync.py MSYNC [SECTION]... The golden help text comes from:
    build/msync/msync --help >tests/golden/msync-help.txt
"""
import collections
import difflib
import json
import os
import re
import resource
import signal
import struct
import sys
import time

sys.dont_write_bytecode = True
from harness import MIB, PAGE, Run, Skip, Tests, be_nobody, left_of, need_root, one_line, rate, run, until  # noqa: E402

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'msync-help.txt')
MEMORY = '/dev/shm'
SOON = 10           # seconds until a run that was told to end, or that goes wrong, has ended
MASK = (1 << 64) - 1

LINES = collections.OrderedDict(
    rate=re.compile(r'(\d+) bytes / (\d+) usecs = (\d+) KB/s'),
    sums=re.compile(r'dirtied (\d+) bytes, flushed (\d+) bytes in (\d+) calls'),
    latency=re.compile(r'flush latency: min ([\d.]+) us, median ([\d.]+) us, 90 % ([\d.]+) us, '
                       r'99 % ([\d.]+) us, 99.9 % ([\d.]+) us, max ([\d.]+) us'),
    verified=re.compile(r'verified (\d+) bytes, read back (with O_DIRECT|through the page cache)'),
    busy=re.compile(r'busy: (\d+) calls found locked pages \(EBUSY\) and flushed nothing'),
    remark=re.compile(r'(async|sync_file_range|none|fsync|fdatasync): (.*)'),
    folios=re.compile(r'folios: (\d+) bytes were dirtied and written for these, as the kernel counts'),
    medium=re.compile(r'medium: (\S+) on (\S+) \((.*?)\)(, image in .*?)?(: a flush does nothing there)?'),
)
# What parsers of other people's look for, anywhere in a line.
FOREIGN = re.compile(r'bytes / |usecs|\bcopied\b|truncated in|faulted in|migrated|remapped|\./case-|\(secs\)|'
                     r'run time:|metrc|avg|stddev')


def parse(out):
    """The lines as {kind: [match, ...]}, or a text that says which line is wrong."""
    found = collections.defaultdict(list)
    kinds = list(LINES)
    at = 0
    for line in out.decode(errors='surrogateescape').splitlines():
        while at < len(kinds) and not LINES[kinds[at]].fullmatch(line):
            at += 1
        if at == len(kinds):
            return f'unexpected, or not in this place: {line!r}'
        match = LINES[kinds[at]].fullmatch(line)
        if kinds[at] == 'rate' and int(match[3]) != rate(int(match[1]), int(match[2])):
            return f'wrong rate: {line!r}'
        if kinds[at] != 'rate' and FOREIGN.search(re.sub(r'\(/.*\)', '', line)):
            return f'others would read this: {line!r}'
        found[kinds[at]].append(match)
    return found


def rng_hash(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
    return x ^ x >> 31


def stamp(worker, offset, number):
    """The first 32 bytes of a page that WORKER dirtied at OFFSET of its file in pass NUMBER."""
    check = rng_hash((rng_hash((rng_hash((worker + 0x9e3779b97f4a7c15) & MASK) + offset) & MASK) + number) & MASK)
    return struct.pack('=4Q', worker, offset, number, check)


class Good:
    """A run that goes well: what its lines must add up to.

    each: bytes of a worker's bandwidth line (0: none); dirtied, flushed: of all; calls: of all.
    """

    def __init__(self, args, each, workers=1, dirtied=None, flushed=None, calls=None, verified=None, busy=0,
                 remark=None, err=None):
        self.args, self.each, self.workers = args.split(), each, workers
        self.dirtied = each * workers if dirtied is None else dirtied
        self.flushed = each * workers if flushed is None else flushed
        self.calls, self.verified, self.busy, self.remark, self.err = calls, verified, busy, remark, err


K = 1024
SMALL = '--passes 2 --size 64k '
good = [
    Good(SMALL, 128 * K, calls=2),
    Good(SMALL + '-n 3', 128 * K, 3, calls=6),
    Good(SMALL + '-t 3', 128 * K, 3, calls=6),
    Good(SMALL + '-n 2 -t 2 -b 1', 128 * K, 4, calls=8),
    Good('-r 1 -s 4k', 4 * K, calls=1),
    Good('--ops 3 --size 64k', 192 * K, calls=3),
    Good('--ops 3 --passes 2 --size 64k', 128 * K, calls=2),
    Good('--ops 3 --range 32k --size 64k', 96 * K, dirtied=128 * K, calls=3),
    Good(SMALL + '--shared', 128 * K, calls=2),
    Good(SMALL + '--shared -n 3', 128 * K, 3, calls=6),
    Good(SMALL + '--shared -t 3 --verify', 128 * K, 3, calls=6, verified=384 * K),
    # how it is flushed
    Good(SMALL + '--mode sync', 128 * K, calls=2),
    Good(SMALL + '-m invalidate', 128 * K, calls=2),
    Good(SMALL + '--mode fsync', 128 * K, calls=2),
    Good(SMALL + '--mode fdatasync', 128 * K, calls=2),
    Good(SMALL + '--mode sync_file_range', 128 * K, calls=2, remark='metadata'),
    Good(SMALL + '--mode async', 128 * K, flushed=0, calls=2, remark='starts no write-out'),
    Good(SMALL + '--mode none', 128 * K, flushed=0, calls=0, remark='nothing was flushed'),
    Good('--ops 5 --size 64k --mode none', 320 * K, flushed=0, calls=0, remark='nothing'),
    Good(SMALL + '--mode fsync --shared -n 2', 128 * K, 2, calls=4, remark='other workers'),
    Good(SMALL + '--mode fsync -n 2', 128 * K, 2, calls=4),
    Good(SMALL + '--mode fdatasync --shared', 128 * K, calls=2),
    Good(SMALL + '--mode fsync --range 4k', 128 * K, calls=2, err='--mode fsync: --range is ignored'),
    Good(SMALL + '--mode none --range 4k', 128 * K, flushed=0, calls=0, remark='nothing',
         err='--mode none: --range is ignored'),
    # in pieces
    Good(SMALL + '--range 4k', 128 * K, calls=2 * 64 * K // max(4 * K, PAGE)),
    Good(SMALL + '-R 64k', 128 * K, calls=2),
    Good(SMALL + '-R 0', 128 * K, calls=2),
    Good(SMALL + '-R 1g', 128 * K, calls=2),
    Good('--passes 2 --size 448k --range 128k', 896 * K, calls=8),
    Good('--passes 1 --size 448k --range 128k --mode sync_file_range --verify', 448 * K, calls=4, verified=448 * K,
         remark='metadata'),
    # what is dirtied
    Good('--passes 2 --size 640k --dirty 50%', 640 * K, calls=2),
    Good('--passes 1 --size 1m --dirty 1%', MIB // PAGE // 100 * PAGE or PAGE, calls=1),
    Good('--passes 1 --size 64k --dirty 1%', PAGE, calls=1),
    Good('--passes 3 --size 64k --dirty 0%', 0, calls=3),
    Good('--passes 2 --size 640k --dirty 50% --range 64k --verify', 640 * K, calls=20, verified=1280 * K),
    Good('--passes 2 --size 640k --order random', 1280 * K, calls=2),
    Good('--passes 2 --size 640k -o random --dirty 10% --range 64k', 128 * K, calls=20),
    Good('--passes 2 --size 640k --order random --dirty 10% --range 64k --verify', 128 * K, calls=20, verified=1280 * K),
    Good('--ops 1 --size 640k --order random --range 320k --seed 1', 320 * K, dirtied=640 * K, calls=1),
    Good('--ops 1 --size 640k --dirty 50% --range 320k', 160 * K, dirtied=320 * K, calls=1),
    Good('--passes 2 --size 640k --order seq', 1280 * K, calls=2),
    Good('--passes 1 --size 640k --order stride:64k', 10 * PAGE, calls=1),
    Good('--passes 1 --size 640k --order stride:192k', 4 * PAGE, calls=1),
    Good('--passes 1 --size 640k --order stride:1g', PAGE, calls=1),
    Good('--passes 1 --size 640k --order stride:64k --dirty 50%', 5 * PAGE, calls=1),
    # the file before
    Good(SMALL + '--fill hole', 128 * K, calls=2),
    Good(SMALL + '--fill written', 128 * K, calls=2),
    Good('--passes 2 --size 640k --fill written --dirty 30% --verify', 384 * K, calls=2, verified=1280 * K),
    Good(SMALL + '--reserve', 128 * K, calls=2),
    Good(SMALL + '--reserve --fill written', 128 * K, calls=2),
    Good(SMALL + '--populate no', 128 * K, calls=2),
    Good(SMALL + '--populate yes', 128 * K, calls=2),
    Good(SMALL + '--mlock', 128 * K, calls=2),
    Good(SMALL + '--mlock --mode invalidate', 0, dirtied=128 * K, flushed=0, calls=2, busy=2),
    Good(SMALL + '--mlock --mode invalidate --range 16k --verify', 0, dirtied=128 * K, flushed=0, calls=8, busy=8,
         verified=0),
    # the rest
    Good(SMALL + '--verify', 128 * K, calls=2, verified=128 * K),
    Good(SMALL + '--verify --mode invalidate -n 2', 128 * K, 2, calls=4, verified=256 * K),
    Good(SMALL + '--verify --mode fdatasync --shared -n 2', 128 * K, 2, calls=4, verified=256 * K,
         remark='other workers'),
    Good(SMALL + '--runtime 1m', 128 * K, calls=2),
    Good(SMALL + '--seed 7 --order random', 128 * K, calls=2, err='seed 7'),
    Good(SMALL + '--warmup 2', 128 * K, calls=2),
]


def check_good(tests, row, result, lines):
    name = ' '.join(row.args)
    sums = [tuple(int(n) for n in match.groups()) for match in lines['sums']]
    rates = [int(match[1]) for match in lines['rate']]
    tests.check(f'{name}: rates', [row.each] * row.workers if row.each else [], rates)
    tests.check(f'{name}: sums', [(row.dirtied, row.flushed, row.calls)], sums)
    tests.check(f'{name}: latency', int(row.calls > row.busy), len(lines['latency']))
    for match in lines['latency']:
        values = [float(text) for text in match.groups()]
        tests.check(f'{name}: latency in order', sorted(values), values)
    tests.check(f'{name}: verified', [] if row.verified is None else [row.verified],
                [int(match[1]) for match in lines['verified']])
    tests.check(f'{name}: busy', [row.busy] if row.busy else [], [int(match[1]) for match in lines['busy']])
    remarks = [match[2] for match in lines['remark']]
    tests.check(f'{name}: remarks', int(row.remark is not None), len(remarks))
    tests.check(f'{name}: remark', row.remark, remarks, not remarks or (row.remark or '') in remarks[0])
    tests.check(f'{name}: medium', 1, len(lines['medium']))
    tests.check(f'{name}: stderr', row.err or 'the plan', result.err.decode(),
                result.err.startswith(b'msync: ') and (row.err or '').encode() in result.err)


def runs_that_go_well(tests):
    for row in good:
        with tests.folder() as folder:
            name = ' '.join(row.args)
            result = run(tests, [*row.args, '--dir', folder], seconds=60)
            if not tests.check(f'{name}: status', 0, result.status):
                print(result.err.decode(errors='replace'))
                continue
            lines = parse(result.out)
            if tests.check(f'{name}: lines', 'all known', lines, isinstance(lines, dict)):
                check_good(tests, row, result, lines)
            tests.check(f'{name}: files left', [], os.listdir(folder))


WRONG = [
    # arguments, what the one line on stderr says
    ('--size 0', '--size.*0.*whole pages'),
    ('--size 1000', '--size.*1000.*whole pages'),
    ('--size 4097', '--size.*whole pages'),
    ('--size', '--size'),
    ('--size x', "--size 'x'.*expected a size"),
    ('--size 9007199254740992k', '--size'),
    ('--size 8388607t -n 2 --shared', '--size.*in a file'),
    ('--size 101%', "'101%'"),
    ('--range 1000', '--range.*1000.*whole pages'),
    ('--range x', "--range 'x'"),
    ('--mode x', "--mode 'x': expected one of sync, async, invalidate, fsync, fdatasync, sync_file_range, none"),
    ('--mode SYNC', "--mode 'SYNC'"),
    ('--mode', '--mode'),
    ('--dirty 50', "--dirty '50': expected a share"),
    ('--dirty 101%', "--dirty '101%'"),
    ('--dirty -1%', "--dirty '-1%'"),
    ('--dirty 1.5%', "--dirty '1.5%'"),
    ('--order x', "--order 'x': expected seq, random or stride:SIZE"),
    ('--order stride', "--order 'stride': expected"),
    ('--order stride:', "--order 'stride:': expected"),
    ('--order stride:x', "--order 'stride:x': expected"),
    ('--order stride:0', "--order 'stride:0': expected whole pages"),
    ('--order stride:100', "--order 'stride:100': expected whole pages"),
    ('--order stride:99999999t', "--order 'stride:99999999t': expected"),
    ('--order stride:-4k', "--order 'stride:-4k': expected"),
    ('--order reverse', "--order 'reverse': expected"),
    ('--populate maybe', "--populate 'maybe': expected one of no, yes"),
    ('--fill zero', "--fill 'zero': expected one of hole, written"),
    ('--passes x', "--passes 'x'"),
    ('--passes -1', "--passes '-1'"),
    ('--ops x', "--ops 'x'"),
    ('--runtime x', "--runtime 'x'"),
    ('--verify --mode async', '--verify.*async.*promises'),
    ('--verify --mode none', '--verify.*none.*promises'),
    ('--shared --dir /tmp --dir /var/tmp', '--shared: expected one --dir'),
    ('--fs ext4 --keep', '--keep'),
    ('--mlock=yes', '--mlock'),
    ('foo', "'foo'"),
    ('--passes 1 foo bar', "'foo'"),
    ('--nonsense', '--nonsense: no such option'),
    ('-x', '-x: no such option'),
    ('-n 99999999', '99999999|--nproc'),
]


def runs_that_are_refused(tests):
    for args, why in WRONG:
        with tests.folder() as folder:
            result = run(tests, args.split(), cwd=folder)
            tests.check(f'{args}: status', 2, result.status)
            tests.check(f'{args}: stdout', b'', result.out)
            said = one_line(result.err, 'msync')
            tests.check(f'{args}: stderr', why, result.err, said is not None and bool(re.search(why, said)))
            tests.check(f'{args}: files left', [], os.listdir(folder))


def help_text(tests):
    for letter in ('--help', '-h', '--hel'):
        result = run(tests, [letter])
        tests.check(f'{letter}: status', (0, b''), (result.status, result.err))
        with open(GOLDEN, encoding='utf-8') as file:
            golden = file.read()
        diff = difflib.unified_diff(golden.splitlines(), result.out.decode().splitlines(), 'golden', 'now', lineterm='')
        tests.check(f'{letter}: text', '', '\n'.join(diff))
    version = run(tests, ['--version'])
    tests.check('--version', 'msync ...', version.out, bool(re.fullmatch(rb'msync \(pagemill\) \S+\n', version.out)))


def plans(tests):
    """What is said before the start, or instead of it."""
    for args, said in (
            ('', r'1 worker, a file of 64m in \S+; dirty 100% of the pages \(seq\), then msync\(MS_SYNC\) of all, for 10s'),
            ('-n 2 -R 1m', r'2 workers, each a file of 64m .* msync\(MS_SYNC\) of 1m, for 10s'),
            ('--shared -n 2 -r 3', r'2 workers, one file, each a part of 64m .* of all, 3 passes'),
            ('-r 1', r'of all, 1 pass(;|$)'),
            ('--ops 3', r'at most 3 flushes each(;|$)'),
            ('--ops 3 --mode none', r'then no call of all, at most 3 passes each(;|$)'),
            ('--ops 3 -T 5', r'at most 3 flushes each, for at most 5s(;|$)'),
            ('-o random --seed 9 --dirty 7% --verify', r'dirty 7% of the pages \(random, seed 9\).*, verified(;|$)'),
            ('-s 50%', 'a file of ')):
        with tests.folder() as folder:
            result = run(tests, ['--dry-run', *args.split(), '--dir', folder])
            text = result.out.decode()
            tests.check(f'dry run {args}', (0, b'', 1), (result.status, result.err, text.count('\n')))
            tests.check(f'dry run {args}: text', said, text, bool(re.search(said, text)))
            tests.check(f'dry run {args}: room', 'free space', text, bool(re.search(r'; .* has .* free$', text.strip())))
            tests.check(f'dry run {args}: files', [], os.listdir(folder))
            json_run = run(tests, ['--dry-run', '--json', *args.split(), '--dir', folder])
            tests.check(f'dry run {args}: with --json', (0, b''), (json_run.status, json_run.out))
            tests.check(f'dry run {args}: on stderr', said, json_run.err, bool(re.search(said, json_run.err.decode())))
            if '-s' not in args:
                real = run(tests, [*args.split(), '--dir', folder, '-s', '64k', '--ops', '1'])
                tests.check(f'plan of {args}', 1, real.err.count(b'\n'))
    with tests.folder() as folder:
        for quiet in ('-q', '--quiet'):
            result = run(tests, [quiet, '--passes', '1', '-s', '64k', '--dir', folder])
            tests.check(quiet, (0, b''), (result.status, result.err))


def ends(tests):
    """--runtime, and 10 s without anything."""
    with tests.folder() as folder:
        for args in (['-T', '1'], ['-T', '1', '-R', '4k'], ['-T', '1', '--mode', 'none'], ['-T', '1', '-n', '2']):
            began = time.monotonic()
            result = run(tests, [*args, '-s', '256k', '--dir', folder])
            tests.check(f'{args}: status', 0, result.status)
            tests.check(f'{args}: seconds', 'at least 1', time.monotonic() - began, time.monotonic() - began >= 1)
        result = run(tests, ['--json', '--dry-run', '--dir', folder])
        with Run(tests, ['-s', '64k', '--dir', folder, '--json']) as running:
            running.workers(1)
            os.kill(running.pid, signal.SIGINT)
            document = json.loads(running.finish().out)
        tests.check('usual run time', 10**10, document['options']['runtime_ns'])
        nothing = run(tests, ['-T', '20ms', '-s', '256m', '--dir', MEMORY, '--allow-tmpfs', '--populate', 'no'])
        tests.check('no flush in time', 'a warning', nothing.err, b'no flush came to its end' in nothing.err)
        tests.check('no flush in time: status', 0, nothing.status)


# files: what is in them, where they are, what is left

def kept_files(folder):
    names = sorted(os.listdir(folder), key=lambda name: int(name.rsplit('-', 1)[1]))
    return [os.path.join(folder, name) for name in names]


def stamped_pages(path):
    """{page number: (worker, offset, pass)} of the pages that begin with a stamp; others must be as filled."""
    found = {}
    with open(path, 'rb') as file:
        size = os.fstat(file.fileno()).st_size
        at = os.lseek(file.fileno(), 0, os.SEEK_DATA) if os.stat(path).st_blocks else size
        while at < size:
            at -= at % PAGE
            page = os.pread(file.fileno(), PAGE, at)
            worker, offset, number, _ = struct.unpack_from('=4Q', page)
            if page[:32] == stamp(worker, offset, number) and number:
                found[at // PAGE] = (worker, offset, number)
            try:
                at = os.lseek(file.fileno(), at + PAGE, os.SEEK_DATA)
            except OSError:
                break
    return found


def keep(tests, args, folder, files):
    result = run(tests, [*args.split(), '--keep', '--dir', folder], seconds=60)
    name = f'{args} --keep'
    tests.check(f'{name}: status', 0, result.status)
    paths = kept_files(folder)
    tests.check(f'{name}: files', files, len(paths))
    said = re.findall(rb'msync: kept (.*)\n', result.err)
    tests.check(f'{name}: told', sorted(os.fsencode(path) for path in paths), sorted(said))
    tests.check(f'{name}: names', True, all(re.fullmatch(r'msync-\d+-\d+', os.path.basename(path)) for path in paths))
    return paths


def pages_are_stamped(tests):
    pages = 64
    size = f'{pages * PAGE}'
    every = range(pages)
    for args, picked in (
            ('', every),
            ('--dirty 50%', range(0, pages, 2)),
            ('--dirty 25%', range(0, pages, 4)),
            ('--dirty 30%', [k * pages // 19 for k in range(19)]),
            ('--dirty 0%', []),
            (f'--order stride:{4 * PAGE}', range(0, pages, 4)),
            (f'--order stride:{5 * PAGE}', range(0, pages, 5)),
            (f'--order stride:{4 * PAGE} --dirty 50%', range(0, pages, 8)),
            ('--order random', every),
            ('--fill written', every),
            ('--mode none', every),
            (f'--range {PAGE}', every)):
        for workers in ('-n 2', '-t 2'):
            with tests.folder() as folder:
                paths = keep(tests, f'-r 3 -s {size} {workers} {args}', folder, 2)
                for worker, path in enumerate(paths):
                    expected = {page: (worker, page * PAGE, 3) for page in picked}
                    tests.check(f'{workers} {args}: stamps of worker {worker}', expected, stamped_pages(path))
                    tests.check(f'{workers} {args}: size', pages * PAGE, os.path.getsize(path))


def shared_file_is_stamped(tests):
    pages = 16
    with tests.folder() as folder:
        path, = keep(tests, f'-r 2 -s {pages * PAGE} -n 3 --shared', folder, 1)
        expected = {page: (page // pages, page * PAGE, 2) for page in range(3 * pages)}
        tests.check('--shared: stamps', expected, stamped_pages(path))
        tests.check('--shared: size', 3 * pages * PAGE, os.path.getsize(path))


def random_pages_are_stamped(tests):
    """Each pass takes other pages, each seed too; the same seed takes the same."""
    def picked(args):
        with tests.folder() as folder:
            paths = keep(tests, f'-s {256 * PAGE} --order random --dirty 10% {args}', folder, 2)
            return [stamped_pages(path) for path in paths]
    first = picked('-n 2 -r 1 --seed 1')
    tests.check('random: the same again', first, picked('-n 2 -r 1 --seed 1'))
    tests.check('random: how many', [25, 25], [len(found) for found in first])
    tests.check('random: workers differ', True, set(first[0]) != set(first[1]))
    tests.check('random: seeds differ', True, set(first[0]) != set(picked('-n 2 -r 1 --seed 2')[0]))
    second = picked('-n 2 -r 2 --seed 1')
    tests.check('random: passes differ', True, 25 < len(second[0]) <= 50)
    tests.check('random: passes', {1, 2}, {number for _, _, number in second[0].values()})
    spread = [page for page, (_, _, number) in second[0].items() if number == 2]
    tests.check('random: all over the file', True, min(spread) < 64 and max(spread) >= 192)
    tests.check('random: repetitions go on', picked('-n 2 -r 4 --seed 1'), picked('-n 2 -r 2 --seed 1 --samples 2'))
    tests.check('random: --verify takes the same', picked('-n 2 -r 4 --seed 1'),
                picked('-n 2 -r 2 --seed 1 --samples 2 --verify'))


def fills(tests):
    for args, blocks in (('--fill hole --populate no', 0), ('--reserve --populate no', 64 * PAGE),
                         ('--fill written --populate no', 64 * PAGE)):
        with tests.folder() as folder:
            path, = keep(tests, f'-s {64 * PAGE} -r 1 --dirty 0% {args}', folder, 1)
            tests.check(f'{args}: blocks', blocks, os.stat(path).st_blocks * 512, os.stat(path).st_blocks * 512 >= blocks
                        if blocks else None)
            with open(path, 'rb') as file:
                zeros = file.read().count(b'\0')
            tests.check(f'{args}: zeros', 0 if 'written' in args else 64 * PAGE, zeros)


def directories(tests):
    with tests.folder() as one, tests.folder() as other:
        result = run(tests, ['-r', '1', '-s', '64k', '-n', '5', '--keep', '--dir', one, '--dir', other])
        numbers = [[int(name.rsplit('-', 1)[1]) for name in sorted(os.listdir(folder))] for folder in (one, other)]
        tests.check('dealt over two directories', ([0, 2, 4], [1, 3]), tuple(sorted(some) for some in numbers))
        lines = parse(result.out)
        tests.check('a medium for each', [one, other], [match[3] for match in lines['medium']])
        tests.check('named in the plan', True, b' and others' in result.err)


def odd_names(tests):
    for name in ('a blank', 'a:colon,comma', 'quote"\'', b'no utf-8 \xff', b'-dash', 'x' * 200):
        with tests.folder() as folder:
            path = os.path.join(os.fsencode(folder), os.fsencode(name))
            os.mkdir(path)
            result = run(tests, ['-r', '1', '-s', '64k', '--dir', path, '--keep', b'--json=' + path + b'/out'])
            tests.check(f'{name!r}: status', 0, result.status)
            tests.check(f'{name!r}: files', 2, len(os.listdir(path)))
            tests.check(f'{name!r}: in the lines', True, b'(' + path + b')' in result.out)
            tests.check(f'{name!r}: in the plan', True, b' in ' + path + b';' in result.err)
            with open(path + b'/out', encoding='utf-8') as file:
                tests.check(f'{name!r}: JSON', 'ok', json.load(file)['outcome'])
            relative = run(tests, ['-r', '1', '-s', '64k', '--dir', b'./' + os.fsencode(name)], cwd=folder)
            tests.check(f'{name!r}: relative', 0, relative.status)


def large_files(tests):
    """More than 4 GiB: sparse, a page every GiB."""
    gib = 1 << 30
    with tests.folder() as folder:
        path, = keep(tests, '-r 2 -s 6g -o stride:1g --populate no', folder, 1)
        expected = {k * gib // PAGE: (0, k * gib, 2) for k in range(6)}
        tests.check('6g: stamps', expected, stamped_pages(path))
        tests.check('6g: size', 6 * gib, os.path.getsize(path))
        tests.check('6g: sparse', True, os.stat(path).st_blocks * 512 < MIB)
    with tests.folder() as folder:
        path, = keep(tests, '-r 1 -s 3g -n 3 --shared -o stride:1g -R 1g --populate no', folder, 1)
        expected = {k * gib // PAGE: (k // 3, k * gib, 1) for k in range(9)}
        tests.check('9g shared: stamps', expected, stamped_pages(path))
    result = run(tests, ['-r', '2', '-s', '5g', '-o', 'stride:1g', '-R', '1g', '--populate', 'no', '--verify', '--dir',
                         MEMORY, '--allow-tmpfs'], seconds=120)
    lines = parse(result.out)
    tests.check('5g verified', [10 * gib], [int(match[1]) for match in lines['verified']])
    tests.check('5g: calls', [(10 * PAGE, 10 * PAGE, 10)],
                [tuple(int(n) for n in match.groups()) for match in lines['sums']])


# json: the document says what the lines say

def json_agrees(tests):
    for args in ('', '-n 3 -R 64k', '--verify -t 2', '--mode async', '--mode none', '--mlock --mode invalidate',
                 '--order random --dirty 20% --samples 3 --verify', '--shared -n 2 --mode fsync'):
        with tests.folder() as folder:
            where = os.path.join(folder, 'out')
            result = run(tests, ['-r', '3', '-s', '256k', *args.split(), '--dir', folder, f'--json={where}'], seconds=60)
            tests.check(f'json {args}: status', 0, result.status)
            with open(where, encoding='utf-8') as file:
                document = json.load(file)
            agree(tests, f'json {args}', document, result.out)
            only = run(tests, ['-r', '3', '-s', '256k', *args.split(), '--dir', folder, '--json'], seconds=60)
            tests.check(f'json {args}: nothing else on stdout', sorted(document), sorted(json.loads(only.out)))


def agree(tests, name, document, out):
    out = out.split(b'Count: ')[0]
    samples = len(document['metrics']['throughput_bytes_per_s']['samples'])
    size = out.count(b'\n') // samples
    text = out.split(b'\n')
    figures = {key: value['samples'] for key, value in document['metrics'].items()}
    for k in range(samples):
        lines = parse(b'\n'.join(text[k * size:(k + 1) * size]) + b'\n')
        if not tests.check(f'{name}: lines of repetition {k}', 'all known', lines, isinstance(lines, dict)):
            return
        sums = lines['sums'][0]
        tests.check(f'{name}: sums', [int(n) for n in sums.groups()],
                    [figures[key][k] for key in ('dirtied_bytes', 'flushed_bytes', 'flush_count')])
        for key, kind in (('verified_bytes', 'verified'), ('flush_busy_count', 'busy')):
            told = int(lines[kind][0][1]) if lines[kind] else 0
            tests.check(f'{name}: {key}', told, figures.get(key, [0] * samples)[k])
        tests.check(f'{name}: all bytes', sum(int(match[1]) for match in lines['rate']), figures['total_bytes'][k])
        latencies = [f'flush_latency_{which}_ns' for which in ('min', 'median', 'p90', 'p99', 'p99_9', 'max')]
        told = [float(text) for text in lines['latency'][0].groups()] if lines['latency'] else []
        tests.check(f'{name}: latency', told,
                    [float(f'{figures[key][k] / 1e3:.1f}') for key in latencies if key in figures])
    for key, value in document['metrics'].items():
        tests.check(f'{name}: {key}: as many samples', samples, len(value['samples']))
        for k, each in enumerate(value['per_worker']):
            if not key.startswith('flush_latency') and key != 'throughput_bytes_per_s':
                tests.check(f'{name}: {key}: sum of the workers', value['samples'][k], sum(each))
    for key, total in (('flush_latency_min_ns', min), ('flush_latency_max_ns', max)):
        for k in range(samples if key in figures else 0):
            tests.check(f'{name}: {key}: of all workers', total(document['metrics'][key]['per_worker'][k]), figures[key][k])
    tests.check(f'{name}: outcome', 'ok', document['outcome'])
    tests.check(f'{name}: filesystems', 1, len(document['environment']['filesystems']))


def json_options(tests):
    with tests.folder() as folder:
        args = ('-n 2 -s 1m -R 64k -m fdatasync -o random --dirty 25% -r 1 --fill written --populate no --reserve '
                '--mlock --verify --seed 5 --shared -q')
        result = run(tests, [*args.split(), '--dir', folder, '--json'])
        got = json.loads(result.out)['options']
        expected = {'nproc': 2, 'size_bytes': MIB, 'range_bytes': MIB, 'mode': 'fdatasync', 'order': 'random',
                    'dirty': '25%', 'dirty_percent': 25, 'step_bytes': PAGE, 'passes': 1, 'fill': 'written',
                    'populate': 'no', 'reserve': True, 'mlock': True, 'verify': True, 'seed': 5, 'shared': True,
                    'quiet': True, 'runtime_ns': 0, 'ops': 0, 'dir': [folder], 'keep': False}
        tests.check('options', expected, {key: got.get(key) for key in expected})
        result = run(tests, ['--json', '-r', '1', '-s', '64k', '--dir', MEMORY])
        warnings = json.loads(result.out)['warnings']
        tests.check('a warning of tmpfs', True, any('does nothing' in text for text in warnings))
        tests.check('said, too', True, b'warning: /dev/shm is in memory' in result.err)
        result = run(tests, ['--json', '-r', '1', '-s', '64k', '--dir', MEMORY, '--allow-tmpfs'])
        tests.check('no warning', (False, False), (b'does nothing' in result.out, b'does nothing' in result.err))
        result = run(tests, ['-r', '1', '-s', '64k', '--dir', MEMORY, '--allow-tmpfs'])
        tests.check('but a line', True, b': a flush does nothing there\n' in result.out)


def samples(tests):
    with tests.folder() as folder:
        result = run(tests, ['--samples', '3', '--warmup', '1', '-r', '2', '-s', '256k', '--dir', folder, '-o', 'random',
                             '--dirty', '20%', '--verify', '--interval', '1s'], seconds=60)
        tests.check('--samples: status', 0, result.status)
        tests.check('--samples: the five lines', True, b'Count: 3\nTotal: ' in result.out)
        tests.check('--samples: sums', 3, result.out.count(b'dirtied '))
        path = keep(tests, '--samples 3 -r 2 -s 64k --verify', folder, 1)[0]
        tests.check('--samples: passes go on', {6}, {number for _, _, number in stamped_pages(path).values()})


# verify: what must not be in the file is found

def open_file(running, writable=True):
    """The first scratch file of a run."""
    found = []

    def look():
        for name in os.listdir(f'/proc/{running.pid}/fd'):
            path = f'/proc/{running.pid}/fd/{name}'
            try:
                if os.readlink(path).endswith(' (deleted)'):
                    found.append(path)
                    return True
            except OSError:
                pass
        return running.process.poll() is not None
    until(look, SOON)
    return open(found[0], 'r+b' if writable else 'rb', buffering=0)


def plant(tests, name, args, at, data, said, where=MEMORY):
    """Put DATA at byte AT of the file, again and again, until the run has found it."""
    with Run(tests, [*args.split(), '-T', '60', '--verify', '--dir', where, '--allow-tmpfs', '-q']) as running:
        running.workers(1)
        with open_file(running) as file:
            def put():
                os.pwrite(file.fileno(), data, at)
                return running.process.poll() is not None
            until(put, SOON)
        result = running.finish(SOON)
        tests.check(f'{name}: status', 1, result.status)
        tests.check(f'{name}: stderr', said, result.err, bool(re.search(said.encode(), result.err)))
        tests.check(f'{name}: one line', 1, result.err.count(b'\n'))
        tests.check(f'{name}: stdout', b'', result.out)
        tests.check(f'{name}: processes left', [], left_of(running.pid))


WRONG_DATA = r'msync: worker {}: wrong data at offset {} of scratch file 0 in \S+: expected {}, found {}\n'


def wrong_pages(tests):
    page2 = 2 * PAGE
    word = b'\xa5' * 8
    two = f'-s {4 * PAGE} -o stride:{2 * PAGE}'
    for where in (MEMORY, '/var/tmp'):
        plant(tests, f'a word where nothing was dirtied, in {where}', two, PAGE + 96, word,
              WRONG_DATA.format(0, PAGE, '0x0{16} at byte 96 of the page', '0xa5a5a5a5a5a5a5a5 at byte 96 of the page'),
              where)
        plant(tests, f'a page from the wrong place, in {where}', two, PAGE, stamp(0, page2, 1),
              WRONG_DATA.format(0, PAGE, '0x0+ at byte 8 of the page', f'worker 0, offset {page2}, pass 1'), where)
    plant(tests, 'an old pass', f'-s {2 * PAGE} -o random --dirty 50%', PAGE, stamp(0, PAGE, 1 << 40),
          WRONG_DATA.format(0, PAGE, f'(worker 0, offset {PAGE}, pass \\d+|0x0+ at byte 8.*)',
                            f'worker 0, offset {PAGE}, pass {1 << 40}'))
    plant(tests, 'no stamp any more', f'-s {4 * PAGE}', 0, b'\0' * 32,
          WRONG_DATA.format(0, 0, r'worker 0, offset 0, pass \d+', '0x0+ at byte 16 of the page'))
    plant(tests, 'a word behind the stamp', f'-s {4 * PAGE} -R {PAGE}', 3 * PAGE + PAGE - 8, word,
          WRONG_DATA.format(0, 3 * PAGE, f'0x0+ at byte {PAGE - 8} of the page', f'0x(a5)+ at byte {PAGE - 8} of the page'))
    plant(tests, 'a page of another worker', f'-n 2 --shared -s {2 * PAGE} -o stride:{2 * PAGE}', 3 * PAGE, stamp(0, 0, 1),
          WRONG_DATA.format(1, 3 * PAGE, '0x0+ at byte 16 of the page', 'worker 0, offset 0, pass 1'))
    plant(tests, 'a page of threads', f'-t 2 --shared -s {2 * PAGE} -o stride:{2 * PAGE}', 3 * PAGE, stamp(1, 0, 1),
          WRONG_DATA.format(1, 3 * PAGE, '0x0+ at byte 0 of the page', 'worker 1, offset 0, pass 1'))
    plant(tests, 'a written file', f'-s {4 * PAGE} --fill written -o stride:{4 * PAGE}', PAGE + 8, word,
          WRONG_DATA.format(0, PAGE, '0x[0-9a-f]{16} at byte 8 of the page', '0x(a5)+ at byte 8 of the page'))


def file_is_cut(tests):
    """Somebody truncates the file under a run."""
    with Run(tests, ['-s', '1m', '-T', '60', '--dir', MEMORY, '--allow-tmpfs', '-q']) as running:
        running.workers(1)
        with open_file(running) as file:
            os.ftruncate(file.fileno(), 64 * K)
        result = running.finish(SOON)
        tests.check('cut: status', 1, result.status)
        said = re.search(rb'SIGBUS at offset (\d+) of scratch file 0 in /dev/shm: file is shorter', result.err)
        tests.check('cut: stderr', 'file and offset', result.err, bool(said) and int(said[1]) >= 64 * K)


def time_of_checks(tests):
    """A page is dirtied, a GiB is checked: that is not in the time of the worker."""
    result = run(tests, ['-r', '1', '-s', '1g', '-o', 'stride:1g', '--populate', 'no', '--verify', '--dir', MEMORY,
                         '--allow-tmpfs', '-q'])
    usecs = int(parse(result.out)['rate'][0][2])
    tests.check('time of checks', 'not counted', (usecs, result.seconds), usecs < result.seconds * 10**6 / 3)


def tmpfs_without_direct(tests):
    """Whether or not O_DIRECT is taken there, what is read is the page cache."""
    result = run(tests, ['-r', '2', '-s', '64k', '--verify', '--dir', MEMORY, '--allow-tmpfs', '-q'])
    how = parse(result.out)['verified'][0][2]
    tests.check('tmpfs: how', 'through the page cache', how)


# faults: a full filesystem, limits, stops

def small_fs(tests, args, kind='tmpfs', size='4m', **more):
    need_root()
    with tests.folder() as folder:
        result = run(tests, ['--fs', kind, '--fs-size', size, '--dir', folder, '-q', *args.split()], seconds=60, **more)
        if result.status == 77:
            raise Skip(result.err.decode().strip())
        tests.check(f'{kind} {args}: files left', [], os.listdir(folder))
        return result


def filesystem_is_full(tests):
    for kind, size, more in (('tmpfs', '4m', '64m'), ('ext4', '64m', '128m'), ('xfs', '300m', '400m')):
        for args in (f'-s {more} -r 1', f'-s {more} -r 1 --populate no', f'-s {more} -r 1 -t 2 --populate no',
                     f'-s {more} -r 1 -o random --populate no', f'-s {more} -r 1 --verify',
                     f'-s {more} -r 1 --mlock'):
            result = small_fs(tests, args, kind, size)
            said = re.search(rb'msync: (warning.*\nmsync: )?SIGBUS at offset (\d+) of scratch file \d in \S+: no space left\n',
                             result.err)
            tests.check(f'full {kind} {args}: status', 1, result.status)
            tests.check(f'full {kind} {args}: stderr', 'file and offset', result.err,
                        bool(said) and int(said[2]) % PAGE == 0)
            tests.check(f'full {kind} {args}: stdout', b'', result.out)
        for args in (f'-s {more} -r 1 --reserve', f'-s {more} -r 1 --fill written', f'-s {more} -n 2 -r 1 --reserve'):
            result = small_fs(tests, args, kind, size)
            tests.check(f'no room on {kind} {args}: status', 1, result.status)
            tests.check(f'no room on {kind} {args}: stderr', 'a scratch file', result.err,
                        bool(re.search(rb'msync: (reserve|write) a scratch file of \d+ bytes in \S+: No space left', result.err)))
        result = small_fs(tests, f'-s {more} -o stride:16m --populate no -r 2', kind, size)
        tests.check(f'sparse on {kind}: status', 0, result.status)
    result = small_fs(tests, '-s 64m -r 1 --mkfs-options -O^extent,^64bit,^has_journal', 'ext4', '16m')
    tests.check('full, without fallocate', (1, True), (result.status, b': no space left\n' in result.err))


def real_filesystems(tests):
    for kind, size in (('ext4', '64m'), ('xfs', '400m'), ('btrfs', '400m'), ('tmpfs', '64m')):
        result = small_fs(tests, '-n 2 -r 3 -s 1m -R 256k -o random --dirty 50% --verify', kind, size)
        tests.check(f'{kind}: status', 0, result.status)
        lines = parse(result.out)
        tests.check(f'{kind}: medium', [kind], [match[1] for match in lines['medium']])
        tests.check(f'{kind}: verified', [6 * MIB], [int(match[1]) for match in lines['verified']])


def limits(tests):
    def limit(what, value):
        return lambda: resource.setrlimit(what, (value, value))

    def soft(what, value):
        return lambda: resource.setrlimit(what, (value, resource.getrlimit(what)[1]))

    def nobody_with(what, value):
        def become():
            resource.setrlimit(what, (value, value))
            be_nobody()
        return become

    with tests.folder(0o777) as folder:
        for name, args, said, before in (
                ('RLIMIT_FSIZE', '-s 1m', 'scratch file of 1048576 bytes.*File too large', limit(resource.RLIMIT_FSIZE, 65536)),
                ('RLIMIT_AS', '-s 512m', 'map 512m of scratch file 0 .*Cannot allocate', limit(resource.RLIMIT_AS, 256 * MIB)),
                ('RLIMIT_MEMLOCK', '-s 1m --mlock', "mlock 1m, where 'ulimit -l' allows 64k",
                 nobody_with(resource.RLIMIT_MEMLOCK, 65536)),
                ('RLIMIT_NOFILE', '-s 64k -n 40', 'scratch file.*Too many open files', limit(resource.RLIMIT_NOFILE, 32))):
            result = run(tests, [*args.split(), '-r', '1', '--dir', folder, '-q'], before=before)
            tests.check(f'{name}: status', 1, result.status)
            tests.check(f'{name}: stderr', said, result.err, bool(re.search(said.encode(), result.err)))
        result = run(tests, ['-s', '64k', '-n', '40', '-r', '1', '--dir', folder, '-q'], before=soft(resource.RLIMIT_NOFILE, 32))
        tests.check('soft RLIMIT_NOFILE', 0, result.status)
        result = run(tests, ['-s', '64k', '-r', '1', '--verify', '--dir', folder], before=be_nobody)
        tests.check('nobody', 0, result.status)
    for where, said in (('/no/such/place', 'open directory /no/such/place: No such file'),
                        ('/dev/null', 'open directory /dev/null: Not a directory'), ('/proc', '/proc')):
        result = run(tests, ['-s', '64k', '-r', '1', '--dir', where, '-q'])
        tests.check(f'{where}: status', 1, result.status)
        tests.check(f'{where}: stderr', said, result.err, bool(re.search(said.encode(), result.err)))
    with open('/dev/full', 'wb') as full:
        result = run(tests, ['-s', '64k', '-r', '1', '--dir', MEMORY, '--allow-tmpfs', '-q'], stdout=full)
        tests.check('/dev/full', (1, True), (result.status, b'No space left' in result.err))


def stops(tests):
    """SIGINT and SIGTERM end it with the lines of what was done."""
    for sig in (signal.SIGINT, signal.SIGTERM):
        for args in ('', '-n 3', '-t 2 --verify', '--mode none', '-o random --dirty 10%'):
            with tests.folder() as folder, \
                    Run(tests, ['-s', '256k', '-T', '60', '--dir', folder, f'--json={folder}/out', *args.split()]) as running:
                running.walking(3 if '-n' in args else 1)
                os.kill(running.pid, sig)
                result = running.finish(SOON)
                name = f'{sig.name} {args}'
                tests.check(f'{name}: status', 128 + sig, result.status)
                lines = parse(result.out)
                tests.check(f'{name}: lines', 'rates and sums', lines,
                            isinstance(lines, dict) and bool(lines['rate']) and len(lines['sums']) == 1)
                with open(f'{folder}/out', encoding='utf-8') as file:
                    tests.check(f'{name}: outcome', 'interrupted', json.load(file)['outcome'])
                tests.check(f'{name}: left', ([], ['out']), (left_of(running.pid), os.listdir(folder)))


def stopped_before_a_flush(tests):
    """Who ends it by a signal is not told to let it run for longer."""
    with Run(tests, ['-s', '2g', '-T', '60', '--populate', 'no', '-q', '--dir', MEMORY, '--allow-tmpfs', '--force']) as running:
        running.walking(1)
        os.kill(running.pid, signal.SIGINT)
        result = running.finish(SOON)
        tests.check('stopped before a flush', (130, b''), (result.status, result.err))


def stopped_while_checking(tests):
    """What a flush has written may take long to check; a signal does not wait for that."""
    with Run(tests, ['-s', '400g', '-o', 'stride:400g', '--populate', 'no', '--verify', '-r', '1', '-q', '--dir', MEMORY,
                     '--allow-tmpfs']) as running:
        running.walking(1)
        os.kill(running.pid, signal.SIGINT)
        result = running.finish(SOON)
        tests.check('stopped while checking: status', 130, result.status)
        verified = parse(result.out)['verified']
        tests.check('stopped while checking: verified', 'less than all', verified,
                    len(verified) == 1 and int(verified[0][1]) < 400 << 30)


def kills(tests):
    """SIGKILL of msync, or of a worker, leaves nothing."""
    for args in ('', '-n 3', '-t 2', '--shared -n 2', '--fs tmpfs --fs-size 64m', '--fs ext4 --fs-size 64m'):
        if '--fs' in args and os.geteuid() != 0:
            tests.skip(args, 'not root')
            continue
        with tests.folder() as folder, \
                Run(tests, ['-s', '256k', '-T', '60', '--dir', folder, '-q', '--allow-tmpfs', *args.split()]) as running:
            running.walking(1)
            tests.check(f'kill {args}: it runs', None, running.process.poll())
            os.kill(running.pid, signal.SIGKILL)
            running.finish(SOON)
            tests.check(f'kill {args}: processes', True, until(lambda: not left_of(running.pid), SOON))
            tests.check(f'kill {args}: files', [], os.listdir(folder))
    with tests.folder() as folder, Run(tests, ['-s', '256k', '-T', '60', '--dir', folder, '-q', '-n', '2']) as running:
        os.kill(running.workers(2)[1], signal.SIGKILL)
        result = running.finish(SOON)
        tests.check('a worker is killed', (1, b''), (result.status, result.out))
        tests.check('a worker is killed: stderr', True, b'was killed by SIGKILL' in result.err)
        tests.check('a worker is killed: left', ([], []), (left_of(running.pid), os.listdir(folder)))


def main():
    sections = {
        'good': [runs_that_go_well, help_text],
        'wrong': [runs_that_are_refused, plans, ends],
        'files': [pages_are_stamped, shared_file_is_stamped, random_pages_are_stamped, fills, directories, odd_names],
        'large': [large_files],
        'json': [json_agrees, json_options, samples],
        'verify': [wrong_pages, file_is_cut, time_of_checks, tmpfs_without_direct],
        'faults': [limits, stops, stopped_before_a_flush, stopped_while_checking, kills],
        'full': [filesystem_is_full, real_filesystems],
    }
    tests = Tests(sys.argv)
    return tests.run_all(sections)


sys.exit(main())
