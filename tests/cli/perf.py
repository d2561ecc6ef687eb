# SPDX-License-Identifier: GPL-2.0-or-later
"""perf - performance counters, the kernel's trace, and a perf that is told of the window.

Usage: perf.py BINARY [SECTION]...
"""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from harness import Run, Skip, Tests, need_root, run  # noqa: E402

# Short runs.
RUNS = {
    'usemem': ['1m'],
    'readtwice': ['-q', '--allow-tmpfs', '-n', '1', '-s', '4k'],
    'copyfile': ['-q', '--allow-tmpfs', '-s', '64k', '--block', '4k', '--ops', '1'],
    'ioviter': ['-q', '--allow-tmpfs', '--size', '4k', '--volume', '4k', '--samples', '2', '--kinds', 'ubuf'],
    'msync': ['-q', '--allow-tmpfs', '-r', '1', '-s', '64k'],
}
TRACING = '/sys/kernel/tracing'
PAGE = os.sysconf('SC_PAGE_SIZE')


def short(tests, args, **how):
    """A short run in a directory of its own."""
    with tests.folder() as folder:
        place = [] if tests.program == 'usemem' else ['--dir', folder]
        return run(tests, [*args, *place, *RUNS[tests.program]], cwd=folder, **how)


def document(tests, args, **how):
    result = short(tests, ['--json', *args], **how)
    if not tests.check(f'{args}: status', 0, result.status):
        raise AssertionError(result.err.decode(errors='backslashreplace'))
    return json.loads(result.out)


def counters(told):
    return {name: values for name, values in told['system'].items() if name.startswith('perf-stat.')}


def absent(told):
    return [note for note in told['notes'] if note.startswith('perf counters absent: ')]


