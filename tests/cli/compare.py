# SPDX-License-Identifier: GPL-2.0-or-later
"""compare - its verdicts, its table, its forms, and what it refuses.

python3 compare.py BINARY [SECTION]..."""
import json
import os
import random
import re
import shlex
import signal
import sys

import comparing as c
from harness import Run, Tests, one_line, run, until

FLAT = [1000, 1001, 999, 1002, 998]
LOW = [900, 901, 899, 902, 898]


def noisy(seed, middle, share, count):
    rng = random.Random(seed)
    return [middle * (1 + share * rng.gauss(0, 1)) for _ in range(count)]


def text_of(t, row, args, status=0, **how):
    result = run(t, args, **how)
    t.check(f'{row}: status', status, result.status)
    t.check(f'{row}: stderr', b'', result.err)
    return result.out.decode()


# The verdict

def verdicts(t):
    table = [
        # name, base, head, options, what the first line has
        ('clear regression', FLAT, LOW, [], ['regression of -10.0 %', '1000 KB/s -> 900 KB/s', 'p = 0.0079']),
        ('clear improvement', LOW, FLAT, [], ['improvement of +11.1 %']),
        ('three runs', FLAT[:3], LOW[:3], [], ['the data suggests a regression of -10.0 %', '; 1 more run a side would settle it']),
        ('two runs', FLAT[:2], LOW[:2], [], ['suggests', '; 2 more runs a side would settle it']),
        ('one run', FLAT[:1], LOW[:1], [], ['-10.0 %', 'nothing can be said about noise']),
        ('one against five', FLAT[:1], LOW, [], ['nothing can be said about noise']),
        ('nothing', FLAT, [1001, 1000, 1002, 999, 998], [], ['no change larger than 0.']),
        ('the same', [5, 5, 5], [5, 5, 5], [], ['no change, 5 KB/s in every run']),
        ('real but small', noisy(1, 1000, .0005, 10), noisy(2, 990, .0005, 10), [], ['a real but small change of -', 'threshold of 2 %']),
        ('small matters', noisy(1, 1000, .0005, 10), noisy(2, 990, .0005, 10), ['--threshold', '0.5%'], ['regression of -']),
        ('a threshold of its own', FLAT, LOW, ['--threshold', '*.throughput=20%'], ['real but small', 'threshold of 20 %']),
        ('the last one counts', FLAT, LOW, ['--threshold', '50%', '--threshold', '1%'], ['regression']),
        ('undecided', [1000, 1100, 900, 1050, 950], [1010, 1120, 890, 1060, 940], [], ['undecided', 'more run']),
        ('three alike', [1000] * 3, [900] * 3, [], ['the data suggests a regression', '1 more run a side']),
        ('two against five, alike', [1000] * 2, [900] * 5, [], ['the data suggests a regression']),
        ('one and the same', [5], [5], [], ['nothing can be said about noise']),
        ('the robot', [10, 11, 12], [20, 21, 22], ['--rule', 'robot'], ["apart by the robot's rule"]),
        ('the robot, overlapping', [10, 11, 30], [20, 21, 22], ['--rule', 'robot'], ['undecided']),
    ]
    for name, base, head, args, wanted in table:
        with t.folder() as folder:
            out = text_of(t, name, [*args, *c.both(folder, c.throughput(base), c.throughput(head))])
            first = out.split('\n')[0]
            t.check(f'{name}: names', True, first.startswith('head: usemem.throughput: '))
            for part in wanted:
                t.check(name, part, first, part in first)


def lower_is_better(t):
    """The same change is for the better or for the worse by what the metric says."""
    for better, word in (('lower', 'improvement'), ('higher', 'regression'), ('', 'decrease')):
        with t.folder() as folder:
            files = c.both(folder, c.document({'latency_ns': (FLAT, 'ns', better)}),
                           c.document({'latency_ns': (LOW, 'ns', better)}))
            out = text_of(t, better, files)
            t.check(better, word, out.split('\n')[0], f'{word} of -10.0 %' in out.split('\n')[0])


def corrected(t):
    """With many metrics a difference that chance makes is none; the first is what was asked."""
    with t.folder() as folder:
        base = {'throughput_bytes_per_s': [v * 1024 for v in FLAT]}
        head = {'throughput_bytes_per_s': [v * 1024 for v in LOW]}
        for i in range(20):
            base[f'm{i}'] = (noisy(i, 1000, .05, 5), 'ns', 'lower')
            head[f'm{i}'] = (noisy(100 + i, 1000, .05, 5), 'ns', 'lower')
        # Not apart, but p is below 5 %: 0.032.
        base['m7'] = ([1, 2, 3, 4, 10], 'ns', 'lower')
        head['m7'] = ([9, 11, 12, 13, 14], 'ns', 'lower')
        alone = text_of(t, 'alone', ['--metric', '*.m7', *c.both(folder, c.document(base), c.document(head))])
        t.check('alone', 'regression', alone.split('\n')[0], 'regression of +' in alone)
        out = text_of(t, 'among many', c.both(folder, c.document(base), c.document(head)))
        t.check('the first', 'regression', out.split('\n')[0], 'regression of -10.0 %' in out.split('\n')[0])
        line = next(line for line in out.split('\n') if 'usemem.m7:' in line)
        t.check('among many', 'undecided', line, 'undecided' in line)


