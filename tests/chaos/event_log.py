"""What a run's event log must look like, pure: no gap, no repeat, legal moves, one result per call, one report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from kernel.states import ASSIGNMENT_ENDED, CALL_ENDED, MOVES, RUN_ENDED, AssignmentState, RunState

Event = dict[str, Any]
_NUMBERED = re.compile(r"(\d{1,9})-(\d+)")


def problems(
    events: Sequence[tuple[str, Event]], numbers: Sequence[int], calls: Sequence[Event]
) -> list[str]:
    """Return what is wrong with the log of an ended run; `numbers` are those of its rows, `calls` its call rows."""
    told = [event for _, event in events]
    return [
        *_order([id_ for id_, _ in events], numbers),
        *_report(told),
        *_run_moves(told),
        *_assignment_moves(told),
        *_calls(told, calls),
    ]


def _order(ids: Sequence[str], numbers: Sequence[int]) -> Iterator[str]:
    places = [tuple(map(int, id_.split("-"))) for id_ in ids]
    if sorted(set(places)) != places:
        yield "stream ids do not grow"
    if numbers and list(numbers) != list(range(1, len(numbers) + 1)):
        yield f"event rows are not numbered 1 to {len(numbers)}: {_first_gap(numbers)}"
    if ids and all(_NUMBERED.fullmatch(id_) for id_ in ids):
        shown = sorted({place[0] for place in places if place[1] == 0})
        if shown != list(range(1, len(shown) + 1)):
            yield f"the stream has a gap: {_first_gap(shown)}"
        if numbers and shown != list(numbers):
            yield f"the stream has {len(shown)} numbered events and SQL {len(numbers)}"


def _first_gap(numbers: Sequence[int]) -> str:
    return next((f"{at} is missing" for at, number in enumerate(numbers, start=1) if number != at), "")


def _report(told: Sequence[Event]) -> Iterator[str]:
    at = [index for index, event in enumerate(told) if event["type"] == "report"]
    if len(at) != 1:
        yield f"{len(at)} report events"
    elif at[0] != len(told) - 1:
        yield f"after the report comes {told[at[0] + 1]['type']}"


def _run_moves(told: Sequence[Event]) -> Iterator[str]:
    states = [RunState(e["state"]) for e in told if e["type"] == "status_change" and not e["assignment_id"]]
    if states[:1] != [RunState.accepted]:
        yield f"the run begins as {states[:1]}"
    for old, new in pairwise(states):
        # `answering` is passed within the transaction that ends the run
        if new not in MOVES[RunState][old] and not (new in RUN_ENDED and old not in RUN_ENDED):
            yield f"the run goes from {old} to {new}"
    if not states or states[-1] not in RUN_ENDED:
        yield f"the run's last event is {states[-1:]}"


def _assignment_moves(told: Sequence[Event]) -> Iterator[str]:
    latest: dict[str, AssignmentState] = {}
    for at, event in enumerate(told):
        if event["type"] != "status_change" or not event["assignment_id"]:
            continue
        id_, new = event["assignment_id"], AssignmentState(event["state"])
        old = latest.get(id_, AssignmentState.pending)
        taken = old is new is AssignmentState.running and _is_take_over(told, at)
        if new not in MOVES[AssignmentState][old] and not taken:
            yield f"{id_} goes from {old} to {new}"
        latest[id_] = new
    for id_, state in latest.items():
        if state not in ASSIGNMENT_ENDED:
            yield f"{id_} is left as {state}"


def _is_take_over(told: Sequence[Event], at: int) -> bool:
    """Tell whether a worker took what it was rung for from a lease that ran out, before the reconciler did.

    What the attempt before had half said is void then, and the event behind says so.
    """
    behind = told[at + 1] if at + 1 < len(told) else {}
    mine = behind.get("assignment_id") == told[at]["assignment_id"]
    return bool(mine and behind["type"] == "text_delta" and behind["superseded"])


def _calls(told: Sequence[Event], calls: Sequence[Event]) -> Iterator[str]:
    taken: dict[str, int] = Counter()
    started: dict[str, int] = {}
    results: Counter[str] = Counter()
    for event in told:
        if event["type"] == "status_change" and event["state"] == AssignmentState.running:
            taken[event["assignment_id"]] += 1
        elif event["type"] == "tool_call_start":
            call, turn = event["call_id"], taken[event["assignment_id"]]
            if started.get(call) == turn:
                yield f"{call} was started twice without a take-over"
            started[call] = turn
        elif event["type"] == "tool_call_result":
            results[event["call_id"]] += 1
    for call_row in calls:
        count = results[call_row["id"]]
        if count > 1 or (count == 0 and call_row["state"] in CALL_ENDED):
            yield f"{call_row['id']} ({call_row['tool']}, {call_row['state']}) has {count} results"
