# SPDX-License-Identifier: GPL-2.0-or-later
"""json_agrees - the JSON result of usemem: valid, complete, and the same as the lines say.

Usage: json_agrees.py BINARY [SECTION]...
"""
import json
import os
import re
import resource
import signal
import statistics
import sys

sys.dont_write_bytecode = True
from harness import (FIVE, MIB, Run, Tests, be_nobody, brief, rate, read_lines, run, until)  # noqa: E402

FOR_EVER = ['-r', '1000000000000']
SCHEMA = {
    'schema': str, 'program': str, 'version': str, 'argv': list, 'started': str, 'host': dict, 'environment': dict,
    'options': dict, 'metrics': dict, 'system': dict, 'workers': list, 'outcome': str, 'warnings': list, 'notes': list,
}
# What a line of each kind has in the document: its bytes and its time.
LINES = {'W': ('walk_bytes', 'walk_ns'), 'Z': ('read_again_bytes', 'read_again_ns'), 'F': (None, 'free_ns')}
THROUGHPUT = 'throughput_bytes_per_s'
UNITS = {'bytes': 'bytes', 'ns': 'ns', 'bytes_per_s': 'bytes/s', 'faults': 'faults'}


def no_doubles(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError('a key twice: ' + ' '.join(names))
    return dict(pairs)


def no_constants(text):
    raise ValueError(text + ' is no JSON')


def parse(tests, row, text):
    """The document, or {} if it is none: it must be UTF-8, alone, with no key twice and an end of line."""
    try:
        document = json.loads(text.decode('utf-8'), object_pairs_hook=no_doubles, parse_constant=no_constants)
    except ValueError as error:
        tests.check(f'{row}: JSON', 'one valid document', f'{error}: {text[:300]!r}', False)
        return {}
    tests.check(f'{row}: JSON', 'ends with a line end', text[-20:], text.endswith(b'}\n'))
    return document


def check_schema(tests, row, document):
    for key, kind in SCHEMA.items():
        tests.check(f'{row}: {key}', kind.__name__, type(document.get(key)).__name__)
    tests.check(f'{row}: schema', '1', document.get('schema'))
    tests.check(f'{row}: program', 'usemem', document.get('program'))
    tests.check(f'{row}: started', 'UTC', document.get('started'),
                bool(re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', document.get('started', ''))))


def check_metrics(tests, row, document, repetitions, tasks):
    for name, metric in document['metrics'].items():
        suffix = next((s for s in sorted(UNITS, key=len, reverse=True) if name.endswith('_' + s)), None)
        tests.check(f'{row}: unit of {name}', UNITS.get(suffix), metric.get('unit'))
        tests.check(f'{row}: better of {name}', 'higher or lower', metric.get('better'),
                    metric.get('better') in ('higher', 'lower'))
        tests.check(f'{row}: samples of {name}', repetitions, len(metric.get('samples', [])))
        shape = [len(each) for each in metric['per_worker']]
        tests.check(f'{row}: per_worker of {name}', 'none, or one a task and repetition', shape,
                    shape in ([], [tasks] * repetitions))


def usecs(ns):
    return max(ns // 1000, 1)


def lines_of(document, kinds):
    """The task lines that the document's figures give, as read_lines() has them."""
    lines = []
    for kind in kinds:
        size_key, time_key = LINES[kind]
        times = document['metrics'][time_key]['per_worker']
        sizes = document['metrics'][size_key]['per_worker'] if size_key else [[0] * len(t) for t in times]
        for some_sizes, some_times in zip(sizes, times):
            lines += [(kind, size, usecs(ns)) for size, ns in zip(some_sizes, some_times) if size or kind == 'F']
    return lines


RUNS = [
    # args, repetitions, tasks, kinds of lines
    (['1m'], 1, 1, 'WF'),
    (['-n', '3', '1m'], 1, 3, 'WF'),
    (['-n', '2', '-t', '2', '-Z', '1m'], 1, 4, 'WZF'),
    (['-n', '2', '-P', '-Z', '1m'], 1, 2, 'WZ'),
    (['--init-time', '-u', '4k', '-r', '3', '1m'], 1, 1, 'WF'),
    (['-y', '-F', '-j', '4096', '-n', '2', '4m'], 1, 2, 'WF'),
    (['-T', '50ms', '-n', '2', '-Z', *FOR_EVER, '1m'], 1, 2, 'WZF'),
    (['--samples', '3', '-n', '2', '1m'], 3, 2, 'WF'),
    (['--samples', '1', '1m'], 1, 1, 'WF'),
    (['--samples', '4', '--warmup', '2', '-r', '50', '-Z', '1m'], 4, 1, 'WZF'),
    (['--warmup', '1', '1m'], 1, 1, 'WF'),
    (['--interval', '20ms', '-T', '70ms', '--samples', '2', *FOR_EVER, '1m'], 2, 1, 'WF'),
    (['0'], 1, 1, 'F'),
    (['-r', '0', '-n', '2', '1m'], 1, 2, 'F'),
]


def text_and_document_agree(tests):
    for args, repetitions, tasks, kinds in RUNS:
        with tests.folder() as folder:
            path = os.path.join(folder, 'result')
            result = run(tests, [f'--json={path}', *args])
            row = f'{args}'
            tests.check(f'{row}: status', 0, result.status)
            with open(path, 'rb') as file:
                document = parse(tests, row, file.read())
            if not document:
                continue
            check_schema(tests, row, document)
            check_metrics(tests, row, document, repetitions, tasks)
            tests.check(f'{row}: outcome', 'ok', document['outcome'])
            tests.check(f'{row}: workers', ['ok'] * tasks * repetitions,
                        [worker['outcome'] for worker in document['workers']])
            text, _, five = result.out.partition(b'Count:')
            said = read_lines(text)
            of_tasks = sorted(line for line in said if isinstance(line, tuple) and line[0] != 'I')
            tests.check(f'{row}: lines', sorted(lines_of(document, kinds)), of_tasks)
            tests.check(f'{row}: no other lines', [], [line for line in said if isinstance(line, str)])
            if '--init-time' in args:
                tests.check(f'{row}: init line', ('I', 0, document['metrics']['setup_ns']['samples'][0] // 1000),
                            said[0])
            check_five_lines(tests, row, document, b'Count:' + five if five else b'', '--samples' in args)
            check_throughput(tests, row, document)


def whole(x):
    """Rounded as C rounds: half away from zero."""
    return int(x + 0.5)


def check_five_lines(tests, row, document, text, wanted):
    if not wanted:
        tests.check(f'{row}: no summary', b'', text)
        return
    metrics = document['metrics']
    kb = [total * 1000000 // 1024 // max(window // 1000, 1) for total, window in
          zip(metrics['total_bytes']['samples'], metrics['window_ns']['samples'])]
    stdev = str(whole(statistics.stdev(kb))) if len(kb) > 1 else '-'
    want = (f'Count: {len(kb)}\nTotal: {sum(kb)}\nRange: {min(kb)}...{max(kb)}\n'
            f'Mean : {whole(statistics.mean(kb))}\nStdev: {stdev}\n')
    tests.check(f'{row}: summary', want.encode(), text)
    if len(kb) > 1 and stdev != '-':
        most = (max(kb) - min(kb)) / 2 * (len(kb) / (len(kb) - 1)) ** 0.5
        tests.check(f'{row}: deviation', f'at most {most}', stdev, int(stdev) <= most + 1)


def check_throughput(tests, row, document):
    """All tasks' bytes over the common window; and the sum of what each had."""
    metrics = document['metrics']
    for i, got in enumerate(metrics[THROUGHPUT]['samples']):
        sizes, times = metrics['walk_bytes']['per_worker'][i], metrics['walk_ns']['per_worker'][i]
        window = metrics['window_ns']['samples'][i]
        want = sum(sizes) * 1e9 / window if window else 0
        tests.check(f'{row}: throughput', want, got, abs(got - want) <= 1e-9 * want)
        tests.check(f'{row}: window', f'at least {max(times)}', window, window >= max(times))
        want = sum(size * 1e9 / ns for size, ns in zip(sizes, times) if ns)
        got = metrics['throughput_sum_bytes_per_s']['samples'][i]
        tests.check(f'{row}: sum of rates', want, got, abs(got - want) <= 1e-9 * want)


def summary_from_the_lines(tests):
    """With one task a repetition's throughput is its line's rate, but for the cut of USECS."""
    result = run(tests, ['--samples', '5', '-r', '200', '1m'])
    text, _, five = result.out.partition(b'Count:')
    walks = [line for line in read_lines(text) if line[0] == 'W']
    match = FIVE.fullmatch(b'Count:' + five)
    tests.check('--samples 5: summary', 'five lines', five, bool(match))
    tests.check('--samples 5: walks', 5, len(walks))
    if match:
        count, total, least, most, mean = (int(n) for n in match.groups()[:5])
        low = [rate(size, micro + 1) - 1 for _, size, micro in walks]
        high = [rate(size, micro) for _, size, micro in walks]
        tests.check('--samples 5: Count', 5, count)
        tests.check('--samples 5: Total', f'{sum(low)} to {sum(high)}', total, sum(low) <= total <= sum(high))
        tests.check('--samples 5: Range', f'{low} to {high}', match.groups(),
                    min(low) <= least <= min(high) and max(low) <= most <= max(high))
        tests.check('--samples 5: Mean', total / count, mean, abs(mean - total / count) <= 0.5)


def alone_on_stdout(tests):
    for args in (['--json'], ['--json='], ['--json=-'], ['--json', '--samples', '2', '--warmup', '1'],
                 ['--json', '--init-time', '-Z', '-n', '2', '-R'], ['--json', '--interval', '10ms', '-r', '100'],
                 ['--json', '-n', '20']):
        result = run(tests, [*args, '64k'])
        tests.check(f'{args}: status', 0, result.status)
        document = parse(tests, f'{args}', result.out)
        if document:
            check_schema(tests, f'{args}', document)
            tests.check(f'{args}: stderr', 'lines of usemem', result.err,
                        all(line.startswith(b'usemem: ') for line in result.err.splitlines()))


def argv_is_kept(tests):
    words = ['--memfd', '-f', 'a "b"\\\n\tc d', '-n', '2', '--json', '64k']
    document = parse(tests, 'odd argv', run(tests, words).out)
    tests.check('odd argv', words, document.get('argv', [])[1:])
    tests.check('odd argv: file', words[2], document.get('options', {}).get('file'))
    document = parse(tests, 'order of argv', run(tests, ['64k', '-n', '2', '--json']).out)
    tests.check('order of argv', ['64k', '-n', '2', '--json'], document.get('argv', [])[1:])
    document = parse(tests, 'UTF-8 argv', run(tests, ['--memfd', '-f', 'Grüße €', '--json', '64k']).out)
    tests.check('UTF-8 argv', ['--memfd', '-f', 'Grüße €', '--json', '64k'], document.get('argv', [])[1:])
    document = parse(tests, 'argv not UTF-8', run(tests, [b'--memfd', b'-f', b'\xff\x80 \xc3', b'--json', b'64k']).out)
    tests.check('argv not UTF-8', 6, len(document.get('argv', [])))


EFFECTIVE = [
    # args, what the options must say
    (['1m'], {'size_bytes': MIB, 'unit_bytes': MIB, 'step_bytes': 8, 'repeat': 1, 'nproc': 1, 'thread': 1, 'msync': False, 'readonly': False,
              'file': None, 'runtime_ns': 0}),
    (['-n', '0', '-t', '0', '-u', '0', '-j', '0', '-T', '0', '1m'],
     {'unit_bytes': MIB, 'step_bytes': 8, 'nproc': 1, 'thread': 1, 'runtime_ns': 0}),
    (['-n', '3', '-t', '2', '-b', '5', '64k'], {'nproc': 3, 'thread': 2, 'bind': 5}),
    (['-m', '2'], {'size_bytes': 2 * MIB, 'unit_bytes': 2 * MIB}),
    (['-n', 'auto', '64k'], {'nproc': len(os.sched_getaffinity(0))}),
    (['-j', '71', '-u', '0x2000', '-r', '7', '1m'], {'step_bytes': 64, 'unit_bytes': 8192, 'repeat': 7}),
    (['-u', '2m', '1m'], {'unit_bytes': MIB}),
    (['-R', '--random-seed', '42', '64k'], {'random': True, 'random_seed': 42}),
    (['-S', '-A', '64k'], {'msync': False, 'msync_async': True}),
    (['-A', '-S', '64k'], {'msync': True, 'msync_async': False}),
    (['-T', '90s', '--samples', '2', '--warmup', '1', '--interval', '5m', '64k'],
     {'runtime_ns': 90 * 10**9, 'samples': 2, 'warmup': 1, 'interval_ns': 300 * 10**9}),
    (['-a', '-O', '-F', '-P', '-y', '-o', '-w', '-Z', '-q', '--memfd', '--init-time', '64k'],
     {name: True for name in ('malloc', 'anonymous', 'prefault', 'prealloc', 'sync_rw', 'readonly', 'open_rw',
                              'read_again', 'quiet', 'memfd', 'init_time')}),
]


def options_are_effective(tests):
    for args, want in EFFECTIVE:
        options = parse(tests, f'options of {args}', run(tests, ['--json', *args]).out).get('options', {})
        for name, value in want.items():
            tests.check(f'options of {args}: {name}', value, options.get(name))
    seeds = set()
    for _ in range(2):
        result = run(tests, ['--json', '-R', '64k'])
        seed = parse(tests, 'seed', result.out).get('options', {}).get('random_seed')
        seeds.add(seed)
        tests.check('the seed that was taken', 'the one on stderr', seed, b'seed %d\n' % (seed or 0) in result.err)
    tests.check('each run takes its own seed', 2, len(seeds))


def intervals_add_up(tests):
    result = run(tests, ['--json', '--interval', '50ms', '-T', '180ms', '--samples', '2', *FOR_EVER, '1m'])
    document = parse(tests, 'intervals', result.out)
    series = document.get('intervals', [])
    for repetition in (0, 1):
        mine = [each for each in series if each['repetition'] == repetition]
        tests.check('intervals: points', 'at least 2', mine, len(mine) >= 2)
        tests.check('intervals: they grow', 'sorted', mine,
                    mine == sorted(mine, key=lambda each: (each['elapsed_ns'], each['bytes'])))
        if mine and document:
            tests.check('intervals: bytes at the end', document['metrics']['walk_bytes']['per_worker'][repetition][0],
                        mine[-1]['bytes'])
    said = re.findall(rb': (\d+) bytes, \d+ KB/s\n', result.err)
    tests.check('intervals: as on stderr', sum(map(int, said)),
                sum(max((e['bytes'] for e in series if e['repetition'] == r), default=0) for r in (0, 1)))


# failures

def check_failed_document(tests, row, text):
    document = parse(tests, row, text)
    if document:
        check_schema(tests, row, document)
        tests.check(f'{row}: outcome', 'failed', document['outcome'])
        tests.check(f'{row}: throughput', 'none', sorted(document['metrics']), THROUGHPUT not in document['metrics'])
    return document


def failed_runs(tests):
    for args in (['--force', '100000t'], ['--force', '-y', '-n', '2', '100000t'], ['-f', 'no/new', '1m'],
                 ['-f', 'new', '-o', '1m'], ['-P', '--force', '--samples', '3', '100000t']):
        with tests.folder() as folder:
            result = run(tests, ['--json', *args], cwd=folder)
            tests.check(f'failed {args}: status', 1, result.status)
            check_failed_document(tests, f'failed {args}', result.out)
    for extra, count in ((['-n', '3'], 3), (['-n', '2', '-t', '2'], 4)):
        with Run(tests, ['--json', *extra, *FOR_EVER, '1m']) as running:
            victim = running.walking(int(extra[1]))[1]
            os.kill(victim, signal.SIGKILL)
            result = running.finish()
        tests.check(f'killed {extra}: status', 1, result.status)
        document = check_failed_document(tests, f'killed {extra}', result.out)
        outcomes = [worker['outcome'] for worker in document.get('workers', [])]
        tests.check(f'killed {extra}: workers', count, len(outcomes))
        tests.check(f'killed {extra}: lost', count // 2 if '-t' in extra else 1, outcomes.count('lost'))
        tests.check(f'killed {extra}: signal', {'KILL'},
                    {w.get('signal', '').replace('SIG', '') for w in document.get('workers', []) if w['outcome'] == 'lost'})


def a_later_repetition_fails(tests):
    """No summary, and the document says failed, although there are good repetitions."""
    with tests.folder() as folder:
        path, data = os.path.join(folder, 'result'), os.path.join(folder, 'data')
        with open(data, 'wb') as file:
            file.truncate(MIB)
        with Run(tests, [f'--json={path}', '--samples', '1000', '-r', '100', '-f', data, '1m']) as running:
            running.process.stdout.readline()
            os.truncate(data, 4096)
            result = running.finish()
        tests.check('later failure: status', 1, result.status)
        tests.check('later failure: summary', 'none', result.out, b'Count' not in result.out)
        with open(path, 'rb') as file:
            document = parse(tests, 'later failure', file.read())
        tests.check('later failure: outcome', 'failed', document.get('outcome'))


def interrupted_between_repetitions(tests):
    """Wherever it comes, a signal after the first fan-out leaves a document."""
    for lines in range(1, 40, 2):
        with tests.folder() as folder:
            path = os.path.join(folder, 'result')
            with Run(tests, [f'--json={path}', '--samples', '100000', '64k']) as running:
                for _ in range(lines):
                    running.process.stdout.readline()
                os.kill(running.pid, signal.SIGINT)
                result = running.finish()
            row = f'SIGINT after {lines} lines'
            tests.check(f'{row}: status', 130, result.status)
            tests.check(f'{row}: files', ['result'], os.listdir(folder))
            with open(path, 'rb') as file:
                tests.check(row, 'interrupted', parse(tests, row, file.read()).get('outcome'))


def interrupted_runs(tests):
    for sig in (signal.SIGINT, signal.SIGTERM):
        with tests.folder() as folder:
            path = os.path.join(folder, 'result')
            for where in ('--json', f'--json={path}'):
                row = f'{sig.name} {where[:7]}'
                with Run(tests, [where, '-n', '2', '--samples', '2', *FOR_EVER, '1m']) as running:
                    running.walking(2)
                    os.kill(running.pid, sig)
                    result = running.finish()
                tests.check(f'{row}: status', 128 + sig, result.status)
                text = result.out
                if where != '--json':
                    with open(path, 'rb') as file:
                        text = file.read()
                document = parse(tests, row, text)
                if document:
                    check_schema(tests, row, document)
                    tests.check(f'{row}: outcome', 'interrupted', document['outcome'])
                    tests.check(f'{row}: workers', ['interrupted'] * 2, [w['outcome'] for w in document['workers']])
                if document and where != '--json':
                    tests.check(f'{row}: lines', sorted(lines_of(document, 'WF')), sorted(read_lines(result.out)))
    with Run(tests, ['--json', '-P', '-F', *FOR_EVER, '1g']) as running:
        until(lambda: resident(running.pid) > 32 * MIB)
        os.kill(running.pid, signal.SIGINT)
        result = running.finish()
        # Set-up is the program's own process: it dies at once, and no document looks like a result.
        tests.check('SIGINT while -P populates', ('killed by SIGINT', b''), (result.status, result.out))


def resident(pid):
    with open(f'/proc/{pid}/statm', encoding='ascii') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


# the file

def place_cannot_be_written(tests):
    with tests.folder(0o555) as folder:
        for where, err in ((folder, b'Is a directory'), (folder + '/no/result', b'No such file'), ('/dev/full/x', b'Not a directory'),
                           (folder + '/result', b'Permission denied')):
            result = run(tests, [f'--json={where}', '-f', folder + '/new', '1m'], before=be_nobody)
            tests.check(f'{where}: status', 1, result.status)
            tests.check(f'{where}: stderr', err, result.err, err in result.err)
            tests.check(f'{where}: before the run', b'', result.out)
        tests.check('unwritable: files', [], os.listdir(folder))
    result = run(tests, ['--json=/dev/full', '1m'])
    tests.check('--json=/dev/full: status', 1, result.status)
    with open('/dev/full', 'wb') as full:
        result = run(tests, ['--json', '1m'], stdout=full)
        tests.check('--json >/dev/full: status', 1, result.status)
    result = run(tests, ['--json=/dev/stdout', '64k'])
    tests.check('--json=/dev/stdout: status', 0, result.status)


def file_has_a_mode(tests):
    for umask, mode in ((0o022, 0o644), (0o077, 0o600)):
        with tests.folder() as folder:
            path = os.path.join(folder, 'a result')
            run(tests, [f'--json={path}', '64k'], before=lambda mask=umask: os.umask(mask) and None)
            tests.check(f'umask {umask:o}', (oct(mode), ['a result']), (oct(os.stat(path).st_mode & 0o777), os.listdir(folder)))


def file_appears_complete(tests):
    for old in (None, b'{"old": true}\n' * 5000):
        row = 'new file' if old is None else 'existing file'
        with tests.folder() as folder:
            path = os.path.join(folder, 'result')
            if old:
                with open(path, 'wb') as file:
                    file.write(old)
            before = sorted(os.listdir(folder))
            with Run(tests, [f'--json={path}', '-n', '2', *FOR_EVER, '1m']) as running:
                running.walking(2)
                tests.check(f'{row}: while it runs', before, sorted(os.listdir(folder)))
                os.kill(running.pid, signal.SIGKILL)
                running.process.wait()
            tests.check(f'{row}: after SIGKILL', before, sorted(os.listdir(folder)))
            if old:
                with open(path, 'rb') as file:
                    tests.check(f'{row}: after SIGKILL', 'the old result', 'another', file.read() == old)
            result = run(tests, [f'--json={path}', '64k'])
            tests.check(f'{row}: status', 0, result.status)
            with open(path, 'rb') as file:
                check_schema(tests, row, parse(tests, row, file.read()))
            tests.check(f'{row}: files', ['result'], os.listdir(folder))


def disk_is_full(tests):
    """The document cannot be written: a failed run, and no half of it stays."""
    with tests.folder() as folder:
        path = os.path.join(folder, 'result')

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        result = run(tests, [f'--json={path}', '64k'], before=small_files)
        tests.check('file limit: status', 1, result.status)
        tests.check('file limit: files', [], os.listdir(folder))


def refused_before(tests):
    with tests.folder() as folder:
        path = os.path.join(folder, 'result')
        for args in (['foo'], ['200t'], ['-j', '4', '1m'], ['--nonsense', '1m']):
            result = run(tests, [f'--json={path}', *args])
            tests.check(f'refused {args}', (2, b'', []), (result.status, result.out, os.listdir(folder)))
            result = run(tests, ['--json', *args])
            tests.check(f'refused {args}, stdout', (2, b''), (result.status, result.out))


def dry_run_measures_nothing(tests):
    with tests.folder() as folder:
        path = os.path.join(folder, 'result')
        result = run(tests, [f'--json={path}', '--dry-run', '-f', folder + '/new', '64k'])
        tests.check('--dry-run --json', (0, []), (result.status, os.listdir(folder)))


def lines_stay_with_a_file(tests):
    with tests.folder() as folder:
        result = run(tests, [f'--json={folder}/result', '-n', '2', '-Z', '1m'])
        tests.check('--json=FILE: stdout', '2xF 2xW1048576 2xZ1048576', brief(read_lines(result.out)))


sections = {
    'agree': [text_and_document_agree, summary_from_the_lines, alone_on_stdout, lines_stay_with_a_file, intervals_add_up],
    'options': [argv_is_kept, options_are_effective],
    'failures': [failed_runs, a_later_repetition_fails, interrupted_runs,
                 interrupted_between_repetitions],
    'file': [place_cannot_be_written, file_has_a_mode, file_appears_complete, disk_is_full, refused_before,
             dry_run_measures_nothing],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