def claims(t):
    with t.folder() as folder:
        files = c.both(folder, c.throughput(noisy(3, 394413, .005, 27)), c.throughput(noisy(4, 395005, .005, 27)))
        for claim, word in (('-16.9%', 'excludes'), ('0.1%', 'does not settle'), ('+50%', 'excludes')):
            out = text_of(t, claim, ['--claim', claim, *files])
            t.check(claim, word, out, f'the data {word} a change of {float(claim[:-1]):+g} %' in out)
        out = text_of(t, 'supports', ['--claim=-10%', *c.both(folder, c.throughput(FLAT), c.throughput(LOW))])
        t.check('supports', 'supports', out, 'the data supports a change of -10 %' in out)
        out = text_of(t, 'single', ['--claim=-10%', *c.both(folder, c.throughput([1]), c.throughput([2]))])
        t.check('single', 'does not settle', out, 'does not settle a change of -10 % (it has no interval)' in out)
        # What no verdict holds up is not supported, whichever interval it lies in.
        files = c.both(folder, c.throughput([100, 101, 99, 102, 98, 100, 101]), c.throughput([90, 91, 89, 92, 88, 90, 300]))
        out = text_of(t, 'contradicts', ['--claim', '+50%', *files])
        t.check('contradicts', 'does not settle', out, 'does not settle a change of +50 %' in out)
        for base, head in (([5, 5, 5], [5, 5, 5]), ([1000, 1000], [900, 900])):
            out = text_of(t, 'constant', ['--claim', '1%', *c.both(folder, c.throughput(base), c.throughput(head))])
            t.check('constant', 'does not settle', out, 'does not settle a change of +1 %' in out and 'nan' not in out)
        sides = [c.write(folder, f'{i}.json', c.throughput(values)) for i, values in enumerate((FLAT, FLAT[::-1], LOW))]
        document = json.loads(text_of(t, 'two heads', ['--json', '--claim=-10%', sides[0], '--', sides[1], '--', sides[2]]))
        t.check('two heads', ['excludes', 'supports'], [claim.split()[2] for claim in document['claims']])


def gates(t):
    table = [
        ('regression', FLAT, LOW, 3), ('improvement', LOW, FLAT, 0), ('suggested', FLAT[:3], LOW[:3], 4),
        ('none', FLAT, [1001, 1000, 1002, 999, 998], 0), ('single', [1], [1.5], 4), ('same', [2, 2], [2, 2], 0), ('one and the same', [5], [5], 4),
        ('undecided', [1000, 1100, 900, 1050, 950], [1010, 1120, 890, 1060, 940], 4),
    ]
    for name, base, head, status in table:
        with t.folder() as folder:
            files = c.both(folder, c.throughput(base), c.throughput(head))
            text_of(t, f'gate, {name}', ['--gate', *files], status)
            text_of(t, f'no gate, {name}', files, 0)
    with t.folder() as folder:
        # Half of the head's runs are gone; the other half is as fast as ever.
        lost = [{'repetition': i, 'id': 0, 'outcome': 'lost' if i % 2 else 'ok'} for i in range(10)]
        text_of(t, 'gate, lost', ['--gate', *c.both(folder, c.throughput(FLAT), c.throughput(FLAT * 2, workers=lost))], 4)
        other = c.throughput(FLAT, options={'size_bytes': 5})
        text_of(t, 'gate, another size', ['--gate', *c.both(folder, c.throughput(FLAT), other)], 4)
        # Another metric is undecided, which matters only to those who ask for it.
        wild = [[1000, 1100, 900, 1050, 950], [1010, 1120, 890, 1060, 940]]
        files = c.both(folder, *(c.document({'throughput_bytes_per_s': FLAT, 'x_ns': (x, 'ns', 'lower')}) for x in wild))
        text_of(t, 'gate, another metric', ['--gate', *files], 0)
        text_of(t, 'gate, asked for', ['--gate', '--metric', '*', *files], 4)


def invalid(t):
    """Runs that went wrong are counted, not averaged in."""
    lost = [{'repetition': i, 'id': w, 'outcome': 'lost' if (i, w) == (1, 1) else 'ok'} for i in range(3) for w in range(2)]
    with t.folder() as folder:
        files = c.both(folder, c.throughput([1000, 5, 1002], workers=lost), c.throughput([1000, 1001, 1002]))
        out = text_of(t, 'lost', files)
        t.check('lost: counted', '2 of 3', out, 'base: 2 of 3 runs valid' in out)
        t.check('lost: listed', True, '          1:3          -33%            :3     usemem.lost_a_worker' in out)
        document = json.loads(text_of(t, 'lost, json', ['--json', *files]))
        t.check('lost: not averaged', [1000, 1002], document['metrics'][0]['base']['samples'])
        t.check('lost: which', [('lost a worker', 1)], [(f['fault'], f['repetition']) for f in document['sides'][0]['faults']])
        files = c.both(folder, c.document({'throughput_bytes_per_s': [0, 1024], 'total_bytes': ([0, 5], 'bytes', 'higher')}),
                       c.throughput([1, 2]))
        out = text_of(t, 'no work', files)
        t.check('no work', True, 'usemem.did_no_work' in out and '1 of 2 runs valid' in out)
        stopped = [{'repetition': 0, 'id': 0, 'outcome': 'interrupted'}]
        files = c.both(folder, c.throughput([7], workers=stopped, outcome='interrupted'), c.throughput([1, 2]))
        result = run(t, files)
        t.check('none left', (1, True), (result.status, b'none of its 1 runs is valid' in result.err))
        files = c.both(folder, c.document({}, outcome='failed', workers=[]), c.throughput([1, 2]))
        t.check('failed', 1, run(t, files).status)
        for i in range(3):
            c.write(folder, f'many{i}.json', c.throughput([100 + i]))
        c.write(folder, 'many9.json', c.document({}, outcome='failed', workers=[]))
        many = [os.path.join(folder, f'many{i}.json') for i in (0, 1, 2, 9)]
        out = text_of(t, 'one of four', [*many, '--', *many[:3]])
        t.check('one of four', True, '3 of 4 runs valid' in out and 'usemem.failed' in out)


def several_a_run(t):
    """ioviter takes all its samples in one run: they are not more runs, and fall with it."""
    one = [{'repetition': 0, 'id': 0, 'outcome': 'ok'}]
    metrics = {'throughput_bytes_per_s': [1024.], 'ubuf_read_ns': (FLAT, 'ns', 'lower')}
    with t.folder() as folder:
        files = c.both(folder, c.document(metrics, workers=one), c.document({**metrics, 'ubuf_read_ns': (LOW, 'ns', 'lower')}, workers=one))
        out = text_of(t, 'several', ['--metric', '*ubuf*', *files])
        t.check('several', True, out.startswith('head: usemem.ubuf_read_ns: improvement of -10.0 %') and '1 of 1 runs valid' in out)
        steps = [1000 + 10 * i for i in range(10)]
        drifting = c.document({'ubuf_read_ns': (steps, 'ns', 'lower')}, workers=one)
        out = text_of(t, 'several, drifting', c.both(folder, drifting, drifting))
        t.check('several, drifting', True, 'drift by +' in out)
        # Of several runs each is one: what differs within them is not what differs between them.
        many = [c.write(folder, f'{side}{i}.json', c.document({'ubuf_read_ns': ([v * f for v in FLAT], 'ns', 'lower')}, workers=one))
                for side, f in (('b', 1), ('h', .9)) for i in range(3)]
        document = json.loads(text_of(t, 'runs', ['--json', *many[:3], '--', *many[3:]]))
        t.check('runs', [1000.] * 3, document['metrics'][0]['base']['samples'])
        t.check('runs: no warning', [], document['warnings'])
        document = json.loads(text_of(t, 'one run', ['--json', many[0], many[3]]))
        t.check('one run', 2, sum('are of one start' in warning for warning in document['warnings']))
        lost = [{'repetition': 0, 'id': 0, 'outcome': 'lost'}]
        result = run(t, c.both(folder, c.document(metrics, workers=lost), c.document(metrics, workers=one)))
        t.check('several, lost', 1, result.status)