def kernel_counts():
    """Does this kernel count page faults for us?"""
    return not subprocess.run(['perf', 'stat', '-e', 'page-faults', 'true'], check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode if shutil.which('perf') else False


def counted(tests):
    """Each counter has its row, or is named with the reason."""
    told = document(tests, [])
    rows, notes = counters(told), absent(told)
    named = ','.join(notes)
    for name in ('cycles', 'instructions', 'branch-instructions', 'dTLB-load-misses', 'task-clock', 'page-faults',
                 'context-switches'):
        tests.check(f'{name}: a row, or a reason', 'one of them', (list(rows), notes),
                    (f'perf-stat.i.{name}' in rows or f'perf-stat.i.{name}:u' in rows) !=
                    bool(re.search(rf'[ ,]{name}[ ,]', named)))
    tests.check('notes', 'at most one', notes, len(notes) <= 1)
    for note in notes:
        tests.check('note', 'with errno and the setting', note,
                    bool(re.fullmatch(r'perf counters absent: [\w, -]+\(E\w+\).*, perf_event_paranoid -?\d+', note)))
    if kernel_counts():
        for name in ('task-clock', 'page-faults'):
            values = rows.get(f'perf-stat.i.{name}', [])
            tests.check(name, 'positive', values, bool(values) and all(value >= 0 for value in values))


def not_counted(tests):
    told = document(tests, ['--no-perf'])
    tests.check('--no-perf', ({}, [], True), (counters(told), absent(told), told['options'].get('no_perf')))
    tests.check('--no-perf: the rest of the system', 'there', list(told['system'])[:5], bool(told['system']))


def calls_to_perf(tests, args):
    """How often the program asks the kernel for a counter."""
    trace = os.path.join(tests.dir, 'trace')
    short(tests, args, prefix=('strace', '-f', '-qq', '-e', 'trace=perf_event_open', '-o', trace))
    with open(trace, encoding='utf-8', errors='replace') as file:
        return file.read().count('perf_event_open(')


def need_strace():
    if not shutil.which('strace') or subprocess.run(['strace', '-qq', 'true'], check=False,
                                                    stderr=subprocess.DEVNULL).returncode:
        raise Skip('no strace that may trace')


def asked_for(tests):
    """Without JSON nobody pays for counters."""
    need_strace()
    tests.check('lines only', 0, calls_to_perf(tests, []))
    tests.check('--json --no-perf', 0, calls_to_perf(tests, ['--json', '--no-perf']))
    tests.check('--json', 'some', 'none', calls_to_perf(tests, ['--json']) > 0)


def refused(tests):
    need_strace()
    for name in ('EACCES', 'EPERM', 'ENOSYS', 'EMFILE'):
        told = document(tests, [], prefix=('strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=perf_event_open',
                                           '-e', f'inject=perf_event_open:error={name}'))
        tests.check(f'{name}: rows', {}, counters(told))
        tests.check(f'{name}: note', 'all, once', absent(told),
                    len(absent(told)) == 1 and f'cpu-migrations ({name}), perf_event_paranoid' in absent(told)[0])
        tests.check(f'{name}: warnings', 'no such', told['warnings'], not any('perf' in text for text in told['warnings']))


def refused_own(tests):
    """The workers' counters can be had, but no more after these."""
    need_strace()
    told = document(tests, [], prefix=('strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=perf_event_open',
                                       '-e', 'inject=perf_event_open:error=EMFILE:when=20+'))
    tests.check('rows', 'fewer', counters(told), len(counters(told)) < 19)


def no_more_than_asked(tests):
    """Page faults a second, of workers that touch so many pages."""
    if tests.program != 'usemem' or not kernel_counts():
        raise Skip('no counters here')
    told = json.loads(run(tests, ['--json', '-n', '3', '-t', '2', '4m']).out)
    seconds = told['metrics']['window_ns']['samples'][0] / 1e9
    faults = told['system']['perf-stat.i.page-faults'][0] * seconds
    huge = 'always' in open('/sys/kernel/mm/transparent_hugepage/enabled', encoding='ascii').read().split('[')[-1].split(']')[0]
    tests.check('page faults', 'those of 6 x 4 MiB', faults, faults >= (6 if huge else 6 * 4 * 2**20 / PAGE - 1))


class Fifos:
    """What perf --control has open."""

    def __init__(self, folder, ack=True):
        self.names = [os.path.join(folder, name) for name in ('control', 'ack')[:2 if ack else 1]]
        for name in self.names:
            os.mkfifo(name)
        self.fds = [os.open(name, os.O_RDWR | os.O_NONBLOCK) for name in self.names]

    @property
    def option(self):
        return '--perf-control=' + ','.join(self.names)

    def close(self):
        for fd in self.fds:
            with contextlib.suppress(OSError):
                os.close(fd)

    def take(self):
        os.set_blocking(self.fds[0], True)
        return os.read(self.fds[0], 100)

    def ack(self, text=b'ack\n\0'):
        os.write(self.fds[1], text)


def control(tests):
    """One window for each repetition, and none for a warm-up."""
    with tests.folder() as folder:
        fifos = Fifos(folder, ack=False)
        result = run(tests, [fifos.option, '--samples', '2', '--warmup', '1', '1m'])
        tests.check('without ack', (0, b''), (result.status, result.err.replace(b'\n', b'')
                                              if b'perf' in result.err else b''))
        tests.check('without ack: what perf reads', b'enable\ndisable\n' * 2, fifos.take())
        fifos.close()


def control_with_ack(tests):
    """No work before perf has said that it counts."""
    with tests.folder() as folder:
        fifos = Fifos(folder)
        fifos.ack(b'ack\n\0')           # of an earlier command: to be overlooked
        with Run(tests, [fifos.option, '1m']) as running:
            tests.check('first', b'enable\n', fifos.take())
            tests.check('not yet acknowledged', None, running.process.poll())
            fifos.ack(b'a')
            fifos.ack(b'ck\n\0')
            tests.check('then', b'disable\n', fifos.take())
            tests.check('not yet acknowledged again', None, running.process.poll())
            fifos.ack()
            result = running.finish()
        tests.check('with ack', (0, b''), (result.status, result.err))
        tests.check('with ack: lines', 'some', result.out, b'KB/s' in result.out)
        fifos.close()


def one_clear_line(tests, row, result, status, text):
    tests.check(f'{row}: status', status, result.status)
    lines = [line for line in result.err.splitlines() if b'--perf-control' in line]
    tests.check(f'{row}: one line', text, result.err, len(lines) == 1 and text in lines[0].decode())


def control_broken(tests):
    with tests.folder() as folder:
        name, plain = os.path.join(folder, 'fifo'), os.path.join(folder, 'plain')
        os.mkfifo(name)
        with open(plain, 'wb'):
            pass
        for row, given, status, text in (
                ('nobody reads', name, 2, 'nobody does'),
                ('missing', name + '-', 1, 'No such file'),
                ('no FIFO', plain, 2, 'is not'),
                ('a directory', folder, 2, 'is not'),
                ('empty', '', 1, 'No such file'),
                ('too long', 'x' * 5000, 2, 'expected names')):
            one_clear_line(tests, row, run(tests, ['--perf-control', given, '1m']), status, text)
        reader = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
        one_clear_line(tests, 'ack missing', run(tests, ['--perf-control', f'{name},{name}-', '1m']), 1, 'No such file')
        one_clear_line(tests, 'ack no FIFO', run(tests, ['--perf-control', f'{name},{plain}', '1m']), 2, 'is not')
        os.close(reader)


def control_gone(tests):
    """Perf ends in the middle: before it could say that it counts, or while it does."""
    with tests.folder() as folder:
        fifos = Fifos(folder)
        with Run(tests, [fifos.option, '-r', '1000000000', '1m']) as running:
            fifos.take()
            fifos.close()
            one_clear_line(tests, 'before the start', running.finish(), 1, 'has gone')
    with tests.folder() as folder:
        fifos = Fifos(folder)
        with Run(tests, [fifos.option, '1m']) as running:
            fifos.take()
            # The next command finds nobody, whoever comes first.
            fd = os.open(fifos.names[1], os.O_WRONLY)
            fifos.close()
            os.write(fd, b'ack\n')
            one_clear_line(tests, 'meanwhile', running.finish(), 1, 'has gone')
            os.close(fd)


def control_silent(tests):
    """Perf never acknowledges: that ends, and before the start line."""
    with tests.folder() as folder:
        fifos = Fifos(folder)
        one_clear_line(tests, 'no ack', run(tests, [fifos.option, '-r', '1000000000', '1m']), 1, 'did not acknowledge')
        fifos.close()


def control_real(tests):
    """perf stat itself."""
    if not kernel_counts():
        raise Skip('no perf that counts')
    with tests.folder() as folder:
        fifos, counts = Fifos(folder), os.path.join(folder, 'counts')
        fifos.close()
        stat = ['perf', 'stat', '-D', '-1', '-x', ',', '-e', 'page-faults', '-o', counts,
                '--control', 'fifo:' + ','.join(fifos.names), '--']
        result = run(tests, [fifos.option, '4m'], prefix=stat)
        with open(counts, encoding='utf-8') as file:
            found = re.search(r'^(\d+),+page-faults', file.read(), re.MULTILINE)
        tests.check('perf stat', (0, 'page faults'), (result.status, found and found[0]), result.status == 0 and found and int(found[1]) > 0)


@contextlib.contextmanager
def tracing():
    """The kernel's trace, switched on; as it was afterwards."""
    need_root()
    mounts = not os.path.exists(TRACING + '/trace')
    if mounts and subprocess.run(['mount', '-t', 'tracefs', 'tracefs', TRACING], check=False,
                                 stderr=subprocess.DEVNULL).returncode:
        raise Skip('tracefs cannot be mounted')
    switch = TRACING + '/tracing_on'
    try:
        with open(switch, encoding='ascii') as file:
            before = file.read()
        with open(switch, 'w', encoding='ascii') as file:
            file.write('1')
        yield
        with open(switch, 'w', encoding='ascii') as file:
            file.write(before)
    finally:
        if mounts:
            subprocess.run(['umount', TRACING], check=False)


def marked(tests):
    """Each window, and no warm-up."""
    with tracing():
        with Run(tests, ['--samples', '2', '--warmup', '1', '1m']) as running:
            result = running.finish()
        with open(TRACING + '/trace', encoding='utf-8', errors='replace') as file:
            said = re.findall(rf'-{running.pid} .*: usemem: (start|end)$', file.read(), re.MULTILINE)
    tests.check('status', 0, result.status)
    tests.check('moments', ['start', 'end'] * 2, said)


# What a perf that is none does and says; it tells what it was told.
FAKE = """#!/usr/bin/python3
import os, signal, sys
def tell(text):
    with open(LOG, 'a') as log:
        log.write(text + '\\n')
def end(*_):
    tell('ended')
    os._exit(0)
def refuse(text, status):
    sys.stderr.write(text)
    sys.exit(status)
tell(sys.argv[1])
if sys.argv[1] == 'report':
    REPORT
else:
    RECORD
    signal.signal(signal.SIGINT, end)
    control, ack = map(int, sys.argv[sys.argv.index('--control') + 1][3:].split(','))
    os.set_blocking(control, True)
    while True:
        tell(os.read(control, 100).decode().strip())
        os.write(ack, b'ack\\n\\0')
"""
GOOD = """# Samples: 10 of event 'cycles'
    90.00%    10.50%  [.] walk
    80.00%    80.00%  [k] clear_page
     0.04%     0.04%  [k] rare
"""


def fake_perf(folder, report=f'print({GOOD!r})', record='pass'):
    """The environment in which it is found, and the file of what it was told."""
    path, log = os.path.join(folder, 'perf'), os.path.join(folder, 'log')
    with open(path, 'w', encoding='ascii') as file:
        file.write(FAKE.replace('REPORT', report).replace('RECORD', record).replace('LOG', repr(log)))
    os.chmod(path, 0o755)
    return {'PATH': folder + ':' + os.environ['PATH']}, log


def profile(tests):
    with tests.folder() as folder:
        env, log = fake_perf(folder)
        told = json.loads(run(tests, ['--json', '--profile', '--samples', '2', '--warmup', '1', '1m'], env=env).out)
        rows = {name: values for name, values in told['system'].items() if name.startswith('perf-profile.')}
        tests.check('rows', {'perf-profile.children.cycles-pp.walk': [90, 90], 'perf-profile.self.cycles-pp.walk': [10.5, 10.5],
                             'perf-profile.children.cycles-pp.clear_page': [80, 80],
                             'perf-profile.self.cycles-pp.clear_page': [80, 80]}, rows)
        with open(log, encoding='utf-8') as file:
            heard = [line.split()[0] for line in file.read().splitlines()]
        tests.check('what perf was told', ['record', 'ping', 'disable', 'ended', 'report'] * 2, heard)


def profile_broken(tests):
    with tests.folder() as folder:
        nowhere = {'PATH': folder}
        for row, env, status, text in (
                ('not installed', lambda: nowhere, 77, 'cannot run perf'),
                ('cannot record', lambda: fake_perf(folder, record=r'refuse("Error:\nNo permission.\n", 255)')[0],
                 77, 'No permission.'),
                ('says nothing', lambda: fake_perf(folder, record='sys.exit(1)')[0], 77, 'without a word'),
                ('no report', lambda: fake_perf(folder, report='refuse("No data.", 1)')[0], 1, 'No data.')):
            result = run(tests, ['--json', '--profile', '1m'], env=env())
            tests.check(f'{row}: status', status, result.status)
            tests.check(f'{row}: text', text, result.err, text in result.err.decode() and result.err.count(b'\n') == 1)
        for row, report in (('nonsense', 'sys.stdout.buffer.write(os.urandom(100000))'), ('no symbols', 'print("#")')):
            result = run(tests, ['--json', '--profile', '1m'], env=fake_perf(folder, report=report)[0])
            tests.check(f'{row}: status', 0, result.status)
    result = run(tests, ['--profile', '1m'])
    tests.check('without --json', (2, True), (result.status, b'expected --json' in result.err))


def profile_real(tests):
    result = run(tests, ['--json', '--profile', '64m'], seconds=120)
    if result.status == 77:
        raise Skip(result.err.decode(errors='backslashreplace').strip())
    told = json.loads(result.out)
    tests.check('walk', 'a row', [name for name in told['system'] if 'perf-profile' in name][:20],
                any(name.startswith('perf-profile.children.cycles-pp.') for name in told['system']))


sections = {
    'counters': [counted, not_counted, no_more_than_asked],
    'refused': [asked_for, refused, refused_own],
    'control': [control, control_with_ack, control_broken, control_gone, control_silent, control_real],
    'marker': [marked],
    'profile': [profile, profile_broken, profile_real],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
