"""The checker, pure: from the evidence of a scenario to its verdict; every broken promise is a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from kernel.states import ASSIGNMENT_ENDED, AssignmentState
from tests.chaos import event_log, truth
from tests.chaos.evidence import Evidence, Row
from tests.chaos.pulse import overlap


@dataclass
class Verdict:
    """What a scenario came to."""

    scenario: str
    runs: int = 0
    ended: int = 0
    states: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)
    repeats: int = 0
    unknown: list[Row] = field(default_factory=list)
    effects: int = 0
    kills: int = 0
    terms: int = 0
    zombies: int = 0
    redis_restarts: int = 0
    #: Seconds from a kill to the next claim of what its victim held.
    recovery: list[float] = field(default_factory=list)
    #: Seconds from a cancel to the run's end, and to the closed socket of the model.
    cancel_end: list[float] = field(default_factory=list)
    cancel_socket: list[float] = field(default_factory=list)
    cancel_child: list[float] = field(default_factory=list)
    budget_over: int = 0
    given_up: int = 0
    #: Seconds in which SQL took no write, Redis gave no answer, or no coordinator or no reconciler lived.
    outage_seconds: float = 0.0
    seconds: float = 0.0
    broken: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Tell whether every promise held, of something that happened."""
        unexplained = [row for row in self.unknown if not row["why"]]
        return bool(self.runs) and not (
            self.lost or self.duplicates or unexplained or self.broken or self.budget_over
        )

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as it is kept."""
        return {**asdict(self), "good": self.good}


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict on what a scenario left behind."""
    ended = evidence.ended()
    deeds = [deed["what"] for deed in evidence.deeds]
    verdict = Verdict(
        scenario=evidence.scenario,
        runs=len(evidence.submitted),
        ended=len(ended),
        lost=list(_lost(evidence)),
        duplicates=truth.duplicates(evidence),
        repeats=truth.repeats(evidence),
        unknown=truth.unknowns(evidence),
        effects=sum(truth.applied(evidence).values()),
        kills=deeds.count("kill"),
        terms=deeds.count("term"),
        zombies=deeds.count("zombie"),
        redis_restarts=deeds.count("redis_kill") + deeds.count("redis_stop"),
        recovery=list(recovery(evidence)),
        cancel_end=[
            _at(run["ended_at"]) - evidence.cancelled[run["id"]]
            for run in ended
            if run["id"] in evidence.cancelled
        ],
        given_up=sum(
            "died" in str(a["reason"]) for a in evidence.assignments if a["state"] == AssignmentState.failed
        ),
        broken=[*truth.broken_words(evidence), *_event_logs(evidence), *_late(evidence), *_exits(evidence)],
    )
    verdict.outage_seconds = round(overlap(evidence.outages, 0.0, float("inf")), 1)
    for run in ended:
        verdict.states[run["state"]] = verdict.states.get(run["state"], 0) + 1
    return verdict


def _lost(evidence: Evidence) -> Iterator[str]:
    for run_id in evidence.submitted:
        run = evidence.runs.get(run_id)
        if run is None:
            yield f"{run_id}: submitted, and never accepted"
        elif run["ended_at"] is None or run["report"] is None:
            parts = [
                f"{a['key']} {a['state']} ({a['worker']})"
                for a in evidence.assignments
                if a["run_id"] == run_id
            ]
            yield f"{run_id}: stuck as {run['state']}; {', '.join(parts) or 'no assignment'}"
        elif not run["published"]:
            yield f"{run_id}: ended as {run['state']}, and its report was never published"


def _event_logs(evidence: Evidence) -> Iterator[str]:
    for run in evidence.ended():
        calls = [call for call in evidence.calls if call["run_id"] == run["id"]]
        found = event_log.problems(
            evidence.events.get(run["id"], []), evidence.sequences.get(run["id"], []), calls
        )
        yield from (f"event log of {run['id']}: {problem}" for problem in found)


def _late(evidence: Evidence) -> Iterator[str]:
    """Yield runs that were open past their deadline plus two leases, and the time in which nobody could end them."""
    for run in evidence.ended():
        if not run["deadline_at"]:
            continue
        deadline, ended = _at(run["deadline_at"]), _at(run["ended_at"])
        out = overlap(evidence.outages, deadline, ended)
        if ended - deadline > 2 * evidence.lease_seconds + out:
            yield f"{run['id']} ended {ended - deadline:.1f} s after its deadline, {out:.1f} s of them without SQL, Redis or anybody to end it"


def _exits(evidence: Evidence) -> Iterator[str]:
    """Yield processes that were asked to end and did not end with 0."""
    struck = {d["pid"] for d in evidence.deeds if d["what"] == "kill"}
    how = {row["pid"]: row["how"] for row in evidence.exits}
    for deed in evidence.deeds:
        if (
            deed["what"] == "term"
            and deed["pid"] not in struck
            and (told := how.get(deed["pid"])) != "exit status 0"
        ):
            yield f"{deed['program']} ({deed['pid']}) was asked to end: {told or 'it did not'}"


def recovery(evidence: Evidence) -> Iterator[float]:
    """Yield, for each assignment that a killed worker held, the seconds until it went on elsewhere."""
    for deed in evidence.deeds:
        if deed["what"] != "kill":
            continue
        for assignment_id in deed["held"]:
            after = _next_move(evidence, assignment_id, deed)
            if after is not None:
                yield after


def _next_move(evidence: Evidence, assignment_id: str, deed: Row) -> float | None:
    """Return when it was claimed again, or given up for its deaths; None where people or the clock ended it."""
    run_id = next((a["run_id"] for a in evidence.assignments if a["id"] == assignment_id), "")
    for _, event in evidence.events.get(run_id, []):
        if event["type"] != "status_change" or event["assignment_id"] != assignment_id:
            continue
        at, state = _at(event["at"]), event["state"]
        elsewhere = not str(event["detail"].get("worker", "")).endswith(f":{deed['pid']}")
        if at <= deed["at"] or (state == AssignmentState.running and not elsewhere):
            continue
        if state == AssignmentState.running or (
            state == AssignmentState.failed and "died" in event["reason"]
        ):
            return float(at - deed["at"])
        if state in ASSIGNMENT_ENDED:
            return None
    return None


def _at(text: Any) -> float:
    return datetime.fromisoformat(text).timestamp() if text else 0.0


def judge_recovery(seconds: Sequence[float], *, most: float) -> list[str]:
    """Return what is wrong with how soon work went on: nothing measured, or a p95 above what is promised."""
    if not seconds:
        return ["no worker was killed that held work"]
    p95 = percentile(seconds, 0.95)
    return [f"recovery took {p95:.1f} s (p95), more than {most:g} s"] if p95 > most else []


def percentile(values: Sequence[float], share: float) -> float:
    """Return a percentile by the nearest rank; 0 of nothing."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def merge(verdicts: Sequence[Verdict]) -> Verdict:
    """Return all verdicts as one."""
    total = Verdict(scenario="all")
    for verdict in verdicts:
        for name, value in vars(verdict).items():
            if isinstance(value, (int, float, list)):
                setattr(total, name, getattr(total, name) + value)
    return total
