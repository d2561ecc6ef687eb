# SPDX-License-Identifier: GPL-2.0-or-later
"""copyfile_media - each method of copyfile on each filesystem: exact copies, what is refused, what is full, what is large.

Usage: copyfile_media.py COPYFILE [SECTION]...
"""
import contextlib
import hashlib
import os
import re
import sys

sys.dont_write_bytecode = True
from harness import MIB, Skip, Tests, one_line, run  # noqa: E402
from copying import COPIERS, METHODS, command, complaints, copied, mounted  # noqa: E402
from reading import disk_folder, need_mkfs, sparse  # noqa: E402

K = 1024
BLOCK = 64 * K
GIB = 1 << 30

# What a method is refused with, from one filesystem to another; else it copies. A filesystem of the same name
# is the same one, of another name or with -2 another.
REFUSED = {
    ('reflink', 'ext4', 'ext4'): 'EOPNOTSUPP',
    ('reflink', 'xfs-plain', 'xfs-plain'): 'EOPNOTSUPP',
    ('reflink', 'tmpfs', 'tmpfs'): 'EOPNOTSUPP',
    ('reflink', 'ext4', 'tmpfs'): 'EXDEV',
    ('reflink', 'tmpfs', 'xfs'): 'EXDEV',
    ('reflink', 'xfs', 'btrfs'): 'EXDEV',
    ('reflink', 'btrfs', 'ext4'): 'EXDEV',
    ('reflink', 'xfs', 'xfs-2'): 'EXDEV',
    # Since Linux 5.19 only within a filesystem, unless it has the call itself, as network filesystems do.
    ('copy_file_range', 'xfs', 'xfs-2'): 'EXDEV',
    ('copy_file_range', 'ext4', 'tmpfs'): 'EXDEV',
    ('copy_file_range', 'tmpfs', 'xfs'): 'EXDEV',
    ('copy_file_range', 'xfs', 'btrfs'): 'EXDEV',
    ('copy_file_range', 'btrfs', 'ext4'): 'EXDEV',
}


# Where copies go wrong.
SIZES = [0, 1, 4095, 4097, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 777]
# What is said where copy_file_range(2) shares extents, which it does on these.
CLONED = re.compile(rb'copyfile: warning: copy_file_range shared extents .*\n')
# Where O_DIRECT, which libaio always has, changes nothing.
BUFFERS = {
    'btrfs': re.compile(rb'copyfile: warning: \S+ is on btrfs, which buffers O_DIRECT writes of what has checksums .*\n'),
    'tmpfs': re.compile(rb'copyfile: warning: \S+ is in memory \(tmpfs\): O_DIRECT changes nothing there\n'),
}
CLONE = [('copy_file_range', 'xfs', 'xfs'), ('copy_file_range', 'btrfs', 'btrfs')]


def make_sources(folder, sizes):
    """Files with data that differ everywhere, and one with holes."""
    made = []
    for size in sizes:
        path = os.path.join(folder, f'source-{size}')
        with open(path, 'wb') as file:
            file.write(os.urandom(size))
        made.append(path)
    holes = sparse(os.path.join(folder, 'source-holes'), 40 * BLOCK + 5)
    with open(holes, 'r+b') as file:
        for at in (BLOCK, 2 * BLOCK + 4096, 20 * BLOCK - 100, 30 * BLOCK):
            os.pwrite(file.fileno(), os.urandom(5000), at)
    return [*made, holes]


def digest(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def beside_expected(method, to_kind, err):
    """What is on stderr beside the warning of a direct write that is none; a text if that is not there, once."""
    if method != 'libaio' or to_kind not in BUFFERS:
        return err
    said, times = BUFFERS[to_kind].subn(b'', err)
    return said if times == 1 else f'{times} warnings of O_DIRECT'.encode()


def check_exact(tests, row, method, to_kind, source, folder, *more, cloned=False):
    """The target is what the source is, and a worker's line has its bytes. CLONED: it may say so."""
    result = run(tests, ['-m', method, *more, '--from', source, '--to', folder, '--pattern', 'seq', '--block', str(BLOCK), '--keep', '--verify',
                         '--allow-tmpfs', '-q'])
    kept = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith('copyfile-')]
    row = f'{row}: {os.path.basename(source)}'
    said = beside_expected(method, to_kind, complaints(result.err))
    said = CLONED.sub(b'', said) if cloned else said
    if tests.check(f'{row}: status', (0, b''), (result.status, said)) and \
            tests.check(f'{row}: targets', 1, len(kept)):
        tests.check(f'{row}: bytes', [os.path.getsize(source)], copied(result.out))
        tests.check(f'{row}: target', digest(source), digest(kept[0]))
    for path in kept:
        os.unlink(path)


