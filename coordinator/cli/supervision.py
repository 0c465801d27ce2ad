"""The door to a running supervisor: its XML-RPC interface over the desk's socket."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from xmlrpc.client import Error, Fault, ServerProxy

from kernel.errors import Fatal

#: Process states of supervisor that stay as they are until somebody acts.
SETTLED = frozenset({"STOPPED", "EXITED", "FATAL"})
_NO_SUCH_NAME = 10
_NOT_RUNNING = 70


@dataclass(frozen=True)
class ProcessFacts:
    """What supervisor says about one process."""

    name: str
    state: str
    pid: int
    uptime: float
    log: str
    trouble: str


class Supervisor:
    """A running supervisor."""

    def __init__(self, socket: Path) -> None:
        from supervisor.xmlrpc import SupervisorTransport

        self._transport = SupervisorTransport(None, None, f"unix://{socket}")
        self._proxy = ServerProxy("http://127.0.0.1", transport=self._transport)

    def pid(self) -> int | None:
        """Return the supervisor's process id, or None where nobody answers."""
        try:
            return int(cast("int", self._proxy.supervisor.getPID()))
        except (OSError, Error):
            self._transport.close()
            return None

    def processes(self) -> list[ProcessFacts]:
        """Return all processes."""
        rows = cast("list[dict[str, Any]]", self._call(self._proxy.supervisor.getAllProcessInfo))
        return [_facts(row) for row in rows]

    def stop(self, name: str) -> None:
        """Send the stop signal to a process and return at once; one that is not running is let be."""
        self._call(
            lambda: self._proxy.supervisor.stopProcess(name, False), forgive={_NO_SUCH_NAME, _NOT_RUNNING}
        )

    def adopt(self, name: str) -> None:
        """Start a program that was added to the configuration; what runs is not touched."""
        self._call(self._proxy.supervisor.reloadConfig)
        self._call(lambda: self._proxy.supervisor.addProcessGroup(name))

    def forget(self, name: str) -> None:
        """Forget a stopped program."""
        self._call(lambda: self._proxy.supervisor.removeProcessGroup(name), forgive={_NO_SUCH_NAME})

    def shut_down(self) -> None:
        """End the supervisor and what it still runs."""
        self._call(self._proxy.supervisor.shutdown)

    def _call(self, ask: Callable[[], Any], *, forgive: set[int] | None = None) -> Any:
        try:
            return ask()
        except Fault as fault:
            if fault.faultCode in (forgive or set()):
                return None
            raise Fatal("supervisor refused", why=fault.faultString) from fault
        except (OSError, Error) as error:
            self._transport.close()
            raise Fatal(
                "supervisor does not answer",
                why=str(error),
                next_step="Run `nightdesk down`, then `nightdesk up`.",
            ) from error


def alive(pid: int) -> bool:
    """Return whether a process runs (a zombie does not)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        # the state stands behind the name, which may hold blanks and brackets
        state = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
    except OSError:
        return True
    return not state or state[0] != "Z"


def _facts(row: dict[str, Any]) -> ProcessFacts:
    running = bool(row["pid"])
    return ProcessFacts(
        name=str(row["name"]),
        state=str(row["statename"]),
        pid=int(row["pid"]),
        uptime=float(row["now"] - row["start"]) if running else 0.0,
        log=str(row["stdout_logfile"]),
        trouble=str(row["spawnerr"] or ("" if running else row["description"])),
    )
