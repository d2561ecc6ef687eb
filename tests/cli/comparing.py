# SPDX-License-Identifier: GPL-2.0-or-later
"""comparing - results made up for compare: documents with the samples that a test wants."""
import json
import os

KERNEL = '6.1.0-test'


def document(metrics, system=None, program='usemem', kernel=KERNEL, outcome='ok', workers=None,
             started='2026-01-01T00:00:00Z', version='0.1.0', options=None, environment=None, intervals=()):
    """A result; METRICS: name -> samples, or (samples, unit, better)."""
    full = {}
    for name, value in metrics.items():
        samples, unit, better = value if isinstance(value, tuple) else (value, 'bytes/s', 'higher')
        full[name] = {'unit': unit, 'better': better, 'samples': samples, 'per_worker': []}
    count = max([len(m['samples']) for m in full.values()] or [1])
    if workers is None:
        workers = [{'repetition': i, 'id': 0, 'outcome': 'ok'} for i in range(count)]
    return {
        'schema': '1', 'program': program, 'version': version, 'argv': [program], 'started': started,
        'host': {'name': 'box', 'kernel': kernel, 'kernel_version': '#1', 'machine': 'x86_64'},
        'environment': {'cpus_online': 2, 'memory_bytes': 1 << 33, **(environment or {})},
        'options': {'size_bytes': 1 << 20, 'seed': 5, **(options or {})},
        'metrics': full, 'system': system or {}, 'intervals': list(intervals), 'workers': workers,
        'outcome': outcome, 'warnings': [],
    }


def throughput(values, **how):
    """A result whose first metric is a throughput of VALUES, in KB/s."""
    return document({'throughput_bytes_per_s': [v * 1024 for v in values]}, **how)


def write(folder, name, content):
    path = os.path.join(folder, name)
    mode = 'wb' if isinstance(content, bytes) else 'w'
    with open(path, mode, **({} if mode == 'wb' else {'encoding': 'utf-8'})) as file:
        if isinstance(content, (bytes, str)):
            file.write(content)
        else:
            json.dump(content, file)
    return path


def both(folder, base, head):
    return [write(folder, 'base.json', base), write(folder, 'head.json', head)]


def rows(text):
    """The rows of the table: name -> the line."""
    lines = text.split('\n')
    start = next(i for i, line in enumerate(lines) if line.strip().startswith('\\'))
    found = {}
    for line in lines[start + 1:]:
        if not line:
            break
        found[line.split()[-1]] = line
    return found
