# SPDX-License-Identifier: GPL-2.0-or-later
"""table - command lines of usemem, and the exit status, lines and files that each must give.

Usage: table.py BINARY. The golden help text comes from:
    build/usemem/usemem --help >tests/golden/usemem-help.txt
"""
import difflib
import os
import re
import stat
import sys

sys.dont_write_bytecode = True
from harness import MIB, PAGE, Skip, Tests, brief, in_order, one_line, read_lines, run  # noqa: E402

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'usemem-help.txt')
CPUS = len(os.sched_getaffinity(0))
SEED = r'random seed \d+'
IGNORED = '.*malloc.*ignored.*'
BIG_SPARSE = 64 << 40


def available_bytes():
    """MemAvailable plus free swap: no limit that usemem goes by is wider."""
    with open('/proc/meminfo', encoding='ascii') as meminfo:
        kib = dict(line.split()[:2] for line in meminfo)
    return (int(kib['MemAvailable:']) + int(kib['SwapFree:'])) * 1024


AVAILABLE = available_bytes()


def words(size, step=8, unit=0):
    """Bytes that a pass over SIZE accesses."""
    unit = unit or size
    total = 0
    for at in range(0, size, unit):
        count = min(unit, size - at) // 8
        total += 8 * -(-count // (step // 8))
    return total


# What a task prints: its walk and the free line; with `again` also -Z.
def walk(size, again=None, free=True):
    lines = [f'W{size}'] if size else []
    if again is not None:
        lines += [f'Z{again}'] if again else []
    return lines + (['F'] if free else [])


FREE_ONLY = ['F']
NOTHING = []


class Row:
    """A command line (args: words, {N} stands for a number given) and what it must give.

    tasks: how many print `out`; init: the --init-time line first. err: a pattern for the one line
    on stderr; '' for none. made: the files that a row leaves or keeps, each with its length;
    content: the words of a file, as {index: value} of what is not 0 or a function.
    """

    def __init__(self, name, args, status=0, out=NOTHING, err='', **more):
        self.name, self.status, self.out, self.err = name, status, out, err
        self.args = args.split(' ') if isinstance(args, str) else args
        self.args = [word for word in self.args if word or not isinstance(args, str)]
        self.tasks = more.pop('tasks', 1)
        self.init = more.pop('init', False)
        self.files = more.pop('files', {})          # name -> length of a hole, bytes, or a function
        self.made = more.pop('made', self.files)    # name -> length, or None for anything
        self.content = more.pop('content', {})
        self.mode = more.pop('mode', {})
        self.umask = more.pop('umask', 0o022)
        self.needs = more.pop('needs', None)        # a function that raises Skip
        self.env = more.pop('env', None)
        assert not more, more


def good(name, args, size, **more):
    """A run that walks SIZE bytes in each task."""
    return Row(name, args, 0, walk(size, more.pop('again', None), more.pop('free', True)), **more)


def wrong(name, args, err, **more):
    """A command line that is refused: exit 2, one line, nothing else."""
    return Row(name, args, 2, NOTHING, err, **more)


def broken(name, args, err, **more):
    return Row(name, args, 1, NOTHING, err, **more)


def indices(size, unit=0, step=8):
    """The words of a file after a walk that stores each word's index in its unit."""
    unit = unit or size
    found = {}
    for at in range(0, size, unit):
        for i in range(0, min(unit, size - at) // 8, step // 8):
            if i:
                found[at // 8 + i] = i
    return found


def no_strict_overcommit():
    with open('/proc/sys/vm/overcommit_memory', encoding='ascii') as mode:
        if mode.read().strip() == '2':
            raise Skip('vm.overcommit_memory is 2')


def huge_files():
    """Filesystems differ in how long a file may be."""
    path = f'/tmp/pagemill-cli-{os.getpid()}'
    try:
        with open(path, 'wb') as file:
            file.truncate(4 * AVAILABLE)
    except OSError as error:
        raise Skip(f'a file of {4 * AVAILABLE} bytes: {error.strerror}')
    finally:
        os.unlink(path)


sizes = [
    # SIZE as text; the walk is kept short by a step where the size is large.
    good('bytes', '1048576', MIB),
    good('hex', '0x100000', MIB),
    good('hex capitals', '0xABCD8', 0xABCD8),
    good('hex with a letter', '0x10k', 16 << 10),
    good('k', '12k', 12 << 10),
    good('K', '12K', 12 << 10),
    good('m', '3m', 3 * MIB),
    good('M', '3M', 3 * MIB),
    good('g', '-o -j 1g 2g', 16),
    good('G', '-o -j 1g 2G', 16),
    good('t', '-o -j 1t 2t', 16, needs=no_strict_overcommit),
    good('T', '-o -j 1t 2T', 16, needs=no_strict_overcommit),
    good('10m is not octal', '010m', 10 * MIB),
    good('leading zeros', '0000000000000000000000000004096', 4096),
    good('-m', '-m 3', 3 * MIB),
    good('-m 100', '-o -j 4096 -m 100', 100 * MIB // 4096 * 8),
    good('SIZE wins over -m before it', '-m 2 1m', MIB),
    good('SIZE wins over -m after it', '1m -m 2', MIB),
    good('plain 64m', '64m', 67108864),
    good('one word', '8', 8),
    good('not whole words', '12', 8),
    good('1023 bytes', '1023', 1016),
    Row('less than a word', '7', 0, FREE_ONLY),
    Row('nothing', '0', 0, FREE_ONLY),
    Row('0k', '0k', 0, FREE_ONLY),
    Row('0x0', '0x0', 0, FREE_ONLY),
    Row('nothing by five tasks', '-n 5 0', 0, FREE_ONLY, tasks=5),
    Row('nothing by five threads', '-t 5 0', 0, FREE_ONLY, tasks=5),
    Row('nothing with everything', '-y -F -Z -S -R --random-seed 3 -r 4 -u 4k 0', 2, err='--sync-rw'),
    Row('nothing, read again', '-Z -F -S -R --random-seed 3 -r 4 -u 4k 0', 0, FREE_ONLY),
    Row('nothing of a file', '-f new 0', 0, FREE_ONLY, made={'new': 0}),
    Row('nothing, preallocated', '-P 0', 0, NOTHING),
    good('a share of the memory', '-o -j 1t 1%', 8),
    good('a share by tasks', '-n 2 -o -j 1t 50%', 8, tasks=2),
    good('a share as the unit', '-u 50% 64k', 65536),
    good('a share given up', '-u 50% -u 4k 64k', 65536),
    wrong('a share of nothing known', '5%%', "'5%%'"),
    wrong('a share of a unit', '-u 101% 64k', "u.*'101%'"),
    wrong('more than all', '101%', "'101%'"),
    wrong('missing', '', 'SIZE'),
    wrong('missing after options', '-n 2 -O', 'SIZE'),
    wrong('two', '1m 2m', '2m|1m'),
    wrong('two around an option', '1m -O 2m', '2m|1m'),
    wrong('empty', [''], "''"),
    wrong('blank', [' '], "' '"),
    wrong('blank before', [' 1m'], "' 1m'"),
    wrong('blank between', ['1 m'], "'1 m'"),
    wrong('blank behind', ['1m '], "'1m '"),
    wrong('plus', '+1m', r"'\+1m'"),
    wrong('foo', 'foo', "'foo'"),
    wrong('12x', '12x', "'12x'"),
    wrong('1mb', '1mb', "'1mb'"),
    wrong('1mm', '1mm', "'1mm'"),
    wrong('1.5g', '1.5g', r"'1\.5g'"),
    wrong('1e6', '1e6', "'1e6'"),
    wrong('1p', '1p', "'1p'"),
    wrong('k alone', 'k', "'k'"),
    wrong('0x alone', '0x', "'0x'"),
    wrong('0xg', '0xg', "'0xg'"),
    wrong('99999999t', '99999999t', "'99999999t'"),
    wrong('2^64', '16777216t', "'16777216t'"),
    wrong('2^64 in bytes', '18446744073709551616', "'18446744073709551616'"),
    wrong('many digits', '9' * 400, "'9+'"),
    wrong('-1 as an option', '-1', '-1'),
    wrong('-1 behind --', '-- -1', "'-1'"),
    wrong('-1m behind --', '-- -1m', "'-1m'"),
    wrong('not a size although -m', '-m 1 foo', "'foo'"),
    wrong('-m foo', '-m foo', 'm.*foo'),
    wrong('-m with a letter', '-m 1g', 'm.*1g'),
    wrong('-m in hex', '-m 0x10', 'm.*0x10'),
    wrong('-m -1', '-m -1', 'm.*-1'),
    wrong('-m 2^64', '-m 17592186044416', 'm.*17592186044416'),
]

numbers = [
    good('-n 1', '-n 1 1m', MIB),
    good('-n 3', '-n 3 64k', 65536, tasks=3),
    good('--nproc=3', '--nproc=3 64k', 65536, tasks=3),
    good('-n 0 is not given', '-n 0 64k', 65536),
    good('-n auto', '-n auto 64k', 65536, tasks=CPUS),
    good('-n 10%', '-n 10% 64k', 65536, tasks=max(CPUS // 10, 1)),
    good('-n 100%', '-n 100% 64k', 65536, tasks=CPUS),
    good('-n 2x', '-n 2x 64k', 65536, tasks=2 * CPUS),
    good('-n16', '-n16 4k', 4096, tasks=16),
    good('-n leading zeros', '-n 010 4k', 4096, tasks=10),
    good('-t 3', '-t 3 64k', 65536, tasks=3),
    good('-t 0 is not given', '-t 0 64k', 65536),
    good('-t 1', '-t 1 64k', 65536),
    good('-n 3 -t 2', '-n 3 -t 2 64k', 65536, tasks=6),
    good('-n 0 -t 2', '-n 0 -t 2 64k', 65536, tasks=2),
    wrong('-n -1', '-n -1 1m', "n.*'-1'"),
    wrong('-n abc', '-n abc 1m', "n.*'abc'"),
    wrong('-n empty', ['-n', '', '1m'], "n.*''"),
    wrong('-n +2', '-n +2 1m', r"n.*'\+2'"),
    wrong('-n 2.5', '-n 2.5 1m', r"n.*'2\.5'"),
    wrong('-n 0x2', '-n 0x2 1m', "n.*'0x2'"),
    wrong('-n 2k', '-n 2k 1m', "n.*'2k'"),
    wrong('-n 2^32', '-n 4294967296 4k', 'n.*4294967296'),
    wrong('-n 2^64', '-n 18446744073709551616 4k', 'n.*18446744073709551616'),
    wrong('-n times -t', '-n 100000 -t 100000 0', 'task|thread|nproc'),
    wrong('-n x', '-n x 1m', "n.*'x'"),
    wrong('-n %', '-n % 1m', "n.*'%'"),
    wrong('-n without', '1m -n', 'n'),
    wrong('-t -1', '-t -1 1m', "t.*'-1'"),
    wrong('-t abc', '-t abc 1m', "t.*'abc'"),
    wrong('-b -1', '-b -1 1m', "b.*'-1'"),
    wrong('-b abc', '-b abc 1m', "b.*'abc'"),
    good('-b 0 is not given', '-b 0 64k', 65536),
    good('-b 1', '-b 1 -n 3 64k', 65536, tasks=3),
    good('-b beyond the CPUs', '-b 99999999999 -n 3 64k', 65536, tasks=3),
    good('-b none', '-b none 64k', 65536),
    good('-b node', '-b node -n 3 64k', 65536, tasks=3),
    wrong('-r -1', '-r -1 1m', "r.*'-1'"),
    wrong('-r abc', '-r abc 1m', "r.*'abc'"),
    Row('-r 0', '-r 0 1m', 0, FREE_ONLY),
    Row('-r 0 -F', '-r 0 -F 1m', 0, FREE_ONLY),
    Row('-r 0 -Z', '-r 0 -Z 1m', 0, FREE_ONLY),
    Row('-r 0 -P', '-r 0 -P 1m', 0, NOTHING),
    good('-r 3', '-r 3 1m', 3 * MIB),
    good('-r 3 -o', '-r 3 -o 1m', 3 * MIB),
    good('-r 3 -R', '-r 3 -R 1m', 3 * MIB, err=SEED),
    good('-r 3 -j 64', '-r 3 -j 64 1m', 3 * MIB // 8),
    good('-r 3 -u', '-r 3 -u 64k 1m', 3 * MIB),
    good('-r 3 -Z', '-r 3 -Z 1m', 3 * MIB, again=3 * MIB),
    good('-r 3 -n 2 -t 2', '-r 3 -n 2 -t 2 64k', 3 * 65536, tasks=4),
    good('-j 8', '-j 8 1m', MIB),
    good('-j 64', '-j 64 1m', MIB // 8),
    good('-j 4096', '-j 4096 1m', MIB // 512),
    good('-j 4k', '-j 4k 100m', 204800),
    good('-j 12 is 8', '-j 12 1m', MIB),
    good('-j 71 is 64', '-j 71 1m', MIB // 8),
    good('-j 24 does not divide', '-j 24 1m', words(MIB, 24)),
    good('-j 0 is not given', '-j 0 1m', MIB),
    good('-j 2g', '-j 2g 1m', 8),
    good('-j 16777215t', '-j 16777215t 1m', 8),
    good('-j equal to SIZE', '-j 1m 1m', 8),
    good('-j a word less than SIZE', f'-j {MIB - 8} 1m', 16),
    good('-j hex', '-j 0x40 1m', MIB // 8),
    good('-j 64 -R', '-j 64 -R 1m', MIB // 8, err=SEED),
    good('-j 64 -o', '-j 64 -o 1m', MIB // 8),
    good('-j 64 -Z', '-j 64 -Z 1m', MIB // 8, again=MIB // 8),
    wrong('-j 4', '-j 4 1m', 'step'),
    wrong('-j 7', '-j 7 1m', 'step'),
    wrong('-j foo', '-j foo 1m', "step.*'foo'"),
    wrong('-j -8', '-j -8 1m', "step.*'-8'"),
    wrong('-j 2^64', '-j 16777216t 1m', "step.*'16777216t'"),
    good('-u divides', '-u 64k 1m', MIB),
    good('-u does not divide', '-u 3000 10000', words(10000, 8, 3000)),
    good('-u does not divide, -j 64', '-u 3000 -j 64 10000', words(10000, 64, 3000)),
    good('-u does not divide, -j > -u', '-u 3000 -j 4096 10000', 32),
    good('-u not whole words', '-u 12 100', 64),
    Row('-u less than a word', '-u 4 4k', 0, FREE_ONLY),
    good('-u 0 is not given', '-u 0 1m', MIB),
    good('-u = SIZE', '-u 1m 1m', MIB),
    good('-u > SIZE', '-u 2m 1m', MIB),
    good('-u much > SIZE', '-u 16777215t 1m', MIB),
    good('-u a page', f'-u {PAGE} 4m', 4 * MIB),
    good('-u and tasks', '-u 64k -n 2 -t 2 1m', MIB, tasks=4),
    good('-u -R', '-u 64k -R 1m', MIB, err=SEED),
    good('-u -Z', '-u 64k -Z 1m', MIB, again=MIB),
    good('-u -P', '-u 64k -P 1m', MIB, free=False),
    good('-u -P not whole words', '-u 12 -P 100', 64, free=False),
    good('-u -P -S not whole pages', '-u 3000 -P -S 10000', words(10000, 8, 3000), free=False),
    good('-u -P -A not whole words', '-u 12 -P -A 100', 64, free=False),
    good('-u -P -a -S', '-u 3000 -P -a -S 10000', words(10000, 8, 3000), free=False),
    good('-u -P -Z', '-u 64k -P -Z 1m', MIB, again=MIB, free=False),
    good('-u -a', '-u 3000 -a 10000', words(10000, 8, 3000)),
    wrong('-u foo', '-u foo 1m', "unit.*'foo'"),
    wrong('-u -1', '-u -1 1m', "unit.*'-1'"),
    wrong('-y -u', '-y -u 64k 1m', '--sync-rw|--unit'),
    wrong('-y -u > SIZE', '-y -u 2m 1m', '--sync-rw|--unit'),
    good('-y -u = SIZE', '-y -u 1024k 1m', MIB),
    good('-y -u 0', '-y -u 0 1m', MIB),
    good('-y', '-y -n 2 1m', MIB, tasks=2),
    good('-y -t', '-y -t 2 1m', MIB, tasks=2),
    good('-y -P', '-y -P -n 2 1m', MIB, tasks=2, free=False),
    good('--sync-rw -F', '--sync-rw -F 1m', MIB),
    good('--random-seed', '-R --random-seed 7 1m', MIB),
    good('--random-seed alone', '--random-seed 7 1m', MIB),
    good('--random-seed 0 is not given', '-R --random-seed 0 1m', MIB, err=SEED),
    good('--random-seed 2^64-1', '-R --random-seed 18446744073709551615 1m', MIB),
    wrong('--random-seed x', '-R --random-seed x 1m', "random-seed.*'x'"),
    wrong('--random-seed -1', '-R --random-seed -1 1m', "random-seed.*'-1'"),
    wrong('--random-seed 2^64', '-R --random-seed 18446744073709551616 1m', 'random-seed'),
    wrong('--random-seed in hex', '-R --random-seed 0x10 1m', 'random-seed'),
    good('-T long enough', '-T 60 1m', MIB),
    good('-T 0 is not given', '-T 0 1m', MIB),
    good('-T 60s', '-T 60s 1m', MIB),
    good('-T 1m', '-T 1m 1m', MIB),
    good('-T 1h', '-T 1h 1m', MIB),
    good('-T 60000ms', '-T 60000ms 1m', MIB),
    good('-T the longest', '-T 9223372036 1m', MIB),
    wrong('-T longer', '-T 9223372037 1m', "runtime.*'9223372037'"),
    Row('-T of nothing', '-T 60 -n 3 0', 0, FREE_ONLY, tasks=3),
    good('-T -r 0', '-T 1 -r 0 1m', 0),
    good('-T -Z', '-T 60 -Z -n 2 1m', MIB, again=MIB, tasks=2),
    wrong('-T abc', '-T abc 1m', "runtime.*'abc'"),
    wrong('-T -1', '-T -1 1m', "runtime.*'-1'"),
    wrong('-T 1.5', '-T 1.5 1m', "runtime.*'1.5'"),
    wrong('-T 2^64', '-T 18446744073709551616 1m', 'runtime'),
    wrong('-T 5d', '-T 5d 1m', "runtime.*'5d'"),
    wrong('--samples x', '--samples x 1m', "samples.*'x'"),
    wrong('--samples -1', '--samples -1 1m', "samples.*'-1'"),
    wrong('--samples beyond reason', '--samples 18446744073709551615 1m', 'samples'),
    wrong('--warmup x', '--warmup x 1m', "warmup.*'x'"),
    wrong('--interval x', '--interval x 1m', "interval.*'x'"),
]

words_and_letters = [
    good('-O', '-O 1m', MIB),
    good('--anonymous', '--anonymous 1m', MIB),
    good('-a', '-a 1m', MIB),
    good('-a -n -t', '-a -n 2 -t 2 1m', MIB, tasks=4),
    good('-a -o', '-a -o 1m', MIB),
    good('-a -R', '-a -R 1m', MIB, err=SEED),
    good('-a -Z', '-a -Z 1m', MIB, again=MIB),
    good('-a -P', '-a -P -n 2 1m', MIB, tasks=2, free=False),
    good('-a -S', '-a -S 1m', MIB),
    good('-a -A of no whole page', '-a -A 1000', 1000),
    good('-a -f', '-a -f new 1m', MIB, err=IGNORED),
    good('-a -f existing and short', '-a -f short 1m', MIB, err=IGNORED, files={'short': 4096}),
    good('-a -F', '-a -F 1m', MIB, err=IGNORED),
    good('-a -O', '-a -O 1m', MIB, err=IGNORED),
    good('-a --memfd', '-a --memfd 1m', MIB, err=IGNORED),
    good('-a with all of them', '-a -f new -F -O --memfd 1m', MIB, err=IGNORED),
    good('-a -f -u 5000', '-a -f new -u 5000 10000', words(10000, 8, 5000), err=IGNORED),
    good('-F', '-F 1m', MIB),
    good('-F -O', '-F -O 1m', MIB),
    good('-F -o', '-F -o 1m', MIB),
    good('-P', '-P 1m', MIB, free=False),
    good('-P -n', '-P -n 3 1m', MIB, tasks=3, free=False),
    good('-P -t', '-P -t 3 1m', MIB, tasks=3, free=False),
    good('-P -O -F', '-P -O -F -n 2 1m', MIB, tasks=2, free=False),
    good('-P -r 3', '-P -r 3 -n 2 1m', 3 * MIB, tasks=2, free=False),
    good('-P -T', '-P -T 60 -n 2 1m', MIB, tasks=2, free=False),
    good('-P -Z', '-P -Z -n 2 1m', MIB, again=MIB, tasks=2, free=False),
    good('--init-time', '--init-time 1m', MIB, init=True),
    good('--init-time -n', '--init-time -n 3 1m', MIB, init=True, tasks=3),
    good('--init-time -P', '--init-time -P -n 2 1m', MIB, init=True, tasks=2, free=False),
    Row('--init-time of nothing', '--init-time 0', 0, FREE_ONLY, init=True),
    good('-o', '-o 1m', MIB),
    good('-o -w', '-o -w 1m', MIB),
    good('-w', '-w 1m', MIB),
    good('-R', '-R 1m', MIB, err=SEED),
    good('-R -o', '-R -o 1m', MIB, err=SEED),
    good('-R -Z', '-R --random-seed 5 -Z 1m', MIB, again=MIB),
    good('-S', '-S 1m', MIB),
    good('-A', '-A 1m', MIB),
    good('-S -A', '-S -A 1m', MIB),
    good('-S -O -P', '-S -O -P 1m', MIB, free=False),
    good('-Z', '-Z 1m', MIB, again=MIB),
    good('-Z -n -t', '-Z -n 2 -t 2 1m', MIB, again=MIB, tasks=4),
    good('-Z -j', '-Z -j 4096 1m', MIB // 512, again=MIB // 512),
    good('-Z --init-time', '-Z --init-time 1m', MIB, again=MIB, init=True),
    good('-q', '-q 1m', MIB),
    good('--quiet', '--quiet 1m', MIB),
    # getopt_long's ways
    good('letters together', '-OR 1m', MIB, err=SEED),
    good('letters and a number together', '-Zj4096 1m', MIB // 512, again=MIB // 512),
    good('long with a blank', '--step 64 1m', MIB // 8),
    good('long with =', '--step=64 1m', MIB // 8),
    good('SIZE first', '1m -n 2 -O', MIB, tasks=2),
    good('SIZE between', '-n 2 1m -O', MIB, tasks=2),
    good('SIZE behind --', '-n 2 -- 1m', MIB, tasks=2),
    good('the last of two', '-n 5 -n 2 64k', 65536, tasks=2),
    good('the last of two, short and long', '--step 64 -j 4096 1m', MIB // 512),
    good('a flag twice', '-O -O 1m', MIB),
    good('a file whose name is an option', '-f -O 1m', MIB, made={'-O': MIB}),
    good('mixed although POSIXLY_CORRECT', '1m -n 2', MIB, tasks=2, env={'POSIXLY_CORRECT': '1'}),
    wrong('option behind --', '1m -- -O', '-O'),
    wrong('unknown letter', '-X 1m', '-X'),
    wrong('unknown letter in a bundle', '-OXR 1m', '-X'),
    wrong('unknown name', '--nonsense 1m', '--nonsense'),
    wrong('unknown name with =', '--nonsense=3 1m', '--nonsense'),
    wrong('unknown and no SIZE', '--nonsense', '--nonsense'),
    wrong('argument for a flag', '--quiet=1 1m', '--quiet'),
    wrong('argument missing', '1m --step', '--step'),
    wrong('argument missing, letter', '1m -f', 'f'),
    wrong('only a dash', '-', "'-'"),
    # Abbreviations. Only those that stay when the old program's other names come.
    good('--ru', '--ru 60 1m', MIB),
    good('--read-a', '--read-a 1m', MIB, again=MIB),
    good('--reado', '--reado 1m', MIB),
    good('--rep', '--rep 2 1m', 2 * MIB),
    good('--random is a full name', '--random --random-seed 4 1m', MIB),
    good('--random-', '-R --random- 4 1m', MIB),
    good('--random-s=', '-R --random-s=4 1m', MIB),
    good('--i', '--i 1m', MIB, init=True),
    good('--in', '--in 1m', MIB, init=True),
    good('--int', '--int 60 1m', MIB, err='.*'),
    good('--np', '--np 2 64k', 65536, tasks=2),
    good('--st', '--st 64 1m', MIB // 8),
    good('--u', '--u 64k 1m', MIB),
    good('--an', '--an 1m', MIB),
    good('--me', '--me 1m', MIB),
    good('--pref', '--pref 1m', MIB),
    good('--prea', '--prea 1m', MIB, free=False),
    good('--op', '--op 1m', MIB),
    good('--b', '--b 1 64k', 65536),
    good('--q', '--q 1m', MIB),
    good('--th', '--th 2 64k', 65536, tasks=2),
    good('--sync-r', '--sync-r 1m', MIB),
    good('--msync-', '--msync- 1m', MIB),
    good('--msync is a full name', '--msync 1m', MIB),
    good('--mal', '--mal 1m', MIB),
    wrong('--rand fits two', '--rand 1m', '--rand'),
    wrong('--r fits many', '--r 1m', '--r'),
    wrong('--re fits many', '--re 1m', '--re'),
    wrong('--ms fits two', '--ms 1m', '--ms'),
    wrong('--pre fits two', '--pre 1m', '--pre'),
    wrong('--s fits many', '--s 1 1m', '--s'),
]

files = [
    good('-f missing', '-f new 1m', MIB, made={'new': MIB}, content={'new': indices(MIB)}),
    good('-f missing, odd length', '-f new 5000', 5000, made={'new': 5000},
         content={'new': indices(5000)}),
    good('-f missing, mode', '-f new 4k', 4096, made={'new': 4096}, mode={'new': 0o644}),
    good('-f missing, umask 077', '-f new 4k', 4096, made={'new': 4096}, mode={'new': 0o600}, umask=0o077),
    good('-f missing, umask 0', '-f new 4k', 4096, made={'new': 4096}, mode={'new': 0o666}, umask=0),
    good('-f with a name that is odd', ['-f', 'a b:c\n"\\%s', '4k'], 4096, made={'a b:c\n"\\%s': 4096}),
    good('-f with a name not in UTF-8', [b'-f', b'\xff\xfe', b'4k'], 4096, made={'\udcff\udcfe': 4096}),
    good('-f exact', '-f f 1m', MIB, files={'f': MIB}, content={'f': indices(MIB)}),
    good('-f longer', '-f f 1m', MIB, files={'f': 2 * MIB}, content={'f': indices(MIB)}),
    good('-f --file', '--file f 1m', MIB, files={'f': MIB}),
    good('-f keeps the mode', '-f f 4k', 4096, files={'f': 4096}, mode={'f': 0o640}),
    good('-f by many', '-f f -n 3 -t 2 64k', 65536, tasks=6, files={'f': 65536}, content={'f': indices(65536)}),
    good('-f checked', '-f f -n 2 -r 4 64k', 4 * 65536, tasks=2, files={'f': 65536}),
    good('-f -j 64', '-f f -j 64 64k', 8192, files={'f': 65536}, content={'f': indices(65536, 0, 64)}),
    good('-f -j 4096', '-f f -j 4k 64k', 128, files={'f': 65536}, content={'f': indices(65536, 0, 4096)}),
    good('-f -u', f'-f f -u {2 * PAGE} {5 * PAGE + 80}', 5 * PAGE + 80, files={'f': 5 * PAGE + 80},
         content={'f': indices(5 * PAGE + 80, 2 * PAGE)}),
    good('-f -u -P', f'-f f -P -u {2 * PAGE} {5 * PAGE}', 5 * PAGE, files={'f': 5 * PAGE}, free=False,
         content={'f': indices(5 * PAGE, 2 * PAGE)}),
    good('-f -P by many', '-f f -P -n 2 64k', 65536, tasks=2, free=False, files={'f': 65536},
         content={'f': indices(65536)}),
    good('-f -y -F', '-f f -y -F 64k', 65536, files={'f': 65536}, content={'f': indices(65536)}),
    good('-f -Z', '-f f -Z 64k', 65536, again=65536, files={'f': 65536}),
    good('-f -S', '-f f -S -r 2 64k', 131072, files={'f': 65536}),
    good('-f -A', '-f f -A -r 2 64k', 131072, files={'f': 65536}),
    good('-f -S -u', f'-f f -S -u {PAGE} 64k', 65536, files={'f': 65536}),
    good('-f -S -o', '-f f -S -o 64k', 65536, files={'f': 65536}),
    good('-f -S of odd length', '-f new -S 5001', 5000, made={'new': 5001}),
    good('-f -T', '-f f -T 60 64k', 65536, files={'f': 65536}),
    good('-f -R, every word', '-f f -R --random-seed 3 -r 1000 64', 64000, files={'f': 64},
         content={'f': indices(64)}),
    good('-f -o reads only', '-f f -o 64k', 65536, files={'f': 65536}, content={'f': {}}),
    good('-f -o -w reads only', '-f f -o -w 64k', 65536, files={'f': 65536}, content={'f': {}}),
    good('-f -r 0 only allocates', '-f f -r 0 64k', 0, files={'f': 65536}, content={'f': {}}),
    good('-f missing -o -w', '-f new -o -w 64k', 65536, made={'new': 65536}, content={'new': {}}),
    good('-f missing -r 0', '-f new -r 0 64k', 0, made={'new': 65536}),
    good('-f beyond the memory', f'-f f -j 1t {4 * AVAILABLE}', 8 * -(-4 * AVAILABLE // (1 << 40)),
         files={'f': 4 * AVAILABLE}, needs=huge_files),
    good('-f twice', '-f one -f two 4k', 4096, made={'two': 4096}),
    good('-f a link to a missing file', '-f link 4k', 4096, files={'link': lambda path: os.symlink('new', path)},
         made={'link': None, 'new': 4096}),
    broken('-f missing -o', '-f new -o 1m', 'new: No such file'),
    broken('-f missing --readonly -n 2', '-f new -n 2 --readonly 1m', 'new: No such file'),
    broken('-f in a folder that is missing', '-f no/new 1m', 'no/new: No such file'),
    broken('-f empty name', ['-f', '', '1m'], 'No such file'),
    broken('-f a folder', '-f d 1m', r'\bd: Is a directory', files={'d': os.mkdir}),
    broken('-f a folder -o', '-f d -o 1m', r'\bd\b', files={'d': os.mkdir}),
    broken('-f under a file', '-f f/x 1m', 'f/x: Not a directory', files={'f': 0}),
    broken('-f shorter', '-f short 4m', r'short.*file is shorter than the mapping.*\b1048576\b', files={'short': MIB},
           content={'short': {}}),
    broken('-f shorter -n 2 --readonly', '-f short -n 2 --readonly 4m',
           r'short.*file is shorter than the mapping.*\b1048576\b', files={'short': MIB}),
    broken('-f shorter by a byte', '-f short 4096', r'file is shorter than the mapping.*\b4095\b',
           files={'short': 4095}),
    broken('-f empty', '-f short 1', r'file is shorter than the mapping.*\b0\b', files={'short': 0}),
    broken('-f shorter -P', '-f short -P 4m', 'file is shorter than the mapping', files={'short': MIB}),
    broken('-f shorter -u', f'-f short -u {PAGE} 4m', 'file is shorter than the mapping', files={'short': MIB}),
    broken('-f of a length that no file has', '--force -f new 1000000t', '.*', made={}),
    broken('-f /dev/null', '-f /dev/null 1m', '/dev/null'),
    broken('-f a pipe', '-f p 1m', r'\bp\b', files={'p': os.mkfifo}, made={'p': None}),
    broken('-f a pipe -o', '-f p -o 1m', r'\bp\b', files={'p': os.mkfifo}, made={'p': None}),
    wrong('-f -u not whole pages', '-f f -u 5000 64k', '--unit', files={'f': 65536}, content={'f': {}}),
    wrong('-f -u not whole pages, SIZE less', '-f f -u 5000 4k', '--unit', files={'f': 4096}),
    wrong('-f -P -u not whole pages', '-f f -P -u 5000 64k', '--unit', files={'f': 65536}),
    wrong('-f missing -u not whole pages', '-f new -u 5000 64k', '--unit'),
    wrong('--memfd -u not whole pages', '--memfd -u 5000 64k', '--unit'),
    good('-O -f -u 5000', '-O -f f -u 5000 10000', words(10000, 8, 5000)),
    good('-f /dev/zero', '-f /dev/zero 1m', MIB),
    good('-f /dev/zero -n 2 -r 3', '-f /dev/zero -n 2 -r 3 1m', 3 * MIB, tasks=2),
    good('-f /dev/zero -P', '-f /dev/zero -P -n 2 1m', MIB, tasks=2, free=False),
    good('-f /dev/zero -o', '-f /dev/zero -o 1m', MIB),
    good('-f /dev/zero -u', f'-f /dev/zero -u {PAGE} 64k', 65536),
    good('-w -f /dev/zero', '-w -f /dev/zero 1m', MIB),
    good('-O -f does not open', '-O -f new 1m', MIB),
    good('-O -f missing -o', '-O -f new -o 1m', MIB),
    good('-O -f short', '-O -f short 1m', MIB, files={'short': 0}),
    good('-O -f folder', '-O -f d -n 2 1m', MIB, tasks=2, files={'d': os.mkdir}),
    good('-O --memfd', '-O --memfd -f new 1m', MIB),
    good('-O -f -P', '-O -f new -P -n 2 -r 2 1m', 2 * MIB, tasks=2, free=False),
    good('--memfd', '--memfd 1m', MIB),
    good('--memfd -n 2', '--memfd -n 2 -r 2 1m', 2 * MIB, tasks=2),
    good('--memfd -f', '--memfd -f new 1m', MIB),
    good('--memfd -f existing', '--memfd -f f 1m', MIB, files={'f': 10}),
    good('--memfd -f /', '--memfd -f /no/such/file 1m', MIB),
    good('--memfd -f -n 2 -P', '--memfd -f new -n 2 -P 1m', MIB, tasks=2, free=False),
    good('--memfd -o', '--memfd -o 1m', MIB),
    good('--memfd -f -S -Z', '--memfd -f new -S -Z 1m', MIB, again=MIB),
    good('--memfd -u', f'--memfd -f new -u {PAGE} 64k', 65536),
    good('--memfd 5000', '--memfd -f new 5000', 5000),
]

room = [
    wrong('200t', '200t', '--force'),
    wrong('-O 200t', '-O 200t', '--force'),
    wrong('-a 200t', '-a 200t', '--force'),
    wrong('--memfd 200t', '--memfd 200t', '--force'),
    wrong('-f /dev/zero 200t', '-f /dev/zero 200t', '--force'),
    wrong('-n 2 200t', '-n 2 200t', '--force'),
    wrong('2^64 - 1', '18446744073709551615', '--force'),
    wrong('-n 3 2^63', '-n 3 8388608t', '--force'),
    wrong('more than there is', f'{AVAILABLE + (64 << 20) + AVAILABLE // 8}', '--force'),
    wrong('together more, processes', f'-n 8 {AVAILABLE // 4}', '--force'),
    wrong('together more, threads', f'-t 8 {AVAILABLE // 4}', '--force'),
    wrong('together more, -f /dev/zero', f'-n 8 -f /dev/zero {AVAILABLE // 4}', '--force'),
    wrong('together more, -O -f', f'-n 8 -O -f x {AVAILABLE // 4}', '--force'),
    wrong('together more, private -P', f'-n 8 -P {AVAILABLE // 4}', '--force'),
    wrong('together more, -u', f'-n 8 -u 1m {AVAILABLE // 4}', '--force'),
    wrong('-o -F -w is not only read', f'-o -w -F {2 * AVAILABLE}', '--force'),
    wrong('-P -F and copies', f'-n 8 -P -F {AVAILABLE // 8}', '--force'),
    wrong('-a -f -P', f'-a -f x -n 8 -P {AVAILABLE // 4}', '--force'),
    Row('-P -F, only read', f'--dry-run -n 8 -P -F -o -w {AVAILABLE // 4}', 0, None),
    Row('-P -F, not walked', f'--dry-run -n 8 -P -F -r 0 {AVAILABLE // 4}', 0, None),
    Row('-P -F, few pages walked', f'--dry-run -n 8 -P -F -j 2m {AVAILABLE // 4}', 0, None),
    wrong('more units than mappings', '-u 4k 1t -o', 'max_map_count'),
    Row('units that merge', '--dry-run -O -u 4k 1t -o', 0, None),
    Row('shared by threads of -P', f'--dry-run -t 8 -P {AVAILABLE // 4}', 0, None),
    Row('shared by all of -P, -f /dev/zero', f'--dry-run -n 8 -P -f /dev/zero {AVAILABLE // 4}', 0, None),
    Row('shared by all of --memfd -f', f'--dry-run -n 8 --memfd -f x {AVAILABLE // 4}', 0, None),
    Row('not written', f'--dry-run -n 8 -o {AVAILABLE // 4}', 0, None),
    Row('a file', f'--dry-run -n 8 -f x {AVAILABLE}', 0, None),
    Row('forced', '--dry-run --force 200t', 0, None),
    Row('allocated only', f'--dry-run -r 0 {2 * AVAILABLE}', 0, None),
    good('-o beyond the memory', '-o -j 1t 16t', 128, needs=no_strict_overcommit),
    broken('-o 100000t cannot map', '--force -o 100000t', 'map 100000t.*: Cannot allocate memory'),
    broken('--force cannot map', '--force 100000t', 'map 100000t.*: Cannot allocate memory'),
    broken('--force -P cannot map', '--force -P 100000t', 'map 100000t.*: Cannot allocate memory'),
    broken('--force -a cannot', '--force -a 100000t', '100000t.*: Cannot allocate memory'),
    Row('--dry-run does nothing', '--dry-run -f new -n 3 1m', 0, None),
    wrong('--dry-run of nonsense', '--dry-run foo', "'foo'"),
]


def prepare(row, folder):
    for name, what in row.files.items():
        path = os.path.join(folder, name)
        if callable(what):
            what(path)
            continue
        with open(path, 'wb') as file:
            file.truncate(what)
        if name in row.mode:
            os.chmod(path, row.mode[name])


def words_of(path):
    """{index: value} of the words that are not 0, and -1 for a rest that is not 0."""
    with open(path, 'rb') as file:
        data = file.read()
    whole = len(data) // 8 * 8
    found = {i: value for i, value in enumerate(memoryview(data[:whole]).cast('Q')) if value}
    if any(data[whole:]):
        found[-1] = data[whole:]
    return found


def difference(want, got):
    for i in sorted(set(want) | set(got)):
        if want.get(i, 0) != got.get(i, 0):
            return f'word {i} is {got.get(i, 0)}, not {want.get(i, 0)}'
    return ''


def check_files(tests, row, folder):
    there = {name: os.lstat(os.path.join(folder, name)) for name in os.listdir(folder)}
    tests.check(f'{row.name}: files', sorted(row.made), sorted(there))
    for name, length in row.made.items():
        if name in there and isinstance(length, int):
            tests.check(f'{row.name}: length of {name!a}', length, there[name].st_size)
    for name, mode in row.mode.items():
        if name in there:
            tests.check(f'{row.name}: mode of {name!a}', oct(mode), oct(stat.S_IMODE(there[name].st_mode)))
    for name, want in row.content.items():
        if name in there:
            tests.check(f'{row.name}: content of {name!a}', '', difference(want, words_of(os.path.join(folder, name))))


def check_stderr(tests, row, result):
    if not row.err:
        tests.check(f'{row.name}: stderr', b'', result.err)
        return
    line = one_line(result.err)
    found = line is not None and re.search(row.err, line)
    tests.check(f'{row.name}: stderr', f'one line like {row.err!r}', result.err, bool(found))


def check_stdout(tests, row, result):
    if row.out is None:
        return
    lines = read_lines(result.out)
    want = (['I'] if row.init else []) + row.out * row.tasks
    tests.check(f'{row.name}: stdout', brief([(w[0], w[1:], 1) for w in want]), brief(lines))
    tests.check(f'{row.name}: order', 'each task: walk, read again, free', result.out, in_order(lines))
    if row.init:
        tests.check(f'{row.name}: init line', 'first', result.out, lines[:1] != [] and lines[0][0] == 'I')


def try_row(tests, row):
    try:
        if row.needs:
            row.needs()
    except Skip as reason:
        tests.skip(row.name, reason)
        return
    with tests.folder() as folder:
        prepare(row, folder)
        result = run(tests, row.args, cwd=folder, env=row.env, seconds=10,
                     before=lambda: os.umask(row.umask) and None)
        tests.check(f'{row.name}: status', row.status, result.status)
        check_stdout(tests, row, result)
        check_stderr(tests, row, result)
        check_files(tests, row, folder)


def rows_of(table):
    def try_rows(tests):
        names = [row.name for row in table]
        assert len(set(names)) == len(names), 'two rows of one name'
        for row in table:
            try_row(tests, row)
    return try_rows


def help_is_golden(tests):
    with open(GOLDEN, 'rb') as golden:
        want = golden.read()
    for args in (['--help'], ['-h'], ['--he'], ['-n', '3', '--help', '1m'], ['1m', '2m', '-h']):
        result = run(tests, args)
        tests.check(f'{args}: status', 0, result.status)
        odd = [line for line in difflib.ndiff(want.decode().splitlines(), result.out.decode().splitlines())
               if line[:2] in ('- ', '+ ')]
        tests.check(f'{args}: stdout, against {os.path.basename(GOLDEN)}', [], odd)
        tests.check(f'{args}: line end', want[-1:], result.out[-1:])
        tests.check(f'{args}: stderr', b'', result.err)


def version_is_said(tests):
    result = run(tests, ['--version'])
    tests.check('--version: status', 0, result.status)
    tests.check('--version: stdout', 'usemem ... 1.2.3', result.out,
                bool(re.fullmatch(rb'usemem .*\d+\.\d+.*\n', result.out)))
    tests.check('--version: stderr', b'', result.err)


def dry_run_says_something(tests):
    result = run(tests, ['--dry-run', '-n', '3', '1m'])
    tests.check('--dry-run: stdout', 'one line, none of a task', result.out,
                result.out.count(b'\n') == 1 and not any(isinstance(line, tuple) for line in read_lines(result.out)))


sections = {
    'sizes': [rows_of(sizes)],
    'numbers': [rows_of(numbers)],
    'words': [rows_of(words_and_letters), help_is_golden, version_is_said],
    'files': [rows_of(files)],
    'room': [rows_of(room), dry_run_says_something],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
