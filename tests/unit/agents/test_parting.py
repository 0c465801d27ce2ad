"""The one line that Flower shows of how a worker parted from an assignment."""

from __future__ import annotations

import pytest

from agents.outcomes import Ending
from agents.parting import part
from agents.runtime.spec import DoneCall, DoneTurn
from kernel.records import AssignmentRow
from kernel.states import AssignmentState, CallState

A = AssignmentState


def row(attempts: int = 0) -> AssignmentRow:
    return AssignmentRow(id="r:a", run_id="r", key="a", agent="x", queue="q", attempts=attempts)


def turn(*states: CallState) -> DoneTurn:
    return DoneTurn(
        number=1, calls=[DoneCall(id=str(n), tool="t", state=state) for n, state in enumerate(states)]
    )


@pytest.mark.parametrize(
    ("ending", "attempts", "turns", "line"),
    [
        (Ending(A.done), 0, [], "done"),
        (Ending(A.done), 1, [turn(CallState.unknown)], "done, taken over (attempt 2), 1 call unknown"),
        (Ending(A.cancelled, reason="cancelled by ann"), 0, [], "cancelled by ann"),
        (Ending(A.cancelled, reason="it was stopped"), 0, [], "cancelled: it was stopped"),
        (Ending(A.failed, reason="budget: calls"), 0, [], "failed: budget: calls"),
        (Ending(A.waiting, reason="waits for a person: r:a.1.1"), 0, [], "waits for a person"),
        (Ending(A.queued, reason="drain"), 2, [], "handed back to the queue, taken over (attempt 3)"),
        (
            Ending(A.expired, reason="the deadline passed"),
            0,
            [turn(CallState.unknown, CallState.done), turn(CallState.unknown)],
            "expired: the deadline passed, 2 calls unknown",
        ),
    ],
)
def test_the_line_says_how_it_went(ending: Ending, attempts: int, turns: list[DoneTurn], line: str) -> None:
    assert part(row(attempts), ending, turns).line == line


def test_a_spent_budget_stops_the_run() -> None:
    assert part(row(), Ending(A.failed, reason="budget: x", stops_run=True), []).stops_run
