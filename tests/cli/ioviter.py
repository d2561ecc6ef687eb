# SPDX-License-Identifier: GPL-2.0-or-later
"""ioviter - command lines of ioviter, and the exit status, lines, table and JSON that each must give.

Usage: ioviter.py IOVITER [SECTION]... The golden help text comes from:
    build/ioviter/ioviter --help >tests/golden/ioviter-help.txt
"""
import difflib
import json
import os
import re
import resource
import signal
import statistics
import sys

sys.dont_write_bytecode = True
from harness import PAGE, Run, Tests, be_nobody, need_root, one_line, run, until  # noqa: E402

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'ioviter-help.txt')
SMALL = ['-q', '--size', '1m', '--volume', '4m', '--samples', '3']
KINDS = ['ubuf', 'iovec', 'iovec_split', 'bvec', 'bvec_split', 'pipe']
UNREACHABLE = ['kvec', 'xarray', 'folioq']
LINE = re.compile(r' iov_iter_benchmark_([a-z0-9_]+): avg (\d+) uS, stddev (\d+) uS')
CPU = re.compile(r'cpu: .*; string-copy flags: [a-z_ ]+; SMAP (on|off|unknown)')
COSTS = re.compile(r'(\w+): copying (-?\d+) uS (?:more than clearing, which with calling and iterating is (\d+) uS \(/dev/zero\)|'
                   r'\(the rest, with the page cache\), calling and iterating (\d+) uS \(/dev/null\))')


def series_of(out):
    """{name: (avg, stddev)} of lines that are nothing else, or the line that is."""
    found = {}
    every = out.decode().splitlines()
    if every and CPU.fullmatch(every[-1]):
        every.pop()
    for line in every:
        match = LINE.fullmatch(line)
        if not match:
            return line
        found[match[1]] = int(match[2]), int(match[3])
    return found


WRONG = (
    ('--sizes 0', "--sizes '0': expected sizes such as 4k,64k,256m, from 1 byte to 1g, commas between them"),
    ('--sizes 2g', '--sizes'), ('--sizes 4k,,1m', '--sizes'), ('--sizes 4k,4096', 'each value once'),
    ('--sizes 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17', 'at most 16 values'),
    (f'--align {PAGE}', '--align .*below a page'), ('--align x', '--align'),
    ('--kinds none', "--kinds 'none': expected all, or names that --kinds list prints"),
    ('--kinds ubuf,list', '--kinds'), ('--targets file', '--targets'), ('--pages large', '--pages'),
    ('--segments 0', '--segments: expected 1 to 1024'), ('--segments 1025', '--segments'),
    ('--samples 1', '--samples: expected 2 to 1000'), ('--samples 1001', '--samples'), ('--warmup 1001', '--warmup'),
    ('--size 0', '--size'), ('--volume 0', '--volume'), ('--tile --pages huge', '--tile'),
    ('--verify --tile', '--verify'), ('--keep', '--keep: expected --file'),
    ('--keep --file --targets null,zero', '--targets pagecache'), ('--dir a --dir b', '--dir'),
    ('--direction up', '--direction'), ('--form short', '--form'), ('--buffer none', '--buffer'),
    ('-n 2', 'no such option'), ('1m', "'1m': expected options only"),
    ('--size 1000t', 'half of what is available'), ('--json=/no/such/file', None),
)


def refused(tests):
    for args, why in WRONG:
        with tests.folder() as folder:
            result = run(tests, args.split(), cwd=folder)
            tests.check(f'{args}: status', 2 if why else 1, result.status)
            tests.check(f'{args}: stdout', b'', result.out)
            said = one_line(result.err, 'ioviter')
            if why:
                tests.check(f'{args}: stderr', why, result.err, said is not None and bool(re.search(why, said)))
            tests.check(f'{args}: files left', [], os.listdir(folder))


