# SPDX-License-Identifier: GPL-2.0-or-later
"""course - settings that the scripts take and refuse, and what they leave when they are stopped.

Usage: course.py BINARY [SECTION]...
"""
import os
import shutil
import signal
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'cli'))
from harness import Run, Skip, Tests, be_nobody, left_of, need_root, run, until   # noqa: E402

SCRIPTS = ['swap-in.sh', 'memcg-high.sh', 'many-holders.sh', 'migrate.sh']

WRONG = [
    ('swap-in.sh', 'N', ['0', '-1', 'abc', '010', '1.5', '99999999']),
    ('swap-in.sh', 'SIZE', ['0', 'm', '1.5g', '64mb', '-1m', '50%']),
    ('swap-in.sh', 'PUSH', ['x', 'pageout cgroup']),
    ('swap-in.sh', 'SWAP_SIZE', ['x']),
    ('swap-in.sh', 'WAIT', ['0']),
    ('memcg-high.sh', 'N', ['0']),
    ('memcg-high.sh', 'SIZE', ['x']),
    ('memcg-high.sh', 'HIGH', ['0', 'max']),
    ('memcg-high.sh', 'SLEEP', ['-1', '1s']),
    ('memcg-high.sh', 'SWAP_SIZE', ['x']),
    ('many-holders.sh', 'N', ['0']),
    ('many-holders.sh', 'SLEEP', ['-1']),
    ('many-holders.sh', 'WAIT', ['0']),
    ('migrate.sh', 'SIZE', ['x']),
    ('migrate.sh', 'FROM', ['-1', 'x']),
    ('migrate.sh', 'TO', ['x']),
]


class Scripts(Tests):
    """Run and its like start the shell, with copies of the scripts that every user may read."""

    def __init__(self, argv):
        super().__init__(argv)
        self.build = os.path.join(self.dir, 'build')
        os.makedirs(self.build + '/usemem')
        os.rename(self.binary, self.build + '/usemem/usemem')
        self.binary = 'sh'
        for name in [*SCRIPTS, 'lib.sh']:
            shutil.copyfile(os.path.join(HERE, name), os.path.join(self.dir, name))

    def words(self, script, *more):
        return [os.path.join(self.dir, script), *more]

    def settings(self, **more):
        """All that a script reads from the environment: nothing of the caller's counts."""
        names = [name for _, name, _ in WRONG]
        return {'BUILD': self.build, **dict.fromkeys(names, ''), **more}


def words(tests):
    for script in SCRIPTS:
        for word in ('-h', '--help'):
            result = run(tests, tests.words(script, word))
            tests.check(f'{script} {word}', (0, b''), (result.status, result.err))
            tests.check(f'{script} {word}: text', 'the usage', result.out,
                        result.out.startswith(b'Usage: ') and f'/{script}\n'.encode() in result.out)
            for name in ('BUILD', *(name for its, name, _ in WRONG if its == script)):
                tests.check(f'{script} {word}: text', f'a line for {name}', result.out,
                            f'\n  {name} '.encode() in result.out)
        for more in (['x'], [''], ['N=3'], ['x', '--help']):
            refused(tests, script, more, tests.settings(), repr(more[0]))


def refused(tests, script, more, env, named):
    result = run(tests, tests.words(script, *more), env=env)
    tests.check(f'{script} {more} {named}', (2, b'', 1), (result.status, result.out, result.err.count(b'\n')))
    tests.check(f'{script} {more}: stderr', f'{script}: with {named}', result.err,
                result.err.startswith(script.encode()) and named.encode() in result.err)


def values(tests):
    for script, name, wrong in WRONG:
        for value in wrong:
            refused(tests, script, [], tests.settings(**{name: value}), f"{name} is '{value}'")


