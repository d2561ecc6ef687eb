# SPDX-License-Identifier: GPL-2.0-or-later
"""copyfile - command lines of copyfile, and the exit status, bytes and files that each must give.

Usage: copyfile.py COPYFILE [SECTION]... The golden help text comes from:
    build/copyfile/copyfile --help >tests/golden/copyfile-help.txt
"""
import contextlib
import difflib
import json
import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
from harness import (MIB, Run, Skip, Tests, be_nobody, children, left_of, one_line, run, stat_fields, until)  # noqa: E402
from copying import METHODS, complaints, copied, failing, injecting, mounted, need_strace  # noqa: E402
from reading import left_in, need_mkfs, sparse  # noqa: E402

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'copyfile-help.txt')
MEMORY = '/dev/shm'
SOON = 10           # seconds until a run that was told to end, or that goes wrong, has ended
K = 1024
SMALL = '-s 64k --block 4k '
SEQ = '--pattern seq -s 64k --block 4k '


def refusals(tests):
    with tests.folder() as folder:
        file = os.path.join(folder, 'file')
        sparse(file, 10000)
        sparse(os.path.join(folder, 'empty'), 0)
        os.mkfifo(os.path.join(folder, 'pipe'))
        for args, why in WRONG:
            before = sorted(os.listdir(folder))
            result = run(tests, args.split(), cwd=folder)
            tests.check(f'{args}: status', 2, result.status)
            tests.check(f'{args}: stdout', b'', result.out)
            said = one_line(result.err, 'copyfile')
            tests.check(f'{args}: stderr', why, result.err, said is not None and bool(re.search(why, said)))
            tests.check(f'{args}: files', before, sorted(os.listdir(folder)))


WRONG = [
    # arguments, what the one line on stderr says
    ('-s', '-s'),
    ('-s x', "'x'.*expected a size"),
    ('-s 0', '--size: expected at least a --block, 0 bytes'),
    ('-s 100k', '--size: expected at least a --block, 102400 bytes'),
    ('-s 8388608t', '--size.*8388608t|8388608t'),
    ('-s 101%', "'101%'"),
    ('--block 0', '--block: expected at least 1'),
    ('--block 8388608t', '--block.*8388608t'),
    ('--block x', "--block 'x'"),
    ('--block 512m', '--size: expected at least a --block'),
    ('--align 0', '--align: expected at least 1'),
    ('--align 512m', '--size: expected at least --align'),
    ('--align 4k --pattern seq', '--align: expected --pattern random'),
    ('--method x', "--method 'x': expected one that --method=list prints"),
    ('-m READWRITE', "--method 'READWRITE'"),
    ('--pattern x', "--pattern 'x': expected one of random, seq"),
    ('--refill maybe', "--refill 'maybe': expected one of no, yes"),
    ('--flush sync', "--flush 'sync': expected one of none, fsync, fdatasync, range, syncfs"),
    ('--flush-at never', "--flush-at 'never': expected one of op, end"),
    ('--source zero', "--source 'zero': expected one of hole, written"),
    ('--flush none --flush-at op', '--flush-at: expected a --flush'),
    ('--pattern seq --flush-at end', '--flush-at: expected a --flush'),
    ('--passes 3', '--passes: expected --pattern seq'),
    ('--pattern seq --passes 0', '--passes 0: expected --runtime or --ops'),
    ('--pattern seq --passes x', "--passes 'x'"),
    ('--pattern seq -s 0 --ops 3', '--size: expected at least 1 byte'),
    ('--pattern seq -s 0 -T 1', '--size: expected at least 1 byte'),
    ('--depth 0', '--depth: expected 1 to 32768'),
    ('--depth 32769 --refill no --flush none', '--depth: expected 1 to 32768'),
    ('--depth 2', '--depth: expected 1 where'),
    ('--depth 2 --refill no', '--depth: expected 1 where'),
    ('--depth 2 --flush none', '--depth: expected 1 where'),
    ('--depth 2 --flush-at end', '--depth: expected 1 where'),
    ('--depth 2 --refill no --flush none --verify', '--depth: expected 1 where'),
    ('--depth 2 --pattern seq --refill yes', '--depth: expected 1 where'),
    ('--depth 2 --pattern seq --flush fsync --flush-at op', '--depth: expected 1 where'),
    ('--verify -m null', '--verify: expected a --method that copies'),
    ('--no-clone -m reflink', '--no-clone: expected a --method that can copy'),
    ('--no-clone --direct -m readwrite', '--no-clone: expected no O_DIRECT'),
    ('--no-clone -m libaio', '--no-clone: expected no O_DIRECT'),
    ('--no-clone --align 4097', '--no-clone: expected an even'),
    ('--no-clone --block 4097 --pattern seq', '--no-clone: expected an even'),
    ('--no-clone -s 128k', '--size: expected at least a --block and, with --no-clone, one byte, 131072'),
    ('--no-clone --pattern seq -s 1', '--size: expected at least 2 bytes, with --no-clone'),
    ('--direct -m mmap', 'method mmap does not work with O_DIRECT'),
    ('--uncached -m mmap', 'method mmap does not work uncached'),
    ('--from file -s 4k', '--size: expected no --from'),
    ('--from file --source hole', '--source: expected no --from'),
    ('--from file --refill yes', '--refill yes: expected no --from'),
    ('--from file --from file', '--from: expected no more files than workers'),
    ('--from . --pattern seq', r'--from \.: expected a regular file'),
    ('--from pipe --pattern seq', '--from pipe: expected a regular file'),
    ('--from /dev/null --pattern seq', '--from /dev/null: expected a regular file'),
    ('--from file', '--from: expected at least a --block, 10000 bytes'),
    ('--from file --from empty -n 2 --block 4k', '--from: expected at least a --block, 0 bytes'),
    ('--from empty --pattern seq -T 1', '--from: expected at least 1 byte'),
    ('--from', '--from'),
    ('--to', '--to'),
    ('--fs ext4 --keep', '--keep'),
    ('--dir . --dir / --fs ext4', '--fs: expected one --dir'),
    ('--verify=yes', '--verify'),
    ('foo', "'foo'"),
    ('-s 64k foo', "'foo'"),
    ('--nonsense', '--nonsense: no such option'),
    ('-x', '-x: no such option'),
    ('-n 99999999', '99999999|--nproc'),
    # what there is no room for
    ('-s 1000t --pattern seq -m null', 'of files in /var/tmp, where .* free.*--force'),
    ('-s 1000t --pattern seq --source hole', 'of files in /var/tmp, where .* free.*--force'),
    ('-s 1000t --pattern seq --source hole --to /dev/shm --allow-tmpfs -q', '/dev/shm.*--force'),
    ('-s 1000t --source hole -m mmap --ops 1', '--method mmap: the workers take .* page tables.*--force'),
    ('-s 1000t --block 100t --source hole --pattern seq --ops 1 -m readwrite', '--method readwrite: the workers take'),
]


