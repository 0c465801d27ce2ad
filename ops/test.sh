#!/bin/sh
# Every check CI runs: format, lint, types, import direction, house rules, unit, integration, e2e.
# `sh ops/test.sh check` runs the quick half, `… unit`, `… integration` or `… e2e` one kind of test, `… measures` what CI leaves out.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python

check() {
  $python -m ruff format --check .
  $python -m ruff check .
  # half a minute of one core: beside the rest
  typed=$(mktemp)
  trap 'rm -f "$typed"' EXIT
  $python -m mypy >"$typed" 2>&1 &
  typing=$!
  .venv/bin/lint-imports --no-cache
  $python -m pytest -p no:cacheprovider -q tests/test_house_rules.py
  code=0
  wait "$typing" || code=$?
  cat "$typed"
  return "$code"
}

# side by side, since most tests wait for leases and processes; a file's tests share a desk, so they stay together.
# Two lanes for whole desks, and one that fills what they leave idle (tests/support/lanes.py)
tests() { $python -m pytest -p no:cacheprovider -q -n "${TEST_WORKERS:-3}" --dist loadfile --no-loadscope-reorder "$@"; }

case ${1:-all} in
  check) check ;;
  unit | integration | e2e) tests "tests/$1" ;;
  # one run of pytest, so that its last line counts all tests
  # the tests of `make bench` and `make chaos` measure and kill for minutes: `sh ops/test.sh measures` runs them
  all)
    # not `check && tests`: there the shell would go on after whatever fails in check but the last
    check
    tests -m "not bench and not chaos" tests/e2e tests/integration tests/unit
    ;;
  measures) tests -m "bench or chaos" tests/e2e tests/integration ;;
  *) sed -n '2,3p' "$0" >&2; exit 2 ;;
esac
