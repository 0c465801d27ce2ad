"""How a worker parts from an assignment, as the one line that Flower shows on its task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.outcomes import Ending
from agents.runtime.spec import DoneTurn
from kernel.database import Database
from kernel.records import AssignmentRow
from kernel.states import ASSIGNMENT_ENDED, AssignmentState, CallState

_A = AssignmentState
_WAITS = {_A.waiting: "waits for a person", _A.queued: "handed back to the queue"}


@dataclass(frozen=True)
class Parting:
    """What a worker says when it leaves an assignment; `stops_run` cuts the run's other parts too."""

    line: str
    stops_run: bool = False


LEFT = Parting("left to its lease")
LOST = Parting("lost: another worker has it")


def part(row: AssignmentRow, ending: Ending, turns: Sequence[DoneTurn]) -> Parting:
    """Return how it went: the end, whether it was taken over, and calls that nobody knows the outcome of."""
    return Parting(", ".join([_end(ending), *_taken_over(row), *_unknown(turns)]), ending.stops_run)


def _end(ending: Ending) -> str:
    if ending.state in _WAITS:
        return _WAITS[ending.state]
    if not ending.reason or ending.reason.startswith(ending.state.value):
        return ending.reason or ending.state.value
    return f"{ending.state.value}: {ending.reason}"


def _taken_over(row: AssignmentRow) -> list[str]:
    return [f"taken over (attempt {row.attempts + 1})"] if row.attempts else []


def _unknown(turns: Sequence[DoneTurn]) -> list[str]:
    count = sum(call.state is CallState.unknown for turn in turns for call in turn.calls)
    return [f"{count} call{'' if count == 1 else 's'} unknown"] if count else []


def not_ours(database: Database, assignment_id: str) -> str:
    """Return why a worker that was rung for an assignment had nothing to do."""
    with database.reading() as session:
        row = session.get(AssignmentRow, assignment_id)
    if row is None:
        return "there is no such assignment"
    state = _A(row.state)
    if state in ASSIGNMENT_ENDED:
        return f"nothing to do: {_end(Ending(state, reason=row.reason))}"
    return "not ours: another worker has it" if state is _A.running else f"nothing to do: it is {state.value}"