# In a tmpfs of 64m: arguments, and the status: 2 where there is no room for both files.
ROOM = [
    ('-s 40m --source hole --pattern seq -m readwrite', 0),
    ('-s 40m --source hole --pattern seq -m mmap', 2),
    ('-s 40m --source hole --pattern seq -m mmap_write', 2),
    ('-s 40m --source hole --pattern seq -m mmap --block 4m --ops 3', 0),
    ('-s 40m --pattern seq -m mmap', 2),
    ('-s 20m --source hole --pattern seq -m mmap', 0),
    # What is cloned takes room once its source is rewritten, or if another method runs; there are no clones here.
    ('-s 40m -m reflink --refill no', 77),
    ('-s 40m -m reflink --refill yes', 2),
    ('-s 40m -m reflink --refill no --fallback', 2),
    ('-s 40m -m reflink --refill yes --block 4m --ops 3', 77),
]


def room_in_memory(tests):
    """A hole of a file in memory takes pages where it is read by a mapping, and only there."""
    with mounted(tests, 'tmpfs', 64 * MIB) as folder:
        for args, status in ROOM:
            result = run(tests, [*args.split(), '--dir', folder, '--allow-tmpfs', '-q'])
            tests.check(f'{args}: status', status, result.status)
            if status == 2:
                said = one_line(result.err, 'copyfile')
                tests.check(f'{args}: said', 'no room', result.err, said is not None and '80.0 MiB of files in ' in said and '--force' in said)


def help_text(tests):
    for letter in ('--help', '-h', '--hel'):
        result = run(tests, [letter])
        tests.check(f'{letter}: status', (0, b''), (result.status, result.err))
        with open(GOLDEN, encoding='utf-8') as file:
            golden = file.read()
        diff = difflib.unified_diff(golden.splitlines(), result.out.decode().splitlines(), 'golden', 'now', lineterm='')
        tests.check(f'{letter}: text', '', '\n'.join(diff))
    listed = run(tests, ['--method=list'])
    tests.check('--method=list', METHODS, [line.split()[0] for line in listed.out.decode().splitlines()])
    version = run(tests, ['--version'])
    tests.check('--version', 'copyfile ...', version.out, bool(re.fullmatch(rb'copyfile \(pagemill\) \S+\n', version.out)))


def plans(tests):
    """What is said before the start, or instead of it."""
    for args, said in (
            ('', r'1 worker, a written file of 256m in (\S+) to a file in \1; copy_file_range of 128k, at random \(seed \d+\), '
                 r'refilled before, fsync\(\) after each; for 10s; \1 has .* free$'),
            ('-n 2 --to /dev/shm -m readwrite', r'2 workers, each a written .* to a file in /dev/shm; readwrite of .*; /dev/shm has'),
            ('--pattern seq', r'copy_file_range of 128k, from start to end; 1 pass; '),
            ('--pattern seq -T 5', r'from start to end; for 5s; '),
            ('--pattern seq -T 5 --passes 2', r'; 2 passes; for at most 5s; '),
            ('--ops 3', r'; at most 3 operations each; '),
            ('--ops 3 -T 5', r'; at most 3 operations each; for at most 5s; '),
            ('--flush syncfs --flush-at end', r', syncfs\(\) after all; '),
            ('--flush range --pattern seq', r', sync_file_range\(\) after each pass; '),
            ('--flush fdatasync --pattern seq --flush-at op', r', fdatasync\(\) after each; '),
            ('--refill no --flush none', r'at random \(seed \d+\); for 10s'),
            ('--align 4k --seed 9', r'at random \(seed 9\), at multiples of 4k, refilled'),
            ('--no-clone --verify', r', one byte off, refilled before, .*, verified; '),
            ('--direct -m readwrite', r', O_DIRECT, refilled'),
            ('-m libaio', r', O_DIRECT, refilled'),
            ('--source hole', r'worker, a hole of 256m'),
            ('--fs xfs --fs-size 400m', r'with a new xfs over .*; a new xfs of 400m')):
        with tests.folder() as folder:
            result = run(tests, ['--dry-run', '--dir', folder, *args.split()])
            text = result.out.decode()
            if '--fs' in args and result.status:
                tests.skip(f'dry run {args}', text)
                continue
            tests.check(f'dry run {args}', (0, b'', 1), (result.status, result.err, text.count('\n')))
            tests.check(f'dry run {args}: text', said, text, bool(re.search(said, text.rstrip('\n'))))
            tests.check(f'dry run {args}: files', [], os.listdir(folder))
            json_run = run(tests, ['--dry-run', '--json', '--dir', folder, *args.split()])
            tests.check(f'dry run {args}: with --json', (0, b''), (json_run.status, json_run.out))
            tests.check(f'dry run {args}: on stderr', 1, json_run.err.count(b'\n'))
    with tests.folder() as folder:
        real = run(tests, [*SMALL.split(), '--ops', '3', '--dir', folder])
        tests.check('the plan', 'on stderr', real.err, b'; copy_file_range of 4k, at random' in real.err and real.err.count(b'\n') == 1)
        for quiet in ('-q', '--quiet'):
            result = run(tests, [quiet, *SMALL.split(), '--ops', '3', '--dir', folder])
            tests.check(quiet, (0, b''), (result.status, result.err))