def files_are_units(t):
    """Repetitions of one start of the program are no starts."""
    with t.folder() as folder:
        files = [c.write(folder, f'{side}{i}.json', c.throughput([middle + k for k in range(5)]))
                 for side, middles in (('b', (1000, 1050, 1100)), ('h', (960, 1010, 1060))) for i, middle in enumerate(middles)]
        document = json.loads(text_of(t, 'units', ['--json', *files[:3], '--', *files[3:]]))
        head = document['metrics'][0]['heads'][0]
        t.check('units', [1002., 1052., 1102.], document['metrics'][0]['base']['samples'])
        t.check('units: no verdict', 'undecided', head['verdict'])
        out = text_of(t, 'ns and us', ['--all', *c.both(folder, c.document({'x': (FLAT, 'ns', 'lower')}), c.document({'x': (FLAT, 'ns', 'lower')}))])
        result = run(t, c.both(folder, c.document({'x': (FLAT, 'ns', 'lower')}), c.document({'x': (FLAT, 'us', 'lower')})))
        t.check('other units', (1, True), (result.status, b"usemem.x in 'us', other files in 'ns'" in result.err))
        name = 'perf-profile.children.cycles-pp.' + 'x' * 400
        found = c.rows(text_of(t, 'long names', ['--all', *c.both(folder, *(c.document({'x': FLAT}, {name + 'a': [1] * 5, name + 'b': [2] * 5})
                                                                           for _ in range(2)))]))
        t.check('long names', ['usemem.x', name + 'a', name + 'b'], list(found))
        out = text_of(t, 'lone', c.both(folder, c.document({'x': FLAT, 'y': FLAT}, {'vmstat.a': FLAT}), c.document({'x': FLAT}, {'vmstat.b': FLAT})))
        t.check('lone', True, 'head has not (vmstat.a)' in out and 'base has not (vmstat.b)' in out and 'usemem.y: head has no valid run with it' in out)
        mixed = [c.write(folder, f'm{i}.json', c.throughput([1], environment={'governor': name})) for i, name in enumerate(('performance', 'powersave'))]
        out = text_of(t, 'mixed machine', [*mixed, '--', mixed[0]])
        t.check('mixed machine', True, 'its files differ in environment.governor' in out)
        out = text_of(t, 'suggested', c.both(folder, c.throughput(FLAT[:3]), c.throughput(LOW[:3])))
        t.check('suggested', True, 'Only suggested, with too few runs for the test: usemem.throughput' in out)
        lost = [{'repetition': 0, 'id': 0, 'outcome': 'lost'}, *({'repetition': i, 'id': 0, 'outcome': 'ok'} for i in range(1, 300))]
        out = text_of(t, 'one of 300', c.both(folder, c.throughput([1] * 300, workers=lost), c.throughput([1] * 300)))
        t.check('one of 300', False, '-0%' in out)


def warnings(t):
    """One each, with what to do; none for what is as it should be."""
    steady = [1000, 1003, 998, 1001, 997, 1002, 999, 1004, 1000, 996]
    table = [
        ('drift', [1000 + 10 * i for i in range(10)], 'drift by +'),
        ('first', [800, *steady], 'the first run is unlike the rest'),
        ('groups', [1000, 1300, 1001, 1301, 999, 1299, 1002, 1300, 1302, 998], 'two groups of 5 and 5'),
        ('outlier', [1000, 1003, 998, 1001, 997, 1500, 999, 1004, 1000, 996], '1 of 10 runs are far'),
        ('steady', steady, None),
    ]
    texts = [wanted for _, _, wanted in table if wanted]
    for name, samples, wanted in table:
        with t.folder() as folder:
            files = c.both(folder, c.throughput(samples), c.throughput(steady))
            out = text_of(t, name, files)
            t.check(name, [wanted] if wanted else [], [text for text in texts if text in out])
            t.check(f'{name}, silent', False, any(text in text_of(t, name, ['--no-warn', *files]) for text in texts))
    # The order is that of the clock, not of the arguments.
    with t.folder() as folder:
        files = [c.write(folder, f'{i}.json', c.throughput([1000 + 10 * i], started=f'2026-01-01T00:0{i}:00Z')) for i in range(10)]
        mixed = [files[i] for i in (3, 7, 1, 9, 0, 5, 2, 8, 6, 4)]
        out = text_of(t, 'order', [*mixed, '--', c.write(folder, 'head.json', c.throughput(steady))])
        t.check('order', True, 'drift by +' in out)


# The table

