# SPDX-License-Identifier: GPL-2.0-or-later
"""readtwice - command lines of readtwice, and the exit status, lines and files that each must give.

Usage: readtwice.py BINARY [SECTION]... The golden help text comes from:
    build/readtwice/readtwice --help >tests/golden/readtwice-help.txt
"""
import difflib
import os
import re
import sys

sys.dont_write_bytecode = True
from harness import MIB, PAGE, Run, Skip, Tests, left_of, one_line, run, until  # noqa: E402
from reading import METHODS, Lines, complaints, disk_folder, need_loops, need_mkfs, sparse  # noqa: E402

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'readtwice-help.txt')
CPUS = len(os.sched_getaffinity(0))
ALWAYS = ['together', 'spread', 'data']


class Row:
    """A command line (args: words; D stands for an empty directory on a disk) and what it must give.

    copied: the bytes of each reader's line, in their order; kinds: the lines of our own behind them. err: a pattern for what is on stderr besides the usual. files: name -> length of a hole, made before.
    """

    def __init__(self, name, args, status, err='', copied=(), kinds=(), files=None, needs=None):
        self.name, self.args, self.status, self.err = name, args, status, err
        self.copied, self.kinds, self.files, self.needs = copied, kinds, files or {}, needs
        if isinstance(args, str):
            self.args = [word for word in args.split(' ') if word]

    def words(self, folder):
        return [re.sub(r'^D(?=$|/)', lambda _: folder, word) if isinstance(word, str) else word for word in self.args]


def good(name, args, copied, kinds=(), **more):
    """A run of small files in a directory of its own."""
    args = args.split(' ') if isinstance(args, str) else args
    return Row(name, ['-q', '--dir', 'D', *[word for word in args if word]], 0, copied=copied,
               kinds=[*(kind for kind in ALWAYS if kind != 'spread' or len(copied) > 1), *kinds], **more)


def wrong(name, args, err, **more):
    """Refused before anything is done: exit 2, one line, nothing else."""
    return Row(name, args, 2, err, **more)


def try_row(tests, row):
    if row.needs:
        row.needs()
    with disk_folder() as folder:
        for name, size in row.files.items():
            sparse(os.path.join(folder, name), size)
        result = run(tests, row.words(folder), cwd=folder)
        lines = Lines(result.out)
        said = complaints(result.err)
        tests.check(f'{row.name}: status', row.status, result.status)
        if row.status:
            line = one_line(said, 'readtwice') or repr(said)
            tests.check(f'{row.name}: stderr', row.err, line, re.search(row.err, line) is not None and b'\n' in said)
            tests.check(f'{row.name}: one line', 1, said.count(b'\n'))
            tests.check(f'{row.name}: stdout', b'', result.out)
        else:
            tests.check(f'{row.name}: stderr', row.err, said, re.fullmatch(row.err, said.decode()) is not None)
            tests.check(f'{row.name}: bytes', list(row.copied), [size for size, _ in lines.copied])
            tests.check(f'{row.name}: lines', ['copied'] * len(row.copied) + list(row.kinds), lines.order)
            tests.check(f'{row.name}: lines that parsers take for theirs', [], lines.bad)
        tests.check(f'{row.name}: files', sorted(row.files), sorted(os.listdir(folder)))


def rows_of(rows):
    def try_rows(tests):
        for row in rows:
            try:
                try_row(tests, row)
            except Skip as reason:
                tests.skip(row.name, reason)
    return try_rows