def effective_options(tests):
    """The JSON document tells what was chosen."""
    with tests.folder() as folder:
        for args, told in (
                (SMALL, {'refill': 'yes', 'flush': 'fsync', 'flush_at': 'op', 'depth': 1, 'align_bytes': 4 * K, 'passes': None,
                         'source': 'written', 'size_bytes': 64 * K, 'block_bytes': 4 * K, 'pattern': 'random', 'direct': False}),
                (SMALL + '--refill no --flush none', {'refill': 'no', 'flush': 'none', 'flush_at': None, 'depth': 32}),
                (SMALL + '--refill no --flush-at end', {'refill': 'no', 'flush': 'fsync', 'flush_at': 'end', 'depth': 32}),
                (SEQ, {'refill': 'no', 'flush': 'none', 'flush_at': None, 'depth': 32, 'align_bytes': None, 'seed': None}),
                (SEQ + '--flush range', {'flush': 'range', 'flush_at': 'end'}),
                ('--pattern seq --from file', {'size_bytes': 9999, 'source': None, 'refill': 'no'}),
                ('--from file --block 1k', {'size_bytes': 9999, 'source': None, 'refill': 'no', 'flush': 'fsync'}),
                (SMALL + '-m libaio', {'direct': True, 'method': 'libaio'})):
            sparse(os.path.join(folder, 'file'), 9999)
            result = run(tests, [*args.split(), '--ops', '2', '--json', '-q', '--dir', folder], cwd=folder)
            if not tests.check(f'{args} --json: status', 0, result.status):
                print(result.err.decode())
                continue
            options = json.loads(result.out)['options']
            tests.check(f'{args}: options', told, {key: options[key] for key in told})
            if 'seq' not in args:
                tests.check(f'{args}: seed', 'a number', options['seed'], isinstance(options['seed'], int))


# The bytes of each worker's line.
GOOD = [
    (SMALL + '--ops 3', [12 * K]),
    (SMALL + '--ops 3 -n 3', [12 * K] * 3),
    (SMALL + '--ops 3 -t 3', [12 * K] * 3),
    (SMALL + '--ops 3 -n 2 -t 2 -b 1', [12 * K] * 4),
    (SMALL + '--ops 3 --verify -n 2', [12 * K] * 2),
    (SMALL + '--ops 50 --refill no', [200 * K]),
    (SMALL + '--ops 50 --refill no --flush none', [200 * K]),
    (SMALL + '--ops 50 --refill no --flush none --verify', [200 * K]),
    (SMALL + '--ops 50 --source hole --verify', [200 * K]),
    (SMALL + '--ops 50 --source hole --refill no --verify', [200 * K]),
    (SMALL + '--ops 50 --align 512 --verify', [200 * K]),
    (SMALL + '--ops 50 --align 1 --verify', [200 * K]),
    (SMALL + '--ops 50 --align 64k --verify', [200 * K]),
    (SMALL + '--ops 50 --no-clone --verify', [200 * K]),
    ('-s 64k --block 64k --ops 5 --verify', [320 * K]),
    ('-s 64k --block 63k --ops 5 --verify', [315 * K]),
    ('-s 1 --block 1 --ops 5 --verify', [5]),
    ('-s 10001 --block 777 --ops 50 --verify', [50 * 777]),
    ('-s 10001 --block 777 --align 3 --ops 50 --verify --refill no', [50 * 777]),
    (SMALL + '--ops 20 --seed 7', [80 * K]),
    # how it is flushed
    *[(f'{SMALL}--ops 20 --flush {flush} --flush-at {at} --verify', [80 * K])
      for flush in ('fsync', 'fdatasync', 'range', 'syncfs') for at in ('op', 'end')],
    *[(f'{SEQ}--flush {flush} --flush-at {at} --verify', [64 * K])
      for flush in ('fsync', 'fdatasync', 'range', 'syncfs') for at in ('op', 'end')],
    (SMALL + '--ops 20 --flush none', [80 * K]),
    # whole files
    (SEQ, [64 * K]),
    (SEQ + '--passes 3', [192 * K]),
    (SEQ + '--passes 3 --verify -n 2', [192 * K] * 2),
    (SEQ + '--passes 3 --ops 20', [80 * K]),
    (SEQ + '--ops 40', [160 * K]),
    (SEQ + '--ops 40 --verify', [160 * K]),
    (SEQ + '--ops 40 --refill yes --verify', [160 * K]),
    (SEQ + '--passes 0 --ops 40 --flush fsync', [160 * K]),
    (SEQ + '--passes 2 --no-clone --verify', [128 * K]),
    (SEQ + '--passes 2 --source hole --verify', [128 * K]),
    ('--pattern seq -s 0', [0]),
    ('--pattern seq -s 0 --passes 3 --verify --flush fsync', [0]),
    ('--pattern seq -s 1 --verify', [1]),
    ('--pattern seq -s 2 --no-clone --verify', [2]),
    ('--pattern seq -s 10001 --block 777 --verify', [10001]),
    ('--pattern seq -s 10001 --block 776 --no-clone --verify --passes 2', [20002]),
    ('--pattern seq -s 10001 --block 777 --refill yes --verify', [10001]),
    ('--pattern seq -s 10001 --block 1g --verify', [10001]),
    ('--pattern seq -s 10001 --block 1g -m readwrite --verify', [10001]),
    # O_DIRECT
    (SMALL + '-m readwrite --direct --ops 20 --verify', [80 * K]),
    ('--pattern seq -s 100001 --block 4k -m readwrite --direct --passes 2 --verify', [200002]),
    ('--pattern seq -s 100001 --block 4k -m readwrite --direct --refill yes --flush fsync --verify', [100001]),
    ('--pattern seq -s 100001 --block 1g -m readwrite --direct --verify', [100001]),
    # requests in flight
    *[(f'-m {method} {args}', expected) for method in ('io_uring', 'libaio') for args, expected in (
        (SMALL + '--ops 20 --verify', [80 * K]),
        (SMALL + '--ops 77 --refill no --flush none', [308 * K]),
        (SMALL + '--ops 77 --refill no --flush-at end --depth 5 -n 2', [308 * K] * 2),
        (SMALL + '--ops 3 --refill no --flush none --depth 1000', [12 * K]),
        (SEQ + '--ops 21 --verify', [84 * K]),
        (SEQ + '--passes 3 --depth 3 --verify -t 2', [192 * K] * 2),
        ('--pattern seq -s 100001 --block 4k --passes 2 --verify', [200002]),
        ('--pattern seq -s 100001 --block 1g --verify', [100001]),
        ('--pattern seq -s 0 --passes 2', [0]))],
    # other ways
    *[(f'-m {method} --direct {SMALL}--ops 20 --verify', [80 * K])
      for method in ('readwrite', 'readvwritev', 'preadv2', 'io_uring', 'libaio')],
    *[(f'-m {method} --direct --pattern seq -s 100001 --block 4k --passes 2 --verify', [200002])
      for method in ('readwrite', 'readvwritev', 'preadv2', 'io_uring', 'libaio')],
    *[(f'-m {method} --uncached {args}', expected) for method in ('preadv2', 'io_uring') for args, expected in (
        (SMALL + '--ops 20 --verify', [80 * K]), (SEQ + '--verify', [64 * K]))],
    # the rest
    (SMALL + '-m null --ops 100', [400 * K]),
    (SMALL + '-m null --ops 100 --refill no --flush none', [400 * K]),
    (SMALL + '--ops 3 -T 1m', [12 * K]),
    (SMALL + '--ops 3 --warmup 2', [12 * K]),
]


