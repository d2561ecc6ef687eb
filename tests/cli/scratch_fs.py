# SPDX-License-Identifier: GPL-2.0-or-later
"""scratch_fs - usemem's FILE on a filesystem that is made for the run, and what is left of it: nothing.

Usage: scratch_fs.py USEMEM [SECTION]...
"""
import json
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from harness import MIB, Run, Skip, Tests, need_root, one_line, read_lines, run, until  # noqa: E402

TYPES = {'ext4': '64m', 'xfs': '400m', 'btrfs': '400m', 'tmpfs': '64m'}


def need_loops():
    need_root()
    if not os.path.exists('/dev/loop-control'):
        raise Skip('no loop devices')


def loops_over(folder):
    """Loop devices whose image is or was in FOLDER."""
    found = []
    for name in os.listdir('/sys/block'):
        try:
            with open(f'/sys/block/{name}/loop/backing_file', 'rb') as backing:
                if backing.read().startswith(os.fsencode(folder) + b'/'):
                    found.append(name)
        except OSError:
            pass
    return found


def mounts_over(folder, pid='self'):
    with open(f'/proc/{pid}/mountinfo', 'rb') as mounts:
        return [line.split()[4] for line in mounts if line.split()[4] == os.fsencode(folder)]


def nothing_is_left(tests, row, folder, but=()):
    tests.check(f'{row}: loop devices', True, until(lambda: not loops_over(folder), 30))
    tests.check(f'{row}: mounts', [], mounts_over(folder))
    tests.check(f'{row}: files', sorted(but), sorted(os.listdir(folder)))


def each_type(tests):
    need_loops()
    for kind, size in TYPES.items():
        with tests.folder() as folder:
            result = run(tests, ['--fs', kind, '--fs-size', size, '--dir', folder, '-f', 'data', '-S', '-n', '2',
                                 f'--json={folder}/out', '8m'], seconds=60)
            tests.check(f'{kind}: status', 0, result.status)
            tests.check(f'{kind}: lines', ['F', 'F', 'W', 'W'], sorted(line[0] for line in read_lines(result.out)))
            nothing_is_left(tests, kind, folder, ['out'])
            with open(f'{folder}/out', encoding='utf-8') as document:
                told = json.load(document)['environment']['filesystems']
            tests.check(f'{kind}: told', [kind], [fs['type'] for fs in told])
            tests.check(f'{kind}: size', int(size[:-1]) * MIB, told[0].get('size_bytes'))


def given_options(tests):
    need_loops()
    with tests.folder() as folder:
        result = run(tests, ['--fs', 'ext4,noatime', '--fs-size', '64m', '--mkfs-options', '-b 1024',
                             '--mount-options', 'nodelalloc', '--fs-on', 'tmpfs', '--dir', folder, '-f', 'data',
                             '--json', '1m'], seconds=60)
        tests.check('options: status', 0, result.status)
        told = json.loads(result.out)['environment']['filesystems'][0]
        tests.check('options: block', 1024, told['block_bytes'])
        tests.check('options: mount', True, {'noatime', 'nodelalloc'} <= set(told['options'].split(',')))
        tests.check('options: image', 'tmpfs', told['image_on'])
        nothing_is_left(tests, 'options', folder)


def only_the_run_sees_it(tests):
    need_loops()
    with tests.folder() as folder, Run(tests, ['--fs', 'ext4', '--fs-size', '64m', '--dir', folder, '-f', 'data',
                                               '-s', '60', '1m']) as running:
        inside = f'/proc/{running.pid}/root{folder}/data'
        tests.check('inside: file', True, until(lambda: os.path.exists(inside), 20))
        tests.check('inside: mount', 1, len(mounts_over(folder, running.pid)))
        tests.check('outside: mount', [], mounts_over(folder))
        tests.check('outside: files', [], os.listdir(folder))
        os.kill(running.pid, signal.SIGKILL)
        running.finish()
        nothing_is_left(tests, 'killed', folder)


def holders_keep_it(tests):
    need_loops()
    with tests.folder() as folder:
        with Run(tests, ['--fs', 'ext4', '--fs-size', '64m', '--dir', folder, '-f', 'data', '-d', '-s', '-1',
                         '-p', f'{folder}/pids', '1m'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            tests.check('holders: status', 0, running.finish(60).status)
            with open(f'{folder}/pids', encoding='ascii') as pids:
                pid = int(pids.read())
            tests.check('holders: the file is there', True, os.path.exists(f'/proc/{pid}/root{folder}/data'))
        nothing_is_left(tests, 'holders', folder, ['pids'])


def full(tests):
    """What cannot be had is named, and nothing stays."""
    need_loops()
    with tests.folder() as folder:
        result = run(tests, ['--fs', 'ext4', '--fs-size', '16m', '--dir', folder, '-f', 'data', '64m'], seconds=60)
        tests.check('full: status', 1, result.status)
        tests.check('full: said', True, b'no space left' in result.err and folder.encode() + b'/data' in result.err)
        tests.check('full: stdout', b'', result.out)
        nothing_is_left(tests, 'full', folder)


def refused(tests):
    for args, said in (
            ('--fs ext4 64m', '--fs: expected --file'),
            ('--fs ext4 -f /data 64m', '--fs: expected a FILE on it'),
            ('--fs ext4 -D /data -f data 64m', '--fs: expected a FILE on it'),
            ('--fs ext4 -U -f data 64m', '--fs: expected no --hugetlb'),
            ('--fs ext4 --memfd -f data 64m', '--fs: expected no --hugetlb'),
            ('--fs ntfs -f data 64m', "--fs 'ntfs'"),
            ('--fs ext4 --fs-size 1m -f data 64m', '--fs-size 1m'),
            ('--fs-size 1g -f data 64m', '--fs-size'),
            ('--mkfs-options -q -f data 64m', '--mkfs-options'),
            ('--mount-options ro -f data 64m', '--mount-options'),
            ('--fs-on tmpfs -f data 64m', '--fs-on'),
            ('--wipe -f data 64m', '--wipe'),
            ('--fs ext4 --wipe -f data 64m', '--wipe'),
            ('--fs ext4 --dir /tmp --dir /var/tmp -f data 64m', '--fs: expected one --dir'),
            ('--dir /tmp -f data 64m', '--dir: expected --fs')):
        result = run(tests, args.split())
        line = one_line(result.err)
        tests.check(f'{args}: status', 2, result.status)
        tests.check(f'{args}: said', said, line, line is not None and said in line)
        tests.check(f'{args}: stdout', b'', result.out)


sections = {
    'types': [each_type, given_options],
    'ends': [only_the_run_sees_it, holders_keep_it, full],
    'refused': [refused],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