def help_text(tests):
    result = run(tests, ['--help'])
    tests.check('--help: status', (0, b''), (result.status, result.err))
    with open(GOLDEN, encoding='utf-8') as file:
        golden = file.read()
    diff = difflib.unified_diff(golden.splitlines(), result.out.decode().splitlines(), 'golden', 'now', lineterm='')
    tests.check('--help: text', '', '\n'.join(diff))
    version = run(tests, ['--version'])
    tests.check('--version', 'ioviter ...', version.out, bool(re.fullmatch(rb'ioviter \(pagemill\) \S+\n', version.out)))
    listed = run(tests, ['--kinds', 'list'])
    names = [line.split()[0] for line in listed.out.decode().splitlines()]
    tests.check('--kinds list', (0, KINDS + UNREACHABLE), (listed.status, names))
    for name, line in zip(names, listed.out.decode().splitlines()):
        tests.check(f'--kinds list: {name}', 'a reason if there is one', line, (name in UNREACHABLE) == ('not alone: ' in line))


def plan(tests):
    result = run(tests, ['--dry-run', '--kinds', 'ubuf,iovec', '--sizes', '4k,64k', '--size', '2m', '--volume', '8m'])
    tests.check('--dry-run', (0, b'', b'8 series, each 16 samples of 8m after 1 to warm up; '
                              b'the file is a memfd of 2m in memory\n'), (result.status, result.err, result.out))
    said = run(tests, ['--kinds', 'ubuf', '--dry-run', '--json'])
    tests.check('--dry-run --json', (0, b'', 1), (said.status, said.out, said.err.count(b'\n')))
    loud = run(tests, [*SMALL[1:], '--kinds', 'ubuf'])
    tests.check('plan', 1, len(re.findall(rb'2 series, each 3 samples of 4m', loud.err)))


def lines(tests):
    result = run(tests, [*SMALL, '--verify'])
    found = series_of(result.out)
    tests.check('all kinds: status', 0, result.status)
    tests.check('all kinds: names', [f'{kind}_{way}' for kind in KINDS for way in ('read', 'write')],
                list(found) if isinstance(found, dict) else found)
    for kind in UNREACHABLE:
        tests.check(f'{kind}: its reason', 1, len(re.findall(rf'^ioviter: {kind}: not alone: .*$'.encode(), result.err, re.M)))
    for way, names in (('read', ['ubuf_read']), ('write', ['ubuf_write']), ('both', ['ubuf_read', 'ubuf_write'])):
        result = run(tests, [*SMALL, '--kinds', 'ubuf', '--direction', way])
        tests.check(f'--direction {way}', names, list(series_of(result.out)))
    result = run(tests, [*SMALL, '--kinds', 'ubuf', '--sizes', '4k,1m', '--align', '0,63', '--form', 'lines'])
    tests.check('names of a matrix', [f'ubuf_{way}_{size}_align{align}' for way in ('read', 'write') for size in ('4k', '1m')
                                      for align in (0, 63)], list(series_of(result.out)))
    alone = run(tests, [*SMALL, '--kinds', 'kvec,folioq'])
    tests.check('unreachable alone', (77, b''), (alone.status, alone.out))
    tests.check('unreachable alone: why', 'two reasons', alone.err, alone.err.count(b'not alone: ') == 2)
    null = run(tests, [*SMALL, '--kinds', 'ubuf', '--targets', 'null', '--direction', 'read'])
    tests.check('reading /dev/null', (77, True), (null.status, b'/dev/null has nothing to be read' in null.err))


