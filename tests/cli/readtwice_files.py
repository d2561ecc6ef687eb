# SPDX-License-Identifier: GPL-2.0-or-later
"""readtwice_files - what readtwice does with files that exist, on other filesystems, and when something goes wrong.

Usage: readtwice_files.py BINARY [SECTION]...
"""
import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import re
import resource
import signal
import struct
import sys

sys.dont_write_bytecode = True
from harness import (MIB, PAGE, Run, Skip, Tests, alive, be_nobody, children, left_of, need_root, one_line,  # noqa: E402
                     run, until)
from reading import METHODS, Lines, complaints, disk_folder, left_in, need_loops, need_mkfs, sparse  # noqa: E402

SOON = 5            # seconds: generous for what is to be over within one
MAPPED = [method for method in METHODS if method != 'null']
K64 = 65536


def check_run(tests, row, result, status, err='', copied=None):
    """A run that went well has no other line on stderr; one that did not says one, and prints nothing."""
    said = complaints(result.err)
    tests.check(f'{row}: status', status, result.status)
    if status:
        line = one_line(said, 'readtwice') or repr(said)
        tests.check(f'{row}: stderr', err, line, re.search(err, line) is not None and said.count(b'\n') == 1)
        tests.check(f'{row}: stdout', b'', result.out)
        return None
    lines = Lines(result.out)
    tests.check(f'{row}: stderr', err, said, re.fullmatch(err, said.decode(errors='replace')) is not None)
    tests.check(f'{row}: other lines', [], lines.bad)
    if copied is not None:
        tests.check(f'{row}: bytes', copied, [size for size, _ in lines.copied])
    return lines