def warning_of(args):
    """What a run with ARGS says, however well it goes."""
    if '-m null' in args:
        return b'copyfile: warning: null copies nothing: these are no rates of copying\n'
    if '-m io_uring' in args and '-t 2' in args:
        return (b"copyfile: warning: user and system times are without those of the kernel's threads that work for this "
                b'process (--nproc has them)\n')
    return b''


def runs_that_go_well(tests):
    for args, bytes_of_each in GOOD:
        with tests.folder() as folder:
            result = run(tests, [*args.split(), '--dir', folder])
            if result.status == 77 and '--uncached' in args:
                tests.skip(args, result.err.decode(errors='replace').strip())
                continue
            if not tests.check(f'{args}: status', 0, result.status):
                print(result.err.decode(errors='replace'))
                continue
            tests.check(f'{args}: bytes', bytes_of_each, copied(result.out))
            tests.check(f'{args}: stderr', warning_of(args), complaints(result.err))
            tests.check(f'{args}: files left', [], os.listdir(folder))


def repetitions(tests):
    with tests.folder() as folder:
        result = run(tests, [*SEQ.split(), '--samples', '3', '--verify', '--dir', folder])
        tests.check('--samples: bytes', [64 * K] * 3, copied(result.out))
        result = run(tests, [*SMALL.split(), '--samples', '3', '--ops', '5', '--verify', '--dir', folder])
        tests.check('--samples, random: bytes', [20 * K] * 3, copied(result.out))


# --runtime, stops

def run_times(tests):
    for args in (SMALL, SEQ, SMALL + '-n 2', SMALL + '--refill no --flush none', SMALL + '-m null --refill no --flush none',
                 SEQ + '--verify', SMALL + '-m readwrite --verify', SMALL + '-m io_uring --refill no --flush none',
                 SEQ + '-m libaio'):
        with tests.folder() as folder:
            began = time.monotonic()
            result = run(tests, [*args.split(), '-T', '300ms', '--dir', folder])
            took = time.monotonic() - began
            tests.check(f'{args} -T: status', 0, result.status)
            tests.check(f'{args} -T: seconds', '0.3 to 5', took, 0.3 <= took < 5)
            tests.check(f'{args} -T: bytes', 'some', copied(result.out), bool(copied(result.out)) and min(copied(result.out)) > 0)
    with tests.folder() as folder, Run(tests, [*SMALL.split(), '--dir', folder, '--json']) as running:
        running.workers(1)
        os.kill(running.pid, signal.SIGINT)
        tests.check('usual run time', 10**10, json.loads(running.finish().out)['options']['runtime_ns'])


FOR_EVER = [SMALL + '-T 1h', SEQ + '-T 1h', SEQ + '-T 1h --verify', SMALL + '-T 1h -n 2 -t 2', SMALL + '-T 1h --verify',
            SMALL + '-T 1h --refill no --flush none', SMALL + '-T 1h --refill no --flush none -m io_uring',
            SEQ + '-T 1h -m libaio --verify', '--pattern seq -s 64m --block 1g -T 1h --flush fsync']


def stopped(tests):
    """What was done until then is printed; the status tells the signal."""
    for args in FOR_EVER:
        for number in (signal.SIGINT, signal.SIGTERM):
            row = f'{args}: {number.name}'
            with tests.folder() as folder, Run(tests, [*args.split(), '--dir', folder]) as running:
                running.walking(2 if '-n 2' in args else 1)
                os.kill(running.pid, number)
                result = running.finish(SOON)
                tests.check(f'{row}: status', 128 + number, result.status)
                tests.check(f'{row}: lines', 4 if '-n 2' in args else 1, len(copied(result.out)))
                tests.check(f'{row}: stderr', b'', complaints(result.err))
                tests.check(f'{row}: files left', [], os.listdir(folder))
                tests.check(f'{row}: processes left', [], left_of(running.pid))