# Of the robot's mail about copy-file: mean and deviation in percent of both sides.
SEED = '''
      1627           -14.9%       1385        stress-ng.copy-file.ops
     27.01           -15.0%      22.96        stress-ng.copy-file.ops_per_sec
   8935079           -11.9%    7870629        stress-ng.time.file_system_outputs
     14.88 ±  5%     -31.8%      10.14 ±  3%  stress-ng.time.percent_of_cpu_this_job_got
     50912           -14.7%      43413        vmstat.io.bo
     93.78            +1.4%      95.10        iostat.cpu.idle
      3.89           -31.6%       2.66        iostat.cpu.iowait
      4.01            -1.3        2.74        mpstat.cpu.all.iowait%
      0.23 ±  9%      -0.1        0.17 ± 11%  mpstat.cpu.all.sys%
      1.66 ± 37%      -1.2        0.51 ± 55%  perf-profile.calltrace.cycles-pp.f2fs_write_end.generic_perform_write.f2fs_buffered_write_iter.f2fs_file_write_iter.do_iter_readv_writev
      1.66 ± 37%      -1.1        0.59 ± 25%  perf-profile.children.cycles-pp.f2fs_write_end
      1.51 ± 40%      -1.1        0.45 ± 26%  perf-profile.children.cycles-pp.f2fs_dirty_data_folio
      1.21 ± 49%      -1.0        0.23 ± 33%  perf-profile.children.cycles-pp.f2fs_update_dirty_folio
      0.88 ± 56%      -0.8        0.04 ±111%  perf-profile.children.cycles-pp.native_queued_spin_lock_slowpath
      0.14 ± 26%      +0.1        0.25 ± 28%  perf-profile.children.cycles-pp.page_cache_ra_unbounded
      0.88 ± 56%      -0.8        0.04 ±112%  perf-profile.self.cycles-pp.native_queued_spin_lock_slowpath
   3164876 ±  9%     -20.2%    2524713 ±  7%  perf-stat.i.cache-misses
 4.087e+08            -4.6%  3.899e+08        perf-stat.i.dTLB-loads
    313050 ± 10%     -18.4%     255410 ±  6%  perf-stat.i.node-loads
    972573 ±  9%     -16.4%     812873 ±  6%  perf-stat.i.node-stores
   3114748 ±  9%     -20.2%    2484807 ±  7%  perf-stat.ps.cache-misses
 4.022e+08            -4.6%  3.837e+08        perf-stat.ps.dTLB-loads
    308178 ± 10%     -18.4%     251418 ±  6%  perf-stat.ps.node-loads
    956996 ±  9%     -16.4%     799948 ±  6%  perf-stat.ps.node-stores
    358486            -8.3%     328694        proc-vmstat.nr_active_file
   1121620           -11.9%     987816        proc-vmstat.nr_dirtied
    179906            -6.7%     167912        proc-vmstat.nr_dirty
   1151201            -1.7%    1131322        proc-vmstat.nr_file_pages
    100181            +9.9%     110078 ±  2%  proc-vmstat.nr_inactive_file
    846362           -14.6%     722471        proc-vmstat.nr_written
    358486            -8.3%     328694        proc-vmstat.nr_zone_active_file
    100181            +9.9%     110078 ±  2%  proc-vmstat.nr_zone_inactive_file
    180668            -6.8%     168456        proc-vmstat.nr_zone_write_pending
    556469            -3.5%     536985        proc-vmstat.pgactivate
   3385454           -14.6%    2889953        proc-vmstat.pgpgout
'''.strip('\n').split('\n')


def with_deviation(mean, percent):
    """Four samples of that mean and, in percent of it, that deviation of the population."""
    step = mean * percent / 100
    return [mean - step, mean + step, mean - step, mean + step]


# The robot took its percentages from more digits than it shows.
EXACT = {
    'stress-ng.time.percent_of_cpu_this_job_got': (14.876, 10.144),
    'perf-profile.calltrace.cycles-pp.f2fs_write_end.generic_perform_write.f2fs_buffered_write_iter.'
    'f2fs_file_write_iter.do_iter_readv_writev': (1.664, 0.506),
    'perf-profile.children.cycles-pp.f2fs_write_end': (1.66, 0.591),
}


def of_row(line):
    """The two sets of samples that a row was made from, as far as it tells."""
    form = re.compile(r'\s*(\S+)(?: ±\s*(\d+)%)?\s+[-+][\d.]+%?\s+(\S+)(?: ±\s*(\d+)%)?\s+(\S+)')
    base, base_dev, head, head_dev, name = form.fullmatch(line).groups()
    # A deviation that shows as 2 % is above that.
    deviations = [2.2 if d == '2' else float(d or 0) for d in (base_dev, head_dev)]
    means = EXACT.get(name, (float(base), float(head)))
    return name, with_deviation(means[0], deviations[0]), with_deviation(means[1], deviations[1])


def robot_sides():
    sides = []
    for which in (1, 2):
        metrics, system = {}, {}
        for row in map(of_row, SEED):
            if row[0].startswith('stress-ng.copy-file.'):
                metrics[row[0][len('stress-ng.'):]] = (row[which], '', 'higher')
            else:
                system[row[0]] = row[which]
        # The order of the file does not matter for the system's.
        system = dict(sorted(system.items(), key=lambda item: item[0][::-1]))
        sides.append(c.document(metrics, system, program='stress-ng'))
    return sides


def robots_rows(t):
    with t.folder() as folder:
        base = c.write(folder, '4cbfca5f7750520f6ab3d9c2.json', robot_sides()[0])
        head = c.write(folder, '0568e6122574dcc1aded2979cd0245038efe22b6.json', robot_sides()[1])
        lines = text_of(t, 'all', ['--all', base, head]).split('\n')
        at = lines.index('---------------- ---------------------------')
        t.check('head', [
            '4cbfca5f7750520f 0568e6122574dcc1aded2979cd0 ',
            '---------------- ---------------------------',
            '         %stddev     %change         %stddev',
            '             \\          |                \\',
        ], lines[at - 1:at + 3])
        for i, row in enumerate(SEED):
            t.check(f'row {i}', row, lines[at + 3 + i])
        t.check('end', '', lines[at + 3 + len(SEED)])
        # By our rules the wide ones are not told, and the rest is as it was.
        found = c.rows(text_of(t, 'rows', ['--threshold', '1%', base, head]))
        wide = [row for row in SEED if any(int(d) >= 26 for d in re.findall(r'±\s*(\d+)%', row))]
        t.check('rows', [row for row in SEED if row not in wide or row.split()[-1] in found], list(found.values()))
        t.check('not told', True, len(found) >= len(SEED) - len(wide))


