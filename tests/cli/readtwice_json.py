# SPDX-License-Identifier: GPL-2.0-or-later
"""readtwice_json - the JSON result of readtwice: valid, complete, and the same as the lines say.

Usage: readtwice_json.py BINARY [SECTION]...
"""
import json
import os
import re
import signal
import sys

sys.dont_write_bytecode = True
from harness import MIB, Run, Skip, Tests, be_nobody, run  # noqa: E402
from json_agrees import SCHEMA, parse  # noqa: E402
from reading import Lines, disk_folder, need_mkfs, sparse  # noqa: E402

UNITS = {'bytes_per_s': 'bytes/s', 'bytes': 'bytes', 'ns': 'ns', 'share': 'share of 1', 'count': 'count', 'pages': 'pages'}
ALWAYS = {'throughput_bytes_per_s', 'throughput_sum_bytes_per_s', 'total_bytes', 'window_ns', 'overlap_share', 'blocks_count',
          'data_bytes'}
CUT = {'then_ns', 'then_bytes'}
RUNS = [
    # args, repetitions, readers, metrics besides those that are always there
    (['-n', '1', '-s', '64k'], 1, 2, set()),
    (['-n', '2', '-r', '3', '-s', '1m', '--passes', '2'], 1, 6, set()),
    (['-n', '1', '-s', '100001', '-m', 'libaio', '--fill', 'written'], 1, 2, set()),
    (['-n', '2', '-r', '1', '-s', '1m', '--samples', '3', '--warmup', '1'], 3, 2, set()),
    (['-n', '2', '-s', '1m', '--cold', '--residency'], 1, 4, {'evict_ns', 'stayed_pages', 'cached_pages'}),
    (['-n', '2', '-s', '1m', '--then', 'unlink', '--samples', '2'], 2, 4, CUT),
    (['-n', '1', '-s', '1m', '--then', 'truncate'], 1, 2, CUT),
    (['-n', '1', '-s', '1m', '--then', 'dontneed', '--residency'], 1, 2, CUT | {'cached_pages'}),
    (['-n', '1', '-r', '3', '-s', '1m', '--gap', '64k'], 1, 3, {'gap_nearest_bytes', 'gap_furthest_bytes'}),
    (['-n', '1', '-s', '1m', '-T', '50ms'], 1, 2, set()),
    (['-n', '1', '-s', '1m', '--ops', '7', '-m', 'null'], 1, 2, set()),
]


def check_metrics(tests, row, document, repetitions, wanted):
    metrics = document['metrics']
    tests.check(f'{row}: metrics', sorted(ALWAYS | wanted), sorted(metrics))
    for name, metric in metrics.items():
        suffix = next((s for s in sorted(UNITS, key=len, reverse=True) if name.endswith('_' + s)), None)
        tests.check(f'{row}: unit of {name}', UNITS.get(suffix), metric['unit'])
        tests.check(f'{row}: samples of {name}', repetitions, len(metric['samples']))
        tests.check(f'{row}: {name}', 'numbers of 0 or more', metric['samples'], all(x >= 0 for x in metric['samples']))


def check_lines(tests, row, document, lines, readers):
    """Of each repetition: bytes and rate of each reader, the window, the overlap."""
    metrics = document['metrics']
    for i, rates in enumerate(metrics['throughput_bytes_per_s']['per_worker']):
        mine = lines.copied[i * readers:(i + 1) * readers]
        tests.check(f'{row}: bytes', sum(size for size, _ in mine), metrics['total_bytes']['samples'][i])
        for (size, usecs), rate in zip(mine, rates):
            tests.check(f'{row}: rate', f'{size} bytes in {usecs} usecs', rate,
                        size * 1e6 / (usecs + 1) <= rate * (1 + 1e-9) and (rate <= size * 1e6 / usecs * (1 + 1e-9)))
        tests.check(f'{row}: sum of rates', sum(rates), metrics['throughput_sum_bytes_per_s']['samples'][i])
        total, window = metrics['total_bytes']['samples'][i], metrics['window_ns']['samples'][i]
        together, spread = lines.own['together'][i], lines.own['spread'][i]
        tests.check(f'{row}: together', (int(total), f'{window / 1e9:.6f}'),
                    (int(together.group(1)), together.group(2).decode()))
        rate = metrics['throughput_bytes_per_s']['samples'][i]
        tests.check(f'{row}: throughput', total * 1e9 / window, rate, abs(rate - total * 1e9 / window) <= 1e-9 * rate)
        tests.check(f'{row}: overlap', f"{100 * metrics['overlap_share']['samples'][i]:.1f}".encode(), spread.group(6))


