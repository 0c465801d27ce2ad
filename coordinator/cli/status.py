"""The state of a desk: processes, cards, queues, the oldest waiting, versions."""

from __future__ import annotations

import asyncio
import platform
import socket
from enum import StrEnum
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sqlmodel import Session, col, func, select

from coordinator.cli import supervisor_conf
from coordinator.cli.connection import desk_addresses
from coordinator.cli.layout import Layout
from coordinator.cli.restarts import NEVER, restarts, show_restarts
from coordinator.cli.supervision import Supervisor, alive
from coordinator.health import HEALTH_SECONDS, OK, Health
from kernel.broker import FIXED_QUEUES
from kernel.cards import Cards
from kernel.clock import now
from kernel.control import Control, connect
from kernel.database import Database
from kernel.errors import NightdeskError
from kernel.ledgers import QuestionRow
from kernel.records import ApprovalRow, AssignmentRow, DeadLetterRow, RunRow
from kernel.refusals import last_refusal
from kernel.settings import Settings
from kernel.states import ApprovalState, AssignmentState, DeadLetterState, QuestionState, RunState

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PACKAGES = ("nightdesk", "celery", "kombu", "flower", "redis", "supervisor")


def gather(settings: Settings) -> dict[str, Any]:
    """Return everything `status` knows as one document."""
    layout = Layout(settings.data)
    addresses = desk_addresses(settings)
    processes, supervisor_pid = _processes(layout)
    queues = {p["queue"] for p in processes if p["queue"]}
    redis, sql = asyncio.run(_ask(settings, sorted({*FIXED_QUEUES, *queues})))
    waiting, people, trouble = ([], {}, sql) if sql else _waiting(settings)
    refused = last_refusal(settings.data, now())
    return {
        "running": supervisor_pid is not None,
        "data_dir": str(layout.data),
        "broker_url": addresses.broker_url,
        "result_url": addresses.result_url,
        "flower_url": addresses.flower_url,
        "api_url": addresses.api_url,
        "supervisor_pid": supervisor_pid,
        "processes": processes,
        **redis,
        "oldest_waiting": waiting,
        "waiting_for_people": people,
        "troubles": [text for text in (redis["redis"].get("trouble"), trouble, refused) if text],
        "versions": {name: version(name) for name in _PACKAGES}
        | {"python": platform.python_version(), "redis-server": redis["redis"].get("version")},
    }


def _processes(layout: Layout) -> tuple[list[dict[str, Any]], int | None]:
    supervisor = Supervisor(layout.socket)
    pid = supervisor.pid()
    if pid is None:
        return [], None
    queues = {program.name: program.queue for program in supervisor_conf.programs(layout.supervisor_conf)}
    again = restarts(layout.logs / "supervisord.log")
    return [
        {
            "name": facts.name,
            "pid": facts.pid,
            "state": facts.state.lower(),
            "uptime_seconds": round(facts.uptime, 1),
            "queue": queues.get(facts.name, ""),
            "log": facts.log,
            "restarts": again.get(facts.name, NEVER).times,
            "last_end": again.get(facts.name, NEVER).ended,
        }
        for facts in supervisor.processes()
    ], pid


async def _ask(settings: Settings, queues: list[str]) -> tuple[dict[str, Any], str]:
    """Return what Redis knows, and what is wrong with SQL; takes a bounded time where one of them hangs."""
    redis, database = connect(settings.redis_url), Database(settings.database)
    control = Control(redis)
    said = await Health(control, database).check()
    try:
        if said["redis"] != OK:
            known = _silent(said["redis"])
        else:
            async with asyncio.timeout(HEALTH_SECONDS):
                known = await _ask_redis(control, Cards(redis), queues)
    except (NightdeskError, TimeoutError) as error:  # it went away between two questions
        known = _silent(str(error) or f"Redis gave no answer within {HEALTH_SECONDS:g} s")
    finally:
        await redis.aclose()
        database.close()
    return known, "" if said["sql"] == OK else f"SQL: {said['sql']}"


async def _ask_redis(control: Control, cards: Cards, queues: list[str]) -> dict[str, Any]:
    facts = await control.ping()
    live = [card for card in await cards.live() if not is_dead_here(card.worker)]
    lengths = await control.queue_lengths(
        sorted({*queues, *(q for card in live for q in (card.queue, *card.queues))})
    )
    return {"redis": facts, "cards": [card.model_dump() for card in live], "queues": lengths}


def _silent(trouble: str) -> dict[str, Any]:
    return {"redis": {"trouble": f"Redis: {trouble}"}, "cards": [], "queues": {}}