K64 = 65536
refused = [
    wrong('unknown option', '--nonsense', "--nonsense: no such option"),
    wrong('unknown letter', '-Q', '-Q'),
    wrong('-n -1', '-n -1', "--files '-1': expected a whole number"),
    wrong('-n x', '-n x', "--files 'x': expected a whole number"),
    wrong('--nproc x', '--nproc x', "'x': expected a whole number"),
    wrong('-n 2^32', '-n 4294967296', '4294967296'),
    wrong('-n and FILE', '-n 2 f', '--files: expected no FILE', files={'f': 1}),
    wrong('-s x', '-s x', "--size 'x': expected a size"),
    wrong('-s -1', '-s -1', "--size '-1': expected a size"),
    wrong('-s 2^64', '-s 16777216t', "--size '16777216t'"),
    wrong('-s 2^63', '-n 1 -s 8388608t', '--size: expected less than 8388608t'),
    wrong('-s 2^64-1', '-n 1 -s 18446744073709551615', '--size: expected less than 8388608t'),
    wrong('-s larger than FILE', '-s 64k f', '--size: expected at most the 4096 bytes of f', files={'f': 4096}),
    wrong('--fill x', '--fill x', "--fill 'x': expected one of hole, written"),
    wrong('--fill empty', '--fill=', "--fill '': expected one of hole, written"),
    wrong('--fill written and FILE', '--fill written f', '--fill written: expected no FILE', files={'f': 1}),
    wrong('-r 0', '-r 0', '--readers: expected at least 1'),
    wrong('-r -1', '-r -1', "--readers '-1'"),
    wrong('-r 2^64', '-r 18446744073709551616', '--readers'),
    wrong('files x readers', '-n 4000 -r 4000 -s 4k', 'files x readers is 16000000: expected at most'),
    wrong('files x readers, 2^64', '-n 4000 -r 18446744073709551615 -s 4k', 'files x readers'),
    wrong('-m x', '-m x', "--method 'x': expected one that --method=list prints"),
    wrong('-m empty', ['-m', ''], "--method '': expected one"),
    wrong('-m rea', '-m rea', "--method 'rea': expected one"),
    wrong('-m READ', '-m READ', "--method 'READ': expected one"),
    wrong('--block 0', '--block 0', '--block: expected 1 byte to 1g'),
    wrong('--block 0 --gap', '--block 0 --gap 1m', '--block: expected 1 byte to 1g'),
    wrong('--block 1g and a byte', '--block 1073741825', '--block: expected 1 byte to 1g'),
    wrong('--block x', '--block x', "--block 'x': expected a size"),
    wrong('--order x', '--order x', "--order 'x': expected one of seq, random, reverse"),
    wrong('--depth 0', '--depth 0', '--depth: expected 1 to 32768'),
    wrong('--depth 32769', '--depth 32769', '--depth: expected 1 to 32768'),
    wrong('--depth x', '--depth x', "--depth 'x': expected a whole number"),
    wrong('--gap x', '--gap x', "--gap 'x': expected a size such as 64m, or a time"),
    wrong('--gap empty', ['--gap', ''], "--gap '': expected a size"),
    wrong('--gap -1', '--gap -1', "--gap '-1': expected a size"),
    wrong('--gap of 15 blocks', '--gap 60k', '--gap: expected 0, or at least 16 blocks'),
    wrong('--gap of a byte less', '--gap 65535', '--gap: expected 0, or at least 16 blocks'),
    wrong('--gap of a byte more', '--gap 65537', '--gap: expected whole blocks'),
    wrong('--gap 2^64', '--gap 16777216t', "--gap '16777216t'"),
    wrong('--gap 1.5s', '--gap 1.5s', "--gap '1.5s'"),
    wrong('--passes x', '--passes x', "--passes 'x': expected a whole number"),
    wrong('--passes 0 alone', '--passes 0', '--passes 0: expected --runtime or --ops'),
    wrong('--verify and FILE', '--verify f', '--verify: expected no FILE', files={'f': 1}),
    wrong('--verify of nothing', '--verify -m null', '--verify: expected a --method that reads data'),
    wrong('--then x', '--then x', "--then 'x': expected one of nothing, unlink, truncate, dontneed"),
    wrong('--then unlink and FILE', '--then unlink f', '--then: expected nothing or dontneed with FILE', files={'f': 1}),
    wrong('--then truncate and FILE', '--then truncate f', '--then: expected nothing or dontneed', files={'f': 1}),
    wrong('--keep and FILE', '--keep f', '--keep, --fs: expected no FILE', files={'f': 1}),
    wrong('--fs and FILE', '--fs ext4 f', '--keep, --fs: expected no FILE', files={'f': 1}),
    wrong('--keep and --then', '--keep --then unlink', '--keep: expected no --then unlink or truncate'),
    wrong('--keep --fs', '--keep --fs ext4', '--keep: expected no --fs'),
    wrong('--fs x', '--fs x', "--fs 'x': expected xfs"),
    wrong('--fs too small', '--fs xfs --fs-size 100m', '--fs-size 100m: xfs needs at least'),
    wrong('--fs over two', '--fs ext4 --dir a --dir b', '--fs: expected one --dir'),
    wrong('--fs-size alone', '--fs-size 1g', '--fs-size is for a scratch filesystem'),
    wrong('--fs-on alone', '--fs-on tmpfs', '--fs-on is for a scratch filesystem'),
    wrong('--wipe alone', '--wipe', '--wipe is for a scratch filesystem'),
    wrong('-T x', '-T x', "--runtime 'x': expected a time"),
    wrong('--ops x', '--ops x', "--ops 'x': expected a whole number"),
    wrong('--seed x', '--seed x', "--seed 'x': expected a whole number"),
    wrong('--samples x', '--samples x', "--samples 'x'"),
    wrong('--samples beyond reason', '--samples 18446744073709551615', '--samples, --warmup: expected at most'),
    wrong('--interval x', '--interval x', "--interval 'x': expected a time"),
    wrong('-b x', '-b x', "--bind 'x': expected a whole number, node or none"),
    wrong('page tables', '-n 1 -m mmap -s 8000000t', '--method mmap: the readers take .* of page tables, more than half .*--force'),
    wrong('read uncached', '--uncached -n 1 -s 4k', 'method read does not work uncached'),
    wrong('mmap uncached', '--uncached -m mmap -n 1 -s 4k', 'method mmap does not work uncached'),
    wrong('libaio uncached', '--uncached -m libaio -n 1 -s 4k', 'method libaio does not work uncached'),
    wrong('mmap direct', '--direct -m mmap -n 1 -s 4k', 'method mmap does not work with O_DIRECT'),
    wrong('splice direct', '--direct -m splice -n 1 -s 4k', 'method splice does not work with O_DIRECT'),
    wrong('sendfile direct', '--direct -m sendfile -n 1 -s 4k', 'method sendfile does not work with O_DIRECT'),
    wrong('direct, no whole sectors', '-q --direct --block 1000 -n 1 -r 1 -s 4k --dir D',
          'O_DIRECT takes blocks of a multiple of .* here, not 1000'),
    wrong('libaio, no whole sectors', '-q -m libaio --block 1000 -n 1 -r 1 -s 4k --dir D',
          'O_DIRECT takes blocks of a multiple of .* here, not 1000'),
    wrong('io_uring, too deep', '-q -m io_uring --depth 16385 -n 1 -r 1 -s 1g --dir D',
          'method io_uring takes 16384 requests at most, not 16385'),
    wrong('refused to many readers, told once', '-q --direct --block 1000 -n 3 -r 20 -s 4k --dir D',
          'O_DIRECT takes blocks of a multiple of .* here, not 1000'),
    # what is tried and fails
    Row('no directory', '-q -n 1 -s 4k --dir nowhere', 1, 'open directory nowhere: No such file'),
    Row('a file for a directory', '-q -n 1 -s 4k --dir f', 1, 'open directory f: Not a directory', files={'f': 1}),
    Row('an empty directory name', ['-q', '-n', '1', '-s', '4k', '--dir', ''], 1, 'open directory : No such file'),
    Row('the second directory is missing', '-q -n 2 -s 4k --dir D --dir nowhere', 1, 'open directory nowhere: No such'),
    Row('longer than any file', '-q -n 1 -s 8388607t --ops 1 --dir D', 1, 'extend a scratch file .*: File too large'),
    wrong('in memory', '-q -n 1 -s 4k --fs tmpfs --dir D', 'is on tmpfs, where .*--allow-tmpfs', needs=need_loops),
    wrong('the second directory is in memory', '-q -n 2 -s 4k --dir D --dir /dev/shm', 'is on tmpfs, where .*--allow-tmpfs'),
]

