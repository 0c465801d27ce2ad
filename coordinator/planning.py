"""Planning, pure: what a run needs next, and the checks a plan must pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from kernel.contracts import Card, MemoryHit, Outcome, Plan, PlannedAssignment, SessionTurn, Value
from kernel.memory_lines import memory_line
from kernel.states import ASSIGNMENT_ENDED, RUN_ENDED, AssignmentState, RunState

MAX_ASSIGNMENTS = 8
_A = AssignmentState


class RunView(Value):
    """What next_steps looks at in a run."""

    state: RunState
    stop: str = ""
    rounds: int = 0
    max_rounds: int = 4
    deadline_at: datetime | None = None


class AssignmentView(Value):
    """What next_steps looks at in an assignment."""

    id: str
    key: str
    state: AssignmentState
    needs: list[str] = []
    #: The key of the assignment that was split over several workers (coordinator.routing); empty for a whole one.
    part_of: str = ""


class Begin(Value):
    """accepted → planning."""


class MakePlan(Value):
    """Recall, plan, insert the first assignments."""


class Queue(Value):
    """Queue these assignments and ring their agents."""

    ids: list[str]


class Move(Value):
    """working ⇄ waiting."""

    state: RunState


class Expand(Value):
    """Add the round that the playbook calls for."""


class Stop(Value):
    """End what has not begun; what runs is cut by its worker. Without a reason, the run's."""

    ids: list[str]
    state: AssignmentState
    reason: str = ""


class Expire(Value):
    """Say stop because the deadline passed; workers that still run are cut at their next renewal."""


class Answer(Value):
    """Write the report and end the run."""


Step = Begin | MakePlan | Queue | Move | Expand | Stop | Expire | Answer


def next_steps(
    run: RunView, assignments: Sequence[AssignmentView], *, more: bool, now: datetime
) -> list[Step]:
    """Return what is to be done now; empty where the run waits for others or has ended.

    `more` says whether the playbook calls for a further round on the outcomes so far. The answer depends
    on the arguments alone, so ringing twice, or in two coordinators, is harmless.
    """
    if run.state in RUN_ENDED:
        return []
    if run.stop:
        return _stopping(run, assignments)
    if run.deadline_at is not None and now >= run.deadline_at:
        return [Expire()]
    if run.state is RunState.accepted:
        return [Begin(), MakePlan()]
    if run.state is RunState.planning:
        return [MakePlan()]
    steps = _due(assignments)
    if steps:
        return steps
    if all(a.state in ASSIGNMENT_ENDED for a in assignments):
        return [Expand()] if more and run.rounds < run.max_rounds else [Answer()]
    return _waiting(run, [a.state for a in assignments])


def _waiting(run: RunView, states: Sequence[AssignmentState]) -> list[Step]:
    active = any(state in (_A.queued, _A.running) for state in states)
    if not active and _A.waiting in states and run.state is RunState.working:
        return [Move(state=RunState.waiting)]
    if active and run.state is RunState.waiting:
        return [Move(state=RunState.working)]
    return []


def _stopping(run: RunView, assignments: Sequence[AssignmentView]) -> list[Step]:
    # a budget that is spent (`failed`) fails the run; its other parts did not fail, they were cancelled
    state = _A.expired if run.stop == _A.expired.value else _A.cancelled
    idle = [a.id for a in assignments if a.state in (_A.pending, _A.queued, _A.waiting)]
    steps: list[Step] = [Stop(ids=idle, state=state)] if idle else []
    if not any(a.state is _A.running for a in assignments):
        steps.append(Answer())
    return steps


def _due(assignments: Sequence[AssignmentView]) -> list[Step]:
    by_key = {a.key: a for a in assignments}
    ready, steps = [], []
    for a in assignments:
        if a.state is not _A.pending:
            continue
        roots = dict.fromkeys(_root(by_key[key]) for key in a.needs if key in by_key)
        needed = [[n for n in assignments if _root(n) == root] for root in roots]
        failed = [parts[0] for parts in needed if _failed(parts)]
        if failed:
            reason = f"it needs {failed[0].key!r}, which ended {failed[0].state.value}"
            steps.append(Stop(ids=[a.id], state=_A.cancelled, reason=reason))
        elif all(n.state in ASSIGNMENT_ENDED for parts in needed for n in parts):
            ready.append(a.id)
    return [*steps, *([Queue(ids=ready)] if ready else [])]


