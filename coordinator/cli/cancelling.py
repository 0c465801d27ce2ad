"""The stop of a run as a person sees it: what it stops, the bounded wait for the end, and what is true then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from coordinator.app import Parts, make_parts
from coordinator.chronicle import Question, questions
from coordinator.cli.chronicle_view import effect_line, part_line, question_text
from coordinator.stopping import EffectCall, Stopped, calls_of, effects_of
from kernel.clock import monotonic
from kernel.records import RunRow
from kernel.settings import Settings
from kernel.states import RUN_ENDED, RunState

#: A stop is heard within a second, and a program has two after its TERM before it is killed: five see nearly all.
WAIT_SECONDS = 5.0
_LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Ending:
    """Where the run stands once it has ended, or once nobody waits any longer."""

    run: RunRow
    effects: list[EffectCall]
    questions: list[Question]
    seconds: float

    @property
    def ended(self) -> bool:
        """Return whether the run has ended."""
        return RunState(self.run.state) in RUN_ENDED


def stop(
    settings: Settings, run_id: str, *, by: str, tell: Callable[[Stopped], None]
) -> tuple[Stopped, Ending]:
    """Stop a run, tell at once what that stops, and wait a bounded time for its end."""

    async def act() -> tuple[Stopped, Ending]:
        parts = make_parts(settings)
        try:
            began = monotonic()
            stopped = await parts.decisions.cancel(run_id, by=by)
            tell(stopped)
            return stopped, await _end(parts, run_id, began)
        finally:
            await parts.close()

    return asyncio.run(act())


async def _end(parts: Parts, run_id: str, began: float) -> Ending:
    def look() -> Ending:
        with parts.store.database.reading() as db:
            return Ending(
                run=db.get_one(RunRow, run_id),
                effects=effects_of(calls_of(db, run_id)),
                questions=questions(db, run_id=run_id),
                seconds=monotonic() - began,
            )

    seen = await asyncio.to_thread(look)
    while not seen.ended and seen.seconds < WAIT_SECONDS:
        await asyncio.sleep(_LOOK_SECONDS)
        seen = await asyncio.to_thread(look)
    return seen


def as_document(stopped: Stopped, ending: Ending) -> dict[str, Any]:
    """Return the answer as scripts read it: what was stopped, and the effects as the ledger has them at the end."""
    return {
        "run_id": stopped.run_id,
        "decision": "cancelled",
        **stopped.model_dump(mode="json", include={"reason", "again"}),
        "stopped": [part.model_dump(mode="json") for part in stopped.parts],
        "effects": [effect.model_dump(mode="json") for effect in ending.effects],
        "questions": [question.model_dump(mode="json") for question in ending.questions],
        "ended": ending.ended,
        "state": ending.run.state,
        "seconds": round(ending.seconds, 2),
    }


def print_stopped(stopped: Stopped, console: Console) -> None:
    """Print what the stop found: what it stops, and what had already happened."""
    said = f"was being stopped already ({stopped.reason})" if stopped.again else stopped.reason
    console.print(f"run {stopped.run_id}: {said}", markup=False)
    for part in stopped.parts:
        console.print(f"  {part_line(part)}", markup=False)
    _print_effects(stopped.effects, console)


def print_ending(stopped: Stopped, ending: Ending, console: Console) -> None:
    """Print how it ended, and what the ledger says now where that is more; or that it goes on, and how to look."""
    run_id = stopped.run_id
    if not ending.ended:
        console.print(
            f"it is told to stop, and has not ended after {ending.seconds:.0f} s; "
            f"look with: nightdesk show {run_id[:8]}\n"
            "are its coordinator and workers up? nightdesk status",
            markup=False,
        )
        return
    state = ending.run.reason or ending.run.state
    console.print(f"stopped in {ending.seconds:.1f} s: {state}", markup=False)
    if ending.effects != stopped.effects:
        _print_effects(ending.effects, console)
    for question in ending.questions:
        console.print(question_text(question), markup=False, soft_wrap=True)


def _print_effects(effects: list[EffectCall], console: Console) -> None:
    if not effects:
        console.print("no call that changes the world was made", markup=False)
        return
    console.print("calls that change the world:", markup=False)
    for effect in effects:
        console.print(f"  {effect_line(effect)}", markup=False)