shapes = [
    good('one file, two readers', '-n 1 -s 64k', [K64] * 2),
    good('one reader', '-n 1 -r 1 -s 64k', [K64]),
    good('two files, three readers', '-n 2 -r 3 -s 64k', [K64] * 6),
    good('a file for each CPU', '-s 64k', [K64] * 2 * CPUS),
    good('-n 0 is not given', '-n 0 -s 64k', [K64] * 2 * CPUS),
    good('-n auto', '-n auto -s 64k', [K64] * 2 * CPUS),
    good('--nproc 1', '--nproc 1 -s 64k', [K64] * 2),
    good('64 readers of one', '-n 1 -r 64 -s 4k', [4096] * 64),
    good('a byte', '-n 1 -s 1', [1, 1]),
    good('less than a block', '-n 1 -s 4095 --verify', [4095] * 2),
    good('a byte more than a block', '-n 1 -s 4097 --verify', [4097] * 2),
    good('blocks of a byte', '-n 1 -s 5000 --block 1 --verify', [5000] * 2),
    good('blocks of 7', '-n 1 -s 99999 --block 7 --verify --fill written', [99999] * 2),
    good('a block of 1g', '-n 1 -s 64k --block 1g', [K64] * 2),
    good('--depth beside a method that has none', '-n 1 -s 64k --depth 3', [K64] * 2),
    good('--order reverse', '-n 1 -s 100001 --order reverse --verify --fill written', [100001] * 2),
    good('--order random', '-n 1 -s 100001 --order random --verify --fill written', [100001] * 2),
    good('--passes 3', '-n 1 -s 64k --passes 3 --verify', [3 * K64] * 2),
    good('--passes 3, random', '-n 1 -s 99999 --passes 3 --order random --seed 5 --verify', [3 * 99999] * 2),
    good('--ops', '-n 2 -s 64k --ops 5', [5 * 4096] * 4),
    good('--ops beyond a pass', '-n 1 -s 64k --ops 21', [21 * 4096] * 2),
    good('--ops beyond --passes', '-n 1 -s 64k --ops 99 --passes 2', [2 * K64] * 2),
    good('--ops, libaio in flight', '-n 1 -r 1 -s 1m --ops 5 -m libaio', [5 * 4096]),
    good('--ops, io_uring in flight', '-n 1 -r 1 -s 1m --ops 5 -m io_uring', [5 * 4096]),
    good('-T long enough for the passes', '-n 1 -s 64k -T 60 --passes 1', [K64] * 2),
    good('--bind 1', '-n 2 -s 64k -b 1', [K64] * 4),
    good('--bind node', '-n 2 -s 64k -b node', [K64] * 4),
    good('--fill written', '-n 1 -s 1m --fill written --verify', [MIB] * 2),
    good('--warmup', '-n 1 -s 64k --warmup 2', [K64] * 2),
    good('--direct', '-n 1 -s 64k --direct', [K64] * 2),
    good('--direct, a tail', '-n 1 -s 66000 --direct --verify --fill written', [66000] * 2),
    good('--direct, no data', '-n 1 -s 64k --direct -m null', [K64] * 2),
    good('--gap 0', '-n 1 -s 64k --gap 0', [K64] * 2),
    good('--gap of 16 blocks', '-n 1 -r 3 -s 1m --gap 64k --verify', [MIB] * 3),
    good('--gap longer than the file', '-n 1 -r 3 -s 64k --gap 16777215t', [K64] * 3),
    good('--gap, passes', '-n 2 -r 2 -s 100001 --gap 64k --passes 5 --verify', [5 * 100001] * 4),
    good('--gap, random', '-n 1 -s 1m --gap 64k --order random --verify', [MIB] * 2),
    good('--gap, many in flight', '-n 1 -s 1m --gap 64k -m libaio --verify', [MIB] * 2),
    good('--gap and --ops', '-n 1 -s 1m --gap 64k --ops 100', [100 * 4096] * 2),
    good('--gap 1ms', '-n 1 -r 3 -s 64k --gap 1ms', [K64] * 3),
    good('--gap 0s', '-n 1 -s 64k --gap 0s', [K64] * 2),
    good('beyond 4 GiB, from the end', '-n 1 -r 1 -s 100g --order reverse --ops 3 --verify', [3 * 4096]),
    good('--cold', '-n 2 -s 64k --cold', [K64] * 4, ['cold']),
    good('--cold, written', '-n 1 -s 1m --cold --fill written', [MIB] * 2, ['cold']),
    good('--residency', '-n 3 -s 64k --residency', [K64] * 6, ['cached'] * 3),
    good('--then nothing', '-n 1 -s 64k --then nothing', [K64] * 2),
    good('--then unlink', '-n 2 -s 64k --then unlink', [K64] * 4, ['faulted', 'truncated']),
    good('--then truncate', '-n 2 -s 64k --then truncate', [K64] * 4, ['faulted', 'truncated']),
    good('--then dontneed', '-n 2 -s 64k --then dontneed', [K64] * 4, ['dropped']),
    good('all of it', '-n 2 -s 64k --cold --residency --then unlink', [K64] * 4,
         ['cold', 'cached', 'cached', 'faulted', 'truncated']),
    good('--then unlink, nothing was read', '-n 1 -s 64k --then unlink -m null', [K64] * 2),
    good('--then unlink, nothing was cached', '-n 1 -s 64k --then unlink --direct', [K64] * 2),
    *[good(f'-m {method}', f'-n 1 -s 100001 -m {method}', [100001] * 2) for method in METHODS],
    *[good(f'-m {method} --fill written', f'-n 2 -s 100001 -m {method} --fill written --verify --passes 2', [200002] * 4)
      for method in METHODS if method != 'null'],
    *[good(f'-m {method}, odd blocks', f'-n 1 -s 100001 -m {method} --fill written --verify --block 3000 --order random',
           [100001] * 2) for method in METHODS if method not in ('null', 'libaio')],
    # FILE
    Row('FILE', '-q f', 0, copied=[100001] * 2, kinds=ALWAYS, files={'f': 100001}),
    Row('two FILEs', '-q f g -r 1', 0, copied=[100001, 5], kinds=ALWAYS, files={'f': 100001, 'g': 5}),
    Row('one FILE twice', '-q f f -r 1', 0, copied=[100001] * 2, kinds=ALWAYS, files={'f': 100001}),
    Row('FILE, its first bytes', '-q -s 5000 f', 0, copied=[5000] * 2, kinds=ALWAYS, files={'f': 100001}),
    Row('FILE behind --', '-q -- -n', 0, copied=[100001] * 2, kinds=ALWAYS, files={'-n': 100001}),
]


