"""The parent of one MCP server: the server and all that it starts end with the worker. Runs alone.

Called as `python -I -S mcp_child.py PARENT -- ARGV...`, in a process group of its own. A separate program
and no `preexec_fn`, which may deadlock in a process with threads; it stays as the parent because a death
signal reaches one process only, and `npx` or `uvx` start the server as a child of theirs.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_CANNOT_START = 126  # what shells answer for a program that cannot be run
#: Seconds between TERM and KILL; the worker's own close waits a little longer.
_GRACE_SECONDS = 1


def main() -> None:
    """Start the server, wait for its end, and leave nothing of its group behind."""
    parent, argv = int(sys.argv[1]), sys.argv[3:]
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGALRM, _kill)
    _die_with_parent(signal.SIGTERM, parent)
    me = os.getpid()
    child = os.fork()
    if child == 0:
        _become(argv, me)
    # the pipes are the server's: the worker must see the end of its output, not of ours
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.waitpid(child, 0)
    _kill()


def _become(argv: list[str], parent: int) -> None:
    for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGPIPE, signal.SIGINT, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores some, and exec keeps that
    _die_with_parent(signal.SIGKILL, parent)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 an argv list, no shell
    except OSError as error:
        sys.stderr.write(f"cannot start {argv[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(_CANNOT_START)


def _die_with_parent(number: signal.Signals, parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(_CANNOT_START)  # it died before the death signal was set


def _end(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    signal.alarm(_GRACE_SECONDS)


def _kill(*_: object) -> None:
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