def columns(t):
    """Whatever the values, the columns stay where they are, and nothing is no number."""
    values = [0, 1e-9, -1e-9, 0.004, 1, 999.994, 999.996, 1000, 12345.9, 99999999, 1e8, 123456789, 1e15, -5, -1e9]
    with t.folder() as folder:
        base, head = {}, {}
        for i, x in enumerate(values):
            for k, y in enumerate(values):
                base[f'vmstat.m{i:02}_{k:02}'] = [x, x, x]
                head[f'vmstat.m{i:02}_{k:02}'] = [y, y, y]
                base[f'mpstat.s{i:02}_{k:02}%'] = [x, x * 1.5, x]
                head[f'mpstat.s{i:02}_{k:02}%'] = [y, y * 3, y]
        out = text_of(t, 'columns', ['--all', *c.both(folder, c.document({'x': FLAT[:3]}, base), c.document({'x': FLAT[:3]}, head))])
        found = c.rows(out)
        t.check('rows', 2 * len(values) ** 2 + 1, len(found))
        form = re.compile(r'.{10}(      | ±[ \d]{3}%)([ +\-.\de]{10}[% ]|        new) .{10}(      | ±[ \d]{3}%)  \S+')
        for name, line in found.items():
            t.check(name, 'columns', line, form.fullmatch(line) is not None and line[16:27].strip() != '')
            t.check(name, 'numbers', line, not re.search(r'nan|inf|-0\.0+(%| )|-0 ', line))
        t.check('new', 'new', found['vmstat.m00_04'][16:27].strip())
        t.check('gone', '-100.0%', found['vmstat.m04_00'][16:27].strip())
        t.check('both nothing', '+0.0%', found['vmstat.m00_00'][16:27].strip())
        t.check('huge', '+1e+26%', found['vmstat.m01_12'][16:27].strip())
        t.check('truncated', '     12345', found['vmstat.m08_08'][:10])
        t.check('four digits', ' 1.235e+08', found['vmstat.m11_11'][:10])
        t.check('just below', '    999.99', found['vmstat.m05_05'][:10])


def several_heads(t):
    with t.folder() as folder:
        files = [c.write(folder, f'{name}.json', c.throughput(values, kernel=name))
                 for name, values in (('v1', FLAT), ('v2', LOW), ('v3', FLAT))]
        out = text_of(t, 'heads', ['--all', files[0], '--', files[1], '--', files[2]])
        lines = out.split('\n')
        t.check('first', True, lines[0].startswith('v2: usemem.throughput: regression'))
        t.check('second', True, 'v3: usemem.throughput: no change' in out)
        at = next(i for i, line in enumerate(lines) if line.startswith('----'))
        t.check('dashes', '---------------- --------------------------- ---------------------------', lines[at])
        t.check('names', f'{"v1":>16} {"v2":>27} {"v3":>27} ', lines[at - 1])
        t.check('labels', '         %stddev     %change         %stddev     %change         %stddev', lines[at + 1])
        t.check('marks', '             \\          |                \\          |                \\', lines[at + 2])
        t.check('row', '      1000           -10.0%     900.00            +0.0%       1000        usemem.throughput', lines[at + 3])


def which_rows(t):
    """By default the changed; --all all; --metric those that fit."""
    with t.folder() as folder:
        system = {'vmstat.a': (FLAT, LOW), 'vmstat.b': (FLAT, FLAT), 'proc-vmstat.c': (FLAT, [v + 1 for v in FLAT])}
        files = c.both(folder, c.document({'x_bytes': FLAT}, {k: v[0] for k, v in system.items()}),
                       c.document({'x_bytes': FLAT}, {k: v[1] for k, v in system.items()}))
        t.check('changed', ['vmstat.a'], list(c.rows(text_of(t, 'changed', files))))
        t.check('all', ['usemem.x_bytes', 'vmstat.a', 'vmstat.b', 'proc-vmstat.c'], list(c.rows(text_of(t, 'all', ['--all', *files]))))
        t.check('metric', ['vmstat.a', 'vmstat.b'], list(c.rows(text_of(t, 'metric', ['--all', '--metric', 'vmstat.*', *files]))))
        result = run(t, ['--metric', 'nothing*', *files])
        t.check('no metric', (2, True), (result.status, b"--metric 'nothing*': expected" in result.err))
        # Unknown in one run is unknown, and not nothing.
        files = c.both(folder, c.document({'x_bytes': FLAT}, {'vmstat.u': [None, 5, None, 5, 5], 'vmstat.v': [None] * 5}),
                       c.document({'x_bytes': FLAT}, {'vmstat.u': [5, 5, 5, None, 5]}))
        found = c.rows(text_of(t, 'unknown', ['--all', *files]))
        t.check('unknown', ['usemem.x_bytes', 'vmstat.u'], list(found))
        t.check('unknown', '      5.00            +0.0%       5.00        vmstat.u', found.get('vmstat.u'))


# What is read

def helps(t):
    """The golden help text comes from: build/compare/compare --help >tests/golden/compare-help.txt"""
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'compare-help.txt')
    with open(golden, encoding='utf-8') as file:
        t.check('--help', file.read(), text_of(t, '--help', ['--help']))
    t.check('--version', True, text_of(t, '--version', ['--version']).startswith('compare '))


def inputs(t):
    with t.folder() as folder:
        os.mkdir(os.path.join(folder, 'old'))
        os.mkdir(os.path.join(folder, 'new'))
        for i in range(5):
            c.write(folder, f'old/{i}.json', c.throughput([FLAT[i]]))
            c.write(folder, f'new/{i}.json', c.throughput([LOW[i]]))
        c.write(folder, 'old/notes.txt', 'not a result')
        c.write(folder, 'old/.hidden.json', 'not a result')
        old, new = (os.path.join(folder, name) for name in ('old', 'new'))
        out = text_of(t, 'directories', [old, new])
        t.check('directories', True, out.startswith('new: usemem.throughput: regression of -10.0 %'))
        t.check('counted', True, 'base old: usemem 0.1.0, kernel 6.1.0-test, 5 of 5 runs valid' in out)
        files = [os.path.join(old, f'{i}.json') for i in range(5)]
        out = text_of(t, 'same names', [*files, '--', new])
        t.check('several files', True, f'{c.KERNEL:>16}' in out)
        with open(files[0], 'rb') as stdin:
            out = text_of(t, 'stdin', ['--name', 'here', '-', '--', new], stdin=stdin)
        t.check('stdin', True, 'base here: ' in out)
        out = text_of(t, 'names', ['--name', 'é\tx', '--name', 'two', old, new])
        t.check('names', True, 'base ???x: ' in out and f'{"two":>27}' in out)
        os.mkdir(os.path.join(folder, 'empty'))
        result = run(t, [os.path.join(folder, 'empty'), new])
        t.check('empty directory', (1, True), (result.status, b'empty has no file NAME.json' in result.err))


