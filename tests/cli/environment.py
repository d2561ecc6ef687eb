# SPDX-License-Identifier: GPL-2.0-or-later
"""environment - what each program's JSON result says of the machine, against the machine.

Usage: environment.py BINARY [SECTION]...
"""
import glob
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from harness import Skip, Tests, need_root, run  # noqa: E402

# Short runs.
RUNS = {
    'usemem': ['-f', 'data', '64k'],
    'readtwice': ['-q', '--allow-tmpfs', '-n', '1', '-s', '4k'],
    'copyfile': ['-q', '--allow-tmpfs', '-s', '64k', '--block', '4k', '--ops', '1'],
    'ioviter': ['-q', '--allow-tmpfs', '--size', '4k', '--volume', '4k', '--samples', '2', '--kinds', 'ubuf'],
    'msync': ['-q', '--allow-tmpfs', '-r', '1', '-s', '64k'],
}
QUEUE = {
    'scheduler': str, 'max_sectors_kb': int, 'max_hw_sectors_kb': int, 'nr_requests': int, 'read_ahead_kb': int,
    'rotational': bool, 'logical_block_bytes': int, 'write_cache': str, 'loop_backing_file': str,
}
VM = ('swappiness', 'dirty_ratio', 'dirty_background_ratio', 'dirty_bytes', 'dirty_background_bytes',
      'dirty_expire_centisecs', 'dirty_writeback_centisecs', 'vfs_cache_pressure', 'overcommit_memory',
      'overcommit_ratio', 'min_free_kbytes', 'watermark_scale_factor', 'zone_reclaim_mode', 'page-cluster',
      'compaction_proactiveness', 'laptop_mode', 'nr_hugepages')
CPUS = '/sys/devices/system/cpu/'
THP = '/sys/kernel/mm/transparent_hugepage/'


def text_of(path):
    try:
        with open(path, encoding='utf-8') as file:
            return file.readline().rstrip('\n')
    except OSError:
        return None


def chosen(path):
    text = text_of(path)
    return text and (re.findall(r'\[(.*?)\]', text) or [text])[0]


def truth(text):
    return None if text is None else text in ('1', 'Y')


def cpuinfo():
    """The first CPU's lines."""
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        lines = [line.split(':', 1) for line in file.read().split('\n\n')[0].splitlines()]
    return {line[0].strip(): line[1].strip() for line in lines if len(line) == 2}


def governor():
    found = [text_of(f'{CPUS}cpu{n}/cpufreq/scaling_governor') for n in sorted(os.sched_getaffinity(0))]
    found = list(dict.fromkeys(text for text in found if text))
    return found if len(found) > 1 else found[0] if found else None


def number(path):
    text = text_of(path)
    return int(text) if text and text.isdigit() else None


def thp():
    found = {name: chosen(THP + name) for name in ('enabled', 'defrag', 'shmem_enabled')}
    for path in glob.glob(THP + 'hugepages-*/enabled'):
        found[os.path.basename(os.path.dirname(path))] = chosen(path)
    return {**found, 'disabled_by_prctl': False}


def expected():
    cpu = cpuinfo()
    flags = cpu.get('flags', cpu.get('Features'))
    return {
        'command_line': text_of('/proc/cmdline'),
        'cpu_model': cpu.get('model name'),
        'microcode': cpu.get('microcode'),
        'string_copy_flags': flags and [flag for flag in ('rep_good', 'erms', 'fsrm', 'mops') if flag in flags.split()],
        'smap': 'smap' in flags.split() if 'flags' in cpu else None,
        'mitigations': {os.path.basename(path): text_of(path) for path in glob.glob(CPUS + 'vulnerabilities/*')},
        'smt': truth(text_of(CPUS + 'smt/active')),
        'governor': governor(),
        'mglru': text_of('/sys/kernel/mm/lru_gen/enabled'),
        'zswap': truth(text_of('/sys/module/zswap/parameters/enabled')),
        'thp': thp(),
        'vm': {name.replace('-', '_'): number('/proc/sys/vm/' + name) for name in VM},
        'numa_balancing': number('/proc/sys/kernel/numa_balancing'),
        'ksm_run': number('/sys/kernel/mm/ksm/run'),
        'stat_refresh': os.access('/proc/sys/vm/stat_refresh', os.R_OK),
        'page_bytes': os.sysconf('SC_PAGE_SIZE'),
    }


def document(tests, args):
    with tests.folder() as folder:
        # usemem's file is in the current directory, but for --fs.
        place = ['--dir', folder] if args or tests.program != 'usemem' else []
        result = run(tests, ['--json', *args, *place, *RUNS[tests.program]], cwd=folder)
    if result.status == 77:
        raise Skip(result.err.decode(errors='backslashreplace').strip())
    if not tests.check(f'{args}: status', 0, result.status):
        raise AssertionError(result.err.decode(errors='backslashreplace'))
    return json.loads(result.out)


def machine(tests):
    told = document(tests, [])
    for key, value in expected().items():
        tests.check(key, value, told['environment'].get(key, 'no such key'))
    tests.check('kernel', os.uname().release, told['host'].get('kernel'))


def device_folder(dev):
    """Of a disk, or of the disk that a partition is of; None: sysfs has none."""
    folder = os.path.realpath(f'/sys/dev/block/{os.major(dev)}:{os.minor(dev)}')
    for place in (folder, os.path.dirname(folder)):
        if os.path.exists(os.path.join(place, 'queue')):
            return place
    return None


def check_queue(tests, row, queue, folder):
    tests.check(f'{row}: keys', list(QUEUE), list(queue))
    for key, kind in QUEUE.items():
        value = queue.get(key)
        tests.check(f'{row}: {key}', kind.__name__, value, value is None or type(value) is kind)
    tests.check(f'{row}: scheduler', chosen(folder + '/queue/scheduler'), queue['scheduler'])
    tests.check(f'{row}: max_sectors_kb', int(text_of(folder + '/queue/max_sectors_kb')), queue['max_sectors_kb'])
    tests.check(f'{row}: rotational', truth(text_of(folder + '/queue/rotational')), queue['rotational'])


def queue_of_directory(tests):
    (told,) = document(tests, [])['environment']['filesystems']
    folder = device_folder(os.stat(tests.dir).st_dev)
    if folder is None:
        tests.check('no device', None, told['queue'])
        raise Skip(f'{tests.dir} is on no block device')
    check_queue(tests, 'directory', told['queue'], folder)


def queue_of_image(tests):
    """Of tmpfs there is none."""
    need_root()
    (told,) = document(tests, ['--fs', 'tmpfs'])['environment']['filesystems']
    tests.check('tmpfs', None, told.get('queue', 'no such key'))
    (told,) = document(tests, ['--fs', 'ext4', '--fs-size', '64m'])['environment']['filesystems']
    queue = told['queue']
    tests.check('image: keys', list(QUEUE), list(queue))
    tests.check('image: loop_backing_file', 'a text', queue['loop_backing_file'], bool(queue['loop_backing_file']))


sections = {'machine': [machine], 'queue': [queue_of_directory, queue_of_image]}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