def stopped_while_extents_are_told(tests):
    """What was measured is printed all the same, but for what is cloned."""
    need_strace()
    with tests.folder() as folder, tests.folder() as other:
        log, result_file = (os.path.join(other, name) for name in ('log', 'result'))
        words = [*SEQ.split(), '-n', '3', '-q', f'--json={result_file}', '--dir', folder]
        trace = ['strace', '-q', '-o', log, '-e', 'trace=ioctl']
        tests.check('extents: status', 0, run(tests, words, prefix=trace).status)
        with open(log, encoding='utf-8') as file:
            walks = [i for i, line in enumerate(file) if 'FIEMAP_FLAG_SYNC' in line]
        if len(walks) != 3:
            raise Skip('no FIEMAP here')
        result = run(tests, words, prefix=[*trace, '-e', f'inject=ioctl:signal=SIGINT:when={walks[0] + 1}'])
        with open(log, encoding='utf-8') as file:
            tests.check('extents, stopped: walks', 1, sum('FIEMAP_FLAG_SYNC' in line for line in file))
        with open(result_file, encoding='utf-8') as file:
            doc = json.load(file)
        tests.check('extents, stopped: status', 130, result.status)
        tests.check('extents, stopped: lines', [64 * K] * 3, copied(result.out))
        tests.check('extents, stopped: JSON', ([192 * K], None),
                    (doc['metrics']['total_bytes']['samples'], doc['metrics'].get('cloned_bytes')))
        tests.check('extents, stopped: said', 'a warning', result.err, b'stopped before it was known what is cloned' in result.err)


def kernel_ticks(pid):
    """What the kernel's threads that work for a ring of PID have used of the CPU."""
    ticks = 0
    with contextlib.suppress(OSError):
        for task in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{task}/comm', encoding='ascii') as comm:
                fields = stat_fields(f'{pid}/task/{task}') if comm.read().startswith('iou-wrk') else []
            ticks += int(fields[11]) + int(fields[12]) if fields else 0
    return ticks


def cpu_of_kernel_threads(tests):
    """The kernel's threads do most of what io_uring copies, and their time is the worker's."""
    with tests.folder() as folder, Run(tests, ['-m', 'io_uring', '-s', '64m', '--block', '1m', '--refill', 'no', '--flush', 'none',
                                               '-T', '1h', '-q', '--json', '--dir', folder]) as running:
        pid = running.workers(1)[0]
        if not until(lambda: kernel_ticks(pid) >= 30 or running.process.poll() is not None, SOON):
            raise Skip('the kernel copies without threads here')
        ticks = kernel_ticks(pid)
        os.kill(running.pid, signal.SIGINT)
        result = running.finish(SOON)
        if result.status == 77:
            raise Skip(result.err.decode(errors='replace').strip())
        metrics = json.loads(result.out)['metrics']
        told = sum(metrics[key]['samples'][0] for key in ('user_ns', 'system_ns')) / 1e9
        tests.check("CPU of the kernel's threads", ticks / os.sysconf('SC_CLK_TCK'), told, told >= ticks / os.sysconf('SC_CLK_TCK') > 0)


def worker_is_killed(tests):
    with tests.folder() as folder, Run(tests, [*SMALL.split(), '-T', '1h', '-n', '2', '--dir', folder]) as running:
        pids = running.walking(2)
        os.kill(pids[1], signal.SIGKILL)
        result = running.finish(SOON)
        tests.check('killed: status', 1, result.status)
        tests.check('killed: stdout', b'', result.out)
        tests.check('killed: said', 'SIGKILL', result.err, b'KILL' in result.err)
        tests.check('killed: left', ([], []), (os.listdir(folder), left_of(running.pid)))


def stopped_while_writing_sources(tests):
    with tests.folder() as folder, Run(tests, ['-s', '20g', '--force', '--dir', folder]) as running:
        until(lambda: io_bytes(running.pid) > MIB, SOON)
        os.kill(running.pid, signal.SIGINT)
        result = running.finish(SOON)
        tests.check('stopped early: status', 'SIGINT', result.status, result.status in ('killed by SIGINT', 130))
        tests.check('stopped early: left', (b'', []), (result.out, os.listdir(folder)))


def io_bytes(pid):
    with contextlib.suppress(OSError), open(f'/proc/{pid}/io', encoding='ascii') as file:
        return int(re.search(r'^wchar: (\d+)', file.read(), re.M)[1])
    return 1 << 60


# files

def written(path, size):
    with open(path, 'wb') as file:
        file.write(os.urandom(size))
    return path


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def kept(folder, but=()):
    names = [name for name in os.listdir(folder) if name not in but]
    return [os.path.join(folder, name) for name in sorted(names, key=lambda name: int(name.rsplit('-', 1)[1]))]


def synced_sources(tests):
    """What is written for the run is on its device before the start, without a flush of it for each of many files."""
    need_strace()
    for args, want in (('-n 3', {'fdatasync': 3}), ('-n 40', {'syncfs': 1}), ('-n 40 --samples 2', {'syncfs': 2}),
                       ('-n 40 --source hole --refill no', {})):
        with tests.folder() as folder, tests.folder() as other:
            log = os.path.join(other, 'log')
            for dirs in ([folder], [folder, other]):
                row = f'{args}, {len(dirs)} directories'
                trace = ['strace', '-f', '-q', '-o', log, '-e', 'trace=syncfs,fdatasync,sync_file_range,clone']
                words = [word for place in dirs for word in ('--dir', place)]
                result = run(tests, [*args.split(), '-s', '8k', '--block', '4k', '--ops', '1', '-q', *words], prefix=trace)
                tests.check(f'{row}: status', 0, result.status)
                with open(log, encoding='utf-8') as file:
                    calls = re.findall(r'^\d+ +(\w+)\(', file.read(), re.M)
                times = {call: count * (len(dirs) if call == 'syncfs' else 1) for call, count in want.items()}
                tests.check(f'{row}: syncs', times, {call: calls.count(call) for call in ('fdatasync', 'syncfs') if call in calls})
                first = calls[:calls.index('clone')]
                for call in want:
                    tests.check(f'{row}: data first', True, 'sync_file_range' in first and
                                'sync_file_range' not in first[first.index(call):])
    for call, args in (('sync_file_range', '-n 3'), ('fdatasync', '-n 3'), ('syncfs', '-n 40')):
        for error, status in (('EINTR', 0), ('EIO', 1)):
            with tests.folder() as folder:
                result = run(tests, [*args.split(), '-s', '8k', '--block', '4k', '--ops', '1', '-q', '--dir', folder],
                             prefix=failing(call, error, '1'))
                tests.check(f'{call} {args}, {error}: status', status, result.status)
                tests.check(f'{call} {args}, {error}: said', status == 1, b'write out source 0 in ' in result.err)


