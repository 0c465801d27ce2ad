"""The last step before an action's program: limits, signals and a death signal, then exec. Runs alone.

Called as `python -I -S launcher.py LIMITS PARENT GATE -- ARGV...`. A separate program and no `preexec_fn`,
which may deadlock in a process with threads. It waits at GATE, a pipe, until the worker has recorded it: a
byte says go; an end without one says that there is no such record, and then the program never starts.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_CANNOT_START = 126  # what shells answer for a program that cannot be run
_MIB = 1024 * 1024


def main() -> None:
    """Become the program."""
    limits, parent, gate, argv = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[5:]
    os.umask(0o077)
    for number in (signal.SIGPIPE, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python and its workers ignore some, and exec keeps that
    _limit(resource.RLIMIT_CORE, 0)
    for name, unit in (("cpu_seconds", 1), ("memory_mb", _MIB), ("open_files", 1), ("file_mb", _MIB)):
        if limits[name]:
            _limit(_KINDS[name], limits[name] * unit)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(_CANNOT_START)  # the worker died before the death signal was set
    if not os.read(gate, 1):
        sys.exit(_CANNOT_START)  # nobody recorded us
    os.close(gate)
    try:
        os.execv(argv[0], argv)  # noqa: S606 no shell; the environment is the one this got
    except OSError as error:
        sys.stderr.write(f"cannot start {argv[0]}: {error.strerror}\n")
        sys.exit(_CANNOT_START)


_KINDS = {
    "cpu_seconds": resource.RLIMIT_CPU,
    "memory_mb": resource.RLIMIT_AS,
    "open_files": resource.RLIMIT_NOFILE,
    "file_mb": resource.RLIMIT_FSIZE,
}


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    main()
