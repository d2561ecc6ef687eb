# SPDX-License-Identifier: GPL-2.0-or-later
"""copyfile_output - the lines, the operations table and the JSON of copyfile, and that they agree; what is cloned.

Usage: copyfile_output.py COPYFILE [SECTION]...
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
import ops_table  # noqa: E402
from harness import Tests, need_root, run  # noqa: E402

SMALL = ['-q', '-s', '2m', '--block', '64k']
BLOCK = 65536
DD = re.compile(r'(\d+) bytes \(([\d.]+) ([kMGTPE])B, ([\d.]+) ([KMGTPE])iB\) copied, (\d+\.\d+) s, ([\d.]+) ([kMGTPE])B/s')
TIME = re.compile(r'time: copying ([\d.]+) s, refilling ([\d.]+) s, flushing ([\d.]+) s')
ALONE = re.compile(r'copying alone: (\d+) bytes in (\d+) operations, ([\d.]+) ([kMGTPE])B/s each worker')
LATENCY = re.compile(r'(copy|flush) latency: min [\d.]+ us, median [\d.]+ us, 90 % [\d.]+ us, 99 % [\d.]+ us, '
                     r'99.9 % [\d.]+ us, max [\d.]+ us')
CLONED = re.compile(r'cloned: (\d+) of (\d+) bytes of the targets share extents with their sources(: no rate of copying)?')
METHOD = re.compile(r'method: (\w+)(?: in place of (\w+))?')
# What parsers of other people's look for, anywhere in a line.
FOREIGN = re.compile(r'bytes / |usecs|\bcopied\b|truncated in|faulted in|migrated|remapped|\./case-|\(secs\)|'
                     r'run time:|metrc|avg|stddev')


def power(letter):
    return 1000 ** ('kMGTPE'.index(letter) + 1)


def check_remarks(tests, row, lines):
    for line in lines:
        tests.check(f'{row}: nobody else reads it', 'no', line, not FOREIGN.search(line))


def lines_add_up(tests):
    for args, workers, ops in (([], 1, 40), (['-n', '3'], 3, 20), (['-t', '2', '--refill', 'no'], 2, 25),
                               (['--flush', 'none'], 1, 30), (['--pattern', 'seq'], 1, 32),
                               (['--pattern', 'seq', '-m', 'io_uring', '--flush', 'fsync'], 1, 32),
                               (['--flush-at', 'end', '-m', 'readwrite', '--verify'], 1, 7)):
        row = ' '.join(args)
        with tests.folder() as folder:
            limit = [] if '--pattern' in args else ['--ops', str(ops)]
            result = run(tests, [*SMALL, *args, *limit, '--dir', folder, '--json=result'], cwd=folder)
            tests.check(f'{row}: status', 0, result.status)
            with open(os.path.join(folder, 'result'), encoding='utf-8') as file:
                metrics = json.load(file)['metrics']
        lines = result.out.decode().splitlines()
        dd = [DD.fullmatch(line) for line in lines[:workers]]
        tests.check(f'{row}: a line for each worker', [ops * BLOCK] * workers, [int(m[1]) for m in dd if m])
        for match in dd:
            rate = int(match[1]) / float(match[6])
            tests.check(f'{row}: rate', rate, match[0], abs(float(match[7]) * power(match[8]) - rate) < 0.01 * rate + 51)
        check_remarks(tests, row, lines[workers:])
        found = {name: next((m for m in map(form.fullmatch, lines) if m), None) for name, form in
                 (('time', TIME), ('alone', ALONE), ('method', METHOD), ('cloned', CLONED))}
        tests.check(f'{row}: what is said', [], [name for name, match in found.items() if not match])
        tests.check(f'{row}: sums', (ops * workers * BLOCK, ops * workers), (int(found['alone'][1]), int(found['alone'][2])))
        tests.check(f'{row}: operations', [[ops] * workers], metrics['copied_count']['per_worker'])
        rate, window = metrics['ops_per_s'], metrics['window_ns']['samples'][0]
        tests.check(f'{row}: operations a second', ops * workers * 1e9 / window, rate['samples'],
                    abs(rate['samples'][0] * window / 1e9 - ops * workers) < 1e-6 * ops * workers)
        tests.check(f'{row}: of each worker', 'operations over the seconds of its line', rate['per_worker'],
                    all(abs(each * float(m[6]) - ops) < 0.01 * ops for each, m in zip(rate['per_worker'][0], dd)))
        tests.check(f'{row}: resident', max(metrics['max_rss_bytes']['per_worker'][0]), metrics['max_rss_bytes']['samples'][0])
        for i, key in ((1, 'copy_ns'), (2, 'refill_ns'), (3, 'flush_ns')):
            ns = metrics.get(key, {'samples': [0]})['samples'][0]
            tests.check(f'{row}: {key}', ns / 1e9, found['time'][i], abs(float(found['time'][i]) - ns / 1e9) < 2e-6)
        spent = sum(float(found['time'][i]) for i in (1, 2, 3))
        whole = sum(float(m[6]) for m in dd)
        tests.check(f'{row}: no part is longer than all', 'at most', (spent, whole), spent <= whole + 1e-5 * workers)
        refills = ops * workers if '--pattern' not in args and 'no' not in args else None
        tests.check(f'{row}: refilled', refills and refills * BLOCK, metrics.get('refilled_bytes', {'samples': [None]})['samples'][0])
        kinds = [m[1] for m in map(LATENCY.fullmatch, lines) if m]
        flushes = metrics.get('flush_count', {'samples': [0]})['samples'][0]
        tests.check(f'{row}: latencies', ['copy'] + ['flush'] * bool(flushes), kinds)
        want = {'--flush none': 0, '--pattern seq': 0}.get(row, workers if 'end' in row or '--pattern' in row else ops * workers)
        tests.check(f'{row}: flushes', want, flushes)
        if '--verify' in args:
            tests.check(f'{row}: verified', [ops * BLOCK], metrics['verified_bytes']['samples'])


def table_is_read(tests):
    tests.check('the reader of tables', None, ops_table.self_test())
    for args, workers in ((['--ops', '50'], 1), (['--ops', '30', '-n', '3'], 3), (['--pattern', 'seq', '-m', 'null'], 1),
                          (['-T', '1us', '-m', 'null', '--refill', 'no', '--flush', 'none'], 1)):
        row = f'--metrics {" ".join(args)}'
        with tests.folder() as folder:
            result = run(tests, [*SMALL, *args, '--metrics', '--dir', folder, '--json=result'], cwd=folder)
            with open(os.path.join(folder, 'result'), encoding='utf-8') as file:
                metrics = json.load(file)['metrics']
        text = result.out.decode()
        lines = text.splitlines()
        pid = re.match(r'stress-ng: metrc: \[(\d+)\]', text)
        tests.check(f'{row}: status and pid', (0, True), (result.status, bool(pid)))
        tests.check(f'{row}: head', [line.format(pid=pid[1]) for line in ops_table.HEAD], lines[:2])
        parsed = ops_table.parse(text)
        if not tests.check(f'{row}: parsed', 'results', parsed, not isinstance(parsed, str) and len(parsed[0]) == 1):
            continue
        (found,), extras = parsed
        ops = sum(metrics['copied_count']['per_worker'][0])
        tests.check(f'{row}: name and operations', ('copy-file', ops), (found.name, found.ops))
        cpu = found.user + found.system
        user, system = (metrics[key]['samples'][0] / 1e9 for key in ('user_ns', 'system_ns'))
        tests.check(f'{row}: CPU', (user, system), (found.user, found.system), abs(user - found.user) < 0.006 and
                    abs(system - found.system) < 0.006)
        if found.real >= 0.05:
            tests.check(f'{row}: a real second', ops / found.real, found.per_real,
                        abs(ops / found.real - found.per_real) < 0.15 * found.per_real)
        if cpu >= 0.05:
            tests.check(f'{row}: a CPU second', ops / cpu, found.per_cpu, abs(ops / cpu - found.per_cpu) < 0.15 * found.per_cpu)
        tests.check(f'{row}: memory', 'a few MiB', found.rss, 500 < found.rss < 100000)
        tests.check(f'{row}: memory in JSON', found.rss * 1024, metrics['max_rss_bytes']['samples'][0])
        copied = metrics['total_bytes']['samples'][0]
        if copied:
            tests.check(f'{row}: extra', [('copy-file', 'MB per sec copy rate', 'harmonic mean', workers)],
                        [(e.name, e.unit, e.mean, e.instances) for e in extras])
            shares = [(b, ns) for b, ns in zip(metrics['copied_count']['per_worker'][0], metrics['copy_ns']['per_worker'][0])]
            rates = [b * BLOCK / 2**20 / (ns / 1e9) for b, ns in shares]
            mean = len(rates) / sum(1 / rate for rate in rates)
            tests.check(f'{row}: copy rate', mean, extras[0].value, abs(mean - extras[0].value) < 0.001 * mean + 0.01)
        end = next(i for i, line in enumerate(lines) if 'run time:' in line)
        check_remarks(tests, row, lines[end + 1:])
        tests.check(f'{row}: no dd form', None, DD.search(text))
    many = run(tests, [*SMALL, '--ops', '10', '--metrics', '--samples', '2', '--dir', '/dev/shm', '--allow-tmpfs'])
    tests.check('--metrics --samples 2', (0, 2, 1), (many.status, many.out.count(b'(secs)    (secs)    (secs)'), many.out.count(b'Count: 2\n')))


# Filesystem, mkfs options, method, pattern, other options: what of the target is shared: all, some, none.
SHARED = [
    ('xfs', '', 'reflink', 'seq', '', 'all'), ('btrfs', '', 'reflink', 'seq', '', 'all'),
    ('xfs', '', 'copy_file_range', 'seq', '', 'all'), ('btrfs', '', 'copy_file_range', 'seq', '', 'all'),
    ('xfs', '', 'copy_file_range', 'random', '', 'some'), ('btrfs', '', 'copy_file_range', 'random', '', 'some'),
    ('xfs', '', 'copy_file_range', 'seq', '--no-clone', 'none'), ('btrfs', '', 'copy_file_range', 'seq', '--no-clone', 'none'),
    ('xfs', '', 'copy_file_range', 'random', '--no-clone', 'none'),
    ('btrfs', '', 'copy_file_range', 'random', '--no-clone', 'none'),
    ('xfs', '-m reflink=0', 'copy_file_range', 'seq', '', 'none'), ('ext4', '', 'copy_file_range', 'random', '', 'none'),
    ('xfs', '', 'readwrite', 'seq', '', 'none'), ('xfs', '', 'sendfile', 'seq', '', 'none'),
    ('btrfs', '', 'splice', 'seq', '', 'none'), ('btrfs', '', 'mmap', 'seq', '', 'none'),
    ('tmpfs', '', 'copy_file_range', 'seq', '', 'none'), ('tmpfs', '', 'readwrite', 'random', '', 'none'),
]


def clones_are_told(tests):
    need_root()
    for kind, mkfs, method, pattern, more, shared in SHARED:
        row = f'{method} on {kind} {mkfs} {pattern} {more}'
        with tests.folder() as folder:
            how = ['--fs-size', '512m', '--dir', folder]
            how += ['--allow-tmpfs'] if kind == 'tmpfs' else ['--fs-on', 'tmpfs']
            how += ['--mkfs-options', mkfs] if mkfs else []
            result = run(tests, ['-q', '--fs', kind, *how, '-m', method, '--pattern', pattern, '-s', '8m', '--block', '64k',
                                 '--json=result', *(['--ops', '100'] if pattern == 'random' else []), *more.split()],
                         cwd=folder, seconds=60)
            with open(os.path.join(folder, 'result'), encoding='utf-8') as file:
                doc = json.load(file)
        found = [m for m in map(CLONED.fullmatch, result.out.decode().splitlines()) if m]
        if not tests.check(f'{row}: status and line', (0, 1), (result.status, len(found))):
            continue
        cloned, data = int(found[0][1]), int(found[0][2])
        right = {'all': cloned == data == 8 << 20, 'some': 65536 <= cloned <= data, 'none': cloned == 0}[shared]
        tests.check(f'{row}: shared', shared, found[0][0], right and data > 0)
        tests.check(f'{row}: JSON', ([cloned], [data], [0]), tuple(
            doc['metrics'][f'{name}_bytes']['samples'] for name in ('cloned', 'target_data', 'target_data_by_space')))
        warns = b'shared extents in place of copying' in result.err
        tests.check(f'{row}: a warning', shared != 'none' and method != 'reflink', warns)
        tests.check(f'{row}: no rate of copying', shared != 'none', bool(found[0][3]))


def what_ran_is_told(tests):
    """In the JSON as in the lines: another method, no copying at all, no O_DIRECT."""
    with tests.folder() as folder:
        result = run(tests, [*SMALL, '--ops', '5', '-m', 'reflink', '--fallback', '--dir', '/dev/shm', '--allow-tmpfs',
                             '--json=result'], cwd=folder)
        with open(os.path.join(folder, 'result'), encoding='utf-8') as file:
            doc = json.load(file)
        tests.check('--fallback: status', 0, result.status)
        tests.check('--fallback: options', ('copy_file_range', False), (doc['options']['method'], doc['options']['direct']))
        tests.check('--fallback: warning', True, 'copy_file_range ran in place of reflink' in doc['warnings'])
        tests.check('--fallback: line', True, b'method: copy_file_range in place of reflink\n' in result.out)
        null = run(tests, [*SMALL, '--ops', '5', '-m', 'null', '--dir', folder])
        tests.check('-m null: a warning', 1, null.err.count(b'null copies nothing: these are no rates of copying'))
        uncached = run(tests, [*SMALL, '--ops', '5', '-m', 'preadv2', '--uncached', '--fallback', '--dir', '/dev/shm',
                               '--allow-tmpfs'])
        tests.check('--uncached --fallback: status', (77, b''), (uncached.status, uncached.out))
        tests.check('--uncached --fallback: nothing to fall back to', False, b'falling back' in uncached.err)


def a_byte_is_no_block(tests):
    """The one that --no-clone copies first has no latency: there are as many as blocks."""
    with tests.folder() as folder:
        for method in ('readwrite', 'io_uring'):
            result = run(tests, ['-q', '-s', '8m', '--block', '8m', '--no-clone', '--pattern', 'seq', '-m', method, '--json',
                                 '--dir', folder])
            if result.status == 77:
                tests.skip(f'--no-clone -m {method}', result.err.decode().strip())
                continue
            metrics = json.loads(result.out)['metrics']
            tests.check(f'--no-clone -m {method}: one latency', metrics['copy_latency_max_ns']['samples'],
                        metrics['copy_latency_min_ns']['samples'])


def main():
    sections = {'lines': [lines_add_up], 'table': [table_is_read], 'cloned': [clones_are_told],
                'told': [what_ran_is_told, a_byte_is_no_block]}
    tests = Tests(sys.argv)
    return tests.run_all(sections)


sys.exit(main())
