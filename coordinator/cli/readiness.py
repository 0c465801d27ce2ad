"""When a desk is ready: Redis says PONG, each worker answers a ping, beat runs, Flower serves pages."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coordinator.cli.connection import client
from coordinator.cli.layout import Layout
from coordinator.cli.stopping import wait_until
from coordinator.cli.supervision import Supervisor
from coordinator.cli.supervisor_conf import Program, programs
from kernel.errors import Fatal, Retryable
from kernel.settings import DeskAddresses, Settings

#: Generous: a cold disk and two busy cores need a fraction of it; a process that fails is noticed at once.
START_SECONDS = 90.0
_PING_SECONDS = 1.0
_TAIL_LINES = 12
_TAIL_BYTES = 6000
#: One restart is forgiven (Redis may still be loading its file); a process that dies twice will die again.
_STARTS_ALLOWED = 2


def wait(
    settings: Settings,
    addresses: DeskAddresses,
    process: subprocess.Popen[bytes],
    *,
    say: Callable[[str], None],
) -> list[str]:
    """Wait until every program answers; return warnings, or raise Fatal with the log of what failed."""
    layout = Layout(settings.data)
    roster = programs(layout.supervisor_conf)
    supervisor = Supervisor(layout.socket)

    starts: dict[str, set[int]] = {}

    def until(what: str, true: Callable[[], bool]) -> None:
        def looked() -> bool:
            _check(supervisor, process, layout, starts)
            return true()

        if not wait_until(looked, seconds=START_SECONDS):
            raise Fatal(
                f"the desk is not ready: {what} after {START_SECONDS:.0f} s",
                why="see the logs",
                next_step=f"Look into {layout.logs}.",
            )

    until("supervisor does not answer", lambda: supervisor.pid() is not None)
    server: dict[str, Any] = {}
    until("Redis does not answer", lambda: _pong(addresses.broker_url, server))
    say(f"redis {server['version']} answers")
    pinger = WorkerPing(settings, addresses.broker_url, roster)
    until("a worker does not answer", pinger.all_answer)
    say(f"{len(pinger.nodes)} workers answer")
    until("Flower does not answer", lambda: _serves(addresses.flower_url))
    until("a process does not stay up", lambda: all(p.state == "RUNNING" for p in supervisor.processes()))
    if server["appendonly"]:
        return []
    return ["Redis keeps nothing on disk (appendonly no): what waits in a queue is lost if it restarts."]


class WorkerPing:
    """Asks workers by name whether they are there."""

    def __init__(self, settings: Settings, url: str, roster: list[Program]) -> None:
        host = socket.gethostname()
        self.nodes = {program.node.replace("%h", host) for program in roster if program.node}
        self._app = client(settings.model_copy(update={"redis_url": url}))
        self._silent = set(self.nodes)

    def all_answer(self) -> bool:
        """Ask those that have not answered yet; return whether all have by now."""
        if self._silent:
            replies = self._app.control.ping(
                destination=sorted(self._silent), timeout=_PING_SECONDS, limit=len(self._silent)
            )
            self._silent -= {name for reply in replies or [] for name in reply}
        return not self._silent


def _check(
    supervisor: Supervisor, process: subprocess.Popen[bytes], layout: Layout, starts: dict[str, set[int]]
) -> None:
    """Raise Fatal where a process dies again and again; `starts` keeps the pids seen so far."""
    if process.poll() is not None:
        raise Fatal("supervisor ended", why=_tail(layout.logs / "supervisord.out"), next_step="See above.")
    if supervisor.pid() is None:
        return
    for facts in supervisor.processes():
        pids = starts.setdefault(facts.name, set())
        pids |= {facts.pid} - {0}
        if facts.state == "FATAL" or len(pids) > _STARTS_ALLOWED:
            raise Fatal(
                f"{facts.name} does not start",
                why=_tail(Path(facts.log)) or facts.trouble or "it left no log",
                next_step=f"The whole log is in {facts.log}.",
            )


def _pong(url: str, server: dict[str, Any]) -> bool:
    from kernel.control import Control, connect

    async def ask() -> dict[str, Any]:
        redis = connect(url)
        try:
            return await Control(redis).ping()
        finally:
            await redis.aclose()

    try:
        server.update(asyncio.run(ask()))
    except Retryable:
        return False
    return True


def _serves(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthcheck", timeout=2) as answer:  # noqa: S310 our own http address
            return bool(answer.status == 200)  # noqa: PLR2004 HTTP's OK
    except (urllib.error.URLError, OSError):
        return False


def _tail(log: Path) -> str:
    try:
        text = log.read_bytes()[-_TAIL_BYTES:].decode("utf-8", errors="replace")
    except OSError:
        return ""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-_TAIL_LINES:])
