"""The use case `down`: every worker drains at once, Redis goes last, and nothing that is not ours is touched."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from coordinator.cli import orphans, supervisor_conf
from coordinator.cli.layout import Layout
from coordinator.cli.supervision import SETTLED, Supervisor, alive
from kernel.clock import monotonic
from kernel.errors import Fatal
from kernel.settings import Settings

#: After the drain a worker gets this long to close its connections before supervisor kills it.
_GRACE_SECONDS = 10
_LOOK_SECONDS = 0.1
_QUIET_SECONDS = 10.0
#: A stop that takes longer than this says what it waits for.
_PATIENCE_SECONDS = 2.0
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

    def left() -> list[str]:
        states = {p.name: p.state for p in supervisor.processes()}
        return [name for name in names if states.get(name, "STOPPED") not in SETTLED]

    if wait_until(lambda: not left(), seconds=_PATIENCE_SECONDS):
        return
    held = left()
    if held:
        say(waiting_for(held))
    if not wait_until(lambda: not left(), seconds=seconds + _QUIET_SECONDS - _PATIENCE_SECONDS):
        say(
            "some processes did not drain in time and were killed; their work is taken up after the next start"
        )


def waiting_for(names: list[str]) -> str:
    """Return what a stop waits for, as a sentence."""
    verb, they = ("holds", "it") if len(names) == 1 else ("hold", "they")
    work = "finish or hand back what " + f"{they} {verb}"
    return f"waiting for {', '.join(names)} to " + ("end" if names == [_REDIS] else work)


def not_coming_back(settings: Settings) -> list[str]:
    """Return the workers that `nightdesk worker` added: the next `up` does not start them."""
    conf = Layout(settings.data).supervisor_conf
    configured = {folder.expanduser().resolve().name for folder in settings.agent_folders}
    known = supervisor_conf.programs(conf) if conf.exists() else []
    return [program.name for program in known if program.added and program.name not in configured]


def say_who_stays_away(names: list[str], say: Callable[[str], None]) -> None:
    """Say which workers will not come back by themselves."""
    if names:
        say(
            f"{', '.join(names)} will not come back with the next `nightdesk up`; "
            "add them again with `nightdesk worker`"
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