def without_root(tests):
    for script in ('swap-in.sh', 'memcg-high.sh'):
        result = run(tests, tests.words(script), env=tests.settings(), before=be_nobody)
        tests.check(f'{script} without root', (77, b'', b'skipped: not root\n'), (result.status, result.out, result.err))
    result = run(tests, tests.words('many-holders.sh'), env=tests.settings(N='3', SLEEP='0'), before=be_nobody)
    tests.check('many-holders.sh without root', (0, b'3 processes detached\nall of them ended\n', b''),
                (result.status, result.out, result.err))


def without_usemem(tests):
    for script in SCRIPTS:
        result = run(tests, tests.words(script), env=tests.settings(BUILD=tests.dir + '/none'))
        tests.check(f'{script} without a build', (1, b''), (result.status, result.out))


# What a run makes besides processes.

def devices():
    return sorted(name for name in os.listdir('/sys/block') if name.startswith('zram'))


def swaps():
    with open('/proc/swaps', encoding='ascii') as file:
        return file.read().splitlines()[1:]


def cgroups(pid):
    """Those that the script with this pid made: their names say so."""
    return [where for where, _, _ in os.walk('/sys/fs/cgroup') if where.endswith(f'-{pid}')]


def folders(tmp):
    return os.listdir(tmp)


def stopped(tests, script, settings, reached, sig=signal.SIGTERM):
    """The script gets a signal once REACHED(it) is so. It must take down all that it made."""
    row = f'{script} {settings} stopped by {sig.name}'
    before = devices(), swaps()
    with tests.folder() as tmp, Run(tests, tests.words(script), env=tests.settings(TMPDIR=tmp, **settings)) as running:
        there = until(lambda: reached(running) or running.process.poll() is not None, 60)
        if running.process.poll() == 77:
            raise Skip(running.finish().err.decode(errors='replace').strip().replace('skipped: ', ''))
        tests.check(f'{row}: course', 'what it is stopped in', 'its end', there and running.process.poll() is None)
        os.kill(running.pid, sig)
        result = running.finish(60)
        tests.check(f'{row}: status', 128 + sig, result.status)
        tests.check(f'{row}: stderr', b'', result.err)
        tests.check(f'{row}: processes left', True, until(lambda: not left_of(running.pid)))
        tests.check(f'{row}: cgroups left', [], cgroups(running.pid))
        tests.check(f'{row}: files left', [], folders(tmp))
    tests.check(f'{row}: devices', before, (devices(), swaps()))


def usemems(running):
    """How many of its processes are usemem."""
    count = 0
    for pid in left_of(running.pid):
        try:
            with open(f'/proc/{pid}/comm', encoding='ascii', errors='replace') as comm:
                count += comm.read() == 'usemem\n'
        except OSError:
            pass
    return count


def while_they_hold(tests):
    many = {'N': '20', 'SLEEP': '1000'}
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        stopped(tests, 'many-holders.sh', many, lambda running: usemems(running) == 20, sig)


def while_there_is_swap(tests):
    need_root()
    known = swaps()
    few = {'N': '2', 'SIZE': '64m', 'SWAP_SIZE': '256m'}
    for push in ('pageout', 'cgroup'):
        stopped(tests, 'swap-in.sh', {'PUSH': push, **few}, lambda running: swaps() != known)
        stopped(tests, 'swap-in.sh', {'PUSH': push, **few}, lambda running: usemems(running) >= 2)


def while_in_a_cgroup(tests):
    need_root()
    few = {'N': '3', 'SIZE': '16m', 'HIGH': '24m', 'SLEEP': '1000', 'SWAP_SIZE': '256m'}
    stopped(tests, 'memcg-high.sh', few, lambda running: cgroups(running.pid))
    stopped(tests, 'memcg-high.sh', few, lambda running: usemems(running) >= 4)


sections = {
    'settings': [words, values, without_root, without_usemem],
    'stopped': [while_they_hold, while_there_is_swap, while_in_a_cgroup],
}

if __name__ == '__main__':
    the_tests = Scripts(sys.argv)
    sys.exit(the_tests.run_all(sections))
