"""Servers of tests that end with the process that started them, however that ends."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LIBC = ctypes.CDLL(None)


def dies_with_parent(by: signal.Signals = signal.SIGKILL) -> Callable[[], None] | None:
    """Return what `Popen` is to call in the child: it is sent a signal when the thread that started it ends.

    Only Linux has it; elsewhere a server outlives tests that are killed.
    """
    if not sys.platform.startswith("linux"):
        return None
    return lambda: _ask(by)


def _ask(by: signal.Signals) -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, by)