def refused(t):
    with t.folder() as folder:
        good = c.write(folder, 'good.json', c.throughput(FLAT))
        other = c.write(folder, 'other.json', c.throughput(FLAT, kernel='5.4'))
        build = c.throughput(FLAT)
        build['host']['kernel_version'] = '#2'
        rebuilt = c.write(folder, 'rebuilt.json', build)
        msync = c.write(folder, 'msync.json', c.throughput(FLAT, program='msync'))
        table = [
            ([], 'expected two JSON results'), ([good], 'expected two'), ([good, good, good], "3 results and no '--'"),
            (['--', good], 'expected results before the first'), ([good, '--'], 'expected results behind each'),
            ([good, '--', good, '--'], 'expected results behind each'), ([good, '--', '--all'], "'--all': expected options before"),
            (['-', '-'], "'-' is there 2 times"), ([good, other, '--', good], 'kernel is 5.4'),
            ([good, rebuilt, '--', good], 'kernel version is #2'),
            ([good, msync, '--', good], 'program is msync'), ([good, msync], 'of usemem and'),
            (['--threshold', 'x', good, good], "--threshold 'x'"), (['--threshold', '-1%', good, good], "--threshold '-1%'"),
            (['--claim', 'much', good, good], "--claim 'much'"), (['--claim', 'nan%', good, good], "--claim 'nan%'"),
            (['--rule', 'fair', good, good], '--rule'), (['--until', '1%', good, good], '--until: expected with --ab only'),
            (['--setup-a', 'true', good, good], '--setup-a: expected with --ab only'), (['--ab', 'true'], '--ab: expected two commands'),
            (['--ab', '--until', '0%', 'a', 'b'], "--until '0%'"), (['--pairs', '1000000', '--ab', 'a', 'b'], '--pairs 1000000'),
            (['--nonsense', good, good], 'nonsense'), (['--html', '-', good, good], "--html '-': expected a file"),
            (['--name', 'a', '--name', 'b', '--name', 'c', good, good], '--name is there 3 times'),
        ]
        for args, wanted in table:
            result = run(t, args)
            line = one_line(result.err, 'compare')
            t.check(f'refused {args}', (2, b'', True), (result.status, result.out, wanted in (line or '')))
            if wanted not in (line or ''):
                print('   said:', result.err)


