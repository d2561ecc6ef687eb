# SPDX-License-Identifier: GPL-2.0-or-later
"""copying - what the tests of copyfile share: its methods, what it prints, filesystems to copy on."""
import contextlib
import ctypes
import os
import re
import shutil
import subprocess

from harness import MIB, Skip
from reading import Lines, need_mkfs

METHODS = ['copy_file_range', 'readwrite', 'readvwritev', 'preadv2', 'mmap', 'mmap_write', 'sendfile', 'splice', 'io_uring',
           'libaio', 'reflink', 'null']
# Those that bring data everywhere.
COPIERS = [method for method in METHODS if method not in ('reflink', 'null')]

# What is on stderr of a run that went well: the plan, and what is said of a small and short one.
USUAL = re.compile(rb'copyfile: (?:\d+ workers?, .*|warning: a run took less .*|warning: the slowest task has less .*|'
                   rb'warning: .* is on overlayfs: .*|kept .*)\n')


def complaints(err):
    """What is on stderr besides what is always said."""
    return USUAL.sub(b'', err)


def copied(out):
    """The bytes of each worker's line."""
    return [size for size, _ in Lines(out).copied]


CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
libc = ctypes.CDLL(None, use_errno=True)


def own_mounts():
    """What this process mounts from here on, nobody else sees, and nothing is left of it."""
    if libc.unshare(CLONE_NEWNS) or libc.mount(b'none', b'/', None, MS_REC | MS_PRIVATE, None):
        raise Skip(f'unshare(CLONE_NEWNS): {os.strerror(ctypes.get_errno())}')


def command(*words):
    path = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'
    done = subprocess.run(words, capture_output=True, env=dict(os.environ, PATH=path), check=False)
    if done.returncode:
        raise Skip(f'{" ".join(words)}: {done.stderr.decode(errors="replace").strip()}')


# Name of a filesystem here: mkfs, size of its image.
KINDS = {
    'ext4': (['mkfs.ext4', '-q'], 128 * MIB),
    'xfs': (['mkfs.xfs', '-q', '-m', 'reflink=1'], 512 * MIB),
    'xfs-plain': (['mkfs.xfs', '-q', '-m', 'reflink=0'], 512 * MIB),
    'btrfs': (['mkfs.btrfs', '-q'], 512 * MIB),
}


@contextlib.contextmanager
def mounted(tests, kind, size=None):
    """A new filesystem of KIND, in a mount namespace of this process; its directory."""
    with tests.folder() as folder:
        place = os.path.join(folder, 'on')
        os.mkdir(place)
        if kind == 'tmpfs':
            own_mounts()
            command('mount', '-t', 'tmpfs', '-o', f'size={size or 256 * MIB}', 'tmpfs', place)
        else:
            mkfs, usual = KINDS[kind]
            need_mkfs(kind.partition('-')[0])
            own_mounts()
            image = os.path.join(folder, 'image')
            with open(image, 'wb') as file:
                file.truncate(size or usual)
            command(*mkfs, image)
            command('mount', '-o', 'loop', image, place)
        try:
            yield place
        finally:
            subprocess.run(['umount', '-l', place], check=False)


def has_strace():
    return any(os.access(os.path.join(d, 'strace'), os.X_OK) for d in os.get_exec_path()) and \
        not subprocess.run(['strace', '-f', '-o', '/dev/null', 'true'], capture_output=True, check=False).returncode


def need_strace():
    if not shutil.which('strace') or not has_strace():
        raise Skip('no strace that works')


def injecting(call, what, when=''):
    """What to put before a command, so that WHAT happens in CALL."""
    return ['strace', '-f', '-q', '-o', '/dev/null', '-e', f'trace={call}', '-e',
            f'inject={call}:{what}' + (f':when={when}' if when else '')]


def failing(call, error, when=''):
    """The same: CALL fails with ERROR."""
    return injecting(call, f'error={error}', when)
