#!/bin/sh
# Makes .venv from the locked requirements, once: a stamp in it says from which lock, where and by which
# Python it was made. Repeating costs nothing; an interrupted run is repeated from where pip can go on.
set -eu
cd "$(dirname "$0")/.."
lock=ops/requirements-dev.txt
stamp=.venv/.nightdesk-lock

find_python() {
  for candidate in "${PYTHON:-}" python3.11 python3 python3.12 python3.13; do
    [ -n "$candidate" ] || continue
    if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      printf '%s' "$candidate"
      return 0
    fi
  done
  return 1
}

# the folder counts: the scripts in .venv and the editable install hold its path
want=$({ cat "$lock" pyproject.toml; pwd; } | cksum)
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then exit 0; fi
python=$(find_python) || {
  echo "setup: no Python 3.11 or newer with venv was found." >&2
  echo "  why: PYTHON, python3.11 and python3 were tried." >&2
  echo " next: install it (Debian: apt-get install python3.11-venv), or run with PYTHON=/path/to/python3.11." >&2
  exit 2
}
echo "setup: installing the locked requirements into .venv (once; a minute or two)" >&2
elsewhere() { # whether .venv was made for another folder (a copied checkout): its scripts point there
  made=$(grep -F -e "-m venv" .venv/pyvenv.cfg 2>/dev/null) || return 1
  ! printf '%s' "$made" | grep -q -F -e "$(pwd)/.venv"
}
if ! .venv/bin/python -c '' 2>/dev/null || elsewhere; then
  "$python" -m venv --clear "$(pwd)/.venv"
fi
pip() { .venv/bin/python -m pip --disable-pip-version-check --no-input "$@"; }
pip install --quiet --require-hashes --requirement "$lock" || {
  echo "setup: pip could not install the requirements." >&2
  echo "  why: see pip's words above." >&2
  echo " next: check the network, or point PIP_INDEX_URL at a mirror, and run again." >&2
  exit 1
}
pip install --quiet --no-deps --no-build-isolation --editable .
printf '%s' "$want" > "$stamp"
echo "setup: done" >&2
