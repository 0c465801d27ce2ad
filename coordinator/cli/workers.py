"""More workers of an agent: added to a running desk, stopped one by one, or run in this terminal."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

from coordinator.cli import source_files, supervisor_conf
from coordinator.cli.connection import desk_addresses
from coordinator.cli.last_words import last_words, log_size
from coordinator.cli.layout import Layout, held
from coordinator.cli.readiness import START_SECONDS, WorkerPing
from coordinator.cli.starting import template_values, worker_environment
from coordinator.cli.stopping import drain, stop_seconds, wait_until
from coordinator.cli.supervision import Supervisor
from kernel.errors import Correctable, Fatal, NightdeskError
from kernel.settings import Settings

_AGENT_FILE = "agent.py"


def add(settings: Settings, agent: str, *, count: int, folder: Path | None) -> list[str]:
    """Start more workers of an agent under the running supervisor and return their names once they answer."""
    layout = Layout(settings.data)
    supervisor = _running(layout)
    with held(layout):
        _check_agent(layout, agent, folder)
        if settings.log_sources is not None:
            source_files.check(settings, agent)
        names = _free_names(layout, agent, count)
        sizes = {name: log_size(layout.logs / f"{name}.log") for name in names}
        try:
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
            _wait(settings, layout, sizes)
        except (NightdeskError, KeyboardInterrupt):
            # all or none: supervisor would start for ever what cannot start
            for name in names:
                _withdraw(settings, layout, supervisor, name)
            raise
    return names


def stop_one(settings: Settings, name: str, *, say: Callable[[str], None]) -> None:
    """Stop one process of the desk: it finishes or hands back what it holds; an added one is forgotten."""
    layout = Layout(settings.data)
    supervisor = _running(layout)
    with held(layout):
        known = {program.name: program for program in supervisor_conf.programs(layout.supervisor_conf)}
        if name not in known:
            raise Correctable(f"there is no process {name!r}", next_step=f"There are: {', '.join(known)}.")
        if known[name].added:
            _withdraw(settings, layout, supervisor, name, say=say)
        else:
            drain(supervisor, [name], seconds=stop_seconds(settings), say=say)


def run_here(settings: Settings, agent: str, folder: Path | None) -> None:
    """Become a worker of an agent; this call does not return."""
    environment = worker_environment(settings, desk_addresses(settings)) | _own_environment(settings, folder)
    argv = [
        *supervisor_conf.environment_argv(environment),
        *(
            sys.executable,
            "-P",
            "-m",
            "kernel.program",
            "-A",
            "agents.app",
            "worker",
            "-Q",
            f"agents.{agent}",
        ),
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


def _withdraw(
    settings: Settings,
    layout: Layout,
    supervisor: Supervisor,
    name: str,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Stop an added worker and have supervisor forget it."""
    drain(supervisor, [name], seconds=stop_seconds(settings), say=say)
    supervisor_conf.remove_program(layout.supervisor_conf, name)
    try:
        supervisor.forget(name)
    except Fatal:
        # it had ended by itself, and was started again before it could be forgotten
        drain(supervisor, [name], seconds=stop_seconds(settings), say=say)
        supervisor.forget(name)


def _wait(settings: Settings, layout: Layout, sizes: dict[str, int]) -> None:
    """Wait until the new workers answer; `sizes` are those of their logs before they were started."""
    added = [p for p in supervisor_conf.programs(layout.supervisor_conf) if p.name in sizes]
    ping = WorkerPing(settings, settings.redis_url, added)
    supervisor = Supervisor(layout.socket)
    pids: dict[str, set[int]] = {name: set() for name in sizes}

    def ready() -> bool:
        for facts in supervisor.processes():
            if facts.name not in sizes:
                continue
            pids[facts.name] |= {facts.pid} - {0}
            # between two looks it may have ended and been started again: then it is another process
            if facts.state in {"BACKOFF", "FATAL", "EXITED"} or len(pids[facts.name]) > 1:
                raise Fatal(
                    f"{facts.name} does not start",
                    why=last_words(Path(facts.log), since=sizes[facts.name])
                    or facts.trouble
                    or "it ended at once",
                    next_step=f"No worker was added. Its log is {facts.log}.",
                )
        return ping.all_answer()

    if not wait_until(ready, seconds=START_SECONDS):
        raise Fatal(
            "a new worker does not answer",
            why=f"{START_SECONDS:.0f} s have passed",
            next_step=f"No worker was added. Look into {layout.logs}.",
        )
