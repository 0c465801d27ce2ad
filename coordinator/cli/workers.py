"""More workers of an agent: added to a running desk, stopped one by one, or run in this terminal."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

from coordinator.cli import supervisor_conf
from coordinator.cli.connection import desk_addresses
from coordinator.cli.layout import Layout, held
from coordinator.cli.readiness import START_SECONDS, WorkerPing
from coordinator.cli.starting import template_values, worker_environment
from coordinator.cli.stopping import drain, stop_seconds, wait_until
from coordinator.cli.supervision import Supervisor
from kernel.errors import Correctable, Fatal
from kernel.settings import Settings

_AGENT_FILE = "agent.py"


def add(settings: Settings, agent: str, *, count: int, folder: Path | None) -> list[str]:
    """Start more workers of an agent under the running supervisor and return their names once they answer."""
    layout = Layout(settings.data)
    supervisor = _running(layout)
    with held(layout):
        _check_agent(layout, agent, folder)
        names = _free_names(layout, agent, count)
        for name in names:
            supervisor_conf.add_worker(
                layout.supervisor_conf,
                name,
                agent=agent,
                values=template_values(settings, layout),
                threads=settings.worker_concurrency,
                environment=_own_environment(settings, folder),
            )
            supervisor.adopt(name)
        _wait(settings, layout, names)
    return names


def stop_one(settings: Settings, name: str, *, say: Callable[[str], None]) -> None:
    """Stop one process of the desk: it finishes or hands back what it holds; an added one is forgotten."""
    layout = Layout(settings.data)
    supervisor = _running(layout)
    with held(layout):
        known = {program.name: program for program in supervisor_conf.programs(layout.supervisor_conf)}
        if name not in known:
            raise Correctable(f"there is no process {name!r}", next_step=f"There are: {', '.join(known)}.")
        drain(supervisor, [name], seconds=stop_seconds(settings), say=say)
        if known[name].added:
            supervisor_conf.remove_program(layout.supervisor_conf, name)
            supervisor.forget(name)


def run_here(settings: Settings, agent: str, folder: Path | None) -> None:
    """Become a worker of an agent; this call does not return."""
    environment = worker_environment(settings, desk_addresses(settings)) | _own_environment(settings, folder)
    argv = [
        *supervisor_conf.environment_argv(environment),
        *(sys.executable, "-P", "-m", "kernel.program", "-A", "agents.app", "worker", "-Q", f"agents.{agent}"),
        *("-n", f"{agent}-{uuid.uuid4().hex[:6]}@%h"),
        *supervisor_conf.worker_options(settings.worker_concurrency),
    ]
    Layout(settings.data).make()
    os.chdir(settings.data)
    os.execv(argv[0], argv)  # noqa: S606 an argv list of our own


def _running(layout: Layout) -> Supervisor:
    supervisor = Supervisor(layout.socket)
    if supervisor.pid() is None:
        raise Fatal(
            f"no desk is running in {str(layout.data)!r}",
            why="its supervisor does not answer",
            next_step="Run `nightdesk up --detach` first, or add --foreground to join a desk on another machine.",
        )
    return supervisor


def _check_agent(layout: Layout, agent: str, folder: Path | None) -> None:
    if folder is not None:
        if not (folder / _AGENT_FILE).is_file():
            raise Correctable(
                f"{str(folder)!r} is not an agent",
                why=f"it has no {_AGENT_FILE}",
                next_step="See CONTRIBUTING.md: add an agent.",
            )
        return
    queues = {program.queue for program in supervisor_conf.programs(layout.supervisor_conf)}
    agents = sorted(queue.removeprefix("agents.") for queue in queues if queue.startswith("agents."))
    if agent not in agents:
        raise Correctable(
            f"there is no agent {agent!r}",
            next_step=f"There are: {', '.join(agents)}; for one of your own give --agent-folder.",
        )


def _free_names(layout: Layout, agent: str, count: int) -> list[str]:
    taken = {program.name for program in supervisor_conf.programs(layout.supervisor_conf)}
    # the desk's own worker has the plain name, so the first one added to it is number 2
    names = [agent, *(f"{agent}-{number}" for number in range(2, len(taken) + count + 2))]
    return [name for name in names if name not in taken][:count]


def _own_environment(settings: Settings, folder: Path | None) -> dict[str, str]:
    """Return what this worker alone is told: its folder, and the named sources that this terminal sets for it."""
    own = {}
    folders = [*settings.agent_folders, *([folder] if folder is not None else [])]
    if folders:
        own["NIGHTDESK_AGENT_FOLDERS"] = supervisor_conf.as_json(
            [path.expanduser().absolute() for path in folders]
        )
    if settings.log_sources is not None:
        own["NIGHTDESK_LOG_SOURCES"] = str(settings.log_sources.expanduser().absolute())
    return own


def _wait(settings: Settings, layout: Layout, names: list[str]) -> None:
    added = [p for p in supervisor_conf.programs(layout.supervisor_conf) if p.name in names]
    ping = WorkerPing(settings, settings.redis_url, added)
    supervisor = Supervisor(layout.socket)

    def ready() -> bool:
        for facts in supervisor.processes():
            if facts.name in names and facts.state in {"BACKOFF", "FATAL", "EXITED"}:
                raise Fatal(
                    f"{facts.name} does not start", why=facts.trouble, next_step=f"Its log is {facts.log}."
                )
        return ping.all_answer()

    if not wait_until(ready, seconds=START_SECONDS):
        raise Fatal("a new worker does not answer", next_step=f"Look into {layout.logs}.")