def check_refused(tests, row, args, source, folder, error):
    result = run(tests, [*args, '--from', source, '--to', folder, '--pattern', 'seq', '--allow-tmpfs', '-q'])
    line = one_line(result.err, 'copyfile')
    tests.check(f'{row}: refused', (77, b''), (result.status, result.out))
    tests.check(f'{row}: said', error, result.err, line is not None and error in line and source in line)
    result = run(tests, [*args, '--fallback', '--from', source, '--to', folder, '--pattern', 'seq', '--allow-tmpfs', '-q', '--verify'])
    tests.check(f'{row}: with --fallback', (0, [os.path.getsize(source)]), (result.status, copied(result.out)))
    tests.check(f'{row}: falls back', True, b'falling back to ' in result.err)


def check_pair(tests, from_kind, to_kind, from_folder, to_folder, sizes):
    sources = make_sources(from_folder, sizes)
    for method in METHODS[:-1]:
        cloned = (method, from_kind, to_kind) in CLONE
        row = f'{method} from {from_kind} to {to_kind}'
        error = REFUSED.get((method, from_kind, to_kind))
        if error:
            check_refused(tests, row, ['-m', method], sources[-1], to_folder, error)
            continue
        for source in sources:
            check_exact(tests, row, method, to_kind, source, to_folder, cloned=cloned)
        # Blocks from anywhere to anywhere, written and verified one by one.
        result = run(tests, ['-m', method, '-s', '1m', '--block', '16k', '--ops', '30', '--verify', '--dir', from_folder,
                             '--to', to_folder, '--allow-tmpfs', '-q', '-n', '2'])
        said = CLONED.sub(b'', result.err) if cloned else beside_expected(method, to_kind, result.err)
        tests.check(f'{row}: random: status', (0, b''), (result.status, said))
        tests.check(f'{row}: random: bytes', [480 * K] * 2, copied(result.out))
    # Nothing is on the grid, so nothing is shared: it is copied exactly all the same.
    for method in ('copy_file_range', 'readwrite'):
        if (method, from_kind, to_kind) not in REFUSED:
            for source in [path for path in sources if os.path.getsize(path) > 1]:
                check_exact(tests, f'{method} --no-clone from {from_kind} to {to_kind}', method, to_kind, source, to_folder,
                            '--no-clone')


def on_one(kind):
    def on_one_filesystem(tests):
        with mounted(tests, kind) as folder:
            check_pair(tests, kind, kind, folder, folder, SIZES)
    return on_one_filesystem


def across(tests):
    with contextlib.ExitStack() as stack:
        places = {}
        for kind in ('ext4', 'tmpfs', 'xfs', 'btrfs', 'xfs-2'):
            try:
                places[kind] = stack.enter_context(mounted(tests, kind.partition('-')[0]))
            except Skip as reason:
                tests.skip(f'across: {kind}', reason)
        for one, two in (('ext4', 'tmpfs'), ('tmpfs', 'xfs'), ('xfs', 'btrfs'), ('btrfs', 'ext4'), ('xfs', 'xfs-2')):
            if one in places and two in places:
                check_pair(tests, one, two, places[one], places[two], [0, BLOCK + 1, 3 * BLOCK + 777])
                for path in (places[one], places[two]):
                    command('find', path, '-type', 'f', '-delete')


def off_the_grid(tests):
    """Blocks that are none of the filesystem's own are refused, not copied by other means."""
    for kind in ('xfs', 'btrfs'):
        with mounted(tests, kind) as folder:
            for args in ('--block 1000 -s 100000', '--block 4k --align 512 -s 64k --seed 1', '--block 6k -s 60k --pattern seq'):
                result = run(tests, ['-m', 'reflink', *args.split(), '--ops', '8', '--dir', folder, '-q'])
                line = one_line(result.err, 'copyfile')
                tests.check(f'{kind} reflink {args}: status', (77, b''), (result.status, result.out))
                tests.check(f'{kind} reflink {args}: said', 'EINVAL', result.err, line is not None and 'EINVAL' in line)


