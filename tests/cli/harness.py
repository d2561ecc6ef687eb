# SPDX-License-Identifier: GPL-2.0-or-later
"""harness - runs a program from outside, reads its lines, and counts what was not as expected."""
import collections
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

PATIENCE = 20       # seconds until a run counts as hung
NOBODY = 65534
PAGE = os.sysconf('SC_PAGE_SIZE')
WORD = 8
MIB = 1 << 20

WALK = re.compile(rb'(\d+) bytes / (\d+) usecs = (\d+) KB/s')
AGAIN = re.compile(rb'read again (\d+) bytes / (\d+) usecs = (\d+) KB/s')
FREE = re.compile(rb'(\d+) usecs to free memory')
INIT = re.compile(rb'the initialization time is (\d+) secs (\d+) usecs')
FIVE = re.compile(rb'Count: (\d+)\nTotal: (\d+)\nRange: (\d+)\.\.\.(\d+)\nMean : (\d+)\nStdev: (\d+|-)\n')


class Skip(Exception):
    """This machine cannot show it; the text says why."""


class Tests:
    """What was checked, what failed, and what could not be tried."""

    def __init__(self, argv):
        if len(argv) < 2 or not os.access(argv[1], os.X_OK):
            sys.exit(f'usage: {argv[0]} BINARY [SECTION]...')
        self.chosen = argv[2:]
        self.checks = self.failures = self.skips = 0
        self.dir = tempfile.mkdtemp(prefix='pagemill-cli-')
        os.chmod(self.dir, 0o755)
        # A copy that every user may run, wherever the build folder is.
        self.program = os.path.basename(argv[1])
        self.binary = os.path.join(self.dir, self.program)
        shutil.copyfile(argv[1], self.binary)
        os.chmod(self.binary, 0o755)

    def check(self, row, expected, got, good=None):
        """Count a check; one line if it failed. GOOD: else EXPECTED and GOT must be equal."""
        self.checks += 1
        if expected == got if good is None else good:
            return True
        self.failures += 1
        print(f'{row}: expected {shown(expected)}, got {shown(got)}', flush=True)
        return False

    def skip(self, row, reason):
        self.skips += 1
        print(f'skipped: {row}: {reason}', flush=True)

    @contextlib.contextmanager
    def folder(self, mode=0o755):
        """An empty directory that goes again, whatever is in it then."""
        path = tempfile.mkdtemp(dir=self.dir)
        os.chmod(path, mode)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def run_all(self, sections):
        """Each chosen section (all if none was) is called with us; returns the exit status."""
        unknown = [name for name in self.chosen if name not in sections]
        if unknown:
            sys.exit(f'no section {unknown[0]}: there are {" ".join(sections)}')
        try:
            for name in self.chosen or sections:
                for scene in sections[name]:
                    try:
                        scene(self)
                    except Skip as reason:
                        self.skip(scene.__name__, reason)
                    except Exception as error:      # the rest is tried all the same
                        at = traceback.extract_tb(error.__traceback__)[-1]
                        self.check(scene.__name__, 'its end', f'{error!r} at {os.path.basename(at.filename)}:{at.lineno}')
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)
        print(f'{self.checks} checks, {self.failures} failed, {self.skips} parts skipped')
        return 1 if self.failures else 77 if not self.checks else 0


def shown(value):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) < 700 else text[:500] + ' ... ' + text[-150:]


def environment(extra=None):
    env = {k: v for k, v in os.environ.items() if k not in ('POSIXLY_CORRECT', 'MALLOC_PERTURB_')}
    env.update(LC_ALL='C', **(extra or {}))
    return env


Result = collections.namedtuple('Result', 'status out err seconds')


def status_of(returncode):
    """An exit status, or 'killed by SIGNAL'."""
    if returncode is not None and returncode < 0:
        return 'killed by ' + signal.Signals(-returncode).name
    return returncode


class Run:
    """A program that runs. Leaving the with block ends it, and waits until it is gone."""

    def __init__(self, tests, args, cwd='/', env=None, before=None, prefix=(), **streams):
        streams = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE,
                   'stderr': subprocess.PIPE, **streams}
        self.began = time.monotonic()
        self.process = subprocess.Popen([*prefix, tests.binary, *args], cwd=cwd, preexec_fn=before,
                                        env=environment(env), start_new_session=True, **streams)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Its session is its own: whoever is in it, an orphan too, is of this run.
        for pid in left_of(self.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr, self.process.stdin):
            if stream:
                stream.close()

    def finish(self, seconds=PATIENCE):
        """Wait for the end; what takes longer has the status 'hung'."""
        try:
            out, err = self.process.communicate(timeout=seconds)
            status = status_of(self.process.returncode)
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            out, err = self.process.communicate()
            status = 'hung'
        return Result(status, out or b'', err or b'', time.monotonic() - self.began)

    def workers(self, count, seconds=10):
        """The pids of the COUNT worker processes, in the order of their start, once all are there."""
        until(lambda: len(children(self.pid)) >= count or self.process.poll() is not None, seconds)
        found = children(self.pid)
        if len(found) < count:
            raise AssertionError(f'{len(found)} of {count} workers were seen')
        return found

    def walking(self, count, seconds=10):
        """The same, once all have come to the walk: the start line is behind them."""
        pids = self.workers(count, seconds)
        # A worker sleeps before the start line, and uses a CPU after it.
        until(lambda: all(cpu_ticks(pid) >= 3 for pid in pids) or self.process.poll() is not None, seconds)
        return pids