def _waiting(settings: Settings) -> tuple[list[dict[str, Any]], dict[str, int], str]:
    """Return per queue the row that has waited longest, from the truth and not from the queue, and what people owe."""
    database = Database(settings.database)
    try:
        with database.reading() as session:
            queued = session.exec(
                select(AssignmentRow).where(col(AssignmentRow.state) == AssignmentState.queued.value)
            ).all()
            accepted = session.exec(select(RunRow).where(col(RunRow.state) == RunState.accepted.value)).all()
            people = {
                "approvals": _count(session, ApprovalRow, ApprovalState.pending),
                "questions": _count(session, QuestionRow, QuestionState.open),
                "dead_letters": _count(session, DeadLetterRow, DeadLetterState.kept),
            }
    except NightdeskError as error:
        return [], {}, str(error)
    finally:
        database.close()
    present = now()
    rows = [
        (row.queue, row.id, row.run_id, (present - (row.rung_at or row.created_at)).total_seconds())
        for row in queued
    ]
    rows += [("coordinator", row.id, row.id, (present - row.created_at).total_seconds()) for row in accepted]
    oldest: dict[str, dict[str, Any]] = {}
    for queue, subject, run_id, age in sorted(rows, key=lambda row: -row[3]):
        oldest.setdefault(
            queue, {"queue": queue, "subject": subject, "run_id": run_id, "age_seconds": round(age, 1)}
        )
    return list(oldest.values()), people, ""


def _count(session: Session, kind: type[ApprovalRow | QuestionRow | DeadLetterRow], state: StrEnum) -> int:
    return session.exec(select(func.count()).select_from(kind).where(col(kind.state) == state.value)).one()


def is_dead_here(worker: str) -> bool:
    """Return whether a worker, `name@host:pid`, is a process of this host that runs no more.

    The card of one that was killed stays up until its time is over.
    """
    place, _, pid = worker.rpartition(":")
    return place.rpartition("@")[2] == socket.gethostname() and pid.isdecimal() and not alive(int(pid))


def is_down(found: dict[str, Any]) -> bool:
    """Return whether nothing works: no supervisor here, and no Redis, or no worker of a desk started here."""
    started_here = bool(found["flower_url"])  # of a fleet only the queue is known
    silent = bool(found["redis"].get("trouble")) or (started_here and not found["cards"])
    return not found["running"] and silent


def show(found: dict[str, Any], console: Console) -> None:
    """Print the document for people."""
    # a fleet has no Flower address here; its trouble is its Redis, which `up` would not mend
    if is_down(found) and found["flower_url"]:
        console.print(f"desk {found['data_dir']}", markup=False)
        console.print("the desk is down; start it with nightdesk up", markup=False)
        return
    state = "running" if found["running"] else "not running here"
    console.print(f"desk {found['data_dir']}: {state}, queue {found['broker_url']}", markup=False)
    for trouble in found["troubles"]:
        console.print(f"trouble: {trouble}", style="red", markup=False)
    if found["flower_url"]:
        console.print(f"flower {found['flower_url']}", markup=False)
    carded = {card["worker"].rpartition("@")[2] for card in found["cards"]}
    if found["processes"]:
        console.print(_table(found, carded))
    show_restarts(found["processes"], console)
    present = {f"{socket.gethostname()}:{row['pid']}" for row in found["processes"]}
    for card in found["cards"]:
        if card["worker"].rpartition("@")[2] not in present:
            console.print(
                f"elsewhere: {card['worker']} works as {card['agent']} on {card['queue']}", markup=False
            )
    for name, workers in _reached(found["cards"]).items():
        console.print(f"source {name}: {', '.join(workers)}", markup=False)
    for row in found["oldest_waiting"]:
        console.print(
            f"waiting longest in {row['queue']}: {row['run_id']} for {row['age_seconds']:.0f} s", markup=False
        )
    _show_people(found.get("waiting_for_people", {}), console)
    console.print(
        " ".join(f"{name} {found['versions'][name]}" for name in found["versions"]), style="dim", markup=False
    )


def _reached(cards: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the live workers that reach each named source."""
    names = sorted({name for card in cards for name in card.get("sources", [])})
    return {name: [card["worker"] for card in cards if name in card.get("sources", [])] for name in names}


def _show_people(owed: dict[str, int], console: Console) -> None:
    if count := owed.get("approvals"):
        console.print(f"waiting for approval: {count}; nightdesk runs --state waiting", markup=False)
    if count := owed.get("questions"):
        console.print(f"calls that may have happened: {count}; nightdesk questions", markup=False)
    if count := owed.get("dead_letters"):
        console.print(f"dead letters: {count}; nightdesk dead-letters list", markup=False)


def _table(found: dict[str, Any], carded: set[str]) -> Table:
    """Return the processes; where the terminal is narrow the queue gives way, and never a pid or a state."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    # little space between columns: all but the queue fit into 80
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    rows = found["processes"]
    for title, cells in (
        ("process", [row["name"] for row in rows]),
        ("pid", [str(row["pid"]) for row in rows]),
        ("state", [row["state"] for row in rows]),
        ("up", [f"{row['uptime_seconds']:.0f} s" for row in rows]),
        ("waiting", []),
        ("card", []),
    ):
        table.add_column(title, no_wrap=True, min_width=max(map(len, [title, *cells])))
    table.add_column("queue", overflow="ellipsis")
    for row in rows:
        table.add_row(
            row["name"],
            str(row["pid"]),
            row["state"],
            f"{row['uptime_seconds']:.0f} s",
            str(found["queues"].get(row["queue"], "")) if row["queue"] else "",
            "yes" if f"{socket.gethostname()}:{row['pid']}" in carded else "",
            row["queue"],
        )
    return table