def help_is_golden(tests):
    result = run(tests, ['--help'])
    with open(GOLDEN, encoding='ascii') as file:
        golden = file.read()
    diff = list(difflib.unified_diff(golden.splitlines(), result.out.decode().splitlines(), 'golden', '--help', lineterm=''))
    tests.check('--help', [], diff)
    tests.check('--help: status and stderr', (0, b''), (result.status, result.err))
    result = run(tests, ['--version'])
    tests.check('--version', 'name and version', result.out, re.fullmatch(rb'readtwice .*\d.*\n', result.out) is not None)


def list_has_all(tests):
    for args in (['--method=list'], ['-m', 'list', '-n', '3', 'nosuch']):
        result = run(tests, args)
        tests.check(f'{args}', (0, b''), (result.status, result.err))
        tests.check(f'{args}: names', METHODS, [line.split()[0] for line in result.out.decode().splitlines()])
        tests.check(f'{args}: each says what it is', 'words', result.out,
                    all(len(line.split()) > 3 for line in result.out.splitlines()))


def plan_is_told(tests):
    """Before it starts: files, readers, sizes, filesystem, device, memory, and what it does to the page cache."""
    with disk_folder() as folder:
        result = run(tests, ['-n', '2', '-r', '3', '-s', '64k', '-T', '60', '--passes', '1', '--dir', folder])
        first = result.err.split(b'\n')[0].decode()
        for what in ('2 files of 64k, sparse (128 KiB in all) in ' + folder, ', on ', '3 readers of each by read',
                     'blocks of 4k in seq order', '1 pass, 1m at most', 'this process may use '):
            tests.check('plan', what, first, what in first)
        tests.check('plan: page cache', 'left alone by so little', first, 'turned over' not in first)
        tests.check('plan: warning', 'fits', result.err, b'warning: 128 KiB of files fit into ' in result.err)
        for args in (['--direct'], ['-m', 'preadv2', '--uncached']):
            result = run(tests, ['-n', '1', '-s', '64k', *args, '--dir', folder])
            if result.status == 77:
                tests.skip(f'no warning with {args}', result.err.decode().strip().split('\n')[-1])
                continue
            tests.check(f'no warning with {args}', (0, False), (result.status, b'fit into' in result.err))
        result = run(tests, ['-q', '-n', '1', '-s', '64k', '--dir', folder])
        tests.check('-q: no plan', b'', complaints(result.err))


