"""The commands by which a person decides: approve, deny, cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, CallId, DataDir, RunId

if TYPE_CHECKING:
    from coordinator.decisions import Decisions
    from coordinator.stopping import Stopped
    from kernel.settings import Settings

Decided = TypeVar("Decided")
Reason = Annotated[str, typer.Option("--reason", help="Why; the audit keeps it.")]


@screen.answering
def approve(run: RunId, call: CallId, *, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Approve a call that waits: exactly the argv that was shown, once."""
    from coordinator.cli.connection import join, user_name

    settings = join(data_dir)
    run_id, call_id = _find(settings, run, call)
    decide(settings, lambda desk: desk.decide(run_id, call_id, "approved", by=user_name()))
    _say({"run_id": run_id, "call_id": call_id, "decision": "approved"}, as_json=as_json)


@screen.answering
def deny(
    run: RunId, call: CallId, *, reason: Reason = "", data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Deny a call that waits; the run goes on without it."""
    from coordinator.cli.connection import join, user_name
    from kernel.redaction import make_redactor

    settings = join(data_dir)
    run_id, call_id = _find(settings, run, call)
    clean = make_redactor(settings, run_id.encode()).text(reason)
    decide(settings, lambda desk: desk.decide(run_id, call_id, "denied", by=user_name(), reason=clean))
    _say({"run_id": run_id, "call_id": call_id, "decision": "denied"}, as_json=as_json)


@screen.answering
def cancel(run: RunId, *, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Cancel a run: says what that stops and what had already happened, then waits a moment for the end."""
    from coordinator.cli import cancelling
    from coordinator.cli.connection import join, user_name

    settings = join(data_dir)
    run_id, _ = _find(settings, run, None)
    console = screen.out()

    def tell(stopped: Stopped) -> None:
        if not as_json:
            cancelling.print_stopped(stopped, console)

    stopped, ending = cancelling.stop(settings, run_id, by=user_name(), tell=tell)
    if as_json:
        screen.print_json(cancelling.as_document(stopped, ending))
    else:
        cancelling.print_ending(stopped, ending, console)


def _find(settings: Settings, run: str, call: str | None) -> tuple[str, str]:
    from coordinator.cli import history

    with history.reading(settings) as session:
        run_id = history.find_run(session, run).id
        return run_id, history.find_call(session, run_id, call).id if call is not None else ""


def decide(settings: Settings, decision: Callable[[Decisions], Awaitable[Decided]]) -> Decided:
    """Take one decision in a process of its own."""
    from coordinator.app import make_parts

    async def act() -> Decided:
        parts = make_parts(settings)
        try:
            return await decision(parts.decisions)
        finally:
            await parts.close()

    return asyncio.run(act())


def _say(document: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        screen.print_json(document)
    else:
        screen.remark(
            " ".join(
                f"{value}"
                for value in (document["decision"], document.get("call_id", ""), "of run", document["run_id"])
                if value
            )
        )
