"""Counts the tests of a meson run: every TAP line, not every program.

count.py TESTLOG.JSON MESON_EXIT_CODE

A test that speaks no TAP by design (meson's protocol exitcode) is one test. Any other program that crashed, ran out of time, printed no plan or not what it had planned counts as one failure more. Prints each failure and each skip with
its reason, then one closing line "N passed, N failed" (", N skipped" when there are some), and exits 0 only if nothing failed and something passed.
"""
import json
import os
import re
import sys

LINE = re.compile(r'\s*(not )?ok\b\s*\d*\s*-?\s*(.*?)\s*(?:#\s*(SKIP)\S*\s*(.*))?$', re.I)
PLAN = re.compile(r'1\.\.(\d+)\s*(?:#\s*(.*))?$')


def exit_code_tests(testlog):
    """Names of the tests that are judged by their exit code, from meson's own description of the build."""
    path = os.path.join(os.path.dirname(testlog), '..', 'meson-info', 'intro-tests.json')
    try:
        with open(path, encoding='utf-8') as f:
            return {f'{"+".join(t["suite"])} / {t["name"]}' for t in json.load(f) if t.get('protocol') == 'exitcode'}
    except OSError:
        return set()


def count_exit_code(test):
    name, result = test['name'], test.get('result', '')
    if result == 'OK':
        return 1, [], []
    if result == 'SKIP':
        return 0, [], [f'{name}: no reason given']
    return 0, [f'{name}: {result}, exit code {test.get("returncode")}'], []


def count_tap(test):
    """(passed, [failures], [skips]) of one program's entry in the log."""
    passed, failures, skips, planned, seen = 0, [], [], None, 0
    name = test['name']
    for line in (test.get('stdout') or '').splitlines():
        plan = PLAN.match(line)
        if plan:
            planned = int(plan[1])
            if planned == 0:
                skips.append(f'{name}: {plan[2] or "no reason given"}')
            continue
        # Subtests are indented; only the outermost lines are in the plan.
        found = LINE.match(line) if re.match(r'(not )?ok\b', line) else None
        if not found:
            continue
        seen += 1
        what = f'{name}: {found[2]}'
        if found[3]:
            skips.append(what + (f': {found[4]}' if found[4] else ': no reason given'))
        elif found[1]:
            failures.append(what)
        else:
            passed += 1
    result = test.get('result', '')
    if result == 'TIMEOUT':
        failures.append(f'{name}: ran out of time after {test.get("duration", 0):.0f} s')
    elif planned is None and result == 'SKIP' and not seen:
        skips.append(f'{name}: the whole program')
    elif planned is None:
        failures.append(f'{name}: printed no plan (result {result}, exit code {test.get("returncode")})')
    elif planned != seen:
        failures.append(f'{name}: planned {planned} tests, ran {seen}: it ended early (exit code {test.get("returncode")})')
    elif not failures and result not in ('OK', 'SKIP', 'EXPECTEDFAIL'):
        failures.append(f'{name}: {result}, exit code {test.get("returncode")}')
    return passed, failures, skips


def main():
    path, code = sys.argv[1], int(sys.argv[2])
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            tests = [json.loads(line) for line in f if line.strip()]
    except OSError as e:
        print(f'No test was run: {e}')
        tests = []
    passed, failures, skips = 0, [], []
    plain = exit_code_tests(path)
    for test in tests:
        p, f, s = (count_exit_code if test['name'] in plain else count_tap)(test)
        passed, failures, skips = passed + p, failures + f, skips + s
    if code and not failures:
        failures.append(f'meson test ended with exit code {code}')
    for line in skips:
        print('skipped:', line)
    for line in failures:
        print('FAILED:', line)
    print(f'{passed} passed, {len(failures)} failed' + (f', {len(skips)} skipped' if skips else ''))
    return 0 if passed and not failures else 1


sys.exit(main())
