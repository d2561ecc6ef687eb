# SPDX-License-Identifier: GPL-2.0-or-later
"""faults - what usemem does when something goes wrong, or stops it, or is in its way.

Usage: faults.py BINARY [SECTION]...
"""
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
from harness import (MIB, NOBODY, PAGE, WALK, Run, Skip, Tests, alive, be_nobody, brief,  # noqa: E402
                     in_order, left_of, need_root, read_lines, run, status_line, until)

FOR_EVER = ['-r', '1000000000000']
SOON = 5            # seconds: generous for what is to be over within one


def limit(which, value):
    """To be called in the child."""
    return lambda: resource.setrlimit(which, (value, value))


def both(*calls):
    def call_all():
        for call in calls:
            call()
    return call_all


def check_gone(tests, row, session):
    until(lambda: not left_of(session), SOON)
    tests.check(f'{row}: processes left', [], left_of(session))


def check_failed(tests, row, result, err, pid):
    """Exit 1 in time, the cause on stderr, no process left, no line that is torn."""
    tests.check(f'{row}: status', 1, result.status)
    tests.check(f'{row}: stderr', err, result.err, bool(re.search(err, result.err.decode(errors='replace'))))
    tests.check(f'{row}: stdout', 'whole lines', result.out,
                all(isinstance(line, tuple) for line in read_lines(result.out)))
    check_gone(tests, row, pid)


def fails(tests, row, args, err, seconds=SOON, **how):
    with Run(tests, args, **how) as running:
        result = running.finish()
        check_failed(tests, row, result, err, running.pid)
        tests.check(f'{row}: seconds', f'at most {seconds}', result.seconds, result.seconds <= seconds)
    return result


def sparse(path, size):
    with open(path, 'wb') as file:
        file.truncate(size)
    return path


# workers: what becomes of a run when some of its tasks cannot start or are killed

def tasks_of(uid):
    count = 0
    for name in os.listdir('/proc'):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat('/proc/' + name).st_uid == uid:
                count += len(os.listdir(f'/proc/{name}/task'))
    return count


def fork_limit(tests):
    uid = NOBODY if os.geteuid() == 0 else os.geteuid()
    few = both(be_nobody, limit(resource.RLIMIT_NPROC, tasks_of(uid) + 15))
    for args in (['-n', '60', '1m'], ['-n', '60', '-y', '1m'], ['-n', '60', '-T', '60', *FOR_EVER, '1m']):
        result = fails(tests, f'fork limit {args}', args, r'\b\d+ of 60\b.*Resource temporarily', before=few)
        tests.check(f'fork limit {args}: stdout', b'', result.out)
    fails(tests, 'thread limit', ['-t', '60', '1m'], r'\b\d+ of 60\b.*Resource temporarily', before=few)


def cannot_map_before_the_line(tests):
    small = limit(resource.RLIMIT_AS, 128 * MIB)
    for args in (['-n', '2'], ['-n', '3', '-t', '2'], ['-n', '20'], ['-T', '60', '-n', '2']):
        fails(tests, f'-y {args} too large', ['--force', '-y', *args, '100000t'], 'map 100000t.*Cannot allocate')
        fails(tests, f'-y {args} RLIMIT_AS', ['-y', *args, '256m'], 'map 256m.*Cannot allocate', before=small)
        fails(tests, f'{args} too large', ['--force', *args, '100000t'], 'map 100000t.*Cannot allocate')


def killed(tests, row, args, count, victim, sig, err):
    with Run(tests, args) as running:
        pids = running.walking(count)
        os.kill(pids[victim], sig)
        result = running.finish(SOON)
        check_failed(tests, row, result, err.format(pid=pids[victim]), running.pid)
        tests.check(f'{row}: lines', 'fewer than tasks', brief(read_lines(result.out)),
                    len(WALK.findall(result.out)) < count)


def worker_is_killed(tests):
    args = ['-n', '3', '-O', *FOR_EVER, '1m']
    for sig in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT):
        killed(tests, f'{sig.name} to a worker', args, 3, 1, sig, rf'worker 1\b.*{{pid}}.*{sig.name}')
    killed(tests, 'the first is killed', args, 3, 0, signal.SIGKILL, 'worker 0.*SIGKILL')
    killed(tests, 'the last is killed, -T', ['-T', '60', *args], 3, 2, signal.SIGKILL, 'worker 2.*SIGKILL')
    killed(tests, 'the only one is killed', [*FOR_EVER, '1m'], 1, 0, signal.SIGKILL, 'worker 0.*SIGKILL')
    killed(tests, 'killed with threads', ['-t', '2', *args], 3, 1, signal.SIGKILL, 'workers 2-3.*SIGKILL')
    killed(tests, 'killed with --samples', ['--samples', '3', *args], 3, 1, signal.SIGKILL, 'worker 1.*SIGKILL')
    killed(tests, 'killed with -y -P', ['-y', '-P', *args], 3, 1, signal.SIGKILL, 'worker 1.*SIGKILL')


def killed_before_the_line(tests):
    """While the tasks still populate, or wait for the others that do."""
    with Run(tests, ['-y', '-F', '-n', '2', *FOR_EVER, '512m']) as running:
        os.kill(running.workers(2)[1], signal.SIGKILL)
        check_failed(tests, 'killed while populating', running.finish(SOON), 'worker 1.*SIGKILL', running.pid)