def unreadable(t):
    """A clear line that names the file, and status 1."""
    good = json.dumps(c.throughput(FLAT))
    doubled = good.replace('"schema": "1"', '"schema": "1", "schema": "1"')
    table = [
        ('truncated', good[:len(good) // 2], 'line 1'), ('empty', '', 'empty'), ('not JSON', '<html>', 'line 1'),
        ('another schema', good.replace('"schema": "1"', '"schema": "7"'), 'schema is 7'), ('no schema', '{"a": 1}', 'schema'),
        ('a list', '[1, 2]', 'schema'), ('no metrics', json.dumps({k: v for k, v in c.throughput(FLAT).items() if k != 'metrics'}), 'metrics'),
        ('metrics a list', json.dumps({**c.throughput(FLAT), 'metrics': []}), 'metrics'),
        ('duplicate keys', doubled, 'duplicate'), ('deep', '[' * 100000 + ']' * 100000, 'depth'), ('binary', bytes(range(256)), 'line 1'),
        ('a huge number', good.replace('"seed": 5', '"seed": 1e999'), 'real number'), ('two documents', good + good, 'end of file'),
        ('large', b' ' * (100 << 20), 'larger than 64m'),
    ]
    with t.folder() as folder:
        fine = c.write(folder, 'fine.json', good)
        for name, content, wanted in table:
            bad = c.write(folder, 'bad.json', content)
            for args in ([bad, fine], [fine, bad]):
                result = run(t, args)
                line = one_line(result.err, 'compare') or ''
                t.check(f'{name}', (1, b'', True), (result.status, result.out, 'bad.json' in line and wanted in line))
                if wanted not in line:
                    print('   said:', result.err[:300])
        result = run(t, [fine, os.path.join(folder, 'missing.json')])
        t.check('missing', (1, True), (result.status, b'missing.json: No such file' in result.err))
        # A table that is of other types than ours is read as far as it is ours.
        odd = c.throughput(FLAT)
        odd['metrics']['x'] = 5
        odd['metrics']['throughput_bytes_per_s']['samples'][0] = 'many'
        odd['system'] = {'vmstat.a': 7, 'vmstat.b': [1, 'x', None, {}, 2]}
        odd['workers'].append('nobody')
        odd['intervals'] = [1, {'repetition': -1}, {'repetition': 99}]
        result = run(t, ['--all', '--html', os.path.join(folder, 'p.html'), c.write(folder, 'odd.json', odd), fine])
        t.check('odd', (0, b''), (result.status, result.err))


def differences(t):
    with t.folder() as folder:
        base = c.throughput(FLAT, options={'nproc': 1, 'method': 'read'}, environment={'governor': 'performance', 'thp': {'enabled': 'always'}})
        head = c.throughput(FLAT, kernel='6.2', version='0.2.0', options={'nproc': 4, 'method': 'read', 'seed': 9},
                            environment={'governor': 'powersave', 'thp': {'enabled': 'never'}, 'cpus_online': 8})
        out = text_of(t, 'differences', c.both(folder, base, head))
        top, rest = out.split('What else differs')
        lines = top.split('\n')
        t.check('at the top', True, lines[0].startswith('NOT COMPARABLE as they stand'))
        for path in ('environment.cpus_online: 2 in base, 8 in head', 'environment.governor: "performance" in base, "powersave" in head',
                     'options.nproc: 1 in base, 4 in head', 'version: "0.1.0" in base, "0.2.0" in head'):
            t.check('weighty', path, top, path in top)
        for path in ('environment.thp.enabled: "always" in base, "never" in head', 'host.kernel: "6.1.0-test" in base, "6.2" in head'):
            t.check('others', path, rest, path in rest and path not in top)
        t.check('unimportant', False, 'seed' in top or 'options.seed' in rest)
        t.check('equal', False, 'method' in out)
        out = text_of(t, 'none', c.both(folder, c.throughput(FLAT), c.throughput(LOW)))
        t.check('none', False, 'COMPARABLE' in out or 'What else differs' in out)
        files = [c.write(folder, f'{i}.json', c.throughput([1], options={'nproc': i})) for i in (1, 2)]
        out = text_of(t, 'mixed', [*files, '--', files[0]])
        t.check('mixed', True, 'its files differ in options.nproc:' in out)


# Forms

def forms(t):
    with t.folder() as folder:
        points = [{'repetition': 0, 'elapsed_ns': k * 10**9, 'bytes': k << 20} for k in (1, 2, 3)]
        files = c.both(folder, c.throughput(FLAT, intervals=points), c.throughput(LOW))
        document = json.loads(text_of(t, 'json', ['--json', *files]))
        first = document['metrics'][0]
        t.check('json', ('usemem.throughput', 'regression', 1000, 900),
                (first['name'], first['heads'][0]['verdict'], first['base']['median'], first['heads'][0]['set']['median']))
        t.check('json: samples', FLAT, first['base']['samples'])
        t.check('json: share', -0.1, first['heads'][0]['change_share'], abs(first['heads'][0]['change_share'] + 0.1) < 1e-9)
        single = json.loads(text_of(t, 'json, single', ['--json', *c.both(folder, c.throughput([1]), c.throughput([2]))]))
        t.check('json: unknown', (None, [None, None]), (single['metrics'][0]['heads'][0]['p'], single['metrics'][0]['heads'][0]['interval']))
        files = c.both(folder, c.throughput(FLAT, intervals=points), c.throughput(LOW))
        text = text_of(t, 'markdown', ['--markdown', *files])
        t.check('markdown', True, text.startswith('### head: usemem.throughput: regression') and text.count('```') == 2)
        page = os.path.join(folder, 'page.html')
        text_of(t, 'html', ['--html', page, *files])
        with open(page, encoding='utf-8') as file:
            html = file.read()
        t.check('html: whole', True, html.startswith('<!DOCTYPE html>') and html.endswith('</html>\n'))
        t.check('html: nothing from elsewhere', [], re.findall(r'(?:src|href)="(?!data:)[^"]*"|https?:[^"]*', html))
        t.check('html: a dot each', 10, html.count('<circle'))
        t.check('html: progress', 1, html.count('<polyline'))
        evil = c.throughput(FLAT, kernel='<script>alert(1)</script>')
        text_of(t, 'html, evil', ['--html', page, '--name', '<b>&"x"', *c.both(folder, evil, c.throughput(LOW))])
        with open(page, encoding='utf-8') as file:
            html = file.read()
        t.check('html: escaped', False, 'alert(1)</script>' in html or '<b>' in html)
        result = run(t, ['--html', os.path.join(folder, 'no', 'page.html'), *files])
        t.check('html: no folder', (1, b''), (result.status, result.out))
        with open('/dev/full', 'wb') as full:
            t.check('full', 1, run(t, files, stdout=full).status)


def same_again(t):
    """The same data and seed give the same report, byte for byte."""
    with t.folder() as folder:
        files = c.both(folder, c.throughput(noisy(1, 100, .1, 40)), c.throughput(noisy(2, 100, .1, 40)))
        first = text_of(t, 'first', files)
        t.check('again', first, text_of(t, 'again', files))
        intervals = [json.loads(text_of(t, 'json', ['--json', '--seed', seed, *files]))['metrics'][0]['heads'][0]['interval']
                     for seed in '12']
        t.check('other seed', True, intervals[0] != intervals[1])


# Two commands in turn

FAKE = '''import json, os, sys
sys.path.insert(0, {here!r})
import comparing
name, value = sys.argv[1], float(sys.argv[2])
log = {log!r}
with open(log, 'a') as file:
    file.write(name + '\\n')
with open(log) as file:
    count = file.read().split().count(name)
with open(os.environ['JSON'], 'w') as file:
    json.dump(comparing.throughput([value + count % 3]), file)
'''


def commands(folder):
    log = os.path.join(folder, 'log')
    script = c.write(folder, 'fake.py', FAKE.format(here=os.path.dirname(os.path.abspath(__file__)), log=log))
    return log, [f'{shlex.quote(sys.executable)} {shlex.quote(script)} {name} {value}' for name, value in (('a', 1000), ('b', 900))]


def pairs(t):
    with t.folder() as folder:
        log, both = commands(folder)
        out = text_of(t, 'ab', ['--ab', '--pairs', '6', *both], seconds=60)
        t.check('ab', True, out.startswith('b: usemem.throughput: regression of -10'))
        with open(log, encoding='ascii') as file:
            ran = file.read().split()
        t.check('six each', (6, 6), (ran.count('a'), ran.count('b')))
        t.check('interleaved', [{'a', 'b'}] * 6, [set(ran[i:i + 2]) for i in range(0, 12, 2)])
        t.check('in no fixed order', 2, len({tuple(ran[i:i + 2]) for i in range(0, 12, 2)}))


def helpers(t):
    with t.folder() as folder:
        log, both = commands(folder)
        say = {name: f'echo {name} >> {log}' for name in ('setup-a', 'setup-b', 'cleanup-a', 'cleanup-b')}
        args = [word for name, command in say.items() for word in (f'--{name}', command)]
        text_of(t, 'helpers', ['--ab', '--pairs', '2', *args, *both], seconds=60)
        with open(log, encoding='ascii') as file:
            ran = file.read().split()
        t.check('around each', 4, sum(ran[i:i + 3] in (['setup-a', 'a', 'cleanup-a'], ['setup-b', 'b', 'cleanup-b'])
                                      for i in range(0, len(ran), 3)))
        os.remove(log)
        result = run(t, ['--ab', '--setup-b', 'exit 9', '--cleanup-b', say['cleanup-b'], *both], seconds=60)
        t.check('set-up fails', (1, True), (result.status, b"the set-up 'exit 9' ended with status 9" in result.err))
        with open(log, encoding='ascii') as file:
            t.check('and is cleaned up', 'cleanup-b', file.read().split()[-1])
        result = run(t, ['--ab', 'true', both[0]])
        t.check('no result', (1, True), (result.status, b"'true' ended with status 0 and wrote no result" in result.err))
        result = run(t, ['--ab', 'exit 3', 'exit 3'])
        t.check('a failure', (1, True), (result.status, b'ended with status 3 and wrote no result' in result.err))


def narrow(t):
    """--until ends early where there is little noise, and not before three."""
    with t.folder() as folder:
        log, both = commands(folder)
        out = text_of(t, 'until', ['--ab', '--until', '2%', '--pairs', '9', *both], seconds=60)
        with open(log, encoding='ascii') as file:
            count = file.read().split().count('a')
        t.check('until', True, 3 <= count < 9)
        t.check('until: told', True, f'{count} of {count} runs valid' in out)


def kept(t):
    """--keep leaves the results; what can be refused is refused before anything runs."""
    with t.folder() as folder:
        log, both = commands(folder)
        place = os.path.join(folder, 'results')
        text_of(t, 'keep', ['--ab', '--pairs', '3', '--keep', place, *both], seconds=60)
        t.check('kept', [f'{side}-00{i}.json' for side in 'ab' for i in (1, 2, 3)], sorted(os.listdir(place)))
        out = text_of(t, 'compared again', [*(os.path.join(place, f'a-00{i}.json') for i in (1, 2, 3)), '--',
                                            *(os.path.join(place, f'b-00{i}.json') for i in (1, 2, 3))])
        t.check('compared again', True, 'suggests a regression of -10' in out)
        os.remove(log)
        for args in (['--keep', place], ['--keep', '/proc/no'], ['--html', os.path.join(folder, 'no', 'x.html')]):
            result = run(t, ['--ab', *args, *both], seconds=60)
            t.check(f'{args}: refused', True, result.status in (1, 2) and result.err != b'')
            t.check(f'{args}: nothing ran', False, os.path.exists(log))
        noisy = [command + '; exit 3' for command in both]
        result = run(t, ['--ab', '--pairs', '1', *noisy], seconds=60)
        t.check('a status is told', (0, 2), (result.status, result.err.count(b'ended with status 3')))


def gone(pid):
    return until(lambda: not os.path.exists(f'/proc/{pid}'))


def family(folder, started):
    """A command that begins another and waits for it; STARTED gets the pid of that."""
    path = os.path.join(folder, started)
    return path, f'sleep 1000 & echo $! > {path}.new; mv {path}.new {path}; wait'


def pid_in(path):
    if not until(lambda: os.path.exists(path)):
        raise AssertionError(f'{path} was not written')
    with open(path, encoding='ascii') as file:
        return int(file.read())


def stopped(t):
    """A signal ends the command, all it began, and the clean-up runs; so does that of a command that does not heed it."""
    for name, number, before in (('TERM', signal.SIGTERM, ''), ('INT', signal.SIGINT, ''), ('HUP', signal.SIGHUP, ''),
                                 ('QUIT', signal.SIGQUIT, ''), ('unheeded', signal.SIGTERM, 'trap "" TERM; ')):
        with t.folder() as folder:
            mark = os.path.join(folder, 'cleaned')
            started, command = family(folder, 'started')
            clean = ['--cleanup-a', f'echo a >> {mark}', '--cleanup-b', f'echo b >> {mark}']
            with Run(t, ['--ab', *clean, before + command, before + command]) as running:
                inner = pid_in(started)
                os.kill(running.pid, number)
                result = running.finish()
                t.check(f'{name}: status', 128 + number, result.status)
                t.check(f'{name}: all it began', True, gone(inner))
            t.check(f'{name}: cleaned up', True, os.path.exists(mark))
            t.check(f'{name}: no report', b'', result.out)


def killed(t):
    """Nothing is left of a command when compare is killed, nor of what it began when it has ended."""
    with t.folder() as folder:
        started, command = family(folder, 'started')
        with Run(t, ['--ab', command, command]) as running:
            inner = pid_in(started)
            os.kill(running.pid, signal.SIGKILL)
            running.finish()
            t.check('killed', True, gone(inner))
        log, both = commands(folder)
        left = os.path.join(folder, 'left')
        text_of(t, 'left behind', ['--ab', '--pairs', '1', f'sleep 1000 & echo $! > {left}; {both[0]}', both[1]], seconds=60)
        t.check('left behind', True, gone(pid_in(left)))
        result = run(t, ['--ab', '--pairs', '1', *both], seconds=60,
                     before=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        t.check('children ignored', 0, result.status)


# From the program's results to the verdict

def usemem():
    """The one that was built beside compare."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1]))), 'usemem', 'usemem')


def in_turn(t, row, other, pairs):
    """The verdicts on a walk that stays 20 us on each page, and the same with OTHER: throughput, user CPU time. The
    latter shows nothing of what else goes on here."""
    walk = f'{shlex.quote(usemem())} --json=$JSON --prealloc --prefault --repeat 10 4m --delay '
    names = ['usemem.throughput', 'usemem.time.user_time']
    wanted = [word for name in names for word in ('--metric', name)]
    result = run(t, ['--ab', '--pairs', str(pairs), '--json', *wanted, walk + '20us', walk + other], seconds=250)
    t.check(f'{row}: status', 0, result.status)
    found = {metric['name']: metric['heads'][0] for metric in json.loads(result.out)['metrics']}
    both = [found[name] for name in names]
    for verdict in both:
        print(f"{row}: {verdict['sentence']}")
    return [verdict['verdict'] for verdict in both]


def slowed(t):
    """A delay of a few percent is found."""
    for pairs in (10, 30):
        words = in_turn(t, f'slowed, {pairs} pairs', '21500ns', pairs)
        if words[1] == 'increase':
            break
    t.check('slowed', 'increase', words[1])
    t.check('throughput', 'no improvement', words[0], words[0] != 'improvement')


def same_twice(t):
    """The same command twice is no change: in 29 of 30 comparisons, so of two one at least."""
    for row in ('the same', 'the same, again'):
        words = in_turn(t, row, '20us', 8)
        if words[0] in ('undecided', 'no change'):
            break
    t.check('the same', 'undecided or no change', words[0], words[0] in ('undecided', 'no change'))


SECTIONS = {
    'verdict': [verdicts, lower_is_better, corrected, claims, gates, invalid, several_a_run, files_are_units, warnings],
    'table': [robots_rows, columns, several_heads, which_rows],
    'read': [helps, inputs, refused, unreadable, differences],
    'forms': [forms, same_again],
    'ab': [pairs, helpers, narrow, kept, stopped, killed],
    'whole': [slowed, same_twice],
}

if __name__ == '__main__':
    sys.exit(Tests(sys.argv).run_all(SECTIONS))
