#!/bin/sh
# Makes .venv from the locked requirements, once: a stamp beside it says which lock it was made from.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
lock=ops/requirements-dev.txt
want=$(cat "$lock" pyproject.toml | cksum)
stamp=.venv/.nightdesk-lock
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then exit 0; fi
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "setup: Nightdesk needs Python 3.11 or newer; set PYTHON=/path/to/python3.11 and run again." >&2
  exit 2
}
echo "setup: installing the locked requirements into .venv (once; a minute or two)" >&2
[ -x .venv/bin/python ] || "$python" -m venv .venv
pip=".venv/bin/python -m pip --disable-pip-version-check --no-input"
$pip install --quiet --require-hashes --requirement "$lock"
$pip install --quiet --no-deps --no-build-isolation --editable .
printf '%s' "$want" > "$stamp"
echo "setup: done" >&2