def written(path, size, drop=True):
    """A file with data in it, on its device."""
    with open(path, 'wb') as file:
        file.write(os.urandom(4096) * (size // 4096) + b'x' * (size % 4096))
        file.flush()
        os.fsync(file.fileno())
        if drop:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path


def state_of(path):
    st = os.stat(path)
    with open(path, 'rb') as file:
        return st.st_mtime_ns, st.st_ctime_ns, st.st_size, st.st_blocks, file.read()


# operands: files that exist, and what is none

def files_stay_as_they_are(tests):
    with disk_folder() as folder:
        path = written(os.path.join(folder, 'f'), 300001)
        before = state_of(path)
        for args in ([], ['--direct'], ['--cold', '--residency', '--then', 'dontneed'], ['-n', '0', '--samples', '2'],
                     *[['-m', method] for method in METHODS]):
            passes = 2 if '--samples' in args else 1
            check_run(tests, f'FILE {args}', run(tests, ['-q', *args, path]), 0, '', [300001] * 2 * passes)
            tests.check(f'FILE {args}: as before', 'as before', 'changed', state_of(path) == before)
        tests.check('FILE: files', ['f'], os.listdir(folder))


def odd_names(tests):
    names = [b'a b', b'a:b', b'a\nb', b'\xff\xc3', b'%s%n', b'-T', 'Grüße €'.encode()]
    with disk_folder() as folder:
        for name in names:
            at = os.path.join(os.fsencode(folder), name)
            with open(at, 'wb') as file:
                file.truncate(K64)
            result = run(tests, ['-q', '--residency', '--json=' + folder + '/result', at])
            tests.check(f'FILE {name}: status', 0, result.status)
            tests.check(f'FILE {name}: bytes', 2, result.out.count(b'65536 bytes ('))
            tests.check(f'FILE {name}: residency', 'named', result.out, name + b': 16 of 16 pages cached' in result.out)
            with open(folder + '/result', 'rb') as file:
                document = json.loads(file.read().decode('utf-8'))
            tests.check(f'FILE {name}: argv', 6 - 1, len(document['argv']))
            os.unlink(at)
            os.mkdir(at)
            check_run(tests, f'--dir {name}', run(tests, [b'-q', b'-n', b'1', b'-s', b'64k', b'--dir', at]), 0, '', [K64] * 2)
            tests.check(f'--dir {name}: files', [], os.listdir(at))
            os.rmdir(at)


def what_is_no_file(tests):
    with disk_folder() as folder:
        os.mkfifo(os.path.join(folder, 'pipe'))
        sparse(os.path.join(folder, 'empty'), 0)
        sparse(os.path.join(folder, 'good'), K64)
        os.symlink('nowhere', os.path.join(folder, 'dangling'))
        os.symlink('good', os.path.join(folder, 'link'))
        for name, status, err in (('pipe', 2, 'pipe: expected a file or a block device'),
                                  ('.', 2, r'\.: expected a file or a block device'),
                                  ('/dev/null', 2, '/dev/null: expected a file or a block device'),
                                  ('empty', 2, 'empty: expected a file with something in it'),
                                  ('missing', 1, 'open missing: No such file or directory'),
                                  ('dangling', 1, 'open dangling: No such file or directory'),
                                  ('good/x', 1, 'open good/x: Not a directory'), ('', 1, 'open : No such file')):
            for args in ([name], ['good', name], [name, 'good'], ['--dry-run', name]):
                check_run(tests, f'FILE {args}', run(tests, ['-q', *args], cwd=folder), status, err)
        check_run(tests, 'FILE link', run(tests, ['-q', 'link'], cwd=folder), 0, '', [K64] * 2)


def who_may_not_read(tests):
    need_root()
    with disk_folder() as folder:
        os.chmod(sparse(os.path.join(folder, 'secret'), K64), 0o600)
        sparse(os.path.join(folder, 'open'), K64)
        check_run(tests, 'nobody reads what is secret', run(tests, ['-q', 'secret'], cwd=folder, before=be_nobody), 1,
                  'open secret: Permission denied')
        result = run(tests, ['-q', '--cold', '--residency', 'open'], cwd=folder, before=be_nobody)
        lines = check_run(tests, 'nobody reads what is not', result, 0, '', [K64] * 2)
        tests.check('nobody: cold', b'unknown, the kernel does not tell of files of others', lines.own['cold'][0].group(1))
        tests.check('nobody: residency', b'open', lines.own['untold'][0].group(1))
        check_run(tests, 'nobody has no room', run(tests, ['-q', '-n', '1', '-s', '4k', '--dir', folder], before=be_nobody),
                  1, 'Permission denied')
    with disk_folder(0o777) as folder:
        for method in METHODS:
            result = run(tests, ['-q', '-n', '1', '-s', '64k', '-m', method, '--cold', '--residency', '--dir', folder],
                         before=be_nobody)
            lines = check_run(tests, f'nobody, -m {method}', result, 0, '', [K64] * 2)
            if lines:
                tests.check(f'nobody, -m {method}: cold', b'yes, no page was cached', lines.own['cold'][0].group(1))
            tests.check(f'nobody, -m {method}: files', [], os.listdir(folder))


@contextlib.contextmanager
def loop_device(path):
    """A loop device of the test's own, gone with its last user."""
    need_loops()
    control = os.open('/dev/loop-control', os.O_RDWR)
    backing = os.open(path, os.O_RDWR)
    device = -1
    try:
        for _ in range(20):         # another may take it in between
            number = fcntl.ioctl(control, 0x4C82)
            device = os.open(f'/dev/loop{number}', os.O_RDWR)
            try:
                fcntl.ioctl(device, 0x4C0A, struct.pack('=II', backing, 0) + bytes(64 - 8) + bytes(232 + 8))
                break
            except OSError as error:
                os.close(device)
                device = -1
                if error.errno != errno.EBUSY:
                    raise Skip(f'no loop device: {error.strerror}') from None
        if device < 0:
            raise Skip('no loop device is free')
        try:
            yield f'/dev/loop{number}'
        finally:
            fcntl.ioctl(device, 0x4C01)
    except FileNotFoundError as error:
        raise Skip(f'no loop device: {error}') from None
    finally:
        for fd in (control, backing, device):
            if fd >= 0:
                os.close(fd)


def block_devices(tests):
    need_loops()
    with disk_folder() as folder:
        path = written(os.path.join(folder, 'disk'), 2 * MIB)
        with open(path, 'rb') as file:
            before = file.read()
        with loop_device(path) as device:
            for args in ([], ['--direct'], ['-m', 'libaio'], ['-m', 'mmap', '--cold', '--residency'], ['--order', 'reverse']):
                lines = check_run(tests, f'device {args}', run(tests, ['-q', *args, device]), 0, '', [2 * MIB] * 2)
                if lines:
                    tests.check(f'device {args}: data', b'2097152 of 2097152 bytes on block ',
                                lines.own['data'][0].group(1)[:len(b'2097152 of 2097152 bytes on block ')])
            check_run(tests, 'device, its beginning', run(tests, ['-q', '-s', '64k', device]), 0, '', [K64] * 2)
            check_run(tests, 'device, too long', run(tests, ['-q', '-s', '3m', device]), 2, '--size: expected at most the 2097152')
        with open(path, 'rb') as file:
            tests.check('device: data', 'as before', 'changed', file.read() == before)


# cache: --cold and --residency against what the test knows

def pages_cached(text):
    return [(int(match.group(2)), int(match.group(3))) for match in Lines(text).own.get('cached', [])]


def locked_pages_stay(tests):
    """Pages that another process, this one, has locked cannot be pushed out: it is said, in three places."""
    size, locked = 64 * PAGE, 16 * PAGE
    with disk_folder() as folder:
        path, result_at = written(os.path.join(folder, 'f'), size), os.path.join(folder, 'result')
        args = ['-q', '--cold', f'--json={result_at}', path]
        with open(path, 'r+b') as file, mmap.mmap(file.fileno(), size) as mapping:
            libc = ctypes.CDLL(None, use_errno=True)
            first = ctypes.c_char.from_buffer(mapping)
            if libc.mlock(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(locked)):
                raise Skip('mlock: ' + os.strerror(ctypes.get_errno()))
            result = run(tests, args)
            libc.munlock(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(locked))
            del first
        with open(result_at, 'rb') as file:
            document = json.load(file)
        stayed = int(document['metrics']['stayed_pages']['samples'][0])
        tests.check('locked: status', 0, result.status)
        tests.check('locked: pages', '16 at least, not all', stayed, 16 <= stayed < 64)
        tests.check('locked: line', f'no, {stayed} of 64 pages stayed cached'.encode(),
                    Lines(result.out).own['cold'][0].group(1))
        tests.check('locked: warning', 'on stderr', result.err, b'warning: the files were not cold' in result.err)
        tests.check('locked: warning', 'in the document', document['warnings'],
                    any('not cold' in text for text in document['warnings']))
        result = run(tests, args)
        with open(result_at, 'rb') as file:
            document = json.load(file)
        tests.check('not locked any more', (0, [0], b'yes, no page was cached'),
                    (result.status, document['metrics']['stayed_pages']['samples'],
                     Lines(result.out).own['cold'][0].group(1)))
        tests.check('not locked any more: no warning', b'', complaints(result.err))


def what_is_cached_is_counted(tests):
    size, pages = 40 * PAGE + 1, 41
    with disk_folder() as folder:
        path = written(os.path.join(folder, 'f'), size)
        for args, most, least in ((['-m', 'null'], 0, 0), (['--direct'], 0, 0), (['-m', 'libaio'], 0, 0),
                                  ([], pages, pages), (['-m', 'mmap'], pages, pages), (['-m', 'splice'], pages, pages),
                                  (['-m', 'io_uring'], pages, pages), (['-m', 'sendfile'], pages, pages)):
            result = run(tests, ['-q', '--cold', '--residency', *args, path])
            ((cached, of),) = pages_cached(result.out) or ((None, None),)
            tests.check(f'residency {args}', (0, pages), (result.status, of))
            tests.check(f'residency {args}: cached', f'{least} to {most}', cached, cached is not None and least <= cached <= most)
        result = run(tests, ['-q', '--residency', '--then', 'dontneed', path])
        tests.check('residency is looked at before --then', [(pages, pages)], pages_cached(result.out))
        result = run(tests, ['-q', '--residency', '-m', 'null', path])
        tests.check('--then dontneed: gone', [(0, pages)], pages_cached(result.out))
        run(tests, ['-q', path])
        result = run(tests, ['-q', '--residency', '-m', 'null', path])
        tests.check('without --cold: they stay', [(pages, pages)], pages_cached(result.out))
        result = run(tests, ['-q', '--residency', '-m', 'null', '-s', str(2 * PAGE), path])
        tests.check('--size: only those pages', [(2, 2)], pages_cached(result.out))


def uncached_leaves_nothing(tests):
    with disk_folder() as folder:
        path = written(os.path.join(folder, 'f'), 40 * PAGE)
        for method in ('preadv2', 'io_uring'):
            result = run(tests, ['-q', '--cold', '--residency', '--uncached', '-r', '1', '-m', method, '--depth', '1', path])
            if result.status == 77:
                tests.check(f'--uncached -m {method}: 77', 'errno by name', result.err, b'EOPNOTSUPP' in result.err)
                tests.skip(f'--uncached -m {method}', result.err.decode().strip())
                continue
            tests.check(f'--uncached -m {method}', (0, [(0, 40)]), (result.status, pages_cached(result.out)))


# media: scratch filesystems, dealt files, no room

TYPES = [('ext4', '32m', []), ('xfs', '301m', []), ('btrfs', '150m', [])]


def every_method_on_every_filesystem(tests):
    """Every byte, once: --verify counts the blocks and compares them."""
    for kind, size, extra in TYPES:
        try:
            need_mkfs(kind)
        except Skip as reason:
            tests.skip(kind, reason)
            continue
        with disk_folder() as folder:
            for method in MAPPED:
                result = run(tests, ['-q', '-n', '1', '-s', '300001', '-m', method, '--fill', 'written', '--verify', '--cold',
                                     '--passes', '2', '--fs', kind, '--fs-size', size, *extra, '--dir', folder])
                lines = check_run(tests, f'{kind} -m {method}', result, 0, '', [600002] * 2)
                if lines:
                    tests.check(f'{kind} -m {method}: data', f' on {kind} \\(/dev/loop', lines.own['data'][0].group(1),
                                f' on {kind} (/dev/loop'.encode() in lines.own['data'][0].group(1))
            tests.check(f'{kind}: left', [], until(lambda at=folder: not left_in(at), SOON) and [] or left_in(folder))


def in_memory(tests):
    need_loops()
    with disk_folder() as folder:
        for args in ([], ['-m', 'mmap'], ['-m', 'sendfile'], ['-m', 'io_uring'], ['--order', 'random', '--gap', '64k']):
            result = run(tests, ['-q', '-n', '1', '-s', '300001', *args, '--fill', 'written', '--verify', '--fs', 'tmpfs',
                                 '--allow-tmpfs', '--dir', folder])
            check_run(tests, f'tmpfs {args}', result, 0, '', [300001] * 2)
        for args in (['--fs', 'ext4', '--fs-size', '32m', '--fs-on', 'tmpfs'],
                     ['--fs', 'ext4,noatime', '--fs-size', '32m', '--mount-options', 'nodiratime']):
            result = run(tests, ['-q', '-n', '1', '-s', '300001', *args, '--json', '--dir', folder])
            fs = json.loads(result.out)['environment']['filesystems']
            tests.check(f'{args}', (0, 1, 'ext4'), (result.status, len(fs), fs[0]['type']))
            if 'noatime' in args[1]:
                tests.check(f'{args}: options', 'noatime,nodiratime', fs[0]['options'],
                            {'noatime', 'nodiratime'} <= set(fs[0]['options'].split(',')))


def no_room(tests):
    need_mkfs('ext4')
    with disk_folder() as folder:
        for args in (['-s', '64m'], ['-n', '4', '-s', '8m']):
            result = run(tests, ['-q', '--fill', 'written', '--fs', 'ext4', '--fs-size', '16m', *args, '--dir', folder])
            check_run(tests, f'no room {args}', result, 2, '--fill written: .* where .* are free: a smaller --size, or a larger --fs-size')
            result = run(tests, ['-q', '--fill', 'written', '--fs', 'ext4', '--fs-size', '16m', *args, '--force', '--dir', folder])
            check_run(tests, f'no room {args} --force', result, 1, 'No space left on device')
        result = run(tests, ['-q', '-n', '1', '-s', '64m', '--fs', 'ext4', '--fs-size', '16m', '--dir', folder])
        check_run(tests, 'holes take none', result, 0, '', [64 * MIB] * 2)
        tests.check('no room: left', [], until(lambda: not left_in(folder), SOON) and [] or left_in(folder))


def dealt_over_directories(tests):
    """Nameless files cannot be seen by name: /proc/PID/fd says where each lies."""
    with disk_folder() as first, disk_folder() as second:
        with Run(tests, ['-q', '-n', '3', '-r', '1', '-s', '64k', '-T', '60', '--dir', first, '--dir', second]) as running:
            running.walking(3)
            links = [os.readlink(f'/proc/{running.pid}/fd/{fd}') for fd in sorted(os.listdir(f'/proc/{running.pid}/fd'), key=int)]
            places = [1 if link.startswith(first + '/') else 2 for link in links if link.startswith((first + '/', second + '/'))]
            tests.check('--dir twice', [1, 2, 1], places)
            tests.check('--dir twice: names', [], os.listdir(first) + os.listdir(second))
            os.kill(running.pid, signal.SIGTERM)
            lines = check_run(tests, '--dir twice', running.finish()._replace(status=0), 0)
            tests.check('--dir twice: readers', 3, len(lines.copied))


# changes: a file that shrinks, readers that are killed, signals

def kept(tests):
    """--keep names the files in their directories, and says how; nothing else has a name."""
    with tests.folder() as folder:
        dirs = [f'{folder}/{name}' for name in 'ab']
        for at in dirs:
            os.mkdir(at)
        result = run(tests, ['-q', '-n', '3', '-s', '64k', '--fill', 'written', '--dir', dirs[0], '--dir', dirs[1], '--keep'])
        told = re.findall(rb'^readtwice: kept (.*)$', result.err, re.M)
        tests.check('--keep: status', 0, result.status)
        tests.check('--keep: directories', [dirs[0], dirs[1], dirs[0]], [os.path.dirname(os.fsdecode(path)) for path in told])
        tests.check('--keep: files', sorted(map(os.fsdecode, told)), sorted(f'{at}/{name}' for at in dirs for name in os.listdir(at)))
        for path in told:
            tests.check(f'--keep: {path}', 64 << 10, os.stat(path).st_size)


def truncated_while_read(tests):
    size = 1 << 30
    for method in MAPPED:
        for args in ([], ['--order', 'random', '--seed', '1'], ['--direct']):
            if args == ['--direct'] and method in ('mmap', 'splice', 'sendfile', 'libaio'):
                continue
            row = f'truncated, -m {method} {args}'
            with disk_folder() as folder:
                path = sparse(os.path.join(folder, 'a file'), size)
                with Run(tests, ['-q', '-r', '1', '-m', method, *args, '-T', '60', path]) as running:
                    running.walking(1)
                    os.truncate(path, 40960)
                    result = running.finish(2 * SOON)
                    check_run(tests, row, result, 1, r'a file.*(file ended early, at offset \d+|is shorter than)')
                    offsets = [int(n) for n in re.findall(rb'offset (\d+)', result.err)]
                    tests.check(f'{row}: offset', 'from the new end on', offsets,
                                len(offsets) == 1 and 40960 <= offsets[0] < size)
                    tests.check(f'{row}: processes left', [], left_of(running.pid))


def signalled(tests, row, args, count, sig, folder):
    with Run(tests, ['-q', '-T', '60', *args, '--dir', folder]) as running:
        running.walking(count)
        os.kill(running.pid, sig)
        result = running.finish(2 * SOON)
        tests.check(f'{row}: status', 128 + sig, result.status)
        until(lambda: not left_of(running.pid), SOON)
        tests.check(f'{row}: processes left', [], left_of(running.pid))
    return result


def told_to_stop(tests):
    for sig in (signal.SIGINT, signal.SIGTERM):
        for args in ([], ['-m', 'mmap'], ['-m', 'io_uring'], ['-m', 'libaio'], ['--gap', '1m'], ['--samples', '3'],
                     ['--then', 'unlink', '--residency']):
            with disk_folder() as folder:
                row = f'{sig.name} {args}'
                result = signalled(tests, row, ['-n', '1', '-r', '2', '-s', '64m', *args], 2, sig, folder)
                lines = Lines(result.out)
                tests.check(f'{row}: readers', 2, len(lines.copied))
                tests.check(f'{row}: bytes', 'more than 0', lines.copied, all(size for size, _ in lines.copied))
                tests.check(f'{row}: no summary of runs', [], lines.own.get('five', []))
                tests.check(f'{row}: other lines', [], lines.bad)
                tests.check(f'{row}: left', [], left_in(folder))


def told_to_stop_while_it_waits(tests):
    """The second reader waits for a time, or for the first, which waits for nobody."""
    with disk_folder() as folder:
        with Run(tests, ['-q', '-n', '1', '-s', '64k', '-T', '60', '--gap', '50h', '--dir', folder]) as running:
            pids = running.workers(2)
            until(lambda: len(children(running.pid)) == 2)
            running.walking(1)
            until(lambda: os.path.exists(f'/proc/{pids[0]}') and cpu_used(pids[0]) > 3)
            os.kill(running.pid, signal.SIGINT)
            result = running.finish(2 * SOON)
            tests.check('SIGINT while one waits', 130, result.status)
            sizes = [size for size, _ in Lines(result.out).copied]
            tests.check('SIGINT while one waits: bytes', 'of the first', sizes, len(sizes) == 2 and sizes[0] > 0 == sizes[1])


def cpu_used(pid):
    with open(f'/proc/{pid}/stat', 'rb') as stat:
        fields = stat.read().rpartition(b')')[2].split()
    return int(fields[11]) + int(fields[12])


def a_reader_is_killed(tests):
    for sig in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        for victim in (0, 1):
            for args in ([], ['--gap', '1m'], ['-m', 'libaio']):
                with disk_folder() as folder:
                    row = f'{sig.name} of reader {victim} {args}'
                    with Run(tests, ['-q', '-n', '1', '-s', '64m', '-T', '60', *args, '--dir', folder]) as running:
                        pid = running.walking(2)[victim]
                        os.kill(pid, sig)
                        check_run(tests, row, running.finish(2 * SOON), 1, rf'worker {victim}\b.*{pid}.*{sig.name}')
                        tests.check(f'{row}: processes left', [], left_of(running.pid))
                    tests.check(f'{row}: left', [], left_in(folder))


def killed_as_a_whole(tests):
    for args in ([], ['--fs', 'ext4', '--fs-size', '100m'], ['--fs', 'xfs', '--fs-size', '301m', '--fill', 'written']):
        row = f'SIGKILL {args}'
        try:
            if args:
                need_mkfs(args[1])
        except Skip as reason:
            tests.skip(row, reason)
            continue
        with disk_folder() as folder:
            with Run(tests, ['-q', '-n', '1', '-s', '32m', '-T', '60', *args, '--dir', folder]) as running:
                running.walking(2)
                tests.check(f'{row}: a loop device', 1 if args else 0,
                            len([name for name in left_in(folder) if name.startswith('loop')]))
                os.kill(running.pid, signal.SIGKILL)
                running.process.wait()
                until(lambda: not left_of(running.pid), SOON)
                tests.check(f'{row}: processes left', [], left_of(running.pid))
            until(lambda: not left_in(folder), SOON)
            tests.check(f'{row}: left', [], left_in(folder))


# limits: what the kernel, the sandbox and the caller allow

def refuse_call(number, error):
    """A function for the child: that system call fails with ERROR from here on."""
    # Load the number; if it is this one go on, else skip a line; fail; allow (seccomp(2), linux/filter.h).
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7fff0000)]
    lines = ctypes.create_string_buffer(b''.join(struct.pack('=HBBI', *line) for line in code))
    libc = ctypes.CDLL(None, use_errno=True)

    def before():
        program = ctypes.create_string_buffer(struct.pack('@HP', len(code), ctypes.addressof(lines)))
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
            os._exit(99)
    return before