def _root(a: AssignmentView) -> str:
    return a.part_of or a.key


def _failed(parts: Sequence[AssignmentView]) -> bool:
    """Return whether none of the parts of what was one assignment is done or may yet be; any that is done serves."""
    return all(n.state in ASSIGNMENT_ENDED and n.state is not _A.done for n in parts)


def check_plan(raw: Any, cards: Sequence[Card]) -> tuple[Plan | None, list[str]]:
    """Return a model's plan, or what is wrong with it: known agents, known needs, no cycle, at most 8."""
    try:
        items = raw.get("assignments", []) if isinstance(raw, dict) else raw
        plan = Plan(
            planned_by="model", assignments=[PlannedAssignment.model_validate(item) for item in items]
        )
    except (ValidationError, TypeError) as error:
        return None, [str(error)[:500]]
    problems = plan_problems(plan.assignments, {card.agent for card in cards})
    return (None if problems else plan), problems


def plan_problems(assignments: Sequence[PlannedAssignment], agents: set[str]) -> list[str]:
    """Return what is wrong with a set of assignments; empty where nothing is."""
    keys = [a.key for a in assignments]
    problems = [
        f"unknown agent {a.agent!r}; known: {sorted(agents)}" for a in assignments if a.agent not in agents
    ]
    problems += [
        f"{a.key!r} needs {n!r}, which is not in the plan"
        for a in assignments
        for n in a.needs
        if n not in keys
    ]
    if len(set(keys)) != len(keys):
        problems.append("two assignments have the same key")
    if not assignments:
        problems.append("the plan is empty")
    if len(assignments) > MAX_ASSIGNMENTS:
        problems.append(f"more than {MAX_ASSIGNMENTS} assignments")
    return problems or _cycle(assignments)


def _cycle(assignments: Sequence[PlannedAssignment]) -> list[str]:
    left = {a.key: set(a.needs) for a in assignments}
    while free := [key for key, needs in left.items() if not needs & left.keys()]:
        for key in free:
            del left[key]
    return [f"{sorted(left)} need each other in a circle"] if left else []


PLAN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["assignments"],
    "properties": {
        "assignments": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_ASSIGNMENTS,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["key", "agent", "goal", "needs"],
                "properties": {
                    "key": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,30}$"},
                    "agent": {"type": "string"},
                    "goal": {"type": "string"},
                    "needs": {"type": "array", "items": {"type": "string"}},
                },
            },
        }
    },
}


def plan_question(
    request: str,
    cards: Sequence[Card],
    memories: Sequence[MemoryHit],
    *,
    summary: str,
    turns: Sequence[SessionTurn],
) -> str:
    """Return the planner's question; everything from outside stands in it as JSON."""
    purposes = {card.agent: card.purpose for card in cards}
    reach = {agent: sorted({s for c in cards if c.agent == agent for s in c.sources}) for agent in purposes}
    known = [
        {"agent": agent, "purpose": purpose, **({"sources": reach[agent]} if reach[agent] else {})}
        for agent, purpose in purposes.items()
    ]
    told = [{"asked": turn.text, "answered": turn.answer, "agents": turn.agents} for turn in turns]
    session = {"older": summary, "turns": told}
    told_before = [memory_line(memory) for memory in memories]
    parts = {"agents": known, "memories": told_before, "session": session, "request": request}
    return json.dumps(parts, ensure_ascii=False, indent=1)


def outcomes_of(rows: Sequence[tuple[str, dict[str, Any] | None]]) -> dict[str, Outcome]:
    """Return the outcomes that assignments left, by key."""
    return {key: Outcome.model_validate(outcome) for key, outcome in rows if outcome is not None}