def full(tests):
    """A filesystem that fills up ends the run: no result line, and the reason."""
    need_mkfs('ext4')
    for kind, method in [(kind, method) for kind in ('ext4', 'tmpfs') for method in COPIERS]:
        for args in (['--pattern', 'seq', '--source', 'hole'], ['--source', 'hole', '--refill', 'no', '--flush', 'none']):
            row = f'{method} on a full {kind} {args[0]} {args[1]}'
            with tests.folder() as folder:
                result = run(tests, ['-m', method, '--fs', kind, '--fs-size', '16m', '--dir', folder, '--allow-tmpfs',
                                     '-s', '64m', *args, '-T', '60', '--force', '-q'])
                line = one_line(result.err, 'copyfile') or result.err.decode()
                tests.check(f'{row}: status', (1, b''), (result.status, result.out))
                tests.check(f'{row}: said', 'no space', line, 'no space' in line.lower())
                tests.check(f'{row}: where', folder, line, folder in line)
    with tests.folder() as folder:
        result = run(tests, ['--fs', 'ext4', '--fs-size', '16m', '--dir', folder, '-s', '64m', '--force', '-q'])
        line = one_line(result.err, 'copyfile')
        tests.check('a source that does not fit', (1, b''), (result.status, result.out))
        tests.check('a source that does not fit: said', 'No space', line, line is not None and 'No space' in line)
        result = run(tests, ['--fs', 'ext4', '--fs-size', '16m', '--dir', folder, '-s', '64m', '-q'])
        tests.check('no room', (2, b''), (result.status, result.out))


def data_of(path):
    """{offset: data} of the pages of a sparse file that are not all zero, and its size."""
    found = {}
    with open(path, 'rb') as file:
        size = os.fstat(file.fileno()).st_size
        at = 0
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            at -= at % MIB
            data = os.pread(file.fileno(), MIB, at)
            if data.strip(b'\0'):
                pages = ((at + i, data[i:i + 4096]) for i in range(0, len(data), 4096))
                found.update((place, page) for place, page in pages if page.strip(b'\0'))
            at += len(data)
        return size, found


FAR = [0, 2147479552 - 5000, 2147479552 + 100 * K, (1 << 31) - 3, (1 << 32) - 7, (1 << 32) + 12345, 5 * GIB - 5000]


def beyond_four_gib(tests):
    """Blocks of a sparse file over 4 GiB, at random; the offsets need 33 bits."""
    with disk_folder() as folder:
        for method in COPIERS:
            result = run(tests, ['-m', method, '-s', '5g', '--source', 'hole', '--ops', '20', '--verify', '--dir', folder, '-q'],
                         seconds=60)
            tests.check(f'{method}: 5g at random', (0, b'', [20 * 128 * K]), (result.status, result.err, copied(result.out)))


def in_one_call(tests):
    """One block of 5 GiB: the kernel takes 2147479552 bytes in a call at most."""
    with mounted(tests, 'xfs', 12 * GIB) as folder:
        source = sparse(os.path.join(folder, 'source'), 5 * GIB)
        with open(source, 'r+b') as file:
            for at in FAR:
                os.pwrite(file.fileno(), os.urandom(5000), at)
        for method in ('copy_file_range', 'reflink'):
            for block in ('5g', '3g', '1g'):
                row = f'{method} --block {block}'
                result = run(tests, ['-m', method, '--block', block, '--pattern', 'seq', '--from', source, '--to', folder,
                                     '--keep', '-q'], seconds=60)
                said = CLONED.sub(b'', complaints(result.err))
                tests.check(f'{row}: status', (0, b''), (result.status, said))
                tests.check(f'{row}: bytes', [5 * GIB], copied(result.out))
                target, = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith('copyfile-')]
                tests.check(f'{row}: target', True, data_of(target) == data_of(source))
                os.unlink(target)


def really_copied(tests):
    """5 GiB that no filesystem can share: in memory."""
    with mounted(tests, 'tmpfs', 12 * GIB) as folder:
        source = sparse(os.path.join(folder, 'source'), 5 * GIB)
        with open(source, 'r+b') as file:
            for at in FAR:
                os.pwrite(file.fileno(), os.urandom(5000), at)
        result = run(tests, ['--block', '5g', '--pattern', 'seq', '--from', source, '--to', folder, '--allow-tmpfs', '--keep', '-q'],
                     seconds=600)
        tests.check('5 GiB in memory: status', (0, b''), (result.status, complaints(result.err)))
        tests.check('5 GiB in memory: bytes', [5 * GIB], copied(result.out))
        target, = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith('copyfile-')]
        tests.check('5 GiB in memory: target', True, data_of(target) == data_of(source))


sections = {
    'ext4': [on_one('ext4')],
    'xfs': [on_one('xfs')],
    'xfs-plain': [on_one('xfs-plain')],
    'btrfs': [on_one('btrfs')],
    'tmpfs': [on_one('tmpfs')],
    'across': [across, off_the_grid],
    'full': [full],
    'large': [beyond_four_gib, in_one_call],
    'huge': [really_copied],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