def own_files(tests):
    """A worker in a process of its own has the files of no other."""
    for args, count, own in (('-n 5', 5, 2), ('-n 2 -t 2', 2, 8)):
        with tests.folder() as folder, Run(tests, [*SMALL.split(), *args.split(), '-T', '1h', '-q', '--dir', folder]) as running:
            seen = [made_files(pid, folder) for pid in running.walking(count)]
            tests.check(f'{args}: files of each process', [own] * count, [len(files) for files in seen])
            tests.check(f'{args}: different ones', own * count if own == 2 else own, len(set().union(*seen)))
            tests.check(f'{args}: files of copyfile', 8 if own == 8 else own * count, len(made_files(running.pid, folder)))


def made_files(pid, folder):
    """What the process has open in FOLDER, each file once."""
    found = set()
    for name in os.listdir(f'/proc/{pid}/fd'):
        with contextlib.suppress(OSError):
            link = os.readlink(f'/proc/{pid}/fd/{name}')
            if link.startswith(folder):
                found.add(link)
    return found


def existing_files(tests):
    """--from, dealt over the workers, --to, and what is kept."""
    with tests.folder() as folder, tests.folder() as other:
        sources = [written(os.path.join(folder, name), size) for name, size in (('a', 100000), ('b', 5), ('c', 4096))]
        before = [(content(path), os.stat(path).st_mtime_ns) for path in sources]
        words = [word for path in sources for word in ('--from', path)]
        result = run(tests, ['--pattern', 'seq', '--block', '4k', *words, '-n', '5', '--to', other, '--keep', '--verify'])
        tests.check('--from: status', (0, b''), (result.status, complaints(result.err)))
        tests.check('--from: bytes', [100000, 5, 4096, 100000, 5], copied(result.out))
        targets = kept(other)
        tests.check('--from: targets', True, [content(path) for path in targets] == [before[i % 3][0] for i in range(5)])
        tests.check('--keep: names', True, all(re.fullmatch(r'copyfile-\d+-\d', os.path.basename(path)) for path in targets))
        tests.check('--keep: told', sorted(os.fsencode(path) for path in targets),
                    sorted(re.findall(rb'copyfile: kept (.*)\n', result.err)))
        tests.check('--from: as it was', before, [(content(path), os.stat(path).st_mtime_ns) for path in sources])
        tests.check('--from: nothing else', ['a', 'b', 'c'], sorted(os.listdir(folder)))


def random_from(tests):
    """Of a file that exists each block lands somewhere, and holes stay where none did."""
    with tests.folder() as folder:
        source = written(os.path.join(folder, 'source'), 64 * K)
        data = content(source)
        result = run(tests, ['--from', source, '--block', '4k', '--ops', '20', '--dir', folder, '--keep', '--seed', '3'])
        tests.check('random --from: status', 0, result.status)
        target, = kept(folder, ['source'])
        got = content(target)
        blocks = {data[at:at + 4 * K] for at in range(0, 64 * K, 4 * K)}
        found = [got[at:at + 4 * K] for at in range(0, 64 * K, 4 * K)]
        tests.check('random --from: length', 64 * K, len(got))
        tests.check('random --from: blocks', 'of the source, or zero', 'others', all(b in blocks or not any(b) for b in found))
        tests.check('random --from: some', True, 1 < len([b for b in found if any(b)]) <= 16)
        tests.check('random --from: as it was', True, content(source) == data)


def kept_targets(tests):
    """Only the targets are kept, in --dir or --to; dealt over several."""
    with tests.folder() as one, tests.folder() as two:
        result = run(tests, [*SEQ.split(), '-n', '3', '--dir', one, '--dir', two, '--keep'])
        tests.check('--dir twice: status', 0, result.status)
        tests.check('--dir twice: files', (2, 1), (len(kept(one)), len(kept(two))))
        contents = [content(path) for path in kept(one) + kept(two)]
        tests.check('--dir twice: sizes', [64 * K] * 3, [len(data) for data in contents])
        tests.check('each worker has its own source', 3, len(set(contents)))
        tests.check('what is written has no holes', 0, sum(data.count(b'\0' * 64) for data in contents))
    with tests.folder() as one, tests.folder() as two:
        run(tests, [*SEQ.split(), '--ops', '20', '--dir', one, '--keep'])
        tests.check('a pass begins with an empty target', 16 * K, os.path.getsize(kept(one)[0]))
        os.unlink(kept(one)[0])
        run(tests, [*SEQ.split(), '--dir', one, '--to', two, '--keep', '--source', 'hole'])
        tests.check('--to: files', ([], 1), (os.listdir(one), len(kept(two))))
        tests.check('--source hole', bytes(64 * K), content(kept(two)[0]))


def places_that_are_not_there(tests):
    with tests.folder() as folder:
        for args, status, why in (
                (['--to', '/nonexistent'], 1, '/nonexistent: No such file'),
                (['--dir', '/nonexistent'], 1, '/nonexistent: No such file'),
                (['--from', '/nonexistent', '--pattern', 'seq'], 1, 'open /nonexistent: No such file'),
                (['--to', written(os.path.join(folder, 'file'), 5)], 1, 'Not a directory')):
            result = run(tests, [*args, '--ops', '1', '-q'])
            said = one_line(result.err, 'copyfile')
            tests.check(f'{args}: status', (status, b''), (result.status, result.out))
            tests.check(f'{args}: said', why, result.err, said is not None and why in said)


def as_nobody(tests):
    with tests.folder(0o777) as folder:
        source = written(os.path.join(folder, 'source'), 100000)
        os.chmod(source, 0o444)
        result = run(tests, ['--from', source, '--pattern', 'seq', '--dir', folder, '--verify'], before=be_nobody)
        tests.check('nobody: status', (0, [100000]), (result.status, copied(result.out)))
        os.chmod(source, 0o400)
        result = run(tests, ['--from', source, '--pattern', 'seq', '--dir', folder, '-q'], before=be_nobody)
        if os.geteuid() == 0:
            tests.check('not readable: status', 1, result.status)
            tests.check('not readable: said', 'Permission denied', result.err, b'Permission denied' in result.err)