def check_rest(tests, row, metrics, lines, args):
    """What only some have: residency, the period of --then, the blocks."""
    size = int(metrics['total_bytes']['samples'][0])
    blocks = int(metrics['blocks_count']['samples'][0])
    tests.check(f'{row}: blocks', f'of {size} bytes', blocks, (size + 4095) // 4096 <= blocks <= size // 4096 + len(lines.copied))
    if 'cached_pages' in metrics:
        cached = [int(match.group(2)) for match in lines.own['cached']]
        tests.check(f'{row}: cached, sum', [sum(cached)], metrics['cached_pages']['samples'])
    if 'then_bytes' in metrics:
        periods = lines.periods.get('truncated')
        if periods is None:
            match = lines.own['dropped'][0]
            begin, end = (int(match.group(i).replace(b'.', b'')) for i in (2, 3))
            periods = [(int(match.group(1)), begin, end)]
        tests.check(f'{row}: bytes of --then', [size for size, _, _ in periods], metrics['then_bytes']['samples'])
        tests.check(f'{row}: time of --then', [end - begin for _, begin, end in periods], metrics['then_ns']['samples'])
    if 'gap_nearest_bytes' in metrics:
        nearest, furthest = (metrics[name]['samples'][0] for name in ('gap_nearest_bytes', 'gap_furthest_bytes'))
        gap = int(args[args.index('--gap') + 1][:-1]) * 1024
        tests.check(f'{row}: gap', f'between 3/4 and all of {gap}', (nearest, furthest), gap * 3 / 4 <= nearest <= furthest <= gap)


def gap_holds_each_time(tests):
    """Behind by more than the file, a reader begins when the one before it is done: in each repetition."""
    with disk_folder() as folder:
        result = run(tests, ['-q', '--json', '-n', '1', '-s', '128m', '--gap', '256m', '--warmup', '1', '--samples', '3', '--dir', folder])
        shares = parse(tests, '--gap --samples', result.out)['metrics']['overlap_share']['samples']
        # The one that is done says so before it takes the time.
        tests.check('--gap --samples', '3 below 0.3', shares, len(shares) == 3 and max(shares) < 0.3)


def written_files_fit(tests):
    """Without a size, files that are written take what is free, and the document says how much."""
    need_mkfs('ext4')
    with disk_folder() as folder:
        result = run(tests, ['-q', '--json', '-n', '2', '--fill', 'written', '--fs', 'ext4', '--fs-size', '64m', '--dir', folder])
        document = parse(tests, 'written', result.out)
        tests.check('written: data', [2 * document['options']['size_bytes']], document['metrics']['data_bytes']['samples'])


def lines_and_document_agree(tests):
    for args, repetitions, readers, wanted in RUNS:
        with disk_folder() as folder:
            path = os.path.join(folder, 'result')
            result = run(tests, ['-q', f'--json={path}', *args, '--dir', folder])
            row = f'{args}'
            tests.check(f'{row}: status', 0, result.status)
            with open(path, 'rb') as file:
                document = parse(tests, row, file.read())
            if not document or result.status:
                continue
            lines = Lines(result.out)
            for key, kind in SCHEMA.items():
                tests.check(f'{row}: {key}', kind.__name__, type(document.get(key)).__name__)
            tests.check(f'{row}: program and outcome', ('readtwice', 'ok'), (document['program'], document['outcome']))
            tests.check(f'{row}: workers', ['ok'] * readers * repetitions, [w['outcome'] for w in document['workers']])
            tests.check(f'{row}: readers', readers * repetitions, len(lines.copied))
            check_metrics(tests, row, document, repetitions, wanted)
            check_lines(tests, row, document, lines, readers)
            check_rest(tests, row, document['metrics'], lines, args)


CPUS = len(os.sched_getaffinity(0))
OPTIONS = [
    (['-s', '4k'], {'files': CPUS, 'size_bytes': 4096, 'fill': 'hole', 'cold': False, 'readers': 2, 'method': 'read',
                    'block_bytes': 4096, 'order': 'seq', 'direct': False, 'uncached': False, 'depth': 32, 'gap': None,
                    'passes': 1, 'verify': False, 'then': 'nothing', 'residency': False, 'runtime_ns': 60 * 10**9, 'ops': 0,
                    'seed': None, 'allow_tmpfs': False, 'fs': None, 'samples': 0, 'warmup': 0}),
    (['-n', '1', '-s', '4k', '-T', '90s', '--passes', '2'], {'files': 1, 'runtime_ns': 90 * 10**9, 'passes': 2}),
    (['-n', '1', '-s', '4k', '-T', '10ms'], {'runtime_ns': 10**7, 'passes': 0}),
    (['-n', '1', '-s', '4k', '--ops', '2'], {'ops': 2, 'passes': 0, 'runtime_ns': 0}),
    (['-n', '1', '-s', '4k', '--passes', '2'], {'passes': 2, 'runtime_ns': 0}),
    (['-n', '1', '-s', '64k', '--fill', 'written', '--order', 'reverse', '--then', 'truncate', '--gap', '64k', '-b', 'node'],
     {'fill': 'written', 'order': 'reverse', 'then': 'truncate', 'gap': '64k', 'bind': 'node'}),
    (['-n', '1', '-s', '4k', '-m', 'libaio'], {'method': 'libaio', 'direct': True}),
    (['-n', '1', '-s', '4k', '--order', 'random', '--seed', '7'], {'order': 'random', 'seed': 7}),
    (['-n', '1', '-s', '4k', '--samples', '2', '--warmup', '1', '--interval', '5m'],
     {'samples': 2, 'warmup': 1, 'interval_ns': 300 * 10**9}),
]


def options_are_effective(tests):
    with disk_folder() as folder:
        for args, want in OPTIONS:
            result = run(tests, ['-q', '--json', *args, '--dir', folder])
            options = parse(tests, f'options of {args}', result.out).get('options', {})
            for name, value in want.items():
                tests.check(f'options of {args}: {name}', value, options.get(name))
            tests.check(f'options of {args}: dir', [folder], options.get('dir'))
        result = run(tests, ['-q', '--json', '-n', '3', '-s', '4k', '--dir', folder, '--dir', folder + '/../', '--dir', folder])
        tests.check('--dir, three times', [folder, folder + '/../', folder], parse(tests, '--dir', result.out)['options']['dir'])
        seeds = set()
        for _ in range(2):
            result = run(tests, ['-q', '--json', '-n', '1', '-s', '4k', '--order', 'random', '--dir', folder])
            seeds.add(parse(tests, 'seed', result.out)['options']['seed'])
            tests.check('the seed that was taken', 'is told', result.err, f'random seed {max(seeds)}' in result.err.decode()
                        or f'random seed {min(seeds)}' in result.err.decode())
        tests.check('each run takes its own seed', 2, len(seeds))
        result = run(tests, ['--json', '--dir', b'\xff' + os.fsencode(folder), '-n', '1', '-s', '4k'])
        document = parse(tests, 'not UTF-8', result.out)
        tests.check('not UTF-8', (1, 1), (result.status, len(document['options']['dir'])))


def filesystems_are_named(tests):
    with disk_folder() as folder, disk_folder() as other:
        result = run(tests, ['-q', '--json', '-n', '2', '-s', '4k', '--dir', folder, '--dir', other])
        one = parse(tests, 'one filesystem', result.out)['environment']['filesystems']
        tests.check('two directories of one filesystem', 1, len(one))
        for key in ('type', 'options', 'device', 'block_bytes'):
            tests.check(f'filesystem: {key}', 'there', one[0].get(key), bool(one[0].get(key)))
        result = run(tests, ['-q', '--json', '-n', '2', '-s', '4k', '--allow-tmpfs', '--dir', folder, '--dir', '/dev/shm'])
        two = parse(tests, 'two filesystems', result.out)['environment']['filesystems']
        if two[-1]['type'] != 'tmpfs':
            raise Skip('/dev/shm is no tmpfs')
        tests.check('two filesystems', [one[0]['type'], 'tmpfs'], [each['type'] for each in two])
        path = sparse(os.path.join(folder, 'f'), 4096)
        result = run(tests, ['-q', '--json', path])
        tests.check('that of a FILE', one, parse(tests, 'FILE', result.out)['environment']['filesystems'])
        for kind, size in (('xfs', '301m'), ('ext4', '32m')):
            need_mkfs(kind)
            result = run(tests, ['-q', '--json', '-n', '1', '-s', '4k', '--fs', kind, '--fs-size', size, '--dir', folder])
            (made,) = parse(tests, kind, result.out)['environment']['filesystems']
            tests.check(f'--fs {kind}', (kind, int(size[:-1]) * MIB, True),
                        (made['type'], made.get('size_bytes'), made['device'].startswith('/dev/loop')))


def runs_that_ended_early(tests):
    with disk_folder() as folder:
        path = os.path.join(folder, 'result')
        args = ['-q', f'--json={path}', '-n', '1', '-s', '64m', '-T', '60', '--dir', folder]
        for act, status, outcome in ((lambda r, _: os.kill(r.pid, signal.SIGINT), 130, 'interrupted'),
                                     (lambda _, pids: os.kill(pids[1], signal.SIGKILL), 1, 'failed')):
            with Run(tests, args) as running:
                act(running, running.walking(2))
                result = running.finish()
            with open(path, 'rb') as file:
                document = parse(tests, outcome, file.read())
            tests.check(outcome, (status, outcome), (result.status, document['outcome']))
            tests.check(f'{outcome}: throughput', outcome != 'failed', 'throughput_bytes_per_s' in document['metrics'])
            tests.check(f'{outcome}: worker 1', 'lost' if outcome == 'failed' else 'interrupted', document['workers'][1]['outcome'])
        result = run(tests, ['-q', '--json', '-n', '1', '-s', '1m', '-T', '200ms', '--interval', '50ms', '--dir', folder])
        document = parse(tests, 'intervals', result.out)
        series = [each['bytes'] for each in document['intervals']]
        tests.check('intervals', 'grow to the total', series, len(series) >= 2 and series == sorted(series) and
                    series[-1] == document['metrics']['total_bytes']['samples'][0])
        result = run(tests, ['-q', '--json', '-n', '1', '-s', '4k', '--dir', folder], before=be_nobody)
        if os.geteuid() == 0:
            tests.check('no room for nobody', (1, 'failed'), (result.status, parse(tests, 'nobody', result.out)['outcome']))
        tests.check('warnings', 'fits into memory', document['warnings'],
                    any(re.search('of files fit into', text) for text in document['warnings']))


sections = {
    'agree': [lines_and_document_agree, gap_holds_each_time, written_files_fit],
    'options': [options_are_effective, filesystems_are_named, runs_that_ended_early],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
