# SPDX-License-Identifier: GPL-2.0-or-later
"""system - what each program's JSON result says the system did, against readings of our own.

Usage: system.py BINARY [SECTION]...
"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from harness import MIB, PAGE, Skip, Tests, environment, need_root, run, status_of  # noqa: E402

# Runs of a moment.
RUNS = {
    'usemem': ['-f', 'data', '4m'],
    'readtwice': ['-q', '--allow-tmpfs', '-n', '1', '-s', '4m'],
    'copyfile': ['-q', '--allow-tmpfs', '-s', '4m', '--block', '64k', '--ops', '64'],
    'ioviter': ['-q', '--allow-tmpfs', '--size', '4k', '--volume', '1m', '--kinds', 'ubuf'],
    'msync': ['-q', '--allow-tmpfs', '-r', '1', '-s', '4m'],
}
REPEAT = 3
TIMES = ('user_time', 'system_time', 'minor_page_faults', 'major_page_faults', 'voluntary_context_switches',
         'involuntary_context_switches', 'file_system_inputs', 'file_system_outputs', 'maximum_resident_set_size',
         'elapsed_time', 'percent_of_cpu_this_job_got')
# By the beginnings of their names in /proc/vmstat: COUNTERS are no levels.
LEVELS = ('workingset_nodes', 'nr_')
COUNTERS = ('nr_dirtied', 'nr_written', 'nr_throttled_written', 'nr_vmscan_', 'nr_foll_pin_', 'nr_tlb_')


def vmstat():
    with contextlib.suppress(OSError), open('/proc/vmstat', encoding='ascii') as file:
        return {key: int(value) for key, value in (line.split() for line in file)}
    raise Skip('no /proc/vmstat')


def is_counter(name):
    return name.startswith(COUNTERS) or not name.startswith(LEVELS)


def document(tests, result):
    if result.status == 77:
        raise Skip(result.err.decode(errors='backslashreplace').strip())
    if not tests.check('status', 0, result.status):
        raise AssertionError(result.err.decode(errors='backslashreplace'))
    return json.loads(result.out)


def command(tests, folder, args=()):
    # usemem's file is in the current directory.
    place = [] if tests.program == 'usemem' else ['--dir', folder]
    return ['--json', *args, *place, *RUNS[tests.program]]


def once(tests, args=()):
    with tests.folder() as folder:
        return document(tests, run(tests, command(tests, folder, args), cwd=folder))


def shape(tests):
    """One number or null for each repetition, whatever the row."""
    told = once(tests, ['--samples', str(REPEAT), *([] if tests.program == 'ioviter' else ['--warmup', '1'])])
    # ioviter takes its samples in one fan-out.
    values = 1 if tests.program == 'ioviter' else REPEAT
    for name, row in told['system'].items():
        tests.check(name, values, len(row))
        tests.check(name, 'numbers', row, all(v is None or type(v) in (int, float) for v in row))
        tests.check(name, 'no number below 0', row, all(v is None or v >= 0 for v in row))
    for name in TIMES:
        tests.check(name, 'there', told['system'].keys(), f'{tests.program}.time.{name}' in told['system'])
    shares = [told['system'][f'mpstat.cpu.all.{name}%'] for name in
              ('usr', 'nice', 'sys', 'iowait', 'irq', 'soft', 'steal', 'guest', 'gnice', 'idle')]
    for row in zip(*shares):
        known = [share for share in row if share is not None]
        tests.check('shares of CPU time', 100, sum(known), not known or abs(sum(known) - 100) < 1e-6)


def bracketed(tests):
    """Our own readings before and after are further apart, and levels are between what there is."""
    before = vmstat()
    told = once(tests)['system']
    after = vmstat()
    tests.check('names', sorted(before), sorted(name[len('proc-vmstat.'):] for name in told
                                                if name.startswith('proc-vmstat.')))
    for name, first in before.items():
        row = told.get('proc-vmstat.' + name, [-1])[0]
        if not is_counter(name):
            tests.check(name, 'a level', row, row is not None and 0 <= row)
        elif after[name] >= first:
            # Sums over the CPUs are read while they change: they can go back by a little.
            tests.check(name, f'at most {after[name] - first}', row,
                        row is None or row <= after[name] - first + 125 * (os.cpu_count() or 1))
    with open('/proc/meminfo', encoding='ascii') as file:
        total = int(file.readline().split()[1])
    tests.check('meminfo.MemTotal', [total], told['meminfo.MemTotal'])
    tests.check('meminfo.MemFree', f'below {total}', told['meminfo.MemFree'], 0 < told['meminfo.MemFree'][0] < total)
    tests.check('vmstat.memory.free', told['meminfo.MemFree'], told['vmstat.memory.free'])


def looks(tests, args, folder):
    """How often a run opens /proc/vmstat."""
    if not shutil.which('strace'):
        raise Skip('no strace')
    log = os.path.join(folder, 'log')
    result = run(tests, args, cwd=folder, prefix=('strace', '-f', '-qq', '-e', 'trace=openat', '-o', log))
    if not os.path.exists(log) or b'PTRACE' in result.err or b'ptrace' in result.err:
        raise Skip('strace cannot trace here')
    tests.check(f'{args}: status', 0, result.status)
    with open(log, encoding='utf-8', errors='replace') as file:
        return file.read().count('"/proc/vmstat"')


def how_often(tests):
    """Without --json nobody looks; with it at both ends of a repetition, and not while warming up."""
    with tests.folder() as folder:
        words = command(tests, folder)
        tests.check('without --json', 0, looks(tests, words[1:], folder))
        found = looks(tests, words, folder)
        # More where strace makes it last for seconds.
        tests.check('a run', '2 at least', found, found >= 2)
        if tests.program != 'ioviter':
            found = looks(tests, ['--samples', '2', '--warmup', '8', *words], folder)
            tests.check('eight to warm up and two runs', '4, and fewer than of ten', found, 4 <= found < 20)


def in_between(tests):
    """... and now and then while it lasts."""
    if tests.program != 'usemem':
        return
    found = looks(tests, ['--json', '-T', '3', '-r', '1000000', '16m'], tests.dir)
    tests.check('a run of three seconds', '3 at least', found, found >= 3)


def waited_for(tests, args, cwd):
    """The document, and what wait4(2) says the program and its workers used."""
    process = subprocess.Popen([tests.binary, *args], cwd=cwd, env=environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with process:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == 77:
        raise Skip('the program skips itself')
    tests.check('status', 0, status_of(process.returncode))
    return json.loads(out), usage


def resources(tests):
    """All that is told is part of what the program used from start to end."""
    with tests.folder() as folder:
        began = time.monotonic()
        told, usage = waited_for(tests, command(tests, folder), folder)
        seconds = time.monotonic() - began
    row = {name: told['system'][f'{tests.program}.time.{name}'][0] for name in TIMES}
    # The kernel scales both parts so that their sum is right: one alone can go back.
    tests.check('CPU time', f'at most {usage.ru_utime + usage.ru_stime}', row,
                row['user_time'] + row['system_time'] <= usage.ru_utime + usage.ru_stime + 1e-3)
    for name, limit in (('minor_page_faults', usage.ru_minflt), ('major_page_faults', usage.ru_majflt),
                        ('voluntary_context_switches', usage.ru_nvcsw),
                        ('involuntary_context_switches', usage.ru_nivcsw),
                        ('file_system_inputs', usage.ru_inblock), ('file_system_outputs', usage.ru_oublock),
                        ('maximum_resident_set_size', usage.ru_maxrss)):
        tests.check(name, f'0 to {limit}', row[name], 0 <= row[name] <= limit)
    window = told['metrics'].get('window_ns', {'samples': [0]})['samples'][0] / 1e9
    tests.check('elapsed_time', f'{window} to {seconds}', row['elapsed_time'], window <= row['elapsed_time'] <= seconds)
    share = 100 * (row['user_time'] + row['system_time']) / row['elapsed_time']
    tests.check('share of CPU', share, row['percent_of_cpu_this_job_got'],
                abs(share - row['percent_of_cpu_this_job_got']) < 1e-6)


def device(tests):
    """Rows of the device that the directory lies on, if it is one."""
    if tests.program == 'usemem':
        # Its memory is anonymous; the directory is the one that --fs would take.
        told, place = document(tests, run(tests, ['--json', '64k']))['system'], '/var/tmp'
    else:
        told, place = once(tests)['system'], tests.dir
    dev = os.stat(place).st_dev
    with open('/proc/diskstats', encoding='ascii') as file:
        names = [line.split()[2] for line in file if line.split()[:2] == [str(os.major(dev)), str(os.minor(dev))]]
    if not names:
        raise Skip(f'{place} is on no block device')
    for field in ('r/s', 'w/s', 'rkB/s', 'wkB/s', 'await', 'util'):
        name = f'iostat.{names[0]}.{field}'
        tests.check(name, 'a row', sorted(told), name in told)


def image(tests):
    """Rows of the loop device of a scratch filesystem; those of tmpfs are none."""
    need_root()
    told = once(tests, ['--fs', 'ext4', '--fs-size', '64m'])['system']
    tests.check('loop device', 'rows', sorted(told), any(name.startswith('iostat.loop') for name in told))


def touched(tests):
    """Each page that usemem touches is a fault and a page allocated, also in a set-up that is timed."""
    if tests.program != 'usemem':
        return
    pages = 32 * MIB // PAGE
    for args in (['-n', '2', '32m'], ['-n', '2', '--sync-rw', '32m'], ['-n', '2', '--prealloc', '64m'],
                 ['-n', '2', '--sync-rw', '--touch-alloc', '32m'], ['--prealloc', '--touch-alloc', '64m']):
        told = document(tests, run(tests, ['--json', '--samples', '2', *args], cwd=tests.dir))['system']
        alloc = [sum(told[name][i] for name in told if name.startswith('proc-vmstat.pgalloc_')) for i in (0, 1)]
        huge = told.get('proc-vmstat.thp_fault_alloc', [0, 0])
        for i in (0, 1):
            faults = told['proc-vmstat.pgfault'][i]
            tests.check(f'{args}: pgfault', f'at least {2 * pages}', faults, huge[i] or faults >= 2 * pages)
            tests.check(f'{args}: pgalloc', f'at least {2 * pages}', alloc[i], alloc[i] >= 2 * pages)
            tests.check(f'{args}: minor_page_faults', f'at least {2 * pages}', told['usemem.time.minor_page_faults'][i],
                        huge[i] or told['usemem.time.minor_page_faults'][i] >= 2 * pages)


def memory_hierarchy():
    """Where a memory cgroup can be made, and whether it is v2; None: nowhere."""
    with open('/proc/self/cgroup', encoding='ascii') as file:
        own = dict(line.rstrip('\n').split(':')[1:] for line in file)
    for names, path in own.items():
        if 'memory' in names.split(','):
            return '/sys/fs/cgroup/memory' + path, False
    if '' in own and os.path.exists('/sys/fs/cgroup/cgroup.controllers'):
        return '/sys/fs/cgroup' + own[''], True
    return None, False


@contextlib.contextmanager
def own_cgroup():
    need_root()
    parent, unified = memory_hierarchy()
    path = parent and os.path.join(parent, f'pagemill-system-{os.getpid()}')
    try:
        if not path:
            raise OSError('no hierarchy')
        os.mkdir(path)
    except OSError as error:
        raise Skip(f'no memory cgroup can be made: {error}') from error
    try:
        if not os.path.exists(os.path.join(path, 'memory.stat')):
            raise Skip('a cgroup of its own has no memory controller')
        yield path, unified
    finally:
        os.rmdir(path)


def cgroup(tests):
    """Counters of its own cgroup: nobody else touches memory there."""
    if tests.program != 'usemem':
        return
    with own_cgroup() as (path, unified):
        def enter():
            with open(os.path.join(path, 'cgroup.procs'), 'w', encoding='ascii') as file:
                file.write('0')
        pages = 32 * MIB // PAGE
        told = document(tests, run(tests, ['--json', '32m'], cwd=tests.dir, before=enter))['system']
    faults = told['memcg.pgfault'][0]
    huge = told.get('proc-vmstat.thp_fault_alloc', [0])[0]
    tests.check('memcg.pgfault', f'{pages} to {pages + 2000}', faults, huge or pages <= faults <= pages + 2000)
    usage = told['memcg.usage'][0]
    tests.check('memcg.usage', 'some', usage, 0 < usage < 1 << 40)
    if unified:
        tests.check('memcg.events.high', [0], told['memcg.events.high'])
    else:
        tests.check('memcg.failcnt', [0], told['memcg.failcnt'])


sections = {'shape': [shape], 'looks': [how_often, in_between], 'counts': [bracketed, resources], 'devices': [device, image],
            'memory': [touched, cgroup]}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