def from_before_the_mount(tests):
    """A file of --from below the directory of --fs is copied all the same, onto the new filesystem."""
    need_mkfs('ext4')
    with tests.folder() as folder:
        source = written(os.path.join(folder, 'source'), 100000)
        result = run(tests, ['--from', source, '--pattern', 'seq', '-m', 'readwrite', '--dir', folder, '--fs', 'ext4',
                             '--fs-size', '32m', '--verify'])
        tests.check('--fs: status', (0, b''), (result.status, complaints(result.err)))
        tests.check('--fs: bytes', [100000], copied(result.out))
        tests.check('--fs: left', ['source'], left_in(folder))


# what is refused, and falling back

ERRORS = [
    # errno of copy_file_range(2), exit status
    ('EXDEV', 77), ('EINVAL', 77), ('EOPNOTSUPP', 77), ('ENOSYS', 77), ('EPERM', 77), ('ETXTBSY', 77),
    ('ENOSPC', 1), ('EDQUOT', 1), ('EIO', 1), ('EBADF', 1), ('EFBIG', 1), ('ENOMEM', 1),
]


def refused_calls(tests):
    """No silent fallback: 77 and the errno's name; with --fallback the next method, which is named."""
    need_strace()
    for error, status in ERRORS:
        for args in (SEQ, SMALL + '--ops 9'):
            with tests.folder() as folder:
                prefix = failing('copy_file_range', error)
                result = run(tests, [*args.split(), '-q', '--dir', folder], prefix=prefix)
                said = one_line(result.err, 'copyfile')
                tests.check(f'{error}: status', (status, b''), (result.status, result.out))
                tests.check(f'{error}: said', 'copy_file_range', said or result.err,
                            said is not None and 'copy_file_range' in said and (status == 1 or error in said))
                result = run(tests, [*args.split(), '-q', '--dir', folder, '--fallback', '--verify'], prefix=prefix)
                tests.check(f'{error}: status with --fallback', 0 if status == 77 else 1, result.status)
                tests.check(f'{error}: falling back', status == 77, b'falling back to ' in result.err)
    # Not in the trial, but later: the run ends there.
    for error, status in ERRORS:
        with tests.folder() as folder:
            result = run(tests, [*SEQ.split(), '-q', '--fallback', '-n', '2', '--dir', folder],
                         prefix=failing('copy_file_range', error, '5+'))
            tests.check(f'{error}, later: status', (status, b''), (result.status, result.out))
            tests.check(f'{error}, later: one line', 'copyfile: ...', result.err, one_line(result.err, 'copyfile') is not None)


def refused_many(tests):
    """The same of the calls that hand over many requests at once."""
    need_strace()
    for method, call in (('libaio', 'io_submit'), ('libaio', 'io_getevents'), ('io_uring', 'io_uring_enter')):
        with tests.folder() as folder:
            usual = run(tests, ['-m', method, *SEQ.split(), '-q', '--dir', folder])
            if usual.status == 77:
                tests.skip(f'{method}: refused', usual.err.decode(errors='replace').strip())
                continue
        for error, status in [*ERRORS, ('EAGAIN', 1)]:
            for args, when in ((SEQ, ''), (SEQ + '--depth 1', '3+')):
                row = f'{call} {error} {when}'
                with tests.folder() as folder:
                    words = ['-m', method, *args.split(), '-q', '--dir', folder]
                    result = run(tests, words, prefix=failing(call, error, when))
                    said = one_line(result.err, 'copyfile')
                    tests.check(f'{row}: status', (status, b''), (result.status, result.out))
                    tests.check(f'{row}: said', f'{call}, both files', said or result.err, said is not None and call in said and
                                'source 0 in ' in said and 'target 0 in ' in said and (status == 1 or f': {error}: ' in said))
                    if when:
                        continue
                    result = run(tests, [*words, '--fallback', '--verify'], prefix=failing(call, error))
                    tests.check(f'{row}: status with --fallback', 0 if status == 77 else 1, result.status)
                    tests.check(f'{row}: falling back', status == 77, b'falling back to readwrite' in result.err)


def refused_at_opening(tests):
    """Calls that the C library makes of others where the kernel has them not: what was asked for is not what would run."""
    need_strace()
    for call in ('preadv2', 'pwritev2'):
        with tests.folder() as folder:
            words = ['-m', 'preadv2', *SEQ.split(), '-q', '--dir', folder]
            result = run(tests, words, prefix=failing(call, 'ENOSYS'))
            said = one_line(result.err, 'copyfile')
            tests.check(f'ENOSYS of {call}: status', (77, b''), (result.status, result.out))
            tests.check(f'ENOSYS of {call}: said', f'{call}: ENOSYS', said or result.err,
                        said is not None and f': {call}: ENOSYS: ' in said)
            result = run(tests, [*words, '--fallback', '--verify'], prefix=failing(call, 'ENOSYS'))
            tests.check(f'ENOSYS of {call}: with --fallback', (0, True), (result.status, b'falling back to readwrite' in result.err))


def refill_of_nothing(tests):
    """A write that moves nothing is a full filesystem, also of the source."""
    need_strace()
    with tests.folder() as folder:
        result = run(tests, [*SMALL.split(), '--ops', '20', '-q', '--dir', folder], prefix=injecting('pwrite64', 'retval=0', '2+'))
        line = one_line(result.err, 'copyfile')
        tests.check('refill of nothing: status', (1, b''), (result.status, result.out))
        tests.check('refill of nothing: said', 'refill 4096 bytes', result.err, line is not None and
                    'worker 0: refill 4096 bytes at offset ' in line and 'No space left' in line)


