# SPDX-License-Identifier: GPL-2.0-or-later
"""partners - usemem with somebody who reads its lines, signals its processes, or answers its menu.

Usage: partners.py BINARY [SECTION]...

A row is a command line and a script, the words of which are steps:
    3xW65536+3xF    these are the next lines, whoever prints them first; W* of any size. Kinds: those of the
                    harness; read, write, thp, punch, main: somebody waits for SIGUSR1; holes; menu; addr4096
    usr1            all who wait sleep and nothing more is said: SIGUSR1 to each of them; usr1>one: to the first
    term, int, kill a signal to usemem; >task, >last, >other (that said no waiting line), >tasks,
                    >group, >hit (the last one signalled), >usemem
    .               all processes of the run sleep, and nothing more is said
    born            the first task is there, however far it is
    walks, works    all tasks are in their walk; the one signalled is at work, or was
    settled         no signal is pending at any task
    key:lq          keys for the menu; key:end is the end of input
    lck:64, map:64  kB that the task has locked; the length in kB of one of its mappings
    ..., anything   whole lines with figures until the end, or none; whole lines of any kind
    =143            usemem ends so, nobody is left, no other line was printed; =SIGTERM: or is killed by it
    stays           usemem has not ended
    exit0, left     usemem ends with 0; and its processes stay, and the file pids has them in order
    over            the same for those that stayed, whose status nobody sees
"""
import collections
import contextlib
import json
import mmap
import os
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from harness import (FIVE, MIB, PAGE, PATIENCE, Run, Skip, Tests, alive, be_nobody, brief, children,  # noqa: E402
                     cpu_ticks, in_order, left_of, read_lines, run, stat_fields, status_line, status_of, until)

FOR_EVER = '-r 1000000000000'
SOON = 5            # seconds: generous for what is to be over at once
SIGNALS = {'usr1': signal.SIGUSR1, 'int': signal.SIGINT, 'term': signal.SIGTERM, 'kill': signal.SIGKILL}
WAITERS = {b'Read Process': 'read', b'Write Process': 'write', b'madvise MADV_HUGEPAGE Process': 'thp',
           b'Punch holes Process': 'punch', b'Main Process': 'main'}
WAITING = re.compile(rb'(' + b'|'.join(WAITERS) + rb') (\d+) is waiting signal')
ADDRESS = re.compile(rb'(\d+) 0x([0-9a-f]+)-0x([0-9a-f]+)')
MENU = re.compile(rb'.*\bl mlock\b.*\bu munlock\b.*\br mremap\b.*\ba\b.*\bq\b.*')
WRONG = 0xa5a5a5a5a5a5a5a5


class Lost(Exception):
    """A check failed, and the rest of the script has no meaning."""


def line_of(text):
    """A line as (kind, bytes, more); as its text if there is no such kind."""
    waiting, address = WAITING.fullmatch(text), ADDRESS.fullmatch(text)
    if waiting:
        return (WAITERS[waiting.group(1)], 0, int(waiting.group(2)))
    if address:
        start, end = int(address.group(2), 16), int(address.group(3), 16)
        return ('addr', end - start, (int(address.group(1)), start))
    if text == b'punch holes done':
        return ('holes', 0, 0)
    return ('menu', 0, 0) if MENU.fullmatch(text) else read_lines(text + b'\n')[0]


def threads_of(pid):
    """The threads of a process as /proc/PID/task/TID names them."""
    with contextlib.suppress(OSError):
        return [f'{pid}/task/{tid}' for tid in os.listdir(f'/proc/{pid}/task')]
    return []


def asleep(pid):
    return all((stat_fields(thread) or [b'S'])[0] in (b'S', b'Z', b'X') for thread in threads_of(pid))


def nothing_pending(pid):
    with contextlib.suppress(OSError):
        return not any(int(status_line(thread, key) or '0', 16) for thread in threads_of(pid)
                       for key in ('SigPnd', 'ShdPnd'))
    return True


def kilobytes(pid, key):
    with contextlib.suppress(OSError):
        return int((status_line(pid, key) or '0').split()[0])
    return 0


def mappings(pid):
    """(start, length) of each."""
    with contextlib.suppress(OSError), open(f'/proc/{pid}/maps', encoding='utf-8', errors='replace') as maps:
        ends = [[int(n, 16) for n in line.split(None, 1)[0].split('-')] for line in maps]
        return [(start, end - start) for start, end in ends]
    return []


def resident_bytes(pid, start, length):
    """What of these addresses is in memory for that process."""
    total, inside = 0, False
    with contextlib.suppress(OSError), open(f'/proc/{pid}/smaps', encoding='utf-8', errors='replace') as smaps:
        for line in smaps:
            first = line.split(None, 1)[0]
            if re.fullmatch('[0-9a-f]+-[0-9a-f]+', first):
                inside = start <= int(first.split('-')[0], 16) < start + length
            elif first == 'Rss:' and inside:
                total += int(line.split()[1]) * 1024
    return total


