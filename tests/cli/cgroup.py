# SPDX-License-Identifier: GPL-2.0-or-later
"""cgroup - what a memory cgroup makes of N% sizes, and what --summary says of its events.

Usage: cgroup.py BINARY [SECTION]...
"""
import re
import sys

sys.dont_write_bytecode = True
from faults import memory_cgroup                            # noqa: E402
from harness import MIB, Tests, brief, read_lines, run      # noqa: E402

ROOM = 64 * MIB
PLAN = re.compile(r'^(\d+) tasks?, each writes (\d+)(k?) ', re.MULTILINE)
EVENTS = re.compile(rb'^events of the memory cgroup:((?: \w+ \d+)+)$', re.MULTILINE)


def planned(out):
    """Bytes of all tasks of --dry-run together."""
    found = PLAN.search(out.decode(errors='replace'))
    return int(found[1]) * int(found[2]) * (1024 if found[3] else 1) if found else None


def percentages(tests):
    """Of what the group may hold, less what little the program itself takes there."""
    with memory_cgroup(ROOM) as enter:
        for args, percent in ((['50%'], 50), (['-n', '4', '50%'], 50), (['-t', '2', '25%'], 25), (['90%'], 90)):
            result = run(tests, ['--dry-run', *args], before=enter)
            row = f'{args} in a cgroup of 64 MiB'
            tests.check(f'{row}: status', 0, result.status)
            most = ROOM * percent // 100
            total = planned(result.out)
            tests.check(f'{row}: bytes', f'{most * 9 // 10} to {most}', result.out,
                        total is not None and most * 9 // 10 <= total <= most)
        result = run(tests, ['50%'], before=enter)
        tests.check('50% is walked: status', 0, result.status)
        walked = [line[1] for line in read_lines(result.out) if line[0] == 'W']
        tests.check('50% is walked', '90 to 100 % of 32 MiB', brief(read_lines(result.out)),
                    len(walked) == 1 and ROOM * 45 // 100 <= walked[0] <= ROOM // 2)


def events_of(out):
    """{'max': 0, 'oom_kill': 0}; {} without exactly one such line."""
    found = EVENTS.findall(out)
    words = found[0].decode().split() if len(found) == 1 else []
    return dict(zip(words[::2], map(int, words[1::2])))


def events(tests):
    """The page cache of a file is charged too, and makes room for itself at the limit. Swap is not
    limited here: with cgroup v1 memory and swap would come to a limit of their own first, and there
    are kernels (6.18) that count nowhere how often."""
    with memory_cgroup(ROOM, no_swap=False) as enter, tests.folder() as folder:
        for args, hit in ((['16m'], False), (['-f', folder + '/file', '-j', '4096', '128m'], True)):
            result = run(tests, ['--summary', *args], before=enter)
            row = f'--summary {args[0]} in a cgroup of 64 MiB'
            tests.check(f'{row}: status', 0, result.status)
            found = events_of(result.out)
            tests.check(f'{row}: max', 'more than 0' if hit else 0, found.get('max'),
                        'max' in found and (found['max'] > 0) == hit)
            tests.check(f'{row}: oom_kill', 0, found.get('oom_kill'))


sections = {
    'percentages': [percentages],
    'events': [events],
}

if __name__ == '__main__':
    the_tests = Tests(sys.argv)
    sys.exit(the_tests.run_all(sections))
