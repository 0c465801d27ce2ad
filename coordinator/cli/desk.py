"""The commands that run the desk: up, down, status, worker, migrate."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, DataDir

if TYPE_CHECKING:
    from coordinator.cli.starting import RunningDesk
    from kernel.settings import Settings


@screen.answering
def up(
    *,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Return when the desk is ready.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Start the whole desk on this machine, under a supervisor that restarts what dies."""
    from coordinator.cli.connection import read_settings
    from coordinator.cli.starting import start
    from kernel.clock import monotonic

    settings = read_settings(data_dir)
    say = screen.say(as_json=as_json)
    began = monotonic()
    desk = start(settings, say=say)
    _print_ready(settings, desk, seconds=monotonic() - began, as_json=as_json)
    if not detach:
        raise typer.Exit(_attend(settings, desk))


@screen.answering
def down(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Stop the desk: every worker finishes or hands back what it holds."""
    from coordinator.cli.connection import read_settings
    from coordinator.cli.layout import Layout, held
    from coordinator.cli.stopping import not_coming_back, say_who_stays_away, stop, stop_seconds

    settings = read_settings(data_dir)
    layout = Layout(settings.data)
    stopped, away, say = False, not_coming_back(settings), screen.say(as_json=as_json)
    if layout.data.is_dir():
        with held(layout):
            stopped = stop(layout, seconds=stop_seconds(settings), say=say)
    away = away if stopped else []
    if as_json:
        screen.print_json({"stopped": stopped, "data_dir": str(layout.data), "not_coming_back": away})
    else:
        say_who_stays_away(away, say)
        screen.remark("the desk has stopped" if stopped else f"no desk was running in {layout.data}")


@screen.answering
def status(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show each process and its queue, live cards, queue lengths, the oldest waiting, and versions."""
    from coordinator.cli.connection import join
    from coordinator.cli.status import gather, is_down, show

    found = gather(join(data_dir))
    if as_json:
        screen.print_json(found)
    else:
        show(found, screen.out())
    if is_down(found):
        raise typer.Exit(screen.FAILED)


@screen.answering
def worker(
    agent: Annotated[
        str | None, typer.Argument(metavar="[AGENT]", help="log_analysis, notification, …")
    ] = None,
    *,
    count: Annotated[int, typer.Option(min=1, max=64, help="How many more.")] = 1,
    agent_folder: Annotated[
        Path | None, typer.Option(help="The folder of an agent outside the package; its name is the agent's.")
    ] = None,
    stop: Annotated[
        str | None, typer.Option(metavar="NAME", help="Stop this worker; it loses nothing.")
    ] = None,
    foreground: Annotated[
        bool, typer.Option(help="Run one worker in this terminal (another machine, a container).")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Add workers of an agent to the running desk, without a restart; or stop one."""
    from coordinator.cli import workers
    from coordinator.cli.connection import join
    from kernel.errors import Correctable

    settings = join(data_dir)
    if stop is not None:
        workers.stop_one(settings, stop, say=screen.say(as_json=as_json))
        screen.print_json({"stopped": stop}) if as_json else screen.remark(f"{stop} has stopped")
        return
    name = agent_folder.resolve().name if agent_folder is not None else agent
    if name is None:
        raise Correctable(
            "no agent was named", next_step="Run `nightdesk worker log_analysis`, for instance."
        )
    if foreground:
        workers.run_here(settings, name, agent_folder)
    added = workers.add(settings, name, count=count, folder=agent_folder)
    if as_json:
        screen.print_json({"added": added, "agent": name})
    else:
        screen.remark(f"started {', '.join(added)}; stop one with `nightdesk worker --stop {added[0]}`")


@screen.answering
def migrate(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Bring the database to the shape of this version; safe to repeat."""
    from coordinator.cli.connection import read_settings
    from coordinator.cli.layout import Layout
    from coordinator.cli.starting import migrate_database

    settings = read_settings(data_dir)
    if settings.database_url is None:
        Layout(settings.data).make()
    migrate_database(settings)
    if as_json:
        screen.print_json({"migrated": True})
    else:
        screen.remark("the database has the shape of this version")


def _print_ready(settings: Settings, desk: RunningDesk, *, seconds: float, as_json: bool) -> None:
    from coordinator.cli.layout import Layout

    facts = desk.addresses.model_dump() | {
        "ready_seconds": round(seconds, 2),
        "flower_user": settings.flower_user,
        "flower_password_file": str(Layout(settings.data).flower_password),
        "warnings": list(desk.warnings),
    }
    if as_json:
        screen.print_json(facts)
        return
    for warning in desk.warnings:
        screen.remark(f"warning: {warning}")
    secret = "NIGHTDESK_FLOWER_PASSWORD" if settings.flower_password else facts["flower_password_file"]
    console = screen.out()
    console.print(f"the desk is ready after {seconds:.1f} s", markup=False)
    console.print(f"  queue   {desk.addresses.broker_url}", markup=False)
    console.print(
        f"  flower  {desk.addresses.flower_url}  user {settings.flower_user}, password in {secret}",
        markup=False,
    )


def _attend(settings: Settings, desk: RunningDesk) -> int:
    """Stay until the desk ends or the terminal asks for it; then drain."""
    from coordinator.cli.layout import Layout
    from coordinator.cli.stopping import not_coming_back, say_who_stays_away, stop, stop_seconds

    def asked(_signal: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, asked)
    screen.remark("Ctrl-C stops it")
    try:
        code = desk.process.wait()
    except KeyboardInterrupt:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        screen.remark("stopping: workers finish or hand back what they hold")
        stop(Layout(settings.data), seconds=stop_seconds(settings), say=screen.remark)
        say_who_stays_away(not_coming_back(settings), screen.remark)
        return screen.SUCCEEDED
    return screen.FAILED if code else screen.SUCCEEDED
