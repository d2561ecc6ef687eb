# SPDX-License-Identifier: GPL-2.0-or-later
"""page - compare's page of HTML in a real browser: no error, a table that sorts, and pictures to look at.

python3 page.py COMPARE LOGS

The pictures, of a desktop, a phone and a dark screen, are written to LOGS/page-*.png."""
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
import comparing as c  # noqa: E402
from harness import Tests, run  # noqa: E402

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError:
    print('skipped: no python3-selenium')
    sys.exit(77)

SHAPES = [('desktop', 1280, 900, False), ('phone', 390, 844, False), ('dark', 1280, 900, True)]


def browser(width, height, dark):
    options = webdriver.ChromeOptions()
    for flag in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'):
        options.add_argument(flag)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    driver = webdriver.Chrome(service=Service(shutil.which('chromedriver')), options=options)
    driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride',
                           {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': width < 600})
    driver.execute_cdp_cmd('Emulation.setEmulatedMedia',
                           {'features': [{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}]})
    return driver


def sides(folder):
    """Two kernels that differ in much, and one sample far off."""
    files = []
    for name, factor in (('base', 1), ('head', 0.9)):
        rng = random.Random(name)
        around = lambda mean, n=8: [mean * (1 + 0.01 * rng.gauss(0, 1)) for _ in range(n)]  # noqa: E731
        points = [{'repetition': r, 'elapsed_ns': k * 10**9, 'bytes': int(k * factor * (1 << 30) * rng.uniform(.97, 1.03))}
                  for r in range(8) for k in range(1, 11)]
        system = {f'proc-vmstat.m{i}': around(1000 * 10**(i % 4) * (factor if i % 3 else 1)) for i in range(30)}
        system['proc-vmstat.gone'] = around(5000 if name == 'base' else 0)
        system['proc-vmstat.new'] = around(0 if name == 'base' else 5000)
        document = c.document({'throughput_bytes_per_s': around(factor * 4e9), 'latency_p99_ns': (around(2.5e6 / factor), 'ns', 'lower'),
                               'total_bytes': ([1 << 34] * 8, 'bytes', 'higher')},
                              system, intervals=points, kernel={'base': '6.1.0', 'head': '6.2.0-rc1'}[name])
        files.append(c.write(folder, name + '.json', document))
    return files


def column(driver, at):
    return [row.find_elements(By.TAG_NAME, 'td')[at].get_attribute('data-x')
            for row in driver.find_elements(By.CSS_SELECTOR, 'tbody tr')]


def check_sorting(t, driver):
    buttons = driver.find_elements(By.CSS_SELECTOR, 'th button')
    t.check('columns', ['metric', 'base', 'change', 'head', 'verdict'], [b.text for b in buttons])
    for at, button in enumerate(buttons):
        for way in ('ascending', 'descending'):
            driver.execute_script('arguments[0].click()', button)
            got = column(driver, at)
            known = [x for x in got if x is not None]
            key = float if at else str.lower
            t.check(f'column {at}, {way}', sorted(known, key=key, reverse=way == 'descending'), known)
            t.check(f'column {at}, {way}: unknown at the end', [None] * (len(got) - len(known)), got[len(known):])
            t.check(f'column {at}: told', way, button.find_element(By.XPATH, '..').get_attribute('aria-sort'))


def check_shape(t, page, logs, shape):
    name, width, height, dark = shape
    driver = browser(width, height, dark)
    try:
        driver.get('file://' + page)
        wide = driver.execute_script('return document.documentElement.scrollWidth')
        t.check(f'{name}: fits', True, wide <= width)
        paper = driver.execute_script('return getComputedStyle(document.body).backgroundColor')
        t.check(f'{name}: paper', dark, paper != 'rgb(255, 255, 255)')
        t.check(f'{name}: pictures', True, len(driver.find_elements(By.TAG_NAME, 'svg')) >= 10)
        driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': min(3000, driver.execute_script('return document.documentElement.scrollHeight')),
            'deviceScaleFactor': 1, 'mobile': width < 600})
        driver.save_screenshot(os.path.join(logs, f'page-{name}.png'))
        if name == 'desktop':
            check_sorting(t, driver)
        t.check(f'{name}: console', [], [entry['message'] for entry in driver.get_log('browser')])
        asked = [entry['message'] for entry in driver.get_log('performance') if 'Network.requestWillBeSent"' in entry['message']]
        t.check(f'{name}: nothing but itself', [], [a for a in asked if 'file://' not in a and 'data:,' not in a])
    finally:
        driver.quit()


def main():
    compare, logs = sys.argv[1:3]
    if not shutil.which('chromedriver') or not shutil.which('chromium'):
        print('skipped: no chromium, or no chromedriver')
        return 77
    t = Tests([sys.argv[0], compare])

    def opened(tests):
        with tempfile.TemporaryDirectory(prefix='pagemill-page-') as folder:
            page = os.path.join(folder, 'page.html')
            result = run(tests, ['--html', page, *sides(folder)])
            tests.check('written', (0, b''), (result.status, result.err))
            for shape in SHAPES:
                check_shape(tests, page, logs, shape)
    return t.run_all({'page': [opened]})


if __name__ == '__main__':
    sys.exit(main())