IO_URING_SETUP = 425    # on every machine


def io_uring_is_refused(tests):
    with disk_folder() as folder:
        args = ['-q', '-n', '2', '-r', '3', '-s', '64k', '-m', 'io_uring', '--dir', folder]
        for error, err in ((errno.EPERM, r'io_uring_setup: EPERM: kernel.io_uring_disabled is \d.*'),
                           (errno.ENOSYS, 'io_uring_setup: ENOSYS: .*seccomp')):
            result = run(tests, args, before=refuse_call(IO_URING_SETUP, error))
            if result.status == 99:
                raise Skip('no seccomp filters')
            check_run(tests, f'io_uring, {errno.errorcode[error]}', result, 77, err)
            result = run(tests, [*args, '-m', 'read'], before=refuse_call(IO_URING_SETUP, error))
            check_run(tests, f'read beside {errno.errorcode[error]}', result, 0, '', [K64] * 6)
            result = run(tests, [*args, '--json'], before=refuse_call(IO_URING_SETUP, error))
            document = json.loads(result.out)
            tests.check(f'io_uring, {errno.errorcode[error]}: JSON', (77, 'skipped', False),
                        (result.status, document['outcome'], 'throughput_bytes_per_s' in document['metrics']))


def memlock_is_small(tests):
    need_root()
    with open('/proc/sys/kernel/io_uring_disabled', encoding='ascii') as disabled:
        if disabled.read().strip() != '0':
            raise Skip('kernel.io_uring_disabled')
    little = 64 * 1024

    def before():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (little, little))
        be_nobody()
    with disk_folder(0o777) as folder:
        args = ['-q', '-n', '1', '-r', '1', '-s', '64k', '-m', 'io_uring', '--dir', folder]
        result = run(tests, [*args, '--depth', '1024'], before=before)
        check_run(tests, 'memlock', result, 77, r'ENOMEM: memlock limit is 64k, needed \d+[km]?: .*ulimit -l')
        check_run(tests, 'memlock, few', run(tests, [*args, '--depth', '2'], before=before), 0, '', [K64])
        check_run(tests, 'memlock, root', run(tests, [*args, '--depth', '1024'], before=lambda: resource.setrlimit(
            resource.RLIMIT_MEMLOCK, (little, little))), 0, '', [K64])