def interrupted_calls(tests):
    """EINTR is no error, and what is flushed is flushed."""
    need_strace()
    for call, args in (('copy_file_range', ''), ('fsync', ''), ('fdatasync', '--flush fdatasync'), ('syncfs', '--flush syncfs'),
                       ('sync_file_range', '--flush range'), ('pwrite64', ''), ('pwrite64', '-m readwrite')):
        with tests.folder() as folder:
            result = run(tests, [*SMALL.split(), *args.split(), '--ops', '20', '--verify', '--dir', folder],
                         prefix=failing(call, 'EINTR', '2+2'))
            tests.check(f'EINTR of {call} {args}: status', (0, b''), (result.status, complaints(result.err)))
            tests.check(f'EINTR of {call} {args}: bytes', [80 * K], copied(result.out))
            result = run(tests, [*SMALL.split(), *args.split(), '--ops', '20', '--json', '-q', '--dir', folder],
                         prefix=failing(call, 'EINTR', '2+2'))
            metrics = json.loads(result.out)['metrics']
            tests.check(f'EINTR of {call} {args}: flushed', [20], metrics['flush_count']['samples'])


def failing_calls(tests):
    """What cannot be flushed or refilled ends the run, and is named."""
    need_strace()
    for call, args, said in (('fsync', '', 'worker 0: fsync() of target 0 in '),
                             ('fdatasync', '--flush fdatasync', 'worker 0: fdatasync() of target 0 in '),
                             ('syncfs', '--flush syncfs', 'worker 0: syncfs() of target 0 in '),
                             ('sync_file_range', '--flush range', 'worker 0: sync_file_range() of target 0 in '),
                             ('fsync', '--flush-at end', 'worker 0: fsync() of target 0 in '),
                             ('pwrite64', '', 'worker 0: refill 4096 bytes at offset '),
                             ('ftruncate', '', 'make target 0 in ')):
        with tests.folder() as folder:
            # What makes the files uses some of them too.
            when = {'fdatasync': '5+', 'sync_file_range': '5+', 'ftruncate': '3+'}.get(call, '')
            result = run(tests, [*SMALL.split(), *args.split(), '--ops', '20', '-q', '--dir', folder],
                         prefix=failing(call, 'EIO', when))
            line = one_line(result.err, 'copyfile')
            tests.check(f'EIO of {call} {args}: status', (1, b''), (result.status, result.out))
            tests.check(f'EIO of {call} {args}: said', said, result.err, line is not None and said in line and 'Input/output' in line)


# --verify, and what happens to files meanwhile

def target_of(pid, source):
    """/proc/PID/fd/N of the file that is copied to: the one without a name."""
    for name in os.listdir(f'/proc/{pid}/fd'):
        with contextlib.suppress(OSError):
            link = os.readlink(f'/proc/{pid}/fd/{name}')
            if link.endswith(' (deleted)') and os.path.dirname(link) == os.path.dirname(source):
                return f'/proc/{pid}/fd/{name}'
    return None


def flipped_byte(tests):
    """What is changed in the target while it runs is found, and named."""
    for args in ('--pattern seq', '--pattern seq -m readwrite', '', '--pattern seq -t 2'):
        with tests.folder() as folder:
            source = written(os.path.join(folder, 'source'), 4 * MIB)
            with Run(tests, ['--from', source, '--block', '4k', '-T', '1h', '--verify', '--flush', 'none', '-q', '--dir', folder,
                             *args.split()]) as running:
                pid = running.walking(1)[0]
                with open(target_of(pid, source), 'r+b', buffering=0) as target:
                    def wrong():
                        with contextlib.suppress(OSError):
                            for at in range(0, 4 * MIB, 4 * K) if not args else (2 * MIB + 77,):
                                os.pwrite(target.fileno(), b'wrong', at)
                        return running.process.poll() is not None
                    tests.check(f'{args}: found', True, until(wrong, SOON))
                result = running.finish(SOON)
                said = one_line(result.err, 'copyfile')
                tests.check(f'{args}: status', (1, b''), (result.status, result.out))
                tests.check(f'{args}: said', 'wrong data at offset', result.err, said is not None and bool(re.match(
                    r'worker \d: wrong data at offset (\d+) of target \d in .*: expected 0x.., found 0x..', said)))


def source_is_truncated(tests):
    for method in METHODS:
        if method in ('null', 'reflink'):
            continue
        for args in ('--pattern seq --block 64k', '--block 64k --flush none'):
            row = f'{method} {args}: truncated'
            with tests.folder() as folder:
                source = written(os.path.join(folder, 'source'), 4 * MIB)
                with Run(tests, ['-m', method, '--from', source, '-T', '1h', '-q', '--dir', folder, *args.split()]) as running:
                    if running.process.poll() is None:
                        running.walking(1)
                    os.truncate(source, 1 * MIB)
                    result = running.finish(SOON)
                    said = one_line(result.err, 'copyfile') or result.err.decode()
                    tests.check(f'{row}: status', (1, b''), (result.status, result.out))
                    tests.check(f'{row}: said', 'the file, and that it ended early', said,
                                source in said and bool(re.search('ended early|shorter than the mapping', said)))


def children_are_gone(tests):
    """Whoever kills copyfile itself kills its workers."""
    with tests.folder() as folder, Run(tests, [*SMALL.split(), '-T', '1h', '-n', '2', '--dir', folder]) as running:
        running.walking(2)
        pids = children(running.pid)
        os.kill(running.pid, signal.SIGKILL)
        running.process.wait()
        tests.check('killed: workers', [], left_of(running.pid), until(lambda: not left_of(running.pid), SOON) and len(pids) == 2)


sections = {
    'options': [help_text, plans, effective_options],
    'refused': [refusals, places_that_are_not_there, room_in_memory],
    'good': [runs_that_go_well, repetitions],
    'course': [run_times, stopped, stopped_while_extents_are_told, cpu_of_kernel_threads, worker_is_killed, children_are_gone, stopped_while_writing_sources],
    'files': [synced_sources, own_files, existing_files, random_from, kept_targets, as_nobody, from_before_the_mount],
    'errors': [refused_calls, refused_many, refused_at_opening, refill_of_nothing, interrupted_calls, failing_calls],
    'faults': [flipped_byte, source_is_truncated],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
