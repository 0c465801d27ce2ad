"""The use case `down`: every worker drains at once, Redis goes last, and nothing that is not ours is touched."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from coordinator.cli import orphans
from coordinator.cli.layout import Layout
from coordinator.cli.supervision import SETTLED, Supervisor, alive
from kernel.clock import monotonic
from kernel.errors import Fatal
from kernel.settings import Settings

#: After the drain a worker gets this long to close its connections before supervisor kills it.
_GRACE_SECONDS = 10
_LOOK_SECONDS = 0.1
_QUIET_SECONDS = 10.0
_REDIS = "redis"


def stop_seconds(settings: Settings) -> float:
    """Return how long a process may take from the stop signal to its end."""
    return settings.drain_seconds + _GRACE_SECONDS


def stop(layout: Layout, *, seconds: float, say: Callable[[str], None]) -> bool:
    """Drain and end the desk of a data folder; return whether one was running."""
    supervisor = Supervisor(layout.socket)
    pid = supervisor.pid()
    if pid is None:
        ended = orphans.end(layout, seconds=seconds)
        if ended:
            say(f"ended {ended} processes that a crashed supervisor had left behind")
        return ended > 0
    names = [facts.name for facts in supervisor.processes()]
    drain(supervisor, [name for name in names if name != _REDIS], seconds=seconds, say=say)
    drain(supervisor, [name for name in names if name == _REDIS], seconds=seconds, say=say)
    for name in names:
        # supervisor's own shutdown spends a second on each program, though it has ended already
        supervisor.forget(name)
    with suppress(Fatal):  # the answer may be lost as the supervisor ends
        supervisor.shut_down()
    if not wait_until(lambda: not alive(pid), seconds=_QUIET_SECONDS + seconds):
        raise Fatal(
            f"supervisor (process {pid}) did not end",
            why=f"it was asked to {_QUIET_SECONDS + seconds:.0f} s ago",
            next_step=f"Look at {layout.logs / 'supervisord.log'}.",
        )
    orphans.end(layout, seconds=seconds)
    return True


def drain(supervisor: Supervisor, names: list[str], *, seconds: float, say: Callable[[str], None]) -> None:
    """Stop processes side by side and wait until all have ended; past the time supervisor kills them."""
    for name in names:
        supervisor.stop(name)

    def ended() -> bool:
        states = {p.name: p.state for p in supervisor.processes()}
        return all(states.get(name, "STOPPED") in SETTLED for name in names)

    if not wait_until(ended, seconds=seconds + _QUIET_SECONDS):
        say(
            "some processes did not drain in time and were killed; their work is taken up after the next start"
        )


def wait_until(true: Callable[[], bool], *, seconds: float) -> bool:
    """Look at a state until it holds or the time is over; return whether it holds."""
    give_up = monotonic() + seconds
    pause = threading.Event()
    while not true():
        if monotonic() > give_up:
            return False
        pause.wait(_LOOK_SECONDS)
    return True