def user_limits(tests):
    with disk_folder() as folder:
        small = ['-q', '-n', '1', '-s', '1m', '--dir', folder]
        check_run(tests, 'RLIMIT_FSIZE', run(tests, small, before=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (K64, K64))), 1, 'File too large')
        result = run(tests, ['-q', '-n', '20', '-r', '1', '-s', '4k', '--dir', folder], before=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (8, 4096)))
        check_run(tests, 'RLIMIT_NOFILE, soft', result, 0, '', [4096] * 20)
        result = run(tests, ['-q', '-n', '200', '-r', '1', '-s', '4k', '--dir', folder], before=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (100, 100)))
        check_run(tests, 'RLIMIT_NOFILE, hard', result, 1, 'Too many open files')
        tests.check('limits: files', [], os.listdir(folder))


def nobody_can_read_it(tests):
    """Results that are lost: exit 1, one line."""
    with disk_folder() as folder:
        small = ['-q', '-n', '1', '-s', '64k', '--dir', folder]
        for args in (small, [*small, '--json'], [*small, '--samples', '2', '--then', 'unlink'], ['--help'], ['--version'],
                     ['--method=list'], ['--dry-run']):
            with open('/dev/full', 'wb') as full:
                check_run(tests, f'/dev/full {args}', run(tests, args, stdout=full), 1, 'No space left')
            result = run(tests, args, before=lambda: os.close(1))
            check_run(tests, f'closed {args}', result, 1, 'output')
            reader, writer = os.pipe()
            os.close(reader)
            with open(writer, 'wb') as pipe:
                check_run(tests, f'closed pipe {args}', run(tests, args, stdout=pipe), 1, 'Broken pipe')
        result = run(tests, [*small, f'--json={folder}/no/result'])
        check_run(tests, 'no place for --json', result, 1, 'no/result: No such file')
        tests.check('output: files', [], os.listdir(folder))


sections = {
    'operands': [files_stay_as_they_are, odd_names, what_is_no_file, who_may_not_read, block_devices],
    'cache': [locked_pages_stay, what_is_cached_is_counted, uncached_leaves_nothing],
    'media': [every_method_on_every_filesystem, in_memory, no_room, dealt_over_directories, kept],
    'truncated': [truncated_while_read],
    'stops': [told_to_stop, told_to_stop_while_it_waits, a_reader_is_killed, killed_as_a_whole],
    'limits': [io_uring_is_refused, memlock_is_small, user_limits, nobody_can_read_it],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