def dry_run_does_nothing(tests):
    with disk_folder() as folder:
        for args, what in ((['-n', '3', '-s', '64k'], '3 files of 64k'), ([], 'readers of each'),
                           (['--fs', 'xfs'], 'on a new xfs'), (['-m', 'mmap', '-n', '1', '-s', '1m'], '1 file of 1m'),
                           (['--order', 'random', '--seed', '1', '--passes', '3', '-s', '4k'], 'in random order; 3 passes')):
            result = run(tests, ['--dry-run', '--dir', folder, *args])
            tests.check(f'--dry-run {args}', (0, b''), (result.status, result.err))
            tests.check(f'--dry-run {args}: stdout', what, result.out, what in result.out.decode())
            tests.check(f'--dry-run {args}: lines', 1, result.out.count(b'\n'))
            tests.check(f'--dry-run {args}: files', [], os.listdir(folder))


def usual_size(tests):
    """Four times the memory, in whole blocks, whatever the number of files."""
    for files in (1, 3):
        result = run(tests, ['--dry-run', '-n', str(files)])
        match = re.search(rb'(?: file of|3 files of) \d+[km]?, sparse \((\S+) GiB in all\).* may use (\S+) GiB.*'
                          rb'enough to turn over the page cache of this machine', result.out)
        tests.check(f'-n {files}: sizes', 'told', result.out, match is not None)
        if match:
            total, memory = float(match.group(1)), float(match.group(2))
            tests.check(f'-n {files}: four times the memory', 4 * memory, total, abs(total - 4 * memory) <= 0.04 * total)