def oom_score(pid):
    with open(f'/proc/{pid}/oom_score_adj', encoding='ascii') as file:
        return int(file.read())


def workers_are_the_oom_killers_choice(tests):
    with Run(tests, ['-n', '2', *FOR_EVER, '1m']) as running:
        pids = running.walking(2)
        tests.check('oom_score_adj of workers', [1000, 1000], [oom_score(pid) for pid in pids])
        tests.check('oom_score_adj of usemem', oom_score(os.getpid()), oom_score(running.pid))


def too_many_tasks(tests):
    """More than any system can have: said soon, by whatever stops it first."""
    for args in (['-n', '2147483647'], ['-n', '1500000000'], ['-n', '1000000000'], ['-n', '65536', '-t', '32767']):
        result = run(tests, [*args, '0'], seconds=SOON, before=limit(resource.RLIMIT_AS, 1 << 40))
        tests.check(f'{args}: status', '1 or 2', result.status, result.status in (1, 2))
        tests.check(f'{args}: stderr', 'a cause', result.err, result.err.startswith(b'usemem: '))


# signals: SIGINT and SIGTERM to usemem, and its own death

def interrupted(tests, row, args, tasks, sig, walks, whole_group=False):
    processes = tasks[0]
    with Run(tests, args) as running:
        if walks:
            running.walking(processes)
        else:
            running.workers(processes)
        (os.killpg if whole_group else os.kill)(running.pid, sig)
        result = running.finish(2 * SOON)
        tests.check(f'{row}: status', 128 + sig, result.status)
        check_gone(tests, row, running.pid)
    lines = read_lines(result.out)
    tests.check(f'{row}: stdout', 'whole lines in order', result.out,
                all(isinstance(line, tuple) for line in lines) and in_order(lines))
    if walks:
        kinds = [line[0] for line in lines]
        tests.check(f'{row}: walk lines', processes * tasks[1], kinds.count('W'))
        tests.check(f'{row}: bytes', 'more than 0', result.out, all(line[1] for line in lines if line[0] == 'W'))
        tests.check(f'{row}: no summary', 'none', result.out, b'Count' not in result.out)
    return lines


def told_to_stop(tests):
    for sig in (signal.SIGINT, signal.SIGTERM):
        for args, tasks in ((['-n', '2'], (2, 1)), (['-n', '2', '-t', '2'], (2, 2)), (['-T', '60', '-n', '2'], (2, 1)),
                            (['-y', '-u', '1m', '-R', '--random-seed', '1'], (1, 1)), (['-Z', '-S', '-o'], (1, 1)),
                            (['--samples', '3', '-j', '4096'], (1, 1)), (['--interval', '1h', '-b', '1'], (1, 1))):
            lines = interrupted(tests, f'{sig.name} {args}', [*args, *FOR_EVER, '1m'], tasks, sig, True)
            tests.check(f'{sig.name} {args}: free lines', tasks[0] * tasks[1], [line[0] for line in lines].count('F'))
    interrupted(tests, 'SIGINT, -P', ['-P', '-n', '2', *FOR_EVER, '1m'], (2, 1), signal.SIGINT, True)
    for sig in (signal.SIGINT, signal.SIGTERM) * 3:
        interrupted(tests, f'{sig.name} to all, as a terminal does', ['-n', '4', *FOR_EVER, '1m'], (4, 1), sig, True,
                    whole_group=True)
    interrupted(tests, 'SIGINT to all 201', ['-n', '200', *FOR_EVER, '64k'], (200, 1), signal.SIGINT, True,
                whole_group=True)


def told_to_stop_while_populating(tests):
    for args in (['-y', '-F', '-n', '2'], ['-F', '-n', '2'], ['-F', '-t', '2', '-y', '-T', '60']):
        count = 2 if '-n' in args else 1
        interrupted(tests, f'SIGINT while populating {args}', [*args, *FOR_EVER, '512m'], (count, 1), signal.SIGINT,
                    False)
    # usemem itself populates: nothing has been done, and no worker is there yet.
    with Run(tests, ['-P', '-F', *FOR_EVER, '1g']) as running:
        until(lambda: resident(running.pid) > 32 * MIB)
        os.kill(running.pid, signal.SIGINT)
        result = running.finish(2 * SOON)
        tests.check('SIGINT while -P populates', '130, as a shell sees it', result.status,
                    result.status in (130, 'killed by SIGINT'))
        check_gone(tests, 'SIGINT while -P populates', running.pid)


def inherited_signals(tests):
    """What the caller ignored or blocked must not keep usemem from ending."""
    everything = set(range(1, 32))
    for row, before in (
            ('SIGCHLD ignored', lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)),
            ('SIGALRM ignored', lambda: signal.signal(signal.SIGALRM, signal.SIG_IGN)),
            ('SIGALRM blocked', lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})),
            ('SIGCHLD blocked', lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})),
            ('SIGINT ignored', lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)),
            ('all blocked', lambda: signal.pthread_sigmask(signal.SIG_BLOCK, everything))):
        result = run(tests, ['-n', '2', '-T', '200ms', *FOR_EVER, '1m'], seconds=SOON, before=before)
        tests.check(f'{row}: status', 0, result.status)
        tests.check(f'{row}: lines', 2, len(WALK.findall(result.out)))