class Play(Run):
    """A run whose lines are read one by one. Leaving the with block ends its detached processes too."""

    def __init__(self, tests, row, args, folder, err='', **how):
        self.tests, self.row, self.folder, self.err = tests, row, folder, err
        self.said = tempfile.TemporaryFile(dir=tests.dir)     # detached processes go on writing there
        super().__init__(tests, args, cwd=folder, stdin=subprocess.PIPE, stderr=self.said, **how)
        self.out = self.process.stdout.fileno()
        self.read, self.waiting, self.hit, self.lines, self.known = b'', [], [], [], set()
        self.swept = False      # nobody of the session is left

    def __exit__(self, *about):
        if not self.swept:
            super().__exit__(*about)
        self.process.wait()
        for stream in (self.process.stdout, self.process.stdin, self.said):
            if stream:
                stream.close()

    def stderr(self):
        self.said.seek(0)
        return self.said.read().decode(errors='backslashreplace')

    def must(self, step, expected, got, good=None):
        if not self.tests.check(f'{self.row}: {step}', expected, got, good):
            if self.stderr():
                print(f'    stderr: {self.stderr()[:300]!r}')
            raise Lost

    def is_quiet(self):
        return not self.read and not select.select([self.out], [], [], 0)[0]

    def next_line(self, seconds=PATIENCE):
        """The next line; None at the end."""
        deadline = time.monotonic() + seconds
        while b'\n' not in self.read:
            if not select.select([self.out], [], [], max(deadline - time.monotonic(), 0))[0]:
                return f'nothing for {seconds} seconds'
            chunk = os.read(self.out, 65536)
            if not chunk:
                rest, self.read = self.read, b''
                return read_lines(rest)[0] if rest else None
            self.read += chunk
        text, _, self.read = self.read.partition(b'\n')
        return line_of(text)

    def read_all(self):
        return b''.join(iter(lambda: os.read(self.out, 65536), b''))

    def until_end(self):
        """All lines until the last process has closed stdout, which must be soon."""
        lines = []
        while (line := self.next_line(SOON)) is not None:
            lines.append(line)
            if not isinstance(line, tuple):
                break
        return lines

    # Steps

    def expect(self, word):
        wanted = collections.Counter()
        for part in word.split('+'):
            count, _, what = part.rpartition('x')
            wanted[what] += int(count or 1)
        lines = []
        for _ in range(sum(wanted.values())):
            lines.append(self.next_line())
            if not isinstance(lines[-1], tuple):
                break
        got = brief([line if line is not None else 'the end' for line in lines])
        if '*' in word:
            got = brief([(line[0] + '*', 0) if line[0] in 'WZ' else line if line is not None else 'the end'
                         for line in lines])
        self.must(word, ' '.join(f'{n}x{what}' for what, n in sorted(wanted.items())), got)
        self.must(word, 'in order', lines, in_order(lines))
        self.lines += lines
        said = [line[2] for line in lines if line[0] in WAITERS.values()]
        if word == 'main':
            self.must(word, ([self.pid], []), (said, children(self.pid)))
        for pid in said if word != 'main' else []:
            self.must(word, 'a task says its own pid, once', said, said.count(pid) == 1 and self.has(pid))
        self.waiting += [pid for pid in said if pid not in self.waiting]

    def has(self, pid):
        """Is it one of the tasks? One that does not wait may be gone when its line is read."""
        session = stat_fields(pid)[3:4] == [str(self.pid).encode()]
        return pid != self.pid and (session or pid in self.known or self.status() == 1)

    def still(self, pids=None):
        chosen = pids or left_of(self.pid)
        self.must('sleeping', True, until(lambda: all(asleep(pid) for pid in chosen)))
        self.must('while they wait', 'no line', self.read, self.is_quiet())

    def targets(self, whom):
        if whom == 'usemem':
            return [self.pid]
        if whom == 'hit':
            return self.hit
        if whom in ('waiting', 'one'):
            count = 1 if whom == 'one' else len(self.waiting)
            chosen, self.waiting = self.waiting[:count], self.waiting[count:]
            self.must('somebody waits', 'a pid', chosen, bool(chosen))
            self.still(chosen)
            return chosen
        there = children(self.pid) or sorted(left_of(self.pid))
        self.must('tasks', 'some', there, bool(there))
        self.known.update(there)
        other = [pid for pid in there if pid not in self.waiting]
        return {'task': there[:1], 'last': there[-1:], 'other': other[:1], 'tasks': there}[whom]

    def send(self, sig, whom):
        if whom == 'group':
            os.killpg(self.pid, sig)
            return
        self.hit = self.targets(whom)
        for pid in self.hit:
            os.kill(pid, sig)

    def task(self):
        there = children(self.pid) or [pid for pid in left_of(self.pid) if pid != self.pid]
        self.must('a task', 'is there', there, bool(there))
        return there[0]

    def walks(self):
        until(lambda: children(self.pid) and all(cpu_ticks(pid) >= 3 for pid in children(self.pid)))
        self.must('walks', 'running', self.process.poll(), self.process.poll() is None)

    def works(self):
        """The last signal was taken: the task has used a CPU since then, or even ended the phase."""
        at, before = self.hit[0], cpu_ticks(self.hit[0])
        self.must('works', True, until(lambda: cpu_ticks(at) >= before + 2 or not self.is_quiet()))

    def born(self):
        self.must('a task', True, until(lambda: bool(children(self.pid))))

    def rest_of_any_kind(self):
        lines = self.until_end()
        self.must('the rest', 'whole lines', lines, all(isinstance(line, tuple) for line in lines))

    def settled(self):
        self.must('no signal pending', True, until(lambda: all(nothing_pending(pid) for pid in children(self.pid))))

    def press(self, keys):
        if keys == 'end':
            self.process.stdin.close()
        else:
            os.write(self.process.stdin.fileno(), keys.encode())

    def locked(self, size):
        self.must('locked', True, until(lambda: kilobytes(self.task(), 'VmLck') == int(size)))

    def mapped(self, size):
        lengths = sorted({length // 1024 for _, length in mappings(self.task())})
        self.must('a mapping', f'of {size} kB', lengths, int(size) in lengths)

    def rest(self):
        lines = self.until_end()
        self.must('the rest', 'whole lines of tasks', lines, all(line[0] in 'WZF' for line in lines))

    def gone(self):
        lines = self.until_end()
        self.must('at the end', 'no other line', lines, not lines)
        self.must('processes left', 'none', 'some', until(lambda: not left_of(self.pid), SOON))
        self.swept = True
        wanted = self.err.replace('PID', str(self.hit[-1] if self.hit else 0))
        self.must('stderr', wanted, self.stderr(), bool(re.fullmatch(wanted, self.stderr().rstrip('\n'), re.DOTALL)))

    def status(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        return status_of(self.process.returncode) if self.process.returncode is not None else 'hung'

    def ends(self, wanted):
        # What it prints may not fit into the pipe, but is short enough here.
        got = self.status()
        if wanted.isdigit():
            self.must('status', int(wanted), got)
        else:
            self.must('status', wanted, got, got in (128 + signal.Signals[wanted], f'killed by {wanted}'))
        self.gone()

    def stays(self):
        self.must('usemem', None, self.process.poll())

    def exits_well(self):
        self.must('status', 0, self.status())

    def leaves(self):
        self.exits_well()
        there = left_of(self.pid)
        for pid in there:
            with open(f'/proc/{pid}/comm', encoding='ascii') as comm:
                self.must('its name', 'usemem', comm.read().strip())
            fields = stat_fields(pid)
            self.must('its group and session', (self.pid, self.pid), (int(fields[2]), int(fields[3])))
        pid_file = os.path.join(self.folder, 'pids')
        if os.path.exists(pid_file):
            there.sort(key=lambda pid: (int(stat_fields(pid)[19]), pid))
            self.must('pids', there, self.pids())

    def pids(self):
        with open(os.path.join(self.folder, 'pids'), encoding='ascii') as file:
            text = file.read()
        self.must('pids', 'one a line', text, bool(re.fullmatch(r'(\d+\n)*', text)))
        return [int(line) for line in text.split()]

    def step(self, word):
        plain = {'.': self.still, 'walks': self.walks, 'settled': self.settled, '...': self.rest,
                 'exit0': self.exits_well, 'left': self.leaves, 'over': self.gone, 'works': self.works,
                 'born': self.born, 'stays': self.stays, 'anything': self.rest_of_any_kind}
        named = {'key': self.press, 'lck': self.locked, 'map': self.mapped}
        sig, _, whom = word.partition('>')
        name, _, value = word.partition(':')
        if word in plain:
            plain[word]()
        elif sig in SIGNALS:
            self.send(SIGNALS[sig], whom or ('waiting' if sig == 'usr1' else 'usemem'))
        elif value and name in named:
            named[name](value)
        elif word.startswith('='):
            self.ends(word[1:])
        else:
            self.expect(word)

    def follow(self, script):
        for part in [script] if isinstance(script, str) else script:
            if callable(part):
                part(self)
                continue
            for word in part.split():
                self.step(word)


class Row:
    """A command line and its script; more: what the folder holds before (bytes) and after (words), what is
    said on stderr, what has to be had (a function that raises Skip), what the child calls first."""

    def __init__(self, args, script, **more):
        self.args, self.script = args, script
        self.name = more.pop('name', None) or (args if isinstance(args, str) else ' '.join(args))
        self.err = more.pop('err', '(usemem: warning: [^\n]*\n?)*' if '--json' in args else '')
        self.files = more.pop('files', {})
        self.content = more.pop('content', {})
        self.needs = more.pop('needs', None)
        self.before = more.pop('before', None)
        self.mode = more.pop('mode', 0o755)
        assert not more, more


def play(tests, row):
    if row.needs:
        try:
            row.needs()
        except Skip as reason:
            tests.skip(row.name, reason)
            return
    with tests.folder(row.mode) as folder:
        for name, data in row.files.items():
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(data)
        args = row.args.split() if isinstance(row.args, str) else row.args
        with contextlib.suppress(Lost), Play(tests, row.name, args, folder, row.err, before=row.before) as running:
            running.follow(row.script)
            for name, want in row.content.items():
                with open(os.path.join(folder, name), 'rb') as file:
                    got = memoryview(file.read()).cast('Q').tolist()
                if callable(want):
                    tests.check(f'{row.name}: {name}', 'other words', [i for i, v in enumerate(got) if v != i][:8],
                                want(got))
                    continue
                differs = [(i, value) for i, value in enumerate(got) if i >= len(want) or value != want[i]]
                tests.check(f'{row.name}: {name}', f'{len(want)} words as expected', (len(got), differs[:3]),
                            len(got) == len(want) and not differs)


def rows_of(rows):
    def play_all(tests):
        for row in rows:
            try:
                play(tests, row)
            except (OSError, ValueError, IndexError) as error:      # the other rows are tried all the same
                tests.check(row.name, 'its end', repr(error), False)
    return play_all


def course(kinds, n=1, t=1, size='65536', before='', free=True, rounds=0):
    """The script of N x T tasks that go through phases: KINDS wait, each prints its line once signalled. SIZE: of
    each kind, or of all. Endless ROUNDS are ended after so many."""
    sizes = size.split()
    kinds = kinds.split()
    sizes = sizes * len(kinds) if len(sizes) == 1 else sizes
    words = [f'{n}x{kinds[0]}' + (f'+{n * t}x{before}' if before else '')]
    for i in range(len(kinds) * max(rounds, 1)):
        line = f'{n * t}xW{sizes[i % len(kinds)]}' if sizes[i % len(kinds)] != '0' else ''
        last = not rounds and i == len(kinds) - 1
        after = f'{n}x{kinds[(i + 1) % len(kinds)]}' if not last else f'{n * t}xF' if free else ''
        words += ['usr1', '+'.join(word for word in (line, after) if word)]
    words += ['term', f'{n * t}xF' if free else '', '=143'] if rounds else ['=0']
    return ' '.join(words)


def to_words(values):
    return struct.pack(f'{len(values)}Q', *values)


def words_in(data):
    return memoryview(data).cast('Q').tolist()


def store(name, at, *values):
    """A step: words of FILE from byte AT on become VALUES."""
    def put(running):
        with open(os.path.join(running.folder, name), 'r+b', buffering=0) as file:
            file.seek(at)
            file.write(to_words(values))
    return put


SIZE = 65536
WORDS = SIZE // 8
INDICES = list(range(WORDS))
HOLE = bytes(SIZE)
UNIT = 4 * PAGE
BY_UNIT = [i % (UNIT // 8) for i in range(WORDS)]


def huge_pages_on_request():
    if not os.path.exists('/sys/kernel/mm/transparent_hugepage/enabled'):
        raise Skip('no transparent huge pages')


def small_pages():
    if PAGE * 2 > SIZE // 2:
        raise Skip(f'pages of {PAGE} bytes')


PHASES = (('-W', 'read'), ('--write-signal-write', 'write'), ('--write-signal-madv-thp', 'thp'))


def each_phase():
    """The three phases with whatever changes memory, tasks and walk, and must not change what is said."""
    for option, kind in PHASES:
        needs = huge_pages_on_request if kind == 'thp' else None
        for more, how in (
                ('', {}), ('-n 1', {}), ('-n 3', {'n': 3}), ('-t 3', {'t': 3}), ('-n 2 -t 2', {'n': 2, 't': 2}),
                (f'-u {UNIT}', {}), (f'-u {UNIT} -n 2', {'n': 2}), (f'-u {3 * PAGE} -t 2', {'t': 2}),
                ('-P', {'free': False}), ('-P -n 3', {'n': 3, 'free': False}),
                (f'-P -t 2 -u {UNIT}', {'t': 2, 'free': False}), ('-f f', {}), (f'-f f -u {UNIT} -n 2', {'n': 2}),
                ('-f f -P -n 2', {'n': 2, 'free': False}), (f'-f f -B {PAGE}', {}), ('-O', {}), ('--memfd', {}),
                ('--memfd -f x -n 2', {'n': 2}), ('-f /dev/zero -n 2', {'n': 2}), ('-o', {}), ('-o -f f', {}),
                ('-F', {}), ('-y -n 2', {'n': 2}), ('-E', {'free': False}), ('-r 3', {}), ('-r 0', {}), ('-S', {}),
                ('-A', {}), ('-M', {}),
                ('-q', {}), ('-b 1 -n 2', {'n': 2}), ('--touch-alloc', {}), ('--no-check -r 2', {}), ('-s 0', {}),
                ('-Z', {'before': 'Z65536'}), ('-Z -n 2', {'n': 2, 'before': 'Z65536'}),
                ('-Z -r 2 -t 2', {'t': 2, 'before': 'Z131072'}), ('--first-access-speed', {'before': 'W65536'}),
                ('--first-access-speed -r 2 -n 2', {'n': 2, 'before': 'W131072'}),
                ('--first-access-speed -Z', {'before': 'W65536+1xZ65536'}), ('--init-time', {'before': 'I'}),
                ('-T 60', {}), ('-T 60 -n 2', {'n': 2}), ('-p pids', {}), ('--json=result', {})):
            files = {'f': bytes(SIZE + PAGE)} if ' f' in more else {}
            yield Row(f'{option} {more} 64k', course(kind, **how), files=files, needs=needs)
        yield Row(f'{option} -R --random-seed 3 64k', course(kind), needs=needs)
        yield Row(f'{option} -j 64 64k', course(kind, size='65536' if kind == 'thp' else '8192'), needs=needs)
        yield Row(f'{option} -j 64 -Z 64k', course(kind, size='65536' if kind == 'thp' else '8192', before='Z8192'),
                  needs=needs)
        yield Row(f'{option} -x -n 3 64k', f'3x{kind} usr1>one W65536 . usr1>one W65536 . usr1 W65536 3xF =0',
                  needs=needs)
        yield Row(f'{option} -x -t 3 64k', f'{kind} usr1 3xW65536 3xF =0', needs=needs)
        yield Row(f'{option} -n 3 0', course(kind, n=3, size='0'), needs=needs)
        if kind != 'thp':
            yield Row(f'{option} -a 64k', course(kind), needs=needs)
            yield Row(f'{option} -a -n 2 -u 5000 10000', course(kind, n=2, size='10000'), needs=needs)
            yield Row(f'{option} -u 12 100', course(kind, size='64'), needs=needs)


def advised_whole_pages(tests):
    """madvise is said to have done what it did: the pages of mappings, the whole pages inside malloc's memory."""
    huge_pages_on_request()
    with tests.folder() as folder, contextlib.suppress(Lost), \
            Play(tests, 'madvise -a', ['-a', '--write-signal-madv-thp', '1m'], folder) as running:
        running.follow('thp usr1 W*+F =0')
        size = max(line[1] for line in running.lines)
        running.must('bytes', 'whole pages inside 1m', size, size % PAGE == 0 and MIB - 2 * PAGE <= size <= MIB)


def is_advised(tests):
    """The flag hg of the mapping is there after the signal, and not before."""
    huge_pages_on_request()

    def flags(pid, start):
        at = None
        with open(f'/proc/{pid}/smaps', encoding='utf-8', errors='replace') as smaps:
            for line in smaps:
                first = line.split(None, 1)[0]
                at = first if re.fullmatch('[0-9a-f]+-[0-9a-f]+', first) else at
                if first == 'VmFlags:' and int(at.split('-')[0], 16) == start:
                    return line.split()[1:]
        return []
    with tests.folder() as folder, contextlib.suppress(Lost), \
            Play(tests, 'madvise', ['--show-addr', '--write-signal-madv-thp', '-s', '-1', '2m'], folder) as running:
        running.follow('addr2097152 thp')
        pid, start = running.lines[0][2]
        if not flags(pid, start):
            raise Skip('no VmFlags in /proc/PID/smaps')
        running.must('before the signal', False, 'hg' in flags(pid, start))
        running.follow('usr1 W2097152')
        running.must('after the signal', True, 'hg' in flags(pid, start))
        running.follow('. term F =143')


# What is given to the phases.
given = [
    Row('-W --signal-read-count 100 64k', course('read', size='800')),
    Row('-W --signal-read-count 1 64k', course('read', size='8')),
    Row('-W --signal-read-count 0 64k', course('read')),
    Row('-W --signal-read-count 8192 64k', course('read')),
    Row('-W --signal-read-count 8193 64k', course('read')),
    Row('-W --signal-read-count 100000000000 64k', course('read')),
    Row(f'-W --signal-read-count 3000 -u {UNIT} 64k', course('read', size='24000')),
    Row('-W --signal-read-count 3000 -n 2 -t 2 64k', course('read', n=2, t=2, size='24000')),
    Row('-W --signal-read-count 100 -j 4096 64k', course('read', size=str(8 * SIZE // 4096))),
    Row('-W --signal-read-count 5 -j 4096 64k', course('read', size='40')),
    Row('-W --signal-read-count 100 -Z 64k', course('read', size='800', before='Z65536')),
    Row('-W --write-signal-write --signal-read-count 100 --signal-write-times 3 64k',
        course('read write', size='800 2400')),
    Row('-W --write-signal-write --signal-read-count 100 --signal-write-data 7 -f f 64k',
        course('read write', size='800'), content={'f': [7] * 100 + INDICES[100:]}),
    Row('-W --signal-read-random --random-seed 3 64k', course('read')),
    Row('-W --signal-read-random --random-seed 3 --signal-read-count 5 64k', course('read', size='40')),
    Row(f'-W --signal-read-random --random-seed 3 -n 2 -u {UNIT} 64k', course('read', n=2)),
    Row('-W --signal-read-random 64k', course('read'), err=r'usemem: random seed \d+'),
    Row('-W -R --random-seed 3 -j 64 64k', course('read', size='8192')),
    Row('--write-signal-write -f f 64k', course('write'), content={'f': INDICES}),
    Row('--write-signal-write --main-write-data 5 -f f 64k', course('write'), content={'f': INDICES}),
    Row('--write-signal-write -o -f f 64k', course('write'), files={'f': to_words([WRONG] * WORDS)},
        content={'f': INDICES}),
    Row('--write-signal-write --signal-write-data 0 -f f 64k', course('write'), content={'f': [0] * WORDS}),
    Row('--write-signal-write --signal-write-data 7 -f f 64k', course('write'), content={'f': [7] * WORDS}),
    Row('--write-signal-write --signal-write-data 010 -f f 64k', course('write'), content={'f': [10] * WORDS}),
    Row('--write-signal-write --signal-write-data 0x10 -f f 64k', course('write'), content={'f': [16] * WORDS}),
    Row('--write-signal-write --signal-write-data 0xffffffffffffffff -f f 64k', course('write'),
        content={'f': [2**64 - 1] * WORDS}),
    Row(f'--write-signal-write --signal-write-data 7 -f f -u {UNIT} 64k', course('write'), content={'f': [7] * WORDS}),
    Row(f'--write-signal-write --main-write-data 5 -f f -u {UNIT} 64k', course('write'), content={'f': BY_UNIT}),
    Row('--write-signal-write --signal-write-data 7 -f f -j 64 64k', course('write', size='8192'),
        content={'f': [0 if i % 8 else 7 for i in INDICES]}),
    Row('--write-signal-write --signal-write-data 7 --main-write-data 5 -f f -P -t 2 64k',
        course('write', t=2, free=False), content={'f': [7] * WORDS}),
    Row('--write-signal-write --signal-write-times 3 64k', course('write', size='196608')),
    Row('--write-signal-write --signal-write-times 3 -n 2 -t 2 64k', course('write', n=2, t=2, size='196608')),
    Row(f'--write-signal-write --signal-write-times 3 -u {UNIT} 64k', course('write', size='196608')),
    Row('--write-signal-write --signal-write-times 3 -r 2 -j 64 64k', course('write', size='24576')),
    Row('--write-signal-write --signal-write-times 1 64k', course('write')),
    Row('--write-signal-write --signal-write-times 0 64k', course('write', size='0')),
    Row('--write-signal-write --signal-write-times 0 --signal-write-data 7 -f f -n 2 64k',
        course('write', n=2, size='0'), content={'f': INDICES}),
    Row('-W --write-signal-write --signal-write-times 2 --signal-write-data 7 -f f 64k',
        course('read write', size='65536 131072'), content={'f': [7] * WORDS}),
    Row('--write-signal-madv-thp -P -u 1000 10000', course('thp', size=str(-(-10000 // PAGE) * PAGE), free=False),
        needs=huge_pages_on_request),
    Row('-W --signal-read-count 99 -T 60 -S -r 5 64k', course('read', size='792')),
]


def random_writes(tests):
    """Signal-driven writes in random order: over all of the memory, with other places in each pass."""
    for more, least, most in (('-R', 150, 256), ('--signal-read-random', 200, 256),
                              ('-n 2 --signal-read-random', 350, 512),
                              ('--signal-read-random --signal-write-times 3', 550, 768)):
        # The walk of -R leaves the word that it stores too; both may meet.
        args = f'--write-signal-write {more} --random-seed 5 -j 4096 --signal-write-data 0xa5a5 -f f 1m'
        count = 2 if '-n 2' in more else 1
        times = 3 if 'times 3' in more else 1
        with tests.folder() as folder, contextlib.suppress(Lost), Play(tests, args, args.split(), folder) as running:
            running.follow(course('write', n=count, size=str(2048 * times)))
            with open(os.path.join(folder, 'f'), 'rb') as file:
                found = [i for i, value in enumerate(words_in(file.read())) if value == 0xa5a5]
            tests.check(f'{args}: places', f'{least} to {most}', len(found), least <= len(found) <= most)
            tests.check(f'{args}: places', 'in each quarter', found[:8], len({i // 32768 for i in found}) == 4)
            tests.check(f'{args}: places', 'few multiples of 512', found[:8],
                        len([i for i in found if i % 512 == 0]) < 20)


def counted_random_writes(tests):
    """So many accesses of a pass, in random order, come to all units."""
    args = (f'-W --write-signal-write --signal-read-count 200 --signal-read-random --random-seed 5 '
            f'--signal-write-data 0xa5a5 -u {UNIT} -f f 64k')
    with tests.folder() as folder, contextlib.suppress(Lost), Play(tests, args, args.split(), folder) as running:
        running.follow(course('read write', size='1600'))
        with open(os.path.join(folder, 'f'), 'rb') as file:
            found = [i for i, value in enumerate(words_in(file.read())) if value == 0xa5a5]
        tests.check(f'{args}: units', SIZE // UNIT, len({i * 8 // UNIT for i in found}))


def held(tests):
    """-e: each page is held that long in each phase, and what is repeated is not counted."""
    for option, kind in PHASES[:2]:
        args = f'{option} -e 2ms -j 512 64k'
        with tests.folder() as folder, contextlib.suppress(Lost), Play(tests, args, args.split(), folder) as running:
            running.follow(course(kind, size='1024'))
            took = next(line[2] for line in running.lines if line[0] == 'W')
            running.must('usecs', f'at least {2000 * SIZE // PAGE}', took, took >= 2000 * SIZE // PAGE)


def limited(tests):
    """-T: each phase by its own clock, from its signal; what came before takes nothing from it."""
    for args, script, cut in (
            ('-T 200ms --write-signal-write --signal-write-times 1000000000000 64k', 'write usr1 W*+F =0', [1]),
            ('-T 200ms --write-signal-write --signal-write-times 1000000000000 -n 2 -t 2 64k',
             '2xwrite usr1 4xW*+4xF =0', [1, 1, 1, 1]),
            ('-T 400ms --first-access-speed -r 1000000000000 -W 64k', 'W* read usr1 W*+F =0', [1, 0]),
            ('-T 200ms -W --write-signal-write -e 50ms 64k', 'read usr1 W* write usr1 W*+F =0', [1, 1]),
            ('-T 100ms -Z --signal-loop -W -e 50ms 64k', 'Z* read usr1 W* read usr1 W* read term F =143', [1, 1, 1])):
        limit = int(re.search(r'-T (\d+)ms', args).group(1)) * 1000
        with tests.folder() as folder, contextlib.suppress(Lost), Play(tests, args, args.split(), folder) as running:
            running.follow(script)
            lines = [line for line in running.lines if line[0] in 'WZ']
            running.must('phases that lasted as long as -T', cut, [int(line[2] >= limit) for line in lines])
            running.must('bytes', 'at least an access', lines, all(line[1] >= 8 for line in lines))
            if '-e' not in args and cut[-1] == 0:
                running.must('a phase that was not cut', SIZE, lines[-1][1])
            if '-e' in args:
                running.must('a phase that was cut', f'less than {SIZE}', lines, all(line[1] < SIZE for line in lines))


# Signals that come at another time than the script of a test would have it. The menu holds the walk.
early = [
    *[Row(f'{more} 64k', f'born usr1>tasks {script}', name=f'{more}, signalled at birth')
      for more, script in (('-W', 'read W65536 F =0'), ('-W -t 8', 'read 8xW65536+8xF =0'),
                           ('--write-signal-write -P', 'write W65536 =0')) * 3],
    Row('-W 64k', 'born usr1>usemem read . usr1 W65536 F =0', name='-W, usemem is signalled at birth'),
    *[Row(f'{more} 64k', f'born {step}', name=f'{more}, {step}', err=err)
      for more in ('-W', '-W -n 3', '-W -t 3', '-s -1 -n 2 -t 2', '-d -W -n 3', '-g -n 2')
      for step, err in (('term anything =143', ''), ('int>group anything =130', ''),
                        ('term>task anything =1', r'usemem: .*was stopped by SIGTERM'))],
    Row('-g -W 64k', 'menu usr1>task settled key:q read W65536 F =0'),
    Row('-g --write-signal-write 64k', 'menu usr1>task settled key:q write W65536 F =0'),
    Row('-g --write-signal-madv-thp 64k', 'menu usr1>task settled key:q thp W65536 F =0', needs=huge_pages_on_request),
    Row('-g --punch-holes --signal-punch-holes 64k', 'menu usr1>task settled key:q W65536 punch holes F =0'),
    Row('-g -W --write-signal-write 64k',
        'menu usr1>task settled usr1>task settled key:q read W65536 write . usr1 W65536 F =0'),
    Row('-g -W --signal-loop 64k',
        'menu usr1>task settled usr1>task settled key:q read W65536 read . usr1 W65536 read . term F =143'),
    Row('-g --punch-holes --signal-punch-holes -W 64k',
        'menu usr1>task settled usr1>task settled key:q punch holes read . usr1 W65536 F =0'),
    Row('-g -t 2 -W 64k', '2xmenu usr1>task settled key:qq read 2xW65536+2xF =0'),
    Row('-g -t 2 -W --signal-loop 64k',
        '2xmenu usr1>task settled usr1>task settled key:qq read 2xW65536+read . usr1 2xW65536+read . term 2xF =143'),
    Row('-g -n 2 -W 64k', '2xmenu usr1>tasks settled key:qq 2xread+2xW65536+2xF =0'),
    Row('-g -n 2 -s -1 -W 64k', '2xmenu usr1>task settled key:qq 2xread+W65536 . usr1>last W65536 . term 2xF =143'),
    Row(f'-T 300ms {FOR_EVER} -W 1m', 'walks usr1>task read W1048576 F =0'),
    Row(f'-T 300ms {FOR_EVER} -W -t 2 1m', 'walks usr1>task read 2xW1048576+2xF =0'),
    Row('-e 150ms -W --signal-loop 4k', 'read usr1 works usr1>task W4096 read W4096 read . term F =143'),
    Row('-W 64k', 'read . usr1>usemem . usr1>usemem . usr1 W65536 F =0', name='-W, and usemem is signalled'),
    Row('-t 2 -W 64k', 'read . usr1>usemem . usr1 2xW65536+2xF =0', name='-t 2 -W, and usemem is signalled'),
    Row('-g 64k', 'menu usr1>task usr1>usemem settled . key:q W65536 F =0'),
    Row(f'{FOR_EVER} 1m', 'walks usr1>task usr1>usemem usr1>task settled walks term W*+F =143'),
    Row(f'-n 2 -t 2 {FOR_EVER} 1m', 'walks usr1>tasks usr1>usemem settled walks term 4xW*+4xF =143'),
    Row('-s -1 64k', 'W65536 . usr1>usemem usr1>task settled . usr1>task settled . term F =143'),
    Row('-s -1 -t 2 64k', '2xW65536 . usr1>usemem usr1>task settled . term 2xF =143'),
    Row('-s -1 -W 64k', 'read usr1 W65536 . usr1>task settled . term F =143'),
    Row('-x -n 2 -W 64k', '2xread usr1>one W65536 . usr1>hit settled . usr1 W65536 2xF =0'),
    Row('-n 3 -W 64k', '3xread usr1>one W65536+F . usr1>one W65536+F . usr1>one W65536+F =0'),
]

rounds = [
    Row('-W --write-signal-write --write-signal-madv-thp 2m', course('read write thp', size='2097152'),
        needs=huge_pages_on_request),
    Row('--write-signal-madv-thp --write-signal-write -W 64k', course('read write thp'), needs=huge_pages_on_request),
    Row('-W --write-signal-write --write-signal-madv-thp -n 2 64k', course('read write thp', n=2),
        needs=huge_pages_on_request),
    Row('-W --write-signal-write --write-signal-madv-thp -t 3 64k', course('read write thp', t=3),
        needs=huge_pages_on_request),
    Row('-W --write-signal-write --write-signal-madv-thp --signal-loop -n 2 -t 2 64k',
        course('read write thp', n=2, t=2, rounds=2), needs=huge_pages_on_request),
    Row('-W --write-signal-write 64k', course('read write')),
    Row('--write-signal-write -W -P -n 2 64k', course('read write', n=2, free=False)),
    Row(f'--write-signal-write -W -u {UNIT} -j 64 64k', course('read write', size='8192')),
    Row('-W --signal-loop 64k', course('read', rounds=5)),
    Row('-W --signal-loop -n 2 64k', course('read', n=2, rounds=3)),
    Row('-W --signal-loop -t 3 64k', course('read', t=3, rounds=3)),
    Row('-W --signal-loop -P 64k', course('read', free=False, rounds=3)),
    Row('--write-signal-write --signal-loop --signal-write-times 2 64k', course('write', size='131072', rounds=3)),
    Row('--write-signal-write --signal-loop --signal-write-data 7 -f f 64k', course('write', rounds=2),
        content={'f': [7] * WORDS}),
    Row('-W --write-signal-write --signal-loop --madv-pageout 64k', course('read write', rounds=3)),
    Row('-W --write-signal-write --signal-loop --madv-pageout -n 2 -f f 64k', course('read write', n=2, rounds=2)),
    Row('-W --madv-pageout -a -u 5000 10000', course('read', size='10000')),
    Row('-W --madv-pageout --punch-holes 64k', 'holes read usr1 W65536 F =0'),
    Row('-Z -W --write-signal-write --signal-loop 64k', course('read write', before='Z65536', rounds=2)),
    Row('-M --punch-holes -W --write-signal-write --signal-loop -s -1 -x 64k',
        'holes ' + course('read write', rounds=2)),
    Row('-W --signal-loop --signal-write-times 3 --write-signal-write --signal-write-times 0 64k',
        'read usr1 W65536+write usr1 read usr1 W65536+write term F =143'),
    Row('-W --signal-loop 64k', 'read usr1 W65536+read . term>group ... =143', name='loop, SIGTERM to the group'),
    Row('-W --signal-loop -n 3 64k', '3xread usr1 3xW65536+3xread . int>group ... =130',
        name='loop, SIGINT to the group'),
    Row('-W --signal-loop -n 2 64k', '2xread usr1 2xW65536+2xread . int 2xF =130', name='loop, SIGINT to usemem'),
    Row('-W --signal-loop --json=result -n 2 64k', '2xread usr1 2xW65536+2xread . term 2xF =143'),
    Row('-W --signal-loop -n 2 64k',
        '2xread usr1>one W65536 read usr1>hit W65536 read usr1>hit W65536 read . term 2xF =143',
        name='loop, each at its own pace'),
]


def starts_of(path):
    """Where this file is mapped in this process."""
    with open('/proc/self/maps', encoding='utf-8', errors='surrogateescape') as maps:
        return [int(line.split('-')[0], 16) for line in maps if line.rstrip('\n').endswith(path)]


def pages_out_files(folder):
    """Does MADV_PAGEOUT take clean pages of a file out of memory here, and does smaps show it?"""
    path = os.path.join(folder, 'probe')
    with open(path, 'wb') as file:
        file.write(os.urandom(MIB))
        os.fsync(file.fileno())
    with open(path, 'rb') as file, mmap.mmap(file.fileno(), MIB, prot=mmap.PROT_READ) as memory:
        sum(memory[::PAGE])
        before = sum(resident_bytes(os.getpid(), start, MIB) for start in starts_of(path))
        try:
            memory.madvise(21)      # MADV_PAGEOUT
        except (OSError, AttributeError, ValueError) as error:
            raise Skip(f'MADV_PAGEOUT: {error}') from None
        after = sum(resident_bytes(os.getpid(), start, MIB) for start in starts_of(path))
    if not after < before // 4:
        raise Skip('MADV_PAGEOUT takes no pages of files out here')


def each_repetition_waits(tests):
    with tests.folder() as folder, contextlib.suppress(Lost), \
            Play(tests, '--samples 3', '-W --samples 3 -n 2 64k'.split(), folder) as running:
        running.follow('2xread usr1 2xW65536+2xF 2xread usr1 2xW65536+2xF 2xread usr1 2xW65536+2xF')
        rest = running.read + running.read_all()
        running.must('five lines', 'Count: 3 ...', rest, bool(FIVE.fullmatch(rest)))
        running.must('status', 0, running.status())


def waiting_line_beside_json(tests):
    """With the document on stdout, the line that a partner waits for is on stderr."""
    for args, said in (('--json -W 64k', 'Read'), ('--json -W -t 2 64k', 'Read'), ('--json --signal-fork 64k', 'Main')):
        with tests.folder() as folder, contextlib.suppress(Lost), Play(tests, args, args.split(), folder) as running:
            line = re.compile(rf'usemem: {said} Process (\d+) is waiting signal\n')
            until(lambda run=running, line=line: line.search(run.stderr()))
            running.must('stderr', 'the waiting line', running.stderr(), bool(line.search(running.stderr())))
            os.kill(int(line.search(running.stderr()).group(1)), signal.SIGUSR1)
            document = json.loads(running.read_all())
            running.must('outcome', (0, 'ok'), (running.status(), document['outcome']))


def pageout_heads_each_round(tests):
    with tests.folder() as folder:
        pages_out_files(folder)
        with open(os.path.join(folder, 'f'), 'wb') as file:
            file.write(os.urandom(MIB))
            os.fsync(file.fileno())
        args = '-f f -o -W --write-signal-madv-thp --signal-loop --show-addr --madv-pageout 1m'
        with contextlib.suppress(Lost), Play(tests, 'pageout', args.split(), folder) as running:
            running.follow('addr1048576 read')
            pid, start = running.lines[0][2]
            for number in range(3):
                size = resident_bytes(pid, start, MIB)
                running.must(f'round {number}: resident at the head', 'little', size, size < MIB // 4)
                running.follow('usr1 W1048576 thp')
                size = resident_bytes(pid, start, MIB)
                running.must(f'round {number}: resident after the read', MIB, size)
                running.follow('usr1 W1048576 read')
            running.follow('. term F =143')


# Data that is right in each way of storing it: --signal-verify must not object.
def right_data():
    both = '-W --write-signal-write --signal-verify'
    loop = both + ' --signal-loop'
    for args, script, *files in (
            ('-W --signal-verify 64k', course('read')),
            ('--write-signal-write --signal-verify 64k', course('write')),
            (f'{both} 64k', course('read write')),
            (f'{loop} 64k', course('read write', rounds=2)),
            (f'{both} -r 3 64k', course('read write')),
            (f'{both} --main-write-data 7 64k', course('read write')),
            (f'{loop} --main-write-data 0 64k', course('read write', rounds=2)),
            (f'{loop} --main-write-data 7 --signal-write-data 9 64k', course('read write', rounds=2)),
            (f'{loop} --signal-write-data 0 64k', course('read write', rounds=2)),
            (f'{loop} --signal-write-data 9 --signal-write-times 3 64k',
             course('read write', size='65536 196608', rounds=2)),
            (f'{loop} --signal-write-data 9 --signal-read-count 100 64k', course('read write', size='800', rounds=2)),
            (f'{loop} --signal-write-data 9 --signal-read-count 1000 -u {UNIT} 64k',
             course('read write', size='8000', rounds=2)),
            (f'{loop} --signal-write-data 9 -n 2 -t 2 64k', course('read write', n=2, t=2, rounds=2)),
            (f'{loop} --signal-write-data 9 -u {UNIT} 64k', course('read write', rounds=2)),
            (f'{loop} --signal-write-data 9 -j 64 64k', course('read write', size='8192', rounds=2)),
            (f'{both} -R --random-seed 5 64k', course('read write')),
            (f'{loop} -R --random-seed 5 --signal-write-data 9 64k', course('read write', rounds=2)),
            (f'{loop} -R --random-seed 5 --main-write-data 3 --signal-write-data 9 -n 2 64k',
             course('read write', n=2, rounds=2)),
            (f'{loop} -R --random-seed 5 -j 64 64k', course('read write', size='8192', rounds=2)),
            ('-W --signal-verify -R --random-seed 5 -o --touch-alloc 64k', course('read')),
            ('-W --signal-verify --signal-read-random --random-seed 5 64k', course('read')),
            (f'{loop} --signal-read-random --random-seed 5 --signal-write-data 9 64k', course('read write', rounds=3)),
            (f'{loop} --signal-read-random --random-seed 5 --signal-write-data 9 --main-write-data 3 -u {UNIT} 64k',
             course('read write', rounds=2)),
            ('-W --signal-verify -j 4096 --signal-read-random --random-seed 5 1m', course('read', size='2048')),
            (f'{loop} -j 4096 --signal-read-random --random-seed 5 --signal-write-data 9 1m',
             course('read write', size='2048', rounds=2)),
            (f'{both} --fill random 64k', course('read write')),
            (f'{both} --fill random -u {UNIT} -n 2 64k', course('read write', n=2)),
            (f'{both} --fill random --random-seed 9 -f f -n 2 64k', course('read write', n=2)),
            (f'{both} --fill random -t 2 64k', course('read write', t=2)),
            (f'{both} --fill random -P -n 2 64k', course('read write', n=2, free=False)),
            (f'{both} --fill zero 64k', course('read write')),
            (f'{both} --fill compress=30% 64k', course('read write')),
            (f'{both} --fill random --signal-read-random --random-seed 5 64k', course('read write')),
            (f'{both} --punch-holes 64k', 'holes ' + course('read write')),
            (f'{loop} --punch-holes --signal-write-data 9 64k', 'holes ' + course('read write', rounds=2)),
            (f'{both} --punch-holes --fill random 64k', 'holes ' + course('read write')),
            (f'{both} --punch-holes -u {3 * PAGE} 64k', 'holes ' + course('read write')),
            (f'{both} --punch-holes --signal-read-random --random-seed 5 64k', 'holes ' + course('read write')),
            (f'{both} --punch-holes --memfd 64k', 'holes ' + course('read write')),
            (f'{both} --punch-holes --fallocate-punch-holes --memfd -f x 64k', 'holes ' + course('read write')),
            (f'{both} --punch-holes --fallocate-punch-holes -f f 64k', 'holes ' + course('read write')),
            (f'{both} --punch-holes -P -t 2 64k', '2xholes+read usr1 2xW65536+write usr1 2xW65536 =0'),
            (f'-T 100ms -e 5ms --signal-read-random --random-seed 5 {both} 1m', course('read write', size='*')),
            (f'-T 100ms -e 5ms --main-write-data 7 {both} 1m', course('read write', size='*')),
            (f'{both} -P 64k', course('read write', free=False)),
            (f'{both} -P -t 2 64k', course('read write', t=2, free=False)),
            (f'{loop} --signal-write-data 9 -P -n 2 64k', course('read write', n=2, free=False, rounds=2)),
            (f'{loop} --signal-write-data 9 -P -t 2 64k', course('read write', t=2, free=False, rounds=2)),
            (f'{both} -n 2 -f f 64k', course('read write', n=2)),
            (f'{loop} --signal-write-data 9 -n 2 -f f 64k', course('read write', n=2, rounds=2)),
            (f'{loop} --signal-write-data 9 -n 2 -P -f f 64k', course('read write', n=2, free=False, rounds=2)),
            (f'{both} -o --touch-alloc 64k', course('read write')),
            (f'{both} -o --touch-alloc -u {UNIT} -n 2 64k', course('read write', n=2)),
            (f'{both} --touch-alloc --signal-read-random --random-seed 5 -j 4096 1m',
             course('read write', size='2048')),
            ('-W --signal-verify -o -f f 64k', course('read'), to_words(INDICES)),
            (f'-W --signal-verify -o -f f -u {UNIT} 64k', course('read'), to_words(BY_UNIT)),
            (f'{loop} --signal-write-data 9 -o -f f 64k', course('read write', rounds=2), to_words(INDICES)),
            ('-W --signal-verify -r 0 -f f 64k', course('read'), to_words(INDICES)),
            ('-W --signal-verify -o -f f -j 64 64k', course('read', size='8192'),
             to_words([WRONG if i % 8 else i for i in INDICES])),
            (f'-W --signal-verify -f f -B {PAGE} -u {UNIT} 64k', course('read'), bytes(SIZE + PAGE)),
            (f'-W --signal-verify -o -f f -B {PAGE} 64k', course('read'), bytes(PAGE) + to_words(INDICES)),
            (f'{both} -a 64k', course('read write')),
            (f'{both} -a -u 5000 10000', course('read write', size='10000')),
            (f'{both} -O -F -y -n 2 64k', course('read write', n=2)),
            (f'{both} --memfd -f x -n 2 64k', course('read write', n=2)),
            (f'{both} -f /dev/zero 64k', course('read write')),
            (f'{both} -Z -S -M -x 64k', course('read write', before='Z65536')),
            (f'{loop} --madv-pageout 64k', course('read write', rounds=2)),
            (f'{loop} --madv-pageout -f f 64k', course('read write', rounds=2)),
            (f'{both} -e 10u 64k', course('read write')),
            (f'{both} -e 10u --signal-read-random --random-seed 5 64k', course('read write')),
            (f'{both} --no-check --write-signal-madv-thp 2m', course('read write thp', size='2097152'))):
        yield Row(args, script, files={'f': files[0]} if files else {},
                  needs=huge_pages_on_request if '-thp' in args else None)


AT = 12288 + 8          # a word in the fourth page of 4096


def complaint(at, found=WRONG):
    return rf'usemem: wrong data at byte {at}\b.*\b{f"{found:#x}" if found else "0"}\b.*'


def wrong_data():
    """FILE is changed between the waiting line and the signal: exit 1, and the byte is named."""
    read, write, both = '-W --signal-verify', '--write-signal-write --signal-verify', \
        '-W --write-signal-write --signal-verify'
    spoil, spoil_all = store('f', AT, WRONG), store('f', 0, *[WRONG] * WORDS)
    anywhere = complaint(r'\d+')
    for args, first, step, last, err in (
            (f'{read} -f f 64k', 'read', spoil, '', complaint(AT)),
            (f'{write} -f f 64k', 'write', spoil, '', complaint(AT)),
            (f'{write} --signal-write-data 9 -f f 64k', 'write', spoil, '', complaint(AT)),
            (f'{both} -f f 64k', 'read usr1 W65536 write', spoil, '', complaint(AT)),
            (f'{both} --signal-loop -f f 64k', 'read usr1 W65536 write usr1 W65536 read', spoil, '', complaint(AT)),
            (f'{both} --signal-loop --signal-write-data 9 -f f 64k', 'read usr1 W65536 write usr1 W65536 read',
             store('f', AT, AT // 8), '', complaint(AT, AT // 8)),
            (f'{read} --main-write-data 7 -f f 64k', 'read', store('f', AT, AT // 8), '', complaint(AT, AT // 8)),
            (f'{read} --fill random -f f 64k', 'read', store('f', AT, AT // 8), '', complaint(AT, AT // 8)),
            (f'{read} -f f 64k', 'read', store('f', AT, AT // 8 + 1), '', complaint(AT, AT // 8 + 1)),
            (f'{read} -f f 64k', 'read', store('f', AT, 0), '', complaint(AT, 0)),
            (f'{read} -f f 64k', 'read', store('f', SIZE - 8, WRONG), '', complaint(SIZE - 8)),
            (f'{read} -f f 64k', 'read', store('f', 0, WRONG), '', complaint(0)),
            (f'{read} -f f -u {UNIT} 64k', 'read', store('f', UNIT + 8, WRONG), '', complaint(UNIT + 8)),
            (f'{read} -f f -B {PAGE} 64k', 'read', store('f', PAGE + AT, WRONG), '', complaint(AT)),
            (f'{read} -f f -P 64k', 'read', spoil, '', complaint(AT)),
            (f'{read} -f f -j 64 64k', 'read', store('f', 4096 * 3, WRONG), '', complaint(4096 * 3)),
            (f'{read} -f f -n 2 64k', '2xread usr1>one W65536+F', spoil, '', complaint(AT)),
            (f'{read} -f f -t 2 64k', 'read', spoil, '...', f'{complaint(AT)}(\n{complaint(AT)})?'),
            (f'{read} -f f -P -t 2 64k', 'read', spoil, '...', f'{complaint(AT)}(\n{complaint(AT)})?'),
            (f'{read} -f f --signal-read-count 4000 64k', 'read', spoil, '', complaint(AT)),
            (f'{read} -f f -e 1u 64k', 'read', spoil, '', complaint(AT)),
            (f'{read} -f f -Z -r 2 64k', 'Z131072 read', spoil, '', complaint(AT)),
            (f'{read} -o -f f 64k', 'read', spoil, '', complaint(AT)),
            (f'{read} -o --touch-alloc -f f 64k', 'read', spoil, '', complaint(AT)),
            (f'{read} --signal-read-random --random-seed 5 -f f 64k', 'read', spoil_all, '', anywhere),
            (f'{read} -R --random-seed 5 -f f 64k', 'read', spoil_all, '', anywhere),
            (f'{write} --signal-read-random --random-seed 5 -f f 64k', 'write', spoil_all, '', anywhere),
            (f'{both} --signal-read-random --random-seed 5 --signal-loop -f f 64k',
             'read usr1 W65536 write usr1 W65536 read', spoil_all, '', anywhere),
            (f'{both} --signal-read-random --random-seed 5 --signal-write-data 9 --signal-loop -f f 64k',
             'read usr1 W65536 write usr1 W65536 read', store('f', 0, *[i + 1 for i in INDICES]), '',
             r'usemem: wrong data at byte \d+\b.*'),
            (f'{read} --punch-holes -f f 64k', 'holes read', store('f', PAGE + 8, WRONG), '', complaint(PAGE + 8)),
            (f'{read} --punch-holes -f f 64k', 'holes read', store('f', PAGE + 8, 0), '', complaint(PAGE + 8, 0)),
            (f'{read} --punch-holes --fallocate-punch-holes -f f 64k', 'holes read', store('f', 8, WRONG), '',
             complaint(8)),
            (f'{read} --madv-pageout -f f 64k', 'read', spoil, '', complaint(AT))):
        files = {'f': to_words(INDICES)} if '-o -f' in args else {'f': bytes(SIZE + PAGE)}
        yield Row(args, [first, step, 'usr1', last or '...', '=1'], err=err, files=files, needs=small_pages)
    # What is wrong is still there: no word is stored before it is checked.
    def stays(words):
        return words[AT // 8] == WRONG and all(value in (i, 9) for i, value in enumerate(words) if i != AT // 8)
    yield Row(f'{write} --signal-write-data 9 -f f 64k', ['write', spoil, 'usr1 ... =1'], err=complaint(AT),
              name='the wrong word stays', files={'f': HOLE}, content={'f': stays})
    # Nobody stored anything, and the memory is zero.
    for args, script in ((f'-o {read} 1m', 'read'), (f'-o {write} 1m', 'write'), (f'-r 0 {read} 1m', 'read'),
                         (f'-o {read} --memfd 1m', 'read'), (f'-o {read} -f f 64k', 'read'),
                         (f'-o -P {read} 1m', 'read'), (f'-o {read} -n 2 -u {UNIT} 64k', '2xread')):
        yield Row(args, [script, 'usr1>one ... =1'], err=complaint(8, 0) + 'expected 0x1',
                  files={'f': HOLE} if '-f' in args else {})
    yield Row(f'-o {read} --signal-read-random --random-seed 5 64k', 'read usr1 ... =1', err=complaint(r'\d+', 0))
    # Nobody looks, or not there.
    for args, size in (('-W -f f 64k', '65536'), (f'{read} -j 64 -f f 64k', '8192'),
                       (f'{read} --signal-read-count 100 -f f 64k', '800')):
        yield Row(args, ['read', spoil, f'usr1 W{size}+F =0'], files={'f': HOLE}, name=f'not looked at: {args}')


# Waits that are no phase: of usemem itself, before holes are punched; and what memory that is held looks like.

def is_there(*by):
    """A step: the memory of the address lines is mapped in each process that it is of."""
    def look(running):
        lines = [line for line in running.lines if line[0] == 'addr']
        tasks = children(running.pid)
        who = {line[2][0] for line in lines}
        running.must('who says it', {running.pid} if by else set(tasks), who)
        for _, size, (said, start) in lines:
            for pid in tasks if said == running.pid else [said]:
                found = mappings(pid)
                running.must('memory', f'{size} bytes at {start:#x} in {pid}', found,
                             any(first <= start and start + size <= first + length for first, length in found))
    return look


def file_words(running):
    with open(os.path.join(running.folder, 'f'), 'rb') as file:
        return words_in(file.read())


waits = [
    Row('--signal-fork 64k', 'main . usr1 W65536 F =0'),
    Row('--signal-fork -n 3 64k', 'main . usr1 3xW65536+3xF =0'),
    Row('--signal-fork -P -t 3 64k', 'main . usr1 3xW65536 =0'),
    Row('--signal-fork --init-time 64k', 'I main . usr1 W65536 F =0'),
    Row('--signal-fork --init-time -P -F -n 2 64k', 'I main . usr1 2xW65536 =0'),
    Row('--signal-fork --show-addr -P -n 2 64k', 'addr65536 main . usr1 2xW65536 =0'),
    Row('--signal-fork -y -T 60 -Z -f f 64k', 'main . usr1 W65536 Z65536 F =0'),
    Row('--signal-fork 0', 'main . usr1 F =0'),
    Row('--signal-fork -W -n 2 64k', 'main . usr1 2xread usr1>usemem . usr1 2xW65536+2xF =0'),
    Row('--signal-fork -W --signal-loop -t 2 64k', 'main . usr1 ' + course('read', t=2, rounds=2)),
    Row('--signal-fork -s -1 64k', 'main . usr1 W65536 . usr1>usemem . term F =143'),
    Row('--signal-fork -o -f none 64k', '=1', err='usemem: open none: No such file or directory'),
    Row('--signal-fork -x -n 3 64k', 'main . usr1 3xW65536 3xF =0'),
    Row('--signal-fork 64k', 'main . term =SIGTERM', name='--signal-fork, SIGTERM'),
    Row('--signal-fork 64k', 'main . int =SIGINT', name='--signal-fork, SIGINT'),
    Row('--signal-fork -P -n 2 64k', 'main . term>group =SIGTERM', name='--signal-fork, SIGTERM to the group'),
    Row('--signal-fork --init-time 64k', 'I main . int =SIGINT', name='--signal-fork --init-time, SIGINT'),
    Row('--signal-fork -d -p pids 64k', 'main . term =SIGTERM', name='--signal-fork -d, SIGTERM'),
    Row('--punch-holes --signal-punch-holes 64k', 'W65536 punch usr1 holes F =0'),
    Row('--punch-holes --signal-punch-holes -n 3 64k', '3xW65536+3xpunch usr1 3xholes+3xF =0'),
    Row('--punch-holes --signal-punch-holes -t 3 64k', '3xW65536+punch usr1 3xholes+3xF =0'),
    Row('--punch-holes --signal-punch-holes -P -n 2 64k', '2xW65536+2xpunch usr1 2xholes =0'),
    Row(f'--punch-holes --signal-punch-holes -u {UNIT} -Z 64k', 'W65536 Z65536 punch usr1 holes F =0'),
    Row('--punch-holes --signal-punch-holes -W 64k', 'punch usr1 holes read usr1 W65536 F =0'),
    Row('--punch-holes --signal-punch-holes -W --signal-loop -n 2 64k',
        '2xpunch usr1 2xholes+2xread usr1 2xW65536+2xread usr1 2xW65536+2xread term 2xF =143'),
    Row('--punch-holes --signal-punch-holes -x -n 2 64k', '2xW65536+2xpunch usr1>one holes . usr1 holes 2xF =0'),
    Row('--punch-holes --signal-punch-holes -a 64k', 'W65536 punch usr1 holes F =0', err='usemem: .*malloc.*ignored.*'),
    Row('--punch-holes --signal-punch-holes --fallocate-punch-holes -f f 64k',
        ['W65536 punch', lambda running: running.must('before the signal', True, file_words(running) == INDICES),
         'usr1 holes F =0'], content={'f': [0 if i * 8 // PAGE % 2 == 0 and PAGE < SIZE else i for i in INDICES]}),
    Row('--show-addr -s -1 64k', ['addr65536 W65536 .', is_there(), 'term F =143']),
    Row('--show-addr -s -1 -n 3 64k', ['3xaddr65536+3xW65536 .', is_there(), 'term 3xF =143']),
    Row('--show-addr -W -t 2 64k', ['2xaddr65536+read', is_there(), 'usr1 2xW65536+2xF =0']),
    Row(f'--show-addr -W -u {SIZE // 4} 64k', ['4xaddr16384 read', is_there(), 'usr1 W65536 F =0']),
    Row('--show-addr -P -n 3 -W 64k', ['addr65536 3xread', is_there('usemem'), 'usr1 3xW65536 =0']),
    Row(f'--show-addr -P -n 2 -u {UNIT} -s -1 64k', ['addr65536 2xW65536 .', is_there('usemem'), 'term =143']),
    Row('--show-addr -P -t 2 -W 64k', ['addr65536 read', is_there('usemem'), 'usr1 2xW65536 =0']),
    Row('--show-addr -y -n 2 -f f -W 64k', ['2xaddr65536 2xread', is_there(), 'usr1 2xW65536+2xF =0']),
    Row('-M -W 64k', 'read lck:64 usr1 W65536 F =0'),
    Row(f'-M -W -u {UNIT} 1m', 'read lck:1024 usr1 W1048576 F =0'),
    Row('-M -W -t 3 64k', 'read lck:192 usr1 3xW65536+3xF =0'),
    Row('-M -P -s -1 64k', 'W65536 . lck:64 term =143'),
    Row('-E -s -1 64k', 'W65536 . map:640 term =143'),
    # There is nothing that these could change.
    Row('--signal-loop 64k', '=2', err='usemem: .*--signal-loop.*'),
    Row('--signal-loop --madv-pageout --punch-holes 64k', '=2', err='usemem: .*--signal-loop.*'),
    Row('--signal-punch-holes -W 64k', '=2', err='usemem: .*--signal-punch-holes.*'),
    Row('--fallocate-punch-holes -f f 64k', '=2', err='usemem: .*--fallocate-punch-holes.*'),
    Row('--signal-read-count 5 --write-signal-write 64k', '=2', err='usemem: .*--signal-read-count.*'),
    Row('--signal-write-data 5 -W 64k', '=2', err='usemem: .*--signal-write-data.*'),
    Row('--signal-write-times 5 -W 64k', '=2', err='usemem: .*--signal-write-times.*'),
    Row('--signal-read-random --write-signal-madv-thp 64k', '=2', err='usemem: .*--signal-read-random.*'),
    Row('--signal-verify --write-signal-madv-thp 64k', '=2', err='usemem: .*--signal-verify.*'),
]


def holes_are_holes(tests):
    """Every other page is gone from memory once the signal came, and not before."""
    args = ['--punch-holes', '--signal-punch-holes', '--show-addr', '-s', '-1', '64k']
    with tests.folder() as folder, contextlib.suppress(Lost), Play(tests, 'holes', args, folder) as running:
        running.follow('addr65536 W65536 punch .')
        pid, start = running.lines[0][2]
        running.must('resident before', SIZE, resident_bytes(pid, start, SIZE))
        running.follow('usr1 holes .')
        running.must('resident after', SIZE - SIZE // PAGE // 2 * PAGE, resident_bytes(pid, start, SIZE))
        running.follow('term F =143')


def waits_are_not_counted(tests):
    """Half a second at the menu or before the fan-out, of which the walk's time has nothing."""
    for args, ahead, after in (('-g 4k', 'menu', 'key:q W4096 F =0'), ('-g -y 4k', 'menu', 'key:q W4096 F =0'),
                               ('-g -P 4k', 'menu', 'key:q W4096 =0'), ('-P --signal-fork 4k', 'main', 'usr1 W4096 =0'),
                               ('--signal-fork 4k', 'main', 'usr1 W4096 F =0')):
        with tests.folder() as folder, contextlib.suppress(Lost), \
                Play(tests, f'waiting in {args}', args.split(), folder) as running:
            running.follow(ahead + ' .')
            began = time.monotonic()
            until(lambda: False, 0.5)       # what is measured, not what is waited for
            waited = time.monotonic() - began
            running.follow(after)
            took = next(line[2] for line in running.lines if line[0] == 'W')
            running.must('usecs', f'fewer than the {waited} s of the wait', took, took < waited * 1e6)


def menu_takes_nothing_from_the_run_time(tests):
    args = f'-g -T 500ms -u {SIZE // 4} 64k'
    with tests.folder() as folder, contextlib.suppress(Lost), \
            Play(tests, f'waiting in {args}', args.split(), folder) as running:
        running.follow('menu .')
        until(lambda: False, 0.7)
        running.follow('key:q menu key:q menu key:q menu key:q W65536 F =0')


# What ends a wait: SIGINT and SIGTERM at once, wherever they are sent, and the death of usemem or of a task.
KINDS_OF_WAIT = (
    # args, tasks, the script up to the wait, what was done by then and is not yet said
    ('-W 64k', 1, 'read', ''),
    ('-W -n 3 64k', 3, '3xread', ''),
    ('-W -t 3 64k', 3, 'read', ''),
    ('--write-signal-write -n 2 -t 2 64k', 4, '2xwrite', ''),
    ('-W --write-signal-write 64k', 1, 'read usr1 W65536 write', ''),
    ('--punch-holes --signal-punch-holes -n 2 64k', 2, '2xW65536+2xpunch', ''),
    ('-s -1 64k', 1, 'W65536', ''),
    ('-s -1 -n 3 64k', 3, '3xW65536', ''),
    ('-s -1 -t 2 64k', 2, '2xW65536', ''),
    ('-s 1h -Z 64k', 1, 'W65536 Z65536', ''),
    ('-s -1 -W 64k', 1, 'read usr1 W65536', ''),
    ('-x -n 2 -W 64k', 2, '2xread usr1>one W65536', ''),
    ('-x -n 2 -t 2 -W 64k', 4, '2xread usr1>one 2xW65536', ''),
    ('-g 64k', 1, 'menu', 'W65536'),
    ('-g -n 2 64k', 2, '2xmenu', '2xW65536'),
    (f'-g -u {SIZE // 4} 64k', 1, 'menu key:q menu', f'W{SIZE // 2}'),
)
WHICH = r'(worker \d+|process of workers \d+-\d+) \(pid PID\)'


def stopped():
    for name in ('int', 'term'):
        sig = SIGNALS[name]
        for args, tasks, ahead, done in KINDS_OF_WAIT:
            lines = f'{done}+{tasks}xF' if done else f'{tasks}xF'
            for whom in ('usemem', 'group'):
                yield Row(args, f'{ahead} . {name}>{whom} {lines} ={128 + sig}', name=f'{sig.name} to {whom}: {args}')
            yield Row(args, f'{ahead} . {name}>last ... =1', name=f'{sig.name} to a task: {args}',
                      err=rf'usemem: {WHICH} was stopped by {sig.name}')


def killed_while_waiting():
    for args, _, ahead, _ in KINDS_OF_WAIT:
        yield Row(args, f'{ahead} . kill>last ... =1', name=f'a task is killed: {args}',
                  err=rf'usemem: {WHICH} was killed by SIGKILL')
        yield Row(args, f'{ahead} . kill ... =SIGKILL', name=f'usemem is killed: {args}')


sleeps = [
    Row('-s 0 64k', 'W65536 F =0'),
    Row('-s 1ms -n 2 64k', '2xW65536+2xF =0'),
    Row('-s 10ms -t 2 -P 64k', '2xW65536 =0'),
    Row('-s 1ms 0', 'F =0'),
    Row('-s -5 -n 2 64k', '2xW65536 . term 2xF =143'),
    Row('-s -1 -P -n 2 64k', '2xW65536 . int =130'),
    Row('-s -1 -W --signal-loop 64k', 'read usr1 W65536+read . int F =130'),
    Row('-x -n 3 64k', '3xW65536 3xF =0'),
    Row('-x -t 3 64k', '3xW65536 3xF =0'),
    Row('-x -n 2 -t 2 -Z 64k', '4xW65536+4xZ65536 4xF =0'),
    Row('-x -n 3 -P 64k', '3xW65536 =0'),
    Row('-x -n 3 0', '3xF =0'),
    Row('-x 64k', 'W65536 F =0'),
    Row('-x -n 3 -s 5ms --punch-holes 64k', '3xW65536+3xholes 3xF =0'),
    Row('-x -n 2 -g 64k', '2xmenu key:q W65536 . key:q W65536 2xF =0'),
    Row('-n 2 -g 64k', '2xmenu key:q W65536 F . key:q W65536 F =0'),
    Row(f'-x -n 2 -T 100ms {FOR_EVER} 1m', '2xW* 2xF =0'),
    Row('-x -n 3 -W -s 5ms 64k', '3xread usr1>one W65536 . usr1>one W65536 . usr1 W65536 3xF =0'),
    Row('-x -n 2 -t 2 -W 64k', '2xread usr1>one 2xW65536 . usr1 2xW65536 4xF =0'),
    Row('-x -n 3 -W 64k', '3xread usr1>one W65536 . kill>hit ... =1', name='killed at the second line',
        err=rf'usemem: {WHICH} was killed by SIGKILL'),
    Row('-x -n 2 -y -W --json=result 64k', '2xread usr1>one W65536 . usr1 W65536 2xF =0'),
]


def reader_goes_away(tests):
    """Lines that cannot be printed after a wait, and waiting lines that nobody can read."""
    for args, script in (('-W 64k', 'read'), ('-W -n 2 64k', '2xread'), ('-s -1 -W -t 2 64k', 'read'),
                         ('--punch-holes --signal-punch-holes 64k', 'W65536 punch')):
        with tests.folder() as folder, contextlib.suppress(Lost), \
                Play(tests, f'reader goes away: {args}', args.split(), folder) as running:
            running.follow(script)
            running.still(running.waiting)
            running.process.stdout.close()
            running.process.stdout = None
            os.kill(running.waiting[0], signal.SIGUSR1)
            running.must('status', 1, running.status())
            running.must('stderr', 'Broken pipe', running.stderr(), 'Broken pipe' in running.stderr())
            until(lambda: not left_of(running.pid), SOON)
            running.must('processes left', [], left_of(running.pid))
    for args in ('-W 64k', '--signal-fork 64k', '-g 64k', '-W -d -p pids -n 2 64k', '-W -t 2 -x 64k'):
        with open('/dev/full', 'wb') as full, tests.folder() as folder:
            result = run(tests, args.split(), stdout=full, cwd=folder)
            tests.check(f'/dev/full {args}', (1, True), (result.status, b'No space left' in result.err))
            if '-p' in args:
                tests.check(f'/dev/full {args}: pids', 0, os.path.getsize(os.path.join(folder, 'pids')))


# The menu. A key that goes on is the last of its unit.
def flood(running):
    """A step: thousands of keys that mean nothing."""
    running.press('x' * 4000)


menu = [
    Row('-g 64k', 'menu . lck:0 key:l menu lck:64 key:u menu lck:0 key:r menu map:640 key:q W65536 F =0'),
    Row('-g 64k', 'menu key:r menu map:640 key:r menu map:6400 key:q W65536 F =0', name='-g, r twice'),
    Row('-g 64k', 'menu key:lu menu menu lck:0 key:q W65536 F =0', name='-g, l and u at once'),
    Row('-g -s -1 64k', 'menu key:a W65536 . lck:0 map:640 term F =143'),
    Row('-g -s -1 64k', 'menu key:l menu key:q W65536 . lck:64 term F =143', name='-g -s -1, l stays'),
    Row('-g --getchar -n 1 64k', 'menu key:q W65536 F =0'),
    Row('-g 64k', 'menu key:xyz?! . key:A . key:q W65536 F =0', name='-g, unknown keys'),
    Row('-g 64k', ['menu', lambda running: running.press('\n\r\t \0\x1b'), '.', 'key:q W65536 F =0'],
        name='-g, line ends'),
    Row('-g 64k', 'menu . key:end W65536 F =0', name='-g, end of input'),
    Row('-g 64k', 'menu key:l menu . lck:64 key:end W65536 F =0', name='-g, l and the end of input'),
    Row('-g 64k', 'menu key:x key:end W65536 F =0', name='-g, unknown and the end of input'),
    Row(f'-g -u {UNIT} 64k', ' '.join(['menu key:q'] * (SIZE // UNIT)) + ' W65536 F =0'),
    Row(f'-g -u {UNIT} 64k', 'key:end ' + ' '.join(['menu'] * (SIZE // UNIT)) + ' W65536 F =0',
        name='-g -u, end of input'),
    Row(f'-g -u {SIZE // 2} -s -1 64k',
        'menu key:r menu map:320 key:q menu key:r menu key:q W65536 . map:320 term F =143'),
    Row(f'-g -u {SIZE // 2} -P 64k', 'menu key:l menu lck:32 key:q menu key:u menu lck:32 key:q W65536 =0'),
    Row('-g -n 2 64k', '2xmenu key:qq 2xW65536+2xF =0'),
    Row('-g -n 2 64k', '2xmenu . key:q W65536+F . key:q W65536+F =0', name='-g -n 2, one after the other'),
    Row('-g -n 3 64k', '3xmenu key:end 3xW65536+3xF =0'),
    Row('-g -t 2 64k', '2xmenu key:qq 2xW65536+2xF =0'),
    Row('-g -n 8 64k', '8xmenu . key:q W65536+F . key:q W65536+F . term 6xW65536+6xF =143',
        name='-g -n 8, SIGTERM after keys'),
    # Each finds out that there is a key, and another has it.
    Row('-g -n 8 64k', ['8xmenu .', flood, '. term 8xW65536+8xF =143'], name='-g -n 8, SIGTERM after many keys'),
    Row('-g -t 8 64k', ['8xmenu .', flood, '. int 8xW65536+8xF =130'], name='-g -t 8, SIGINT after many keys'),
    Row('-g -t 8 64k', ['8xmenu .', flood, '. term>task ... =1'], name='-g -t 8, SIGTERM to the task after many keys',
        err=rf'usemem: {WHICH} was stopped by SIGTERM'),
    Row('-g -n 8 64k', ['8xmenu .', flood, 'key:qqqq 4xW65536+4xF key:end 4xW65536+4xF =0'], name='-g -n 8, many keys'),
    Row('-g -r 3 64k', 'menu key:q W196608 F =0'),
    Row('-g -o -j 64 64k', 'menu key:q W8192 F =0'),
    Row('-g -r 0 64k', 'menu key:q F =0'),
    Row('-g 0', 'F =0'),
    Row('-g -Z -W 64k', 'menu key:q Z65536 read usr1 W65536 F =0'),
    Row('-g -T 60 64k', 'menu key:q W65536 F =0'),
    Row('-g -a 64k', 'menu key:r ... =1', err='usemem: .*mremap.*'),
    Row('-g -a 64k', 'menu key:a ... =1', err='usemem: .*mremap.*', name='-g -a, a'),
    Row('-g -a 64k', 'menu key:l menu key:u menu key:q W65536 F =0', name='-g -a, l and u'),
    Row('-g -f f 64k', 'menu key:r menu map:640 key:q W65536 F =0', content={'f': INDICES}),
    Row('-g --memfd 64k', 'menu key:lr menu menu lck:640 key:q W65536 F =0'),
    Row('-g -O 64k', 'menu key:r menu key:q W65536 F =0'),
    Row('-g -x -n 2 64k', '2xmenu key:q W65536 . key:q W65536 2xF =0'),
    Row('-g --punch-holes --signal-verify -W 64k', 'menu key:r menu key:q holes read usr1 W65536 F =0'),
]


def menu_without_input(tests):
    for what in ('/dev/null', None):
        with tests.folder() as folder:
            with contextlib.ExitStack() as stack:
                how = {'stdin': stack.enter_context(open(what, 'rb'))} if what else {'before': lambda: os.close(0)}
                result = run(tests, ['-g', '-u', str(UNIT), '64k'], cwd=folder, **how)
            lines = [line_of(text) for text in result.out.splitlines()]
            tests.check(f'-g with {what}', (0, f'1xF 1xW65536 {SIZE // UNIT}xmenu'), (result.status, brief(lines)))


# Detached processes.

def holding(size):
    """A step: each of the detached holds SIZE bytes."""
    def look(running):
        for pid in left_of(running.pid):
            got = kilobytes(pid, 'VmRSS') * 1024
            running.must('held', f'at least {size}', got, got >= size)
            running.must('its parent', 'not usemem', int(stat_fields(pid)[1]), int(stat_fields(pid)[1]) != running.pid)
    return look


def pids_are(count):
    """A step: the file has so many pids."""
    def look(running):
        found = running.pids()
        running.must('pids', count, found, len(set(found)) == len(found) == count)
    return look


def pids_are_those_of(step):
    """The steps: note the tasks in order while they are held, go on with STEP, and find their pids so in the file."""
    noted = []

    def note(running):
        noted[:] = children(running.pid)

    def compare(running):
        running.must('pids in task order', noted, running.pids())
    return [note, step, compare]


def all_stay(count):
    def look(running):
        running.must('processes that stay', count, len(left_of(running.pid)))
        running.still()
    return look


detached = [
    Row('-d -s -1 -p pids 8m', ['W8388608 left', all_stay(1), holding(8 * MIB), pids_are(1), 'term>task ... over']),
    Row('-d -s -1 -p pids -n 3 2m', ['3xW2097152 left', all_stay(3), holding(2 * MIB), pids_are(3),
                                     'kill>tasks over']),
    Row('-d -s -1 -p pids -t 3 2m', ['3xW2097152 left', all_stay(1), holding(6 * MIB), pids_are(1),
                                     'int>tasks ... over']),
    Row('-d -s -1 -p pids -n 2 -t 2 2m', ['4xW2097152 left', all_stay(2), holding(4 * MIB), pids_are(2),
                                          'term>tasks ... over']),
    Row('-d -s -1 -n 2 64k', '2xW65536 left . kill>tasks over'),
    Row('-d -s -1 -P -F -n 2 -p pids 2m', ['2xW2097152 left', all_stay(2), holding(2 * MIB), 'term>tasks over']),
    Row('-d -s -1 -M -p pids 64k', 'W65536 left lck:64 . kill>tasks over'),
    Row('-d -s -1 -Z --punch-holes -p pids 64k', 'W65536 Z65536 holes left . kill>tasks over'),
    Row('-d -s 1ms -p pids -n 2 64k', ['2xW65536+2xF exit0', pids_are(2), 'over']),
    Row('-d -p pids -n 2 64k', ['2xW65536+2xF exit0', pids_are(2), 'over']),
    Row('-d 64k', 'W65536 F exit0 over'),
    Row('-d -p pids 0', ['F exit0', pids_are(1), 'over']),
    Row('-d -P -p pids 64k', ['W65536 exit0', pids_are(1), 'over']),
    Row('-d -W -p pids 64k', 'read left . usr1 W65536 F over'),
    Row('-d --write-signal-write --signal-write-times 2 -n 3 -p pids 64k', '3xwrite left . usr1 3xW131072+3xF over'),
    Row('-d --write-signal-madv-thp -p pids 64k', 'thp left . usr1 W65536 F over', needs=huge_pages_on_request),
    Row('-d -W --write-signal-write -p pids -n 2 64k', '2xread left . ' + course('write', n=2).replace(
        '2xwrite usr1', 'usr1 2xW65536+2xwrite usr1').replace('=0', 'over')),
    Row('-d -W -t 3 -p pids 64k', ['read left', all_stay(1), pids_are(1), 'usr1 3xW65536+3xF over']),
    Row('-d -W -n 2 -t 2 -p pids 64k', ['2xread left', pids_are(2),
                                        '. usr1>one 2xW65536+2xF . usr1 2xW65536+2xF over']),
    Row('-d -W -P -n 2 -p pids 64k', '2xread left . usr1 2xW65536 over'),
    Row('-d -W --signal-loop -n 2 -p pids 64k',
        '2xread left usr1 2xW65536+2xread . usr1 2xW65536+2xread . kill>tasks over'),
    Row('-d -W --signal-loop -p pids 64k', 'read left usr1 W65536 read . term>task ... over'),
    Row('-d -W -s -1 -p pids 64k', 'read left usr1 W65536 . usr1>task . term>task ... over'),
    Row('-d -W --signal-verify -p pids -f f 64k', ['read left .', store('f', AT, WRONG), 'usr1 ... over'],
        err=complaint(AT), name='-d, wrong data'),
    Row('-d -W --signal-verify -n 2 -f f 64k',
        ['2xread left usr1>one W65536+F .', store('f', AT, WRONG), 'usr1 ... over'],
        err=complaint(AT), name='-d -n 2, wrong data'),
    Row('-d -T 60 -W -p pids 64k', 'read left usr1 W65536 F over'),
    Row('-d -T 200ms --write-signal-write --signal-write-times 1000000000000 -p pids 64k', 'write left usr1 W*+F over'),
    Row('-d -e 150ms -W -p pids -n 2 4k', '2xread left usr1>one W4096+F . usr1 W4096+F over'),
    Row('-d --punch-holes --signal-punch-holes -p pids -n 2 64k', '2xW65536+2xpunch left . usr1 2xholes+2xF over'),
    Row('-d --signal-fork -W -p pids -n 2 64k', 'main . usr1 2xread left usr1 2xW65536+2xF over'),
    Row('-d --init-time --show-addr -W -p pids 64k', 'I addr65536 read left usr1 W65536 F over'),
    Row('-d -a -W -p pids 64k', 'read left usr1 W65536 F over'),
    Row('-d -f f -W -p pids 64k', 'read left usr1 W65536 F over', content={'f': INDICES}),
    Row('-d -g -p pids 64k', ['menu', *pids_are_those_of('key:q W65536 F exit0'), 'over']),
    Row('-d -g -n 3 -s -1 -p pids 64k', ['3xmenu', *pids_are_those_of('key:qqq 3xW65536 left'), 'kill>tasks over']),
    Row('-d -g -n 3 -W -p pids 64k', ['3xmenu', *pids_are_those_of('key:qqq 3xread left'), 'usr1 3xW65536+3xF over']),
    Row('-d -g -n 2 -W 64k', '2xmenu . key:q read . stays key:q read left usr1 2xW65536+2xF over',
        name='-d stays for the last'),
    Row('-d -g -W 64k', 'menu usr1>task settled key:q read W65536 F over', name='-d, signalled early'),
    Row('-d -g -W --signal-loop 64k',
        'menu usr1>task settled key:q read W65536 read . left usr1 W65536 read . kill>tasks over',
        name='-d, signalled early, loop'),
    Row('-d -W -p /dev/full -n 2 64k', '2xread ... =1', err='usemem: write /dev/full: No space left on device.*'),
    Row('-d -W -p no/pids 64k', '=1', err='usemem: open no/pids: No such file or directory'),
    Row('-d -p . 64k', '=1', err='usemem: open .: Is a directory'),
    Row('-p no/pids 64k', 'W65536 F =0', name='-p without -d'),
    Row('-d -W -p pids --json=result -n 2 64k', ['2xread left', lambda running: document_is(running, 'ok'),
                                                 'usr1 2xW65536+2xF over']),
    # All of them meet at the second line.
    Row('-d -x -n 3 -W -p pids 64k', '3xread left usr1>one W65536 . usr1>one W65536 . usr1 W65536 3xF over'),
    Row('-d -x -t 3 -W -p pids 64k', 'read left usr1 3xW65536 3xF over'),
    Row('-d -x -n 2 -t 2 -W -p pids 64k', '2xread left usr1>one 2xW65536 . usr1 2xW65536 4xF over'),
    Row('-d -x -n 3 -s 10ms -p pids 64k', ['3xW65536 3xF exit0', pids_are(3), 'over']),
    Row('-d -x -n 3 -p pids 64k', ['3xW65536 3xF exit0', pids_are(3), 'over']),
    Row('-d -x -n 3 -W -p pids 64k', '3xread left kill>one usr1>one W65536 usr1>one W65536 2xF over',
        name='-d -x, one of three is killed'),
    Row('-d -x -n 3 -W -p pids 64k', '3xread left usr1>one W65536 . kill>hit usr1>one W65536 usr1 W65536 2xF over',
        name='-d -x, one at the line is killed'),
    Row('-d -x -n 2 -t 2 -W -p pids 64k', '2xread left usr1>one 2xW65536 . kill>hit usr1 2xW65536 2xF over',
        name='-d -x -t, one at the line is killed'),
    # usemem is ended before they have got there, and after.
    Row('-d -g -n 2 -s -1 -p pids 64k', ['2xmenu . key:q W65536 . kill ... =SIGKILL', pids_are(0)],
        name='-d, usemem is killed before'),
    Row('-d -g -n 2 -s -1 -p pids 64k', ['2xmenu . key:q W65536 . term ... =143', pids_are(0)],
        name='-d, SIGTERM before'),
    Row('-d -g -n 2 -s -1 -p pids 64k', ['2xmenu . key:q W65536 . int>group ... =130', pids_are(0)],
        name='-d, SIGINT to the group before'),
    Row('-d -g -n 2 -W -p pids 64k', ['2xmenu . key:q read . kill>other ... =1', pids_are(0)],
        err=rf'usemem: {WHICH} was killed by SIGKILL', name='-d, a task is killed before'),
    Row('-d -g -n 2 -W -p pids 64k', ['2xmenu . key:q read . term>other ... =1', pids_are(0)],
        err=rf'usemem: {WHICH} was stopped by SIGTERM', name='-d, a task is stopped before'),
    Row('-d -g -n 2 -W -p pids 64k', ['2xmenu . key:q read . kill>one ... =1', pids_are(0)],
        err=rf'usemem: {WHICH} was killed by SIGKILL', name='-d, a task is killed that waits for the rest'),
    Row('-d -g -n 2 -W -p pids 64k', ['2xmenu . key:q read . int>one ... =1', pids_are(0)],
        err=rf'usemem: {WHICH} was stopped by SIGINT', name='-d, a task is stopped that waits for the rest'),
    Row('-d -a -g -n 2 -s -1 -p pids 64k', ['2xmenu . key:q W65536 . key:r ... =1', pids_are(0)],
        err='usemem: .*mremap.*', name='-d, one fails before'),
    Row('-d -g -n 2 -W -p pids 64k', ['2xmenu . key:q read . kill ... =SIGKILL', pids_are(0)],
        name='-d -W, usemem is killed before'),
    Row('-d -s -1 -p pids -n 2 256m', ['=1', pids_are(0)], err='usemem: map 256m.*(\nusemem: map 256m.*)?',
        before=lambda: resource.setrlimit(resource.RLIMIT_AS, (128 * MIB, 128 * MIB))),
]


def cannot_lock():
    """To be called in the child."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
    be_nobody()


# Some more than once: it is usemem that must not be faster than the failure.
detached += [Row(f'-d -M -p pids {more} 1m', ['... =1', pids_are(0)], err=r'usemem: mlock 1m.*(\nusemem: mlock 1m.*)?',
                 mode=0o777, before=cannot_lock)
             for more in ['-s -1'] * 8 + ['-s -1 -n 2', '-s -1 -t 2', '-W -t 2', '-x -n 2', '-P -s -1', '']]


def document_is(running, outcome):
    with open(os.path.join(running.folder, 'result'), encoding='utf-8') as file:
        document = json.load(file)
    running.must('outcome', outcome, document['outcome'])
    running.must('outcomes of the tasks', 'none failed', document['workers'],
                 all(worker.get('outcome') in (outcome, 'stopped') for worker in document['workers']))


def pid_file_is_appended_to(tests):
    with tests.folder() as folder, contextlib.suppress(Lost):
        with open(os.path.join(folder, 'pids'), 'w', encoding='ascii') as file:
            file.write('12345\n')
        args = '-d -W -p pids -n 2 64k'.split()
        with Play(tests, 'pid file, first', args, folder) as one:
            one.follow('2xread')
            one.must('status', 0, one.status())
            first = one.pids()
            one.must('pids', [12345, *sorted(one.waiting)], sorted(first[:1]) + sorted(first[1:]))
            with Play(tests, 'pid file, second', args, folder) as two:
                two.follow('2xread')
                two.must('status', 0, two.status())
                second = two.pids()
                two.must('pids of before', first, second[:3])
                two.must('pids', sorted(two.waiting), sorted(second[3:]))
                two.follow('usr1 2xW65536+2xF over')
            one.follow('. usr1 2xW65536+2xF over')


def one_of_the_detached_is_stopped(tests):
    """SIGTERM frees the others of it, as its death does, and ends it whatever it waits for."""
    for args, script, others in (('-d -x -n 3 -W 64k', '3xread left term>task', 2),
                                 ('-d -x -n 3 -W 64k', '3xread left usr1>one W65536 . term>hit', 2),
                                 ('-d -x -n 2 -t 2 -W 64k', '2xread left usr1>one 2xW65536 . int>hit', 2)):
        with tests.folder() as folder, contextlib.suppress(Lost), \
                Play(tests, f'{args}: {script}', args.split(), folder) as running:
            running.follow(script)
            running.must('it ends', True, until(lambda run=running: not alive(run.hit[0]), SOON))
            stopped_one = running.hit
            running.waiting = [pid for pid in running.waiting if pid not in stopped_one]
            for pid in running.waiting:
                os.kill(pid, signal.SIGUSR1)
            lines = running.until_end()
            running.must('walk lines of the others', others, [line[0] for line in lines].count('W'))
            running.must('the last lines', 'F' * others, ''.join(line[0] for line in lines)[-others:])
            running.follow('over')


sections = {
    'phases': [rows_of(each_phase()), advised_whole_pages, is_advised],
    'given': [rows_of(given), random_writes, counted_random_writes, held, limited],
    'rounds': [rows_of(rounds), each_repetition_waits, waiting_line_beside_json,
               pageout_heads_each_round],
    'early': [rows_of(early)],
    'right': [rows_of(right_data())],
    'wrong': [rows_of(wrong_data())],
    'waits': [rows_of(waits), rows_of(sleeps), holes_are_holes, waits_are_not_counted,
              menu_takes_nothing_from_the_run_time],
    'ends': [rows_of(stopped()), rows_of(killed_while_waiting()), reader_goes_away],
    'menu': [rows_of(menu), menu_without_input],
    'detached': [rows_of(detached), pid_file_is_appended_to, one_of_the_detached_is_stopped],
}

if __name__ == '__main__':
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))      # a time limit must leave nobody behind either
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