def run(tests, args, seconds=PATIENCE, **how):
    with Run(tests, args, **how) as running:
        return running.finish(seconds)


def until(holds, seconds=10):
    """Look again and again until it holds; False if it did not in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def stat_fields(pid):
    """The fields of /proc/PID/stat after the name, the state first; [] if it is gone."""
    try:
        with open(f'/proc/{pid}/stat', 'rb') as stat:
            return stat.read().rpartition(b')')[2].split()
    except OSError:
        return []


def children(pid):
    """The living child processes, in the order of their start."""
    found = []
    with contextlib.suppress(OSError), open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as listed:
        return [child for child in map(int, listed.read().split()) if alive(child)]
    for name in os.listdir('/proc'):
        if name.isdigit():
            fields = stat_fields(name)
            if len(fields) > 1 and int(fields[1]) == pid and fields[0] not in (b'Z', b'X'):
                found.append((int(fields[19]), int(name)))
    return [child for _, child in sorted(found)]


def left_of(session):
    """The processes of a run: each run has a session of its own."""
    found = []
    for name in os.listdir('/proc'):
        fields = stat_fields(name) if name.isdigit() else []
        if fields and int(fields[3]) == session and fields[0] not in (b'Z', b'X'):
            found.append(int(name))
    return found


def cpu_ticks(pid):
    fields = stat_fields(pid)
    return int(fields[11]) + int(fields[12]) if fields else 0


def alive(pid):
    fields = stat_fields(pid)
    return bool(fields) and fields[0] not in (b'Z', b'X')


def status_line(pid, key):
    """A value of /proc/PID/status."""
    with open(f'/proc/{pid}/status', encoding='ascii', errors='replace') as status:
        for line in status:
            if line.startswith(key + ':'):
                return line.split(':', 1)[1].strip()
    return None


def rate(size, usecs):
    return size * 10**6 // 1024 // usecs


def read_lines(out):
    """The lines of OUT as (kind, bytes, usecs), kind W, Z, F or I; of a line that is none of
    these, or whose rate is wrong, the text. A last line without an end is such a text."""
    lines = []
    parts = out.split(b'\n')
    rest = parts.pop()
    for text in parts:
        for kind, form in (('W', WALK), ('Z', AGAIN)):
            match = form.fullmatch(text)
            if match:
                size, usecs, kb = (int(n) for n in match.groups())
                good = usecs > 0 and kb == rate(size, usecs)
                lines.append((kind, size, usecs) if good else text.decode())
                break
        else:
            free, init = FREE.fullmatch(text), INIT.fullmatch(text)
            if free and int(free.group(1)) > 0:
                lines.append(('F', 0, int(free.group(1))))
            elif init and int(init.group(2)) < 10**6:
                lines.append(('I', 0, int(init.group(1)) * 10**6 + int(init.group(2))))
            else:
                lines.append(text.decode(errors='backslashreplace'))
    if rest:
        lines.append('no line end: ' + rest.decode(errors='backslashreplace'))
    return lines


def brief(lines):
    """'2xW1048576 2xF', in sorted order: what was said, whoever said it first."""
    counts = collections.Counter(f'{line[0]}{line[1] or ""}' if isinstance(line, tuple) else repr(line)
                                 for line in lines)
    return ' '.join(f'{n}x{what}' for what, n in sorted(counts.items()))


def in_order(lines):
    """Could these lines come from tasks that each print walk, read again, free, after init?"""
    kinds = [line[0] for line in lines if isinstance(line, tuple)]
    if 'I' in kinds[1:]:
        return False
    seen = collections.Counter()
    chain = [kind for kind in 'WZF' if kind in kinds]
    for kind in kinds:
        seen[kind] += 1
        at = chain.index(kind) if kind in chain else 0
        if at and seen[kind] > seen[chain[at - 1]]:
            return False
    return True


def one_line(err, program='usemem'):
    """The one line on stderr without the program's name; None if there is not exactly one."""
    start = program.encode() + b': '
    if not err.startswith(start) or err.count(b'\n') != 1 or not err.endswith(b'\n'):
        return None
    return err[len(start):-1].decode(errors='backslashreplace')


def be_nobody():
    """To be called in the child: an ordinary user from here on. Does nothing if we are one."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def need_root():
    if os.geteuid() != 0:
        raise Skip('not root')