def usemem_is_killed(tests):
    for sig in (signal.SIGKILL, signal.SIGHUP):
        for args, walks in ((['-n', '3'], True), (['-n', '2', '-t', '2', '-T', '60'], True),
                            (['-n', '2', '-y', '-F', '-u', '256m'], False)):
            with Run(tests, [*args, *FOR_EVER, '256m'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
                if walks:
                    running.walking(2)
                else:
                    running.workers(2)
                os.kill(running.pid, sig)
                running.process.wait()
                check_gone(tests, f'{sig.name} of usemem {args}', running.pid)


# output: results that nobody can read

def to_dev_full(tests):
    for args in (['1m'], ['-n', '2', '1m'], ['-P', '1m'], ['-r', '0', '1m'], ['0'], ['--init-time', '0'],
                 ['--samples', '2', '1m'], ['--json', '1m'], ['--help'], ['--version'], ['--dry-run', '1m']):
        with open('/dev/full', 'wb') as full:
            fails(tests, f'/dev/full {args}', args, 'No space left', stdout=full)


def to_a_closed_stdout(tests):
    for closed in ([1], [0, 1], [0, 1, 2], [1, 2]):
        for args in (['-f', 'f', '64k'], ['-f', 'f', '-P', '64k'], ['-f', 'f', '--json', '64k'],
                     ['-f', 'f', '-n', '3', '-o', '-w', '64k']):
            with tests.folder() as folder:
                path = sparse(os.path.join(folder, 'f'), 65536)
                result = run(tests, args, cwd=folder, before=lambda fds=closed: [os.close(fd) for fd in fds] and None)
                row = f'closed {closed} {args}'
                tests.check(f'{row}: status', 1, result.status)
                tests.check(f'{row}: stderr', 'says it, if it can', result.err, 2 in closed or b'output' in result.err)
                with open(path, 'rb') as file:
                    words = memoryview(file.read()).cast('Q').tolist()
                want = [0] * 8192 if '-o' in args else list(range(8192))
                tests.check(f'{row}: FILE', 'not corrupted', 'corrupted', words == want)
                tests.check(f'{row}: files', ['f'], os.listdir(folder))


def other_streams_closed(tests):
    for closed in ([0], [2], [0, 2]):
        result = run(tests, ['-R', '1m'], before=lambda fds=closed: [os.close(fd) for fd in fds] and None)
        tests.check(f'closed {closed}: status', 0, result.status)
        tests.check(f'closed {closed}: stdout', '1xF 1xW1048576', brief(read_lines(result.out)))


def to_a_closed_pipe(tests):
    for args in (['1m'], ['-n', '3', '1m'], ['--json', '1m'], ['--help']):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, 'wb') as pipe:
            fails(tests, f'closed pipe {args}', args, 'Broken pipe', stdout=pipe)


def reader_goes_away(tests):
    with Run(tests, ['--samples', '1000000', '4k']) as running:
        running.process.stdout.readline()
        running.process.stdout.close()
        running.process.stdout = None
        check_failed(tests, 'reader goes away', running.finish(), 'Broken pipe', running.pid)


def five_hundred_at_once(tests):
    for args in (['-n', '500'], ['-n', '10', '-t', '50'], ['-n', '500', '-T', '60']):
        result = run(tests, [*args, '-Z', '4k'])
        tests.check(f'{args} into a pipe: status', 0, result.status)
        tests.check(f'{args} into a pipe', '500xF 500xW4096 500xZ4096', brief(read_lines(result.out)))
        tests.check(f'{args} into a pipe: order', 'each task: walk, read again, free', 'not', in_order(read_lines(result.out)))
    with tests.folder() as folder:
        path = os.path.join(folder, 'out')
        with open(path, 'wb') as out:
            result = run(tests, ['-n', '500', '4k'], stdout=out)
        with open(path, 'rb') as out:
            tests.check('500 into a file', '500xF 500xW4096', brief(read_lines(out.read())))
        tests.check('500 into a file: status', 0, result.status)
    result = run(tests, ['-n', '500', '0'])
    tests.check('500 of nothing', ('500xF', 0), (brief(read_lines(result.out)), result.status))


# files: what happens to FILE while usemem walks over it

def file_is_truncated(tests):
    for args in ([], ['-o'], ['-n', '2'], ['-t', '2', '-R', '--random-seed', '1'], ['-P', '-T', '60'], ['-u', '4m'],
                 ['-o', '-w', '-j', '4096']):
        with tests.folder() as folder:
            path = sparse(os.path.join(folder, 'a file'), 8 * MIB)
            with Run(tests, ['-f', path, *args, *FOR_EVER, '8m']) as running:
                running.walking(2 if '-n' in args else 1)
                os.truncate(path, MIB)
                result = running.finish(2 * SOON)
                row = f'truncated {args}'
                check_failed(tests, row, result, r'a file.*file is shorter than the mapping', running.pid)
                offsets = [int(n) for n in re.findall(rb'offset (\d+)', result.err)]
                tests.check(f'{row}: offset', 'in a page behind the end', result.err,
                            bool(offsets) and all(MIB <= n < 8 * MIB for n in offsets))


def namespace_prefix(folder):
    """Run in a mount namespace of its own, with a tmpfs of 4 MiB on FOLDER and a file of 64 MiB in it."""
    script = 'mount -t tmpfs -o size=4m none "$0" && truncate -s 64m "$0/f" && exec "$@"'
    unshare = ['unshare', '-m'] if os.geteuid() == 0 else ['unshare', '-Urm']
    probe = subprocess.run([*unshare, 'sh', '-c', 'mount -t tmpfs none "$0"', folder], capture_output=True, check=False)
    if probe.returncode:
        raise Skip('no mount namespace: ' + probe.stderr.decode(errors='replace').strip())
    return [*unshare, 'sh', '-c', script, folder]


def filesystem_is_full(tests):
    for args in (['-w', '-f', 'f', '32m'], ['-w', '-S', '-f', 'f', '32m'], ['-n', '2', '-f', 'f', '32m'],
                 ['-t', '2', '-j', '4096', '-f', 'f', '32m'], ['-f', 'new', '32m'], ['-P', '-f', 'f', '32m'],
                 ['-P', '--touch-alloc', '-f', 'f', '32m']):
        with tests.folder() as folder:
            prefix = namespace_prefix(folder)
            within = [folder + '/' + word if word in ('f', 'new') else word for word in args]
            row = f'full tmpfs {args}'
            result = fails(tests, row, within, r'offset \d+ of .*no space left', prefix=prefix, seconds=2 * SOON)
            tests.check(f'{row}: stdout', b'', result.out)


def flip_until_it_ends(path, at, running):
    """Put a wrong word at byte AT again and again: a store of the walk may have covered it."""
    with open(path, 'r+b', buffering=0) as file:
        def flip():
            file.seek(at)
            file.write(b'\xa5' * 8)
            return running.process.poll() is not None
        until(flip, SOON)


def data_is_wrong(tests):
    for args in ([], ['-u', '64k'], ['-j', '64'], ['-n', '2'], ['-P'], ['-S', '-T', '60']):
        with tests.folder() as folder:
            path = sparse(os.path.join(folder, 'f'), MIB)
            with Run(tests, ['-f', path, *args, *FOR_EVER, '1m']) as running:
                running.walking(2 if '-n' in args else 1)
                at = 4096 * 3
                flip_until_it_ends(path, at, running)
                result = running.finish(SOON)
                check_failed(tests, f'wrong data {args}', result, rf'wrong data.*\b{at}\b.*0xa5a5a5a5', running.pid)


def reading_checks_nothing(tests):
    for args in (['-o'], ['-R', '--random-seed', '1']):
        with tests.folder() as folder:
            path = sparse(os.path.join(folder, 'f'), MIB)
            with Run(tests, ['-f', path, *args, '-T', '300ms', *FOR_EVER, '1m']) as running:
                flip_until_it_ends(path, 4096, running)
                tests.check(f'other data {args}', 0, running.finish(SOON).status)


def side_by_side(tests):
    with tests.folder() as folder:
        path = sparse(os.path.join(folder, 'f'), MIB)
        runs = [Run(tests, ['-f', path, '-n', '2', '-r', '200', '1m']) for _ in range(2)]
        with runs[0], runs[1]:
            for number, running in enumerate(runs):
                result = running.finish()
                tests.check(f'side by side {number}', (0, '2xF 2xW209715200', b''),
                            (result.status, brief(read_lines(result.out)), result.err))
        tests.check('side by side: files', ['f'], os.listdir(folder))


def as_nobody(tests):
    with tests.folder(0o555) as folder:
        path = sparse(os.path.join(folder, 'f'), 65536) if os.geteuid() == 0 else None
        for args in (['-n', '2', '1m'], ['--memfd', '-f', 'new', '-n', '2', '1m'], ['-O', '-f', 'new', '-n', '2', '1m'],
                     ['-b', '1', '-y', '-T', '60', '-n', '2', '1m']):
            result = run(tests, args, cwd=folder, before=be_nobody)
            tests.check(f'nobody {args}', (0, '2xF 2xW1048576', b''),
                        (result.status, brief(read_lines(result.out)), result.err))
        fails(tests, 'nobody makes a file', ['-f', 'new', '1m'], 'new: Permission denied', cwd=folder, before=be_nobody)
        if path:
            fails(tests, 'nobody writes a file', ['-f', 'f', '64k'], r'\bf: Permission denied', cwd=folder, before=be_nobody)
            fails(tests, 'nobody opens it read-write', ['-o', '-w', '-f', 'f', '64k'], r'\bf: Permission denied', cwd=folder,
                  before=be_nobody)
            result = run(tests, ['-o', '-S', '-f', 'f', '64k'], cwd=folder, before=be_nobody)
            tests.check('nobody reads a file', (0, '1xF 1xW65536', b''),
                        (result.status, brief(read_lines(result.out)), result.err))
        tests.check('nobody: files', ['f'] if path else [], os.listdir(folder))


# limits: of the user and of the control group

def user_limits(tests):
    with tests.folder() as folder:
        fails(tests, 'RLIMIT_FSIZE', ['-f', 'new', '1m'], 'new.*File too large', cwd=folder,
              before=limit(resource.RLIMIT_FSIZE, 65536))
        tests.check('RLIMIT_FSIZE: files', [], os.listdir(folder))
    fails(tests, 'RLIMIT_AS', ['256m'], 'map 256m.*Cannot allocate', before=limit(resource.RLIMIT_AS, 128 * MIB))
    fails(tests, 'RLIMIT_AS -a', ['-a', '256m'], '256m.*Cannot allocate', before=limit(resource.RLIMIT_AS, 128 * MIB))
    fails(tests, 'RLIMIT_AS -P', ['-P', '256m'], 'map 256m.*Cannot allocate', before=limit(resource.RLIMIT_AS, 128 * MIB))
    fails(tests, 'RLIMIT_SIGPENDING', ['-T', '60', '-n', '2', '1m'], 'timer',
          before=both(be_nobody, limit(resource.RLIMIT_SIGPENDING, 0)))
    with open('/proc/sys/vm/max_map_count', encoding='ascii') as file:
        too_many = int(file.read()) + 1000
    if too_many > 10**6:
        raise Skip('vm.max_map_count is very large')
    fails(tests, 'max_map_count', ['--force', '-r', '0', '-u', f'{PAGE}', f'{too_many * PAGE}'],
          'map .*Cannot allocate',
          seconds=2 * SOON)


@contextlib.contextmanager
def memory_cgroup(room, no_swap=True):
    """A control group that holds ROOM bytes, and no swap then. Gives what a child calls to enter it."""
    need_root()
    top, swap, most = None, 'memory.swap.max', 'memory.max'
    with open('/proc/mounts', encoding='ascii', errors='replace') as mounts:
        for _, where, kind, options, *_ in (line.split() for line in mounts):
            if kind == 'cgroup' and 'memory' in options.split(','):
                top, swap, most = where, 'memory.memsw.limit_in_bytes', 'memory.limit_in_bytes'
            elif kind == 'cgroup2' and top is None:
                with open(where + '/cgroup.subtree_control', encoding='ascii') as on:
                    top = where if 'memory' in on.read().split() else None
    if not top:
        raise Skip('no memory controller of control groups')
    group = f'{top}/pagemill-cli-{os.getpid()}'
    try:
        os.mkdir(group)
    except OSError as error:
        raise Skip(f'cannot make a control group: {error.strerror}') from None
    try:
        put(f'{group}/{most}', room)
        if no_swap and os.path.exists(f'{group}/{swap}'):
            put(f'{group}/{swap}', 0 if swap == 'memory.swap.max' else room)
        yield lambda: put(f'{group}/cgroup.procs', os.getpid())
    finally:
        def gone():
            with contextlib.suppress(OSError):
                os.rmdir(group)
            return not os.path.exists(group)
        until(gone, SOON)


def put(path, value):
    with open(path, 'w', encoding='ascii') as file:
        file.write(str(value))


def control_group(tests):
    with memory_cgroup(64 * MIB) as enter:
        for args in (['256m'], ['-n', '4', '32m'], ['-t', '4', '32m'], ['-O', '65m'], ['-a', '256m'], ['--memfd', '256m']):
            result = run(tests, args, before=enter)
            tests.check(f'cgroup {args}', (2, b'', 1), (result.status, result.out, result.err.count(b'\n')))
        result = run(tests, ['-r', '2', '32m'], before=enter)
        tests.check('cgroup 32m', (0, '1xF 1xW67108864'), (result.status, brief(read_lines(result.out))))
        # Not run: there are kernels on which reading takes memory as well.
        tests.check('cgroup -o', 0, run(tests, ['--dry-run', '-o', '256m'], before=enter).status)
        with tests.folder() as folder:
            result = run(tests, ['-f', folder + '/new', '-j', '4096', '128m'], before=enter)
            tests.check('cgroup -f', (0, '1xF 1xW262144'), (result.status, brief(read_lines(result.out))))
        fails(tests, 'cgroup --force', ['--force', '256m'], 'worker 0.*SIGKILL', before=enter, seconds=2 * SOON)
        result = fails(tests, 'cgroup --force -n 3', ['--force', '-n', '3', *FOR_EVER, '40m'], r'worker [012]\b.*SIGKILL',
                       before=enter, seconds=2 * SOON)
        tests.check('cgroup --force -n 3: lines', 'not of all three', result.out, len(WALK.findall(result.out)) < 3)


# binding

def allowed_lists(running, count, threads):
    pids = running.walking(count)
    until(lambda: all(len(os.listdir(f'/proc/{pid}/task')) == threads for pid in pids))
    return [status_line(f'{pid}/task/{tid}', 'Cpus_allowed_list')
            for pid in pids for tid in sorted(map(int, os.listdir(f'/proc/{pid}/task')))]


def bound_to(tests, row, args, tasks, mask, stride):
    processes, threads = tasks
    ranks = sorted(mask)
    want = [str(ranks[i * stride % len(ranks)]) for i in range(processes * threads)]
    with Run(tests, [*args, *FOR_EVER, '1m'], before=lambda: os.sched_setaffinity(0, mask)) as running:
        tests.check(row, sorted(want), sorted(allowed_lists(running, processes, threads)))


def bind(tests):
    cpus = sorted(os.sched_getaffinity(0))
    last, several = {cpus[-1]}, set(cpus[-2:])
    for mask in (last, several):
        for stride in (1, 2, 3, 1000003):
            row = f'-b {stride} with {sorted(mask)}'
            bound_to(tests, row, ['-b', str(stride), '-n', '4'], (4, 1), mask, stride)
        bound_to(tests, f'-b 1 -t with {sorted(mask)}', ['-b', '1', '-n', '2', '-t', '3'], (2, 3), mask, 1)
    for args in (['-b', '0'], ['-b', 'none'], []):
        with Run(tests, [*args, '-n', '2', *FOR_EVER, '1m'], before=lambda: os.sched_setaffinity(0, several)) as running:
            found = allowed_lists(running, 2, 1)
            tests.check(f'not bound {args}', [status_line(running.pid, 'Cpus_allowed_list')] * 2, found)


# memory: where it comes from, seen in /proc/PID/maps

def resident(pid):
    text = status_line(pid, 'VmRSS') if alive(pid) else None
    return int(text.split()[0]) * 1024 if text else 0


def mappings(pid):
    """(start, length, permissions, offset, name) of each."""
    found = []
    with open(f'/proc/{pid}/maps', encoding='utf-8', errors='surrogateescape') as maps:
        for line in maps:
            where, permissions, offset, _, _, *name = line.rstrip('\n').split(None, 5)
            start, end = (int(n, 16) for n in where.split('-'))
            found.append((start, end - start, permissions, int(offset, 16), name[0] if name else ''))
    return found


SIZE = 17 * MIB
BACKINGS = [
    # args, permissions and name of the mapping ('': it has none)
    (['-O'], 'rw-p', ''),
    ([], 'rw-p', '/dev/zero'),
    (['-o'], 'r--p', '/dev/zero'),
    (['-o', '-w'], 'rw-p', '/dev/zero'),
    (['-f', 'F'], 'rw-s', '.*/F'),
    (['-f', 'F', '-o'], 'r--s', '.*/F'),
    (['-f', 'F', '-o', '-w'], 'rw-s', '.*/F'),
    (['-f', '/dev/zero'], 'rw-s', '/dev/zero.*'),
    (['-O', '-f', 'F'], 'rw-s', '/dev/zero.*'),
    (['--memfd'], 'rw-p', '/memfd:.*'),
    (['--memfd', '-f', 'F'], 'rw-s', '/memfd:F .*'),
    (['--memfd', '-f', 'F', '-o'], 'r--s', '/memfd:F .*'),
    (['-a', '-f', 'F'], 'rw-p', ''),
]


def backings(tests):
    for args, permissions, name in BACKINGS:
        for extra in ([], ['-P'], ['-y']):
            with tests.folder() as folder:
                path = sparse(os.path.join(folder, 'F'), SIZE)
                within = [path if word == 'F' and '--memfd' not in args else word for word in args]
                with Run(tests, [*within, *extra, '-j', '1t', *FOR_EVER, str(SIZE)]) as running:
                    pid = running.walking(1)[0]
                    found = [m for m in mappings(pid) if SIZE <= m[1] < SIZE + 2 * MIB and m[2] == permissions
                             and re.fullmatch(name, m[4])]
                    tests.check(f'mapping {args} {extra}', f'{permissions} {name}', mappings(pid), len(found) == 1)


def units_and_their_mappings(tests):
    """Of /dev/zero each unit stays a mapping of its own, those of -O merge, and a file's follow it unit by unit."""
    unit, count = 4 * PAGE, 64
    # All but the last unit are allocated when the last is read again and again: the reader stays there.
    forever = ['-u', str(unit), '-j', '1t']
    for args, name, fewest, most in (([], '/dev/zero', count, count), (['-O'], '', 1, count // 8),
                                     (['-f', 'F'], '.*/F', 1, count)):
        with tests.folder() as folder:
            path = sparse(os.path.join(folder, 'F'), count * unit)
            within = [path if word == 'F' else word for word in args]
            with Run(tests, [*within, *forever, '-r', '300000', '-Z', str(count * unit)]) as running:
                pid = running.workers(1)[0]

                def of_units(pid=pid, name=name):
                    with contextlib.suppress(OSError):
                        return [m for m in mappings(pid) if m[2][:2] == 'rw' and m[1] % unit == 0
                                and m[1] <= count * unit and re.fullmatch(name, m[4])]
                    return []
                most_seen = []

                def all_there():
                    found = of_units()
                    if sum(m[1] for m in found) > sum(m[1] for m in most_seen):
                        most_seen[:] = found
                    return sum(m[1] for m in found) >= count * unit or not alive(pid)
                until(all_there, 2 * SOON)
                tests.check(f'units {args}: all mapped', 'at least SIZE', most_seen,
                            sum(m[1] for m in most_seen) >= count * unit)
                tests.check(f'units {args}: mappings', f'{fewest} to {most}', most_seen, fewest <= len(most_seen) <= most)
                if name == '.*/F':
                    tests.check(f'units {args}: offsets', count * unit,
                                max((m[3] + m[1] for m in most_seen), default=0))


def populated(tests):
    nearly = 60 * MIB       # VmRSS is not exact
    for args, whole in ((['-F'], True), ([], False), (['-F', '-P'], True), (['-F', '-O', '-y'], True)):
        with Run(tests, [*args, '-j', '1t', *FOR_EVER, '64m']) as running:
            worker = running.walking(1)[0]
            pid = running.pid if '-P' in args else worker
            got = until(lambda: resident(pid) >= nearly, SOON if whole else 0.2)
            tests.check(f'populated {args}', whole, got)


def memory_of(pid, at, write=None):
    """The word at address AT of a process; or store one there."""
    try:
        with open(f'/proc/{pid}/mem', 'r+b' if write else 'rb', buffering=0) as memory:
            memory.seek(at)
            return memory.write(write) if write else memory.read(8)
    except OSError as error:
        raise Skip(f'/proc/PID/mem: {error.strerror}') from None


def shared_or_copied(tests):
    """-P: each process has private memory as its own copy; what is mapped shared, all have together."""
    for args, shared in (([], False), (['-O'], False), (['--memfd'], False), (['-a'], False), (['-f', 'F'], True),
                         (['-O', '-f', 'F'], True), (['-f', '/dev/zero'], True), (['--memfd', '-f', 'x'], True)):
        with tests.folder() as folder:
            path = sparse(os.path.join(folder, 'F'), SIZE)
            within = [path if word == 'F' else word for word in args]
            # Only the first word is read again and again: the last is ours.
            with Run(tests, [*within, '-P', '-n', '2', '-o', '-w', '-j', '1t', *FOR_EVER, str(SIZE)]) as running:
                one, two = running.walking(2)
                start = [m[0] for m in mappings(one) if SIZE <= m[1] < SIZE + 2 * MIB][0]
                at = start + SIZE - 3 * PAGE
                memory_of(one, at, b'pagemill')
                got = memory_of(two, at)
                tests.check(f'-P {args}: the other task sees it', shared, got == b'pagemill')


# random order

def places(tests, args, size=MIB):
    """Where the walk wrote: each word holds its index, and the file was all zero."""
    with tests.folder() as folder:
        path = sparse(os.path.join(folder, 'f'), size)
        result = run(tests, ['-f', path, *args, str(size)])
        if result.status:
            raise AssertionError(f'{args}: status {result.status}: {result.err}')
        with open(path, 'rb') as file:
            return {i for i, value in enumerate(memoryview(file.read()).cast('Q')) if value}


def random_streams(tests):
    one = ['-R', '-j', '4096', '--random-seed', '5']
    first = places(tests, one)      # 256 accesses of 131072 words: a few at most meet
    tests.check('-R: places', '240 to 256', len(first), 240 <= len(first) <= 256)
    tests.check('-R: all over', 'in each quarter', sorted({i // 32768 for i in first}), len({i // 32768 for i in first}) == 4)
    tests.check('-R: not in step', 'few multiples of 512', len([i for i in first if i % 512 == 0]),
                len([i for i in first if i % 512 == 0]) < 20)
    tests.check('the same seed', first == places(tests, one), True)
    tests.check('another seed', 'other places', len(first & places(tests, one[:-1] + ['6'])),
                len(first & places(tests, one[:-1] + ['6'])) < 30)
    for args in (['-n', '2'], ['-t', '2'], ['-r', '2']):
        two = places(tests, [*one, *args])
        tests.check(f'{args}: places', 'twice as many', len(two), 460 <= len(two) <= 512)
        if args[0] != '-r':
            tests.check(f'{args}: the same seed', two == places(tests, [*one, *args]), True)
    four = places(tests, [*one, '-n', '2', '-t', '2'])
    tests.check('-n 2 -t 2: places', 'four times as many', len(four), 900 <= len(four) <= 1024)
    tests.check('no seed', 'other places each time', 'the same', places(tests, one[:-2]) != places(tests, one[:-2]))
    tests.check('every word but the first, which is 0', set(range(1, 8)), places(tests, ['-R', '-r', '1000'], 64))
    tests.check('--random-seed alone', set(range(1, 8192)), places(tests, ['--random-seed', '5'], 65536))
    units = places(tests, [*one, '-u', '64k'])
    tests.check('-R -u: not the same places in each unit', 'more than 200', len(units), 200 < len(units))


# deadline

def run_time(tests):
    for args, tasks in ((['-n', '2'], 2), (['-t', '4'], 4), (['-j', '24'], 1), (['-j', '4096', '-n', '8'], 8), (['-R'], 1),
                        (['-u', '64k'], 1), (['-P', '-n', '2'], 2), (['-o'], 1), (['-y', '-F'], 1), (['-S'], 1)):
        result = run(tests, ['-T', '300ms', *args, '-r', '100000000', '16m'])
        lines = read_lines(result.out)
        row = f'-T {args}'
        tests.check(f'{row}: status', 0, result.status)
        walks = [line for line in lines if line[0] == 'W']
        tests.check(f'{row}: walks', tasks, len(walks))
        tests.check(f'{row}: usecs', '0.3 to 5 s', walks, all(300000 <= line[2] < 5000000 for line in walks))
        tests.check(f'{row}: free lines', 0 if '-P' in args else tasks, [line[0] for line in lines].count('F'))
        tests.check(f'{row}: seconds', 'at most 5', result.seconds, result.seconds <= SOON)
    result = run(tests, ['-T', '200ms', '-Z', '-n', '2', '-r', '100000000', '4m'])
    lines = read_lines(result.out)
    tests.check('-T -Z', 'both phases take 0.2 s', lines,
                [line[0] for line in lines if line[0] in 'WZ' and 200000 <= line[2] < 5000000].count('Z') == 2)
    result = run(tests, ['-T', '1ms', '-n', '4', '-r', '100000000', '64m'])
    lines = read_lines(result.out)
    tests.check('-T 1ms: at least one access', 4, len([line for line in lines if line[0] == 'W' and line[1] >= 8]))


# terminal: the live line

def said_on_a_terminal(tests, args):
    """What usemem wrote to stderr, a pseudo terminal."""
    master, slave = os.openpty()
    said = []

    def listen():
        with contextlib.suppress(OSError):
            while chunk := os.read(master, 65536):
                said.append(chunk)
    listener = threading.Thread(target=listen)
    with Run(tests, args, stderr=slave) as running:
        os.close(slave)
        listener.start()
        result = running.finish()
    listener.join()
    os.close(master)
    return result, b''.join(said)


def live_line(tests):
    args = ['-T', '1200ms', *FOR_EVER, '1m']
    result, said = said_on_a_terminal(tests, args)
    tests.check('live line', r'a rate and \r, no \n', said, b'/s' in said and b'\r' in said and b'\n' not in said)
    tests.check('live line: stdout', 0, result.status)
    tests.check('live line: stdout', 'two lines', result.out, result.out.count(b'\n') == 2 and b'\r' not in result.out)
    _, said = said_on_a_terminal(tests, ['-q', *args])
    tests.check('-q: no live line', b'', said)
    result = run(tests, args)
    tests.check('no live line in a pipe', b'', result.err)


def interval_lines(tests):
    result = run(tests, ['--interval', '100ms', '-n', '2', '-T', '450ms', *FOR_EVER, '1m'])
    said = re.findall(r'usemem: ([\d.]+) s: (\d+) bytes, (\d+) KB/s\n', result.err.decode())
    tests.check('--interval: status', 0, result.status)
    tests.check('--interval: lines', '2 to 6, nothing else', result.err,
                2 <= len(said) <= 6 and len(said) == result.err.count(b'\n'))
    total = sum(line[1] for line in read_lines(result.out) if line[0] == 'W')
    tests.check('--interval: bytes', total, sum(int(size) for _, size, _ in said))
    tests.check('--interval: stdout', '2xF', re.sub(' ?2xW.*| ?1xW[0-9]*', '', brief(read_lines(result.out))))


def shortest_interval(tests):
    result = run(tests, ['--interval', '1ns', '-r', '10', '1m'], seconds=SOON, stderr=subprocess.DEVNULL)
    tests.check('--interval 1ns', (0, '1xF 1xW10485760'), (result.status, brief(read_lines(result.out))))


def last_sync_counts(tests):
    """Of -S and -A the last: seen in the calls, if there is a tracer."""
    probe = subprocess.run(['strace', '-f', '-o', '/dev/null', 'true'], capture_output=True, check=False) \
        if any(os.access(os.path.join(d, 'strace'), os.X_OK) for d in os.get_exec_path()) else None
    if not probe or probe.returncode:
        raise Skip('no strace that works')
    for args, flag, calls in ((['-S'], 'MS_SYNC', 1), (['-A'], 'MS_ASYNC', 1), (['-S', '-A'], 'MS_ASYNC', 1),
                              (['-A', '-S'], 'MS_SYNC', 1), (['-AS', '-r', '3'], 'MS_SYNC', 3), ([], 'MS_', 0),
                              (['-S', '-u', '4k', '-r', '2'], 'MS_SYNC', 8), (['-S', '-o', '-Z'], 'MS_SYNC', 2),
                              (['-S', '-a'], 'MS_SYNC', 1), (['-S', '-r', '0'], 'MS_', 0)):
        with tests.folder() as folder:
            log = os.path.join(folder, 'log')
            run(tests, [*args, str(4 * 4096)], prefix=['strace', '-f', '-e', 'trace=msync', '-o', log])
            with open(log, encoding='ascii', errors='replace') as file:
                made = re.findall(r'msync\(\w+, \d+, (\w+)', file.read())
            tests.check(f'msync of {args}', [flag] * calls, made)


sections = {
    'workers': [too_many_tasks, fork_limit, cannot_map_before_the_line, worker_is_killed, killed_before_the_line,
                workers_are_the_oom_killers_choice],
    'signals': [inherited_signals, told_to_stop, told_to_stop_while_populating, usemem_is_killed],
    'output': [to_dev_full, to_a_closed_stdout, other_streams_closed, to_a_closed_pipe, reader_goes_away,
               five_hundred_at_once],
    'files': [file_is_truncated, filesystem_is_full, data_is_wrong, reading_checks_nothing, side_by_side, as_nobody],
    'limits': [user_limits, control_group],
    'memory': [bind, backings, units_and_their_mappings, populated, shared_or_copied, last_sync_counts],
    'course': [random_streams, run_time, live_line, interval_lines, shortest_interval],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
