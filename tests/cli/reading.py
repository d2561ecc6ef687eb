# SPDX-License-Identifier: GPL-2.0-or-later
"""reading - what readtwice prints, by the rules that other people's parsers have, and places where it can read."""
import contextlib
import os
import re
import shutil
import tempfile

from harness import Skip

METHODS = ['read', 'pread', 'readv', 'preadv2', 'mmap', 'splice', 'sendfile', 'io_uring', 'libaio', 'null']

# What the parsers accept: D is digits and at most one point; every amount has a letter; the rate is there.
D = rb'\d+(?:\.\d+)?'
COPIED = re.compile(rb'(\d+) bytes \((' + D + rb') ([kMGTPE])B, (' + D + rb') ([KMGTPE])iB\) copied, (' + D +
                    rb') s, (' + D + rb') ([kMGTPE])B/s')
PERIOD = re.compile(rb'(\d+) bytes (faulted|truncated) in (\d+\.\d{9})-(\d+\.\d{9}) seconds')
# What they would take for a line of theirs, even where it is not quite one.
THEIRS = re.compile(rb'\.*\d+ bytes / \d+ usecs|copied,|bytes (?:truncated|faulted|migrated|remapped)|usecs to free|'
                    rb'^\./case|KB/s|\(secs\)|run time:')
# Lines of our own, for people.
OWN = [
    ('together', re.compile(rb'together: (\d+) bytes over (\d+\.\d{6}) s, (' + D + rb') ([kMGTPE])B/s')),
    ('spread', re.compile(rb'slowest reader (' + D + rb') ([kMGTPE])B/s, fastest (' + D + rb') ([kMGTPE])B/s; (\d+) reads? '
                          rb'at once for (\d+\.\d) % of the time')),
    ('data', re.compile(rb'data: (.+)')),
    ('cold', re.compile(rb'cold: (yes, no page was cached|no, \d+ of \d+ pages stayed cached|unknown, .+)')),
    ('cached', re.compile(rb'(.*): (\d+) of (\d+) pages cached, (\d+\.\d) %', re.S)),
    ('untold', re.compile(rb'(.*): how much is cached the kernel does not tell', re.S)),
    ('dropped', re.compile(rb'(\d+) bytes dropped in (\d+\.\d{9})-(\d+\.\d{9}) seconds')),
    ('five', re.compile(rb'(?:Count|Total|Range|Mean |Stdev): .+')),
]
LETTERS = b'kMGTPE'
# What is said of a file that fits in memory, as those of the tests do, and of a short run.
USUAL = re.compile(rb'readtwice: (?:warning: \d+(?:\.\d+)? \w+ of files fit into .*|random seed \d+|warning: a run took less .*|'
                   rb'warning: the slowest task has less .*|warning: the first run is unlike .*|'
                   rb'warning: the runs spread .*|warning: .* is on overlayfs: .*)\n')


def amount_right(number, letter, exact, step):
    """Is NUMBER of the unit LETTER what EXACT comes to, rounded to one decimal?"""
    unit = step ** (LETTERS.upper().index(letter.upper()) + 1)
    return abs(float(number) - exact / unit) <= 0.0500001


def read_copied(match):
    """(bytes, usecs) of a line whose numbers agree with each other; else a text that says what is wrong."""
    size, decimal, k, binary, ki, seconds, rate, unit = match.groups()
    usecs = round(float(seconds) * 10**6)
    if usecs < 1:
        return 'not a microsecond'
    for what, good in (('decimal amount', amount_right(decimal, k, int(size), 1000)),
                       ('binary amount', amount_right(binary, ki, int(size), 1024)),
                       ('rate', amount_right(rate, unit, int(size) * 10**6 / usecs, 1000))):
        if not good:
            return f'wrong {what}'
    return int(size), usecs


class Lines:
    """The lines of an output. copied: (bytes, usecs) of each reader; periods: those of the truncate cases as
    {kind: [(bytes, begin, end)]}, times in ns; own: {kind: [match]}; bad: what nobody can place."""

    def __init__(self, out):
        self.copied, self.periods, self.own, self.bad, self.order = [], {}, {}, [], []
        parts = out.split(b'\n')
        if parts.pop():
            self.bad.append('no line end')
        for text in parts:
            self.place(text)

    def place(self, text):
        copied, period = COPIED.fullmatch(text), PERIOD.fullmatch(text)
        if copied:
            got = read_copied(copied)
            (self.bad if isinstance(got, str) else self.copied).append(got)
            self.order.append('copied')
        elif period:
            size, kind, begin, end = period.groups()
            times = [int(t.replace(b'.', b'')) for t in (begin, end)]
            self.periods.setdefault(kind.decode(), []).append((int(size), *times))
            self.order.append(kind.decode())
        else:
            kind, match = next(((kind, form.fullmatch(text)) for kind, form in OWN if form.fullmatch(text)), ('', None))
            if THEIRS.search(text) or not match or any(byte > 126 or byte < 32 for byte in text):
                self.bad.append(text.decode(errors='backslashreplace'))
            self.own.setdefault(kind, []).append(match)
            self.order.append(kind)


def complaints(err):
    """What is on stderr besides what is always said of a small and short run."""
    return USUAL.sub(b'', err)


@contextlib.contextmanager
def disk_folder(mode=0o755, name='pagemill-cli-'):
    """An empty directory on a disk: in memory reading leaves nothing in the page cache."""
    path = tempfile.mkdtemp(prefix=name, dir='/var/tmp')
    os.chmod(path, mode)
    try:
        with open('/proc/self/mountinfo', 'rb') as mounts:
            device = f'{os.major(os.stat(path).st_dev)}:{os.minor(os.stat(path).st_dev)}'.encode()
            kinds = {line.split(b' - ')[1].split()[0] for line in mounts if line.split()[2] == device}
        if kinds & {b'tmpfs', b'ramfs'}:
            raise Skip('/var/tmp is in memory')
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def sparse(path, size):
    with open(path, 'wb') as file:
        file.truncate(size)
    return path


def need_loops():
    """Root, and a loop device: for --fs."""
    if os.geteuid() != 0:
        raise Skip('not root')
    if not os.path.exists('/dev/loop-control'):
        raise Skip('no loop devices')


def need_mkfs(kind):
    need_loops()
    if not shutil.which('mkfs.' + kind, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin'):
        raise Skip(f'no mkfs.{kind}')


def left_in(folder):
    """What a run left of FOLDER: names, loop devices that lie there, mounts."""
    found = sorted(os.listdir(folder))
    for name in os.listdir('/sys/block'):
        with contextlib.suppress(OSError), open(f'/sys/block/{name}/loop/backing_file', 'rb') as backing:
            if os.fsencode(folder) in backing.read():
                found.append(name)
    with open('/proc/self/mountinfo', 'rb') as mounts:
        found += [line.decode(errors='replace') for line in mounts if os.fsencode(folder) in line]
    return found