def table(tests):
    args = [*SMALL, '--kinds', 'ubuf,iovec,kvec', '--sizes', '4k,100000', '--targets', 'pagecache,zero,null', '--verify']
    result = run(tests, args)
    rows = [line.split() for line in result.out.decode().splitlines()]
    tests.check('table: status', 0, result.status)
    tests.check('table: head', ['kind', 'dir', 'target', 'size', 'align', 'pages', 'call', 'segs', 'avg', 'uS', 'stddev',
                                'min', 'uS', 'GB/s', 'ns/segment'], rows[0])
    cells = rows[1:1 + 2 * 2 * 3 * 2]
    tests.check('table: cells', [[kind, way, target, size, '0', 'base'] for kind in ('ubuf', 'iovec') for way in
                                 ('read', 'write') for target in ('pagecache', 'zero', 'null') for size in ('4k', '100000')],
                [row[:6] for row in cells])
    volume = 4 << 20
    for row in cells:
        name = ' '.join(row[:6])
        if row[1:3] == ['read', 'null']:
            tests.check(f'{name}: why not', 'n/a: /dev/null has nothing to be read', ' '.join(row[8:]))
            continue
        size = {'4k': 4096, '100000': 100000}[row[3]]
        # A walk through the file of 1 MiB, or through the volume of a device, ends with a shorter call.
        walk, segments = (1 << 20 if row[2] == 'pagecache' else volume), -(-size // PAGE) if row[0] == 'iovec' else 1
        last = walk % size
        each_walk = walk // size * segments + (-(-last // PAGE) if row[0] == 'iovec' else bool(last))
        tests.check(f'{name}: call and segments', [row[3], str(segments)], row[6:8])
        avg, stddev, least, rate, each = (float(x) for x in row[8:13])
        tests.check(f'{name}: min and avg', 'min <= avg', (least, avg), least <= avg and stddev >= 0)
        if avg > 100:
            tests.check(f'{name}: GB/s', volume / avg / 1e3, rate, abs(rate - volume / avg / 1e3) < 0.02 * rate + 0.01)
            want = avg * 1e3 / (volume // walk * each_walk)
            tests.check(f'{name}: ns a segment', want, each, abs(each - want) < 0.006 * each + 0.1)
    tests.check('table: unreachable', ['kvec', 'not', 'alone:'], rows[1 + len(cells)][:3])
    averages = {tuple(row[:4]): float(row[8]) for row in cells if row[8] != 'n/a:'}
    costs = result.out.decode().splitlines()[2 + len(cells):-1]
    tests.check('cpu', 'its flags', result.out, bool(CPU.fullmatch(result.out.decode().splitlines()[-1])))
    tests.check('costs', 8, len(costs))
    for line in costs:
        match = COSTS.fullmatch(line)
        tests.check('costs: a line', 'copying ... iterating ...', line, bool(match))
        if not match:
            continue
        kind, way, _, size = match[1].split('_')
        device = averages[kind, way, 'zero' if way == 'read' else 'null', size]
        tests.check(f'{match[1]}: iterating', device, int(match[3] or match[4]), abs(device - int(match[3] or match[4])) <= 1)
        tests.check(f'{match[1]}: copying', averages[kind, way, 'pagecache', size] - device, int(match[2]),
                    abs(averages[kind, way, 'pagecache', size] - device - int(match[2])) <= 2)


def calls(tests):
    """What one call moves, and in how many segments: by the table's own columns."""
    for args, kind, call, segments in (
            ('--sizes 1m --segments 3', 'iovec', 3 * PAGE, 3), ('--sizes 1m --segments 3', 'iovec_split', 3 * (PAGE - 1), 3),
            ('--sizes 1m --segments 1', 'iovec', PAGE, 1), ('--sizes 256k --segments 1024', 'iovec', 256 << 10, (256 << 10) // PAGE),
            ('--sizes 4m', 'pipe', 1 << 20, 1), ('--sizes 64m --volume 2m', 'ubuf', 1 << 20, 1),
            ('--sizes 64m --size 4m --volume 2m', 'ubuf', 2 << 20, 1), ('--sizes 5000', 'bvec', 5000, 1),
            ('--sizes 512k --tile', 'ubuf', 512 << 10, 1), ('--sizes 512k --buffer small', 'iovec', 512 << 10, (512 << 10) // PAGE),
            ('--sizes 256k --buffer small --verify', 'iovec_split', 256 << 10, -(-(256 << 10) // (PAGE - 1)))):
        result = run(tests, [*SMALL, '--form', 'table', '--kinds', kind, '--direction', 'write', *args.split()])
        row = result.out.decode().splitlines()[1].split()
        unit = {'k': 1 << 10, 'm': 1 << 20}.get(row[6][-1])
        moved = int(row[6][:-1]) * unit if unit else int(row[6])
        tests.check(f'{kind} {args}', (0, call, segments), (result.status, moved, int(row[7])))


def verified(tests):
    """Each kind both ways, at every alignment that is asked for, of odd and even sizes."""
    sizes = f'{PAGE},{PAGE + 904},65536,1048576'
    result = run(tests, [*SMALL, '--verify', '--samples', '2', '--sizes', sizes, '--align', '0,1,63', '--pages', 'base,huge'],
                 seconds=100)
    cells = [line for line in result.out.decode().splitlines()[1:] if line.split()[0] in KINDS]
    huge = [line for line in cells if line.split()[5] == 'huge' and 'n/a' in line]
    tests.check('all: status', (0, 6 * 2 * 4 * 3 * 2), (result.status, len(cells)))
    tests.check('all: measured', [], [line for line in cells if 'n/a' in line and line not in huge])
    if huge:
        tests.skip('huge pages', huge[0].split('n/a: ')[1])
    for fs in ('ext4', 'xfs'):
        with tests.folder() as folder:
            if not need_root_and_loops(tests, fs):
                return
            result = run(tests, [*SMALL, '--verify', '--fs', fs, '--fs-on', 'tmpfs', '--fs-size', '512m', '--dir', folder],
                         seconds=60)
            tests.check(f'{fs}: status', (0, 12), (result.status, len(series_of(result.out))))


def need_root_and_loops(tests, fs):
    if os.geteuid() or not os.access('/dev/loop-control', os.W_OK):
        tests.skip(f'--fs {fs}', 'needs root and loop devices')
        return False
    return True


def document(tests):
    result = run(tests, [*SMALL, '--json', '--kinds', 'ubuf,pipe,kvec', '--targets', 'pagecache,null', '--samples', '5'])
    doc = json.loads(result.out)
    tests.check('json: status', (0, 'ok'), (result.status, doc['outcome']))
    for name in ('ubuf_read_pagecache', 'ubuf_write_null', 'pipe_write_pagecache'):
        metric = doc['metrics'].get(f'{name}_ns', {})
        tests.check(f'json: {name}', ('ns', 'lower', 5), (metric.get('unit'), metric.get('better'), len(metric.get('samples', []))))
    tests.check('json: no samples of what is not', [], [name for name in doc['metrics'] if 'read_null' in name or 'kvec' in name])
    tests.check('json: reasons', True, any('kvec: not alone' in text for text in doc['warnings']) and
                any('ubuf_read_null: /dev/null' in text for text in doc['warnings']))
    tests.check('json: options', ('ubuf,pipe,kvec', 5, 1, 4 << 20), (doc['options']['kinds'], doc['options']['samples'],
                                                                   doc['options']['warmup'], doc['options']['volume_bytes']))
    rings = run(tests, [*SMALL, '--json', '--kinds', 'bvec', '--targets', 'pagecache,zero,null'])
    by_threads = [text.split(':')[0] for text in json.loads(rings.out)['warnings'] if text.endswith(": by io_uring's worker threads")]
    tests.check('json: devices need no worker threads', [], [name for name in by_threads if 'pagecache' not in name])
    told = re.search(rb'warning: (\d+) series were done by worker threads', rings.err)
    tests.check('json: who needed worker threads', int(told[1]) if told else 0, len(by_threads))
    both = run(tests, [*SMALL, '--json=result', '--kinds', 'ubuf'], cwd=tests.dir)
    with open(os.path.join(tests.dir, 'result'), encoding='utf-8') as file:
        doc = json.load(file)
    for name, (avg, stddev) in series_of(both.out).items():
        samples = doc['metrics'][f'{name}_ns']['samples']
        tests.check(f'json and line: {name}', (avg, stddev), (round(statistics.mean(samples) / 1e3),
                                                            round(statistics.stdev(samples) / 1e3)))
    window = doc['metrics']['window_ns']['samples'][0]
    tests.check('json: the window is the samples', sum(sum(m['samples']) for n, m in doc['metrics'].items() if n.startswith('ubuf')),
                window, abs(sum(sum(m['samples']) for n, m in doc['metrics'].items() if n.startswith('ubuf')) - window) < 0.05 * window + 2e6)


def memlock_is_small(tests):
    """Kinds that need io_uring are left out with the reason; the others are measured."""
    need_root()

    def before():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (64 << 10, 64 << 10))
        be_nobody()
    result = run(tests, [*SMALL, '--sizes', '1m', '--kinds', 'ubuf,bvec'], before=before)
    tests.check('memlock: status', 0, result.status)
    tests.check('memlock: lines', ['ubuf_read', 'ubuf_write'], list(series_of(result.out)))
    why = re.findall(rb'bvec_(?:read|write): .*ENOMEM: memlock limit is 64k, needed \S+: ', result.err)
    tests.check('memlock: reasons', 2, len(why))
    alone = run(tests, [*SMALL, '--sizes', '1m', '--kinds', 'bvec'], before=before)
    tests.check('memlock: alone', (77, b''), (alone.status, alone.out))


def stops(tests):
    long = ['-q', '--kinds', 'ubuf', '--size', '1m', '--volume', '64m', '--samples', '1000']
    for sig, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        with Run(tests, [*long, '--json=result'], cwd=tests.dir) as running:
            running.walking(1)
            os.kill(running.pid, sig)
            result = running.finish()
        with open(os.path.join(tests.dir, 'result'), encoding='utf-8') as file:
            doc = json.load(file)
        tests.check(f'{sig.name}: status', (status, 'interrupted'), (result.status, doc['outcome']))
        for name in ('ubuf_read_ns', 'ubuf_write_ns'):
            tests.check(f'{sig.name}: {name}', 'some samples', len(doc['metrics'].get(name, {}).get('samples', [])),
                        name not in doc['metrics'] or 0 < len(doc['metrics'][name]['samples']) < 1000)
    # Not even a sample is waited for.
    with Run(tests, ['-q', '--kinds', 'ubuf', '--size', '1m', '--volume', '1000t']) as running:
        running.walking(1)
        os.kill(running.pid, signal.SIGINT)
        result = running.finish()
    tests.check('SIGINT in a sample', (130, 0), (result.status, result.err.count(b'killed')))
    short = run(tests, [*long, '-T', '1'])
    tests.check('-T 1', (0, {'ubuf_read', 'ubuf_write'}), (short.status, set(series_of(short.out))))
    none = run(tests, [*long, '-T', '1us', '--warmup', '0'])
    tests.check('-T 1us', (1, b''), (none.status, none.out))
    tests.check('-T 1us: why', 'no series has two samples', none.err, b'no series has two samples' in none.err)


def files(tests):
    with tests.folder() as folder:
        result = run(tests, [*SMALL, '--kinds', 'ubuf', '--file', '--dir', folder])
        tests.check('--file: nothing is left', (0, []), (result.status, os.listdir(folder)))
        for args, where in (['--dir', folder], f'a scratch file of 1m in {folder}'), ([], 'a memfd of 1m in memory'):
            plan_of = run(tests, ['--dry-run', *SMALL, *args])
            tests.check(f'{args}: the file', where, plan_of.out, plan_of.out.decode().rstrip().endswith(where))
        kept = run(tests, [*SMALL, '--kinds', 'ubuf', '--file', '--dir', folder, '--keep'])
        names = os.listdir(folder)
        tests.check('--keep', (0, 1), (kept.status, len(names)))
        tests.check('--keep: size', [1 << 20], [os.path.getsize(os.path.join(folder, name)) for name in names])
        with Run(tests, ['-q', '--file', '--dir', folder, '--kinds', 'ubuf', '--samples', '1000', '--volume', '1g',
                         '--size', '1m']) as running:
            pid = running.walking(1)[0]
            os.kill(running.pid, signal.SIGKILL)
            tests.check('killed: the worker goes too', True, until(lambda: not os.path.exists(f'/proc/{pid}/stat') or
                                                                open(f'/proc/{pid}/stat', encoding='utf-8').read().split()[2] == 'Z'))
        tests.check('killed: nothing is left', names, os.listdir(folder))
    with open('/dev/full', 'wb') as full:
        lost = run(tests, [*SMALL, '--kinds', 'ubuf'], stdout=full)
        tests.check('/dev/full', 1, lost.status)


def main():
    sections = {
        'wrong': [refused, help_text, plan],
        'good': [lines, table, calls],
        'verify': [verified],
        'json': [document],
        'faults': [memlock_is_small, stops, files],
    }
    tests = Tests(sys.argv)
    return tests.run_all(sections)


sys.exit(main())