# course: how long, and how far apart

def position(pid, fd):
    """The offset of a descriptor, from outside; None: it is gone."""
    try:
        with open(f'/proc/{pid}/fdinfo/{fd}', 'rb') as info:
            return int(info.readline().split()[1])
    except (OSError, IndexError):
        return None


def own_descriptor(pid, parent, path):
    """The descriptor of PATH that a reader opened by itself: not one that it has from its parent."""
    def opened(of):
        found = []
        for fd in os.listdir(f'/proc/{of}/fd'):
            try:
                if os.readlink(f'/proc/{of}/fd/{fd}') == path:
                    found.append(int(fd))
            except OSError:
                continue
        return set(found)
    until(lambda: len(opened(pid) - opened(parent)) > 0)
    return (opened(pid) - opened(parent)).pop()


def watch(leads, follows, size):
    """How far apart: (most that the leader surely was ahead, least that it can have been), while it reads."""
    most, least, samples = 0, None, 0
    while True:
        before, at, after = position(*leads), position(*follows), position(*leads)
        if None in (before, at, after) or after >= size:
            return most, least, samples
        most = max(most, before - at)
        if at:
            least = min(after - at, after - at if least is None else least)
            samples += 1


def gap_is_kept(tests):
    size = 2 << 30
    for gap, readers in ((1 << 20, 2), (64 << 20, 2), (64 << 10, 2), (8 << 20, 3)):
        with disk_folder() as folder:
            path = sparse(os.path.join(folder, 'f'), size)
            with Run(tests, ['-q', '-r', str(readers), '--gap', str(gap), '-T', '1', '--passes', '1', path]) as running:
                pids = running.workers(readers)
                ends = [(pid, own_descriptor(pid, running.pid, path)) for pid in pids]
                most, least, samples = watch(ends[-2], ends[-1], size)
                result = running.finish()
            row = f'--gap {gap}, {readers} readers'
            tests.check(f'{row}: status', 0, result.status)
            tests.check(f'{row}: seen', 'some samples', samples, samples > 5)
            tests.check(f'{row}: ahead by', f'at most {gap}', most, most <= gap)
            if least is not None:
                tests.check(f'{row}: behind by', f'at least {gap // 4}', least, least >= gap // 4)


def stopped(pid):
    with open(f'/proc/{pid}/stat', 'rb') as stat:
        return stat.read().rpartition(b')')[2].split()[0] == b'T'


def settled(pid, fd):
    """The offset of who waits: two looks that agree, the process asleep in between."""
    def rests():
        at = position(pid, fd)
        with open(f'/proc/{pid}/stat', 'rb') as stat:
            asleep = stat.read().rpartition(b')')[2].split()[0] == b'S'
        return asleep and position(pid, fd) == at and at > 0
    until(rests)
    return position(pid, fd)


def a_reader_that_stops_holds_the_other(tests):
    """Stopped by the test: the other goes on to the gap's end, and no further."""
    gap, size = 1 << 20, 64 << 30
    for victim in (0, 1):
        with disk_folder() as folder:
            path = sparse(os.path.join(folder, 'f'), size)
            with Run(tests, ['-q', '--gap', str(gap), '-T', '60', path]) as running:
                pids = running.walking(2)
                ends = [(pid, own_descriptor(pid, running.pid, path)) for pid in pids]
                os.kill(pids[victim], 19)
                until(lambda pid=pids[victim]: stopped(pid))
                at = settled(*ends[1 - victim])
                ahead = position(*ends[0]) - position(*ends[1])
                tests.check(f'reader {victim} stopped: distance', f'up to {gap}, more than half of it', ahead,
                            gap // 2 < ahead <= gap)
                os.kill(pids[victim], 18)
                tests.check(f'reader {victim} goes on: so does the other', 'further', at,
                            until(lambda end=ends[1 - victim], then=at: (position(*end) or 0) > then))
                os.kill(running.pid, 2)
                tests.check(f'reader {victim}: SIGINT', 130, running.finish().status)


def a_time_gap_comes_first(tests):
    """Only lower bounds: the third of three begins 400 ms after the first."""
    with disk_folder() as folder:
        result = run(tests, ['-q', '-n', '1', '-r', '3', '-s', '4k', '--gap', '200ms', '--dir', folder])
        lines = Lines(result.out)
        tests.check('--gap 200ms', (0, 3), (result.status, len(lines.copied)))
        window = float(lines.own['together'][0].group(2))
        tests.check('--gap 200ms: window', 'at least 0.4 s', window, window >= 0.4)
        tests.check('--gap 200ms: no time of waiting', 'less than the gap', lines.copied,
                    all(usecs < 200000 for _, usecs in lines.copied))
        result = run(tests, ['-q', '-n', '1', '-s', '4k', '--gap', '50h', '-T', '100ms', '--dir', folder])
        sizes = [size for size, _ in Lines(result.out).copied]
        tests.check('--gap longer than -T', (0, 2, 0), (result.status, len(sizes), sizes[-1] if sizes else None))


def time_ends_it(tests):
    with disk_folder() as folder:
        for args in ([], ['-m', 'libaio'], ['-m', 'io_uring'], ['-m', 'mmap'], ['--gap', '64k'], ['--order', 'random']):
            result = run(tests, ['-q', '-n', '1', '-s', '1m', '-T', '300ms', *args, '--dir', folder])
            lines = Lines(result.out)
            row = f'-T 300ms {args}'
            if result.status == 77:
                tests.skip(row, result.err.decode().strip())
                continue
            tests.check(f'{row}: status', 0, result.status)
            tests.check(f'{row}: passes', 'more than one', lines.copied, all(size > MIB for size, _ in lines.copied))
            # The time of one that waits for its turn begins with that.
            least = 0 if '--gap' in args else 290000
            tests.check(f'{row}: times', 'at least 0.29 s', lines.copied, all(t >= least for _, t in lines.copied))
            tests.check(f'{row}: bad lines', [], lines.bad)


def samples_are_apart(tests):
    with disk_folder() as folder:
        for then in ('nothing', 'unlink', 'truncate', 'dontneed'):
            args = ['-q', '-n', '2', '-s', '64k', '--samples', '3', '--warmup', '1', '--then', then, '--fill', 'written',
                    '--verify', '--dir', folder]
            result = run(tests, args)
            lines = Lines(result.out)
            tests.check(f'--samples, --then {then}: status', 0, result.status)
            tests.check(f'--samples, --then {then}: readers', [K64] * 12, [size for size, _ in lines.copied])
            tests.check(f'--samples, --then {then}: summaries', (3, 5),
                        (len(lines.own['together']), len(lines.own.get('five', []))))
            times = lines.periods.get('truncated', [])
            tests.check(f'--samples, --then {then}: truncated', 3 if then in ('unlink', 'truncate') else 0, len(times))
            tests.check(f'--samples, --then {then}: bad lines', [], lines.bad)


def truncated_follows_faulted(tests):
    """Unix times of now, in order; the bytes of the files, each once, however often they were read."""
    with disk_folder() as folder:
        for then in ('unlink', 'truncate'):
            result = run(tests, ['-q', '-n', '2', '-s', '1m', '--passes', '3', '--then', then, '--dir', folder])
            periods = Lines(result.out).periods
            (faulted,), (truncated,) = periods['faulted'], periods['truncated']
            tests.check(f'--then {then}: bytes', (2 * MIB, 2 * MIB), (faulted[0], truncated[0]))
            tests.check(f'--then {then}: order', 'faulted, then truncated', (faulted, truncated),
                        faulted[1] < faulted[2] <= truncated[1] < truncated[2])
            now = os.stat(f'/proc/{os.getpid()}').st_mtime      # of this machine's clock, an hour at most away
            tests.check(f'--then {then}: Unix time', 'about now', truncated, abs(truncated[2] / 1e9 - now) < 86400)
            result = run(tests, ['-q', '-n', '1', '-s', '1m', '--ops', '10', '--then', then, '--dir', folder])
            tests.check(f'--then {then}: of what was read', 40960, Lines(result.out).periods['truncated'][0][0])


def readers_differ(tests):
    """The summary: total, common window, slowest, fastest, share of time."""
    with disk_folder() as folder:
        result = run(tests, ['-q', '-n', '2', '-r', '2', '-s', '4m', '--dir', folder])
        lines = Lines(result.out)
        together, spread = lines.own['together'][0], lines.own['spread'][0]
        rates = sorted(size / usecs for size, usecs in lines.copied)        # MB/s
        told = [float(spread.group(i)) * 1000 ** (b'kMGTPE'.index(spread.group(i + 1)) - 1) for i in (1, 3)]
        tests.check('slowest and fastest', (rates[0], rates[-1]), told,
                    all(abs(a - b) <= 0.06 + a * 1e-3 for a, b in zip((rates[0], rates[-1]), told)))
        tests.check('together: bytes', 16 * MIB, int(together.group(1)))
        longest = max(usecs for _, usecs in lines.copied)
        window = round(float(together.group(2)) * 10**6)
        tests.check('together: window', f'at least {longest}', window, window >= longest)
        tests.check('share', '0 to 100', spread.group(6), 0 <= float(spread.group(6)) <= 100)
        tests.check('readers', b'4', spread.group(5))
        result = run(tests, ['-q', '-n', '1', '-r', '1', '-s', '4m', '--dir', folder])
        tests.check('one reader: no spread', ['copied', 'together', 'data'], Lines(result.out).order)


def readers_share_their_order(tests):
    """Three that read 50 random blocks each leave no more in the page cache than one does; another seed, other blocks."""
    def cached(*args):
        out = run(tests, ['-q', '-n', '1', '-s', '64m', '--order', 'random', '--ops', '50', '--residency', *args,
                          '--dir', folder]).out
        return int(Lines(out).own['cached'][0].group(2))
    with disk_folder() as folder:
        one = cached('-r', '1', '--seed', '1')
        tests.check('random order: pages', 'about 50 of 16384', one, 50 <= one < 1000)
        tests.check('random order: three readers', one, cached('-r', '3', '--seed', '1'))
        path = sparse(os.path.join(folder, 'f'), 64 * MIB)
        both = 0
        for seed in ('1', '2'):
            out = run(tests, ['-q', '-r', '1', '--order', 'random', '--ops', '50', '--residency', '--seed', seed, path]).out
            both = int(Lines(out).own['cached'][0].group(2))
        tests.check('random order: another seed', f'more than {one}', both, both > one)


def intervals_are_told(tests):
    with disk_folder() as folder:
        result = run(tests, ['-q', '-n', '1', '-s', '1m', '-T', '200ms', '--interval', '50ms', '--dir', folder])
        said = re.findall(rb'readtwice: \d+\.\d{3} s: (\d+) bytes, \d+ KB/s\n', result.err)
        total = int(Lines(result.out).own['together'][0].group(1))
        tests.check('--interval: lines', 'at least 2', said, len(said) >= 2)
        tests.check('--interval: bytes', total, sum(map(int, said)))


def data_is_named(tests):
    with disk_folder() as folder:
        for args, what in ((['-s', '64k'], 'holes on .*no device was read; the figure is clearing, copying and reclaim'),
                           (['-s', '64k', '--fill', 'written'], '65536 of 65536 bytes on .*'),
                           (['-s', '64k', '-m', 'null'], 'none; the figure is the harness')):
            result = run(tests, ['-q', '-n', '1', *args, '--dir', folder])
            told = Lines(result.out).own['data'][0].group(1).decode()
            tests.check(f'data of {args}', what, told, re.fullmatch(what, told) is not None)
        result = run(tests, ['-n', '2', '-s', '4k', '--allow-tmpfs', '--dir', folder, '--dir', '/dev/shm'])
        if b'tmpfs' in result.err:
            told = Lines(result.out).own['data'][0].group(1)
            tests.check('data on two filesystems', 'both', told, re.match(rb'holes on \S+ \(.*\), tmpfs \(\S+\): ', told) is not None)
            tests.check('plan of two filesystems', 'both', result.err, re.search(rb', on \S+ \(.*\), tmpfs \(', result.err) is not None)
        else:
            tests.skip('data on two filesystems', '/dev/shm is no tmpfs')
        path = os.path.join(folder, 'f')
        with open(path, 'wb') as file:
            file.write(b'x' * MIB)
            file.truncate(4 * MIB)
            file.flush()
            os.fsync(file.fileno())
        told = Lines(run(tests, ['-q', path]).out).own['data'][0].group(1).decode()
        tests.check('data of a FILE', 'a quarter, and holes', told,
                    re.fullmatch(r'10\d{5} of 4194304 bytes on .*: the rest are holes, .*', told) is not None)


sections = {
    'refused': [rows_of(refused)],
    'shapes': [rows_of(shapes)],
    'told': [help_is_golden, list_has_all, plan_is_told, dry_run_does_nothing, usual_size, data_is_named, readers_differ,
             truncated_follows_faulted],
    'course': [time_ends_it, samples_are_apart, readers_share_their_order, a_time_gap_comes_first, intervals_are_told],
    'gap': [gap_is_kept, a_reader_that_stops_holds_the_other],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
