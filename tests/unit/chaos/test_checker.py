"""The checker believes nobody: each kind of broken promise, put into good evidence, is found."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.chaos.checker import judge, judge_recovery, merge
from tests.chaos.evidence import Evidence

RUN, PART = "r", "r:work"
KILLED, OTHER = "agents@host:11", "agents@host:22"


def moment(second: float) -> str:
    return f"2026-11-30T00:00:{second:09.6f}+00:00"


def epoch(second: float) -> float:
    from datetime import datetime

    return datetime.fromisoformat(moment(second)).timestamp()


def status(at: float, state: str, part: str = "", **detail: Any) -> dict[str, Any]:
    told = {"type": "status_change", "run_id": RUN, "assignment_id": part, "state": state, "reason": ""}
    return {**told, "at": moment(at), "detail": detail}


def call_event(at: float, kind: str, **more: Any) -> dict[str, Any]:
    told = {"type": kind, "run_id": RUN, "assignment_id": PART, "call_id": f"{PART}.1.1", "tool": "probe"}
    return {**told, "at": moment(at), **more}


def call_row() -> dict[str, Any]:
    return {
        "id": f"{PART}.1.1",
        "run_id": RUN,
        "assignment_id": PART,
        "tool": "probe",
        "effect": "probe",
        "key": "k",
        "arguments": {"what": "a"},
        "state": "done",
        "result": {"value": {}},
        "worker": OTHER,
        "started_at": moment(5),
        "ended_at": moment(6),
    }


def good() -> Evidence:
    """Return a run whose worker was killed before the world heard of its call; another one made it."""
    events = [
        status(1, "accepted"),
        status(1, "planning"),
        status(1, "working"),
        status(1, "queued", PART),
        status(1.5, "running", PART, worker=KILLED),
        call_event(1.6, "tool_call_start"),
        status(4.5, "queued", PART),
        status(5, "running", PART, worker=OTHER),
        call_event(5, "tool_call_start"),
        call_event(6, "tool_call_result", state="done"),
        status(6, "done", PART),
        status(7, "succeeded"),
        {"type": "report", "run_id": RUN, "assignment_id": "", "at": moment(7)},
    ]
    run = {"id": RUN, "state": "succeeded", "stop": "", "published": True}
    times = {"ended_at": moment(7), "deadline_at": moment(50)}
    action = {"name": "probe", "state": "done", "call_id": f"{PART}.1.1"}
    heard = {"key": "k", "kind": "probe", "run": RUN, "mood": "good", "arrived": True, "applied": True}
    return Evidence(
        scenario="test",
        submitted={RUN: epoch(1)},
        runs={RUN: {**run, **times, "report": {"actions": [action], "notifications": []}}},
        assignments=[
            {"id": PART, "run_id": RUN, "key": "work", "state": "done", "worker": OTHER, "reason": ""}
        ],
        calls=[call_row()],
        events={RUN: [(f"{n}-0", event) for n, event in enumerate(events, start=1)]},
        sequences={RUN: list(range(1, len(events) + 1))},
        world=[heard],
        deeds=[{"at": epoch(2), "what": "kill", "program": "worldly", "pid": 11, "held": [PART]}],
    )


def test_good_evidence_is_good() -> None:
    verdict = judge(good())
    assert verdict.good, verdict
    assert (verdict.runs, verdict.ended, verdict.kills, verdict.effects) == (1, 1, 1, 1)
    assert verdict.recovery == pytest.approx([3.0])


def lose(evidence: Evidence) -> None:
    evidence.runs[RUN] |= {"ended_at": None, "state": "working", "report": None}


def never_accept(evidence: Evidence) -> None:
    evidence.submitted["another"] = epoch(2)


def forget_to_publish(evidence: Evidence) -> None:
    evidence.runs[RUN]["published"] = False


def end_late(evidence: Evidence) -> None:
    evidence.runs[RUN]["deadline_at"] = moment(0.5)


def happen_twice(evidence: Evidence) -> None:
    evidence.world *= 2


def boast(evidence: Evidence) -> None:
    evidence.world = []


def deny_what_happened(evidence: Evidence) -> None:
    evidence.runs[RUN]["report"]["actions"][0]["state"] = "failed"


def say_nothing_of_it(evidence: Evidence) -> None:
    evidence.runs[RUN]["report"]["actions"] = []


def guess(evidence: Evidence) -> None:
    evidence.calls[0]["state"] = "unknown"


def leave_it_unexplained(evidence: Evidence) -> None:
    evidence.calls[0]["state"] = evidence.runs[RUN]["report"]["actions"][0]["state"] = "unknown"


def leave_a_gap(evidence: Evidence) -> None:
    del evidence.events[RUN][3]


def leave_a_gap_in_the_rows(evidence: Evidence) -> None:
    del evidence.sequences[RUN][3]


def report_twice(evidence: Evidence) -> None:
    evidence.events[RUN].append(("14-0", evidence.events[RUN][-1][1]))
    evidence.sequences[RUN].append(14)


def speak_after_the_report(evidence: Evidence) -> None:
    evidence.events[RUN].append(("13-1", {**status(8, "succeeded"), "type": "text_delta"}))


def start_twice(evidence: Evidence) -> None:
    evidence.events[RUN][6] = ("7-0", call_event(4.5, "tool_call_start"))


def tell_two_results(evidence: Evidence) -> None:
    evidence.events[RUN][8] = ("9-0", call_event(5, "tool_call_result", state="done"))


def tell_no_result(evidence: Evidence) -> None:
    evidence.events[RUN][9] = ("10-0", {**call_event(6, "text_delta"), "text": ""})


def skip_a_state(evidence: Evidence) -> None:
    evidence.events[RUN][3] = ("4-0", status(1, "waiting", PART))


def end_twice(evidence: Evidence) -> None:
    evidence.events[RUN][10] = ("11-0", status(6, "failed"))


def exit_badly(evidence: Evidence) -> None:
    evidence.deeds.append({"at": epoch(3), "what": "term", "program": "worldly-2", "pid": 22, "held": []})
    evidence.exits.append({"program": "worldly-2", "pid": 22, "how": "exit status 1"})


@pytest.mark.parametrize(
    "breaking",
    [
        lose,
        never_accept,
        forget_to_publish,
        end_late,
        happen_twice,
        boast,
        deny_what_happened,
        say_nothing_of_it,
        guess,
        leave_it_unexplained,
        leave_a_gap,
        leave_a_gap_in_the_rows,
        report_twice,
        speak_after_the_report,
        start_twice,
        tell_two_results,
        tell_no_result,
        skip_a_state,
        end_twice,
        exit_badly,
    ],
)
def test_each_broken_promise_is_found(breaking: Callable[[Evidence], None]) -> None:
    evidence = deepcopy(good())
    breaking(evidence)
    assert not judge(evidence).good


def test_a_repeat_that_the_world_dropped_is_no_duplicate() -> None:
    evidence = good()
    evidence.world[0]["kind"] = "keyed"
    evidence.world.append({**evidence.world[0], "applied": False})
    verdict = judge(evidence)
    assert verdict.good
    assert verdict.repeats == 1


@pytest.mark.parametrize("why", ["kill", "mood", "stop", "clock", "lease"])
def test_an_unknown_call_is_explained_by_what_left_it_open(why: str) -> None:
    evidence = good()
    leave_it_unexplained(evidence)
    if why == "kill":
        evidence.deeds.append(
            {"at": epoch(5.5), "what": "kill", "program": "worldly-2", "pid": 22, "held": []}
        )
    elif why == "mood":
        evidence.world[0]["mood"] = "drop_after"
    elif why == "lease":
        evidence.events[RUN][10][1]["reason"] = f"taken back from {OTHER}, whose lease ran out"
    elif why == "clock":
        evidence.calls[0]["result"] = {
            "error": {"message": "probe took longer than 4 s: it may have happened"}
        }
    else:
        evidence.runs[RUN]["stop"] = "cancelled"
    verdict = judge(evidence)
    assert verdict.good, verdict
    assert [row["why"] for row in verdict.unknown] != [""]


def test_a_process_asked_to_end_that_ends_with_0_is_good() -> None:
    evidence = good()
    exit_badly(evidence)
    evidence.exits[0]["how"] = "exit status 0"
    assert judge(evidence).good


def test_no_runs_are_no_success() -> None:
    assert not judge(Evidence(scenario="empty", submitted={})).good


def test_verdicts_add_up() -> None:
    total = merge([judge(good()), judge(good())])
    assert (total.runs, total.ended, total.kills, len(total.recovery)) == (2, 2, 2, 2)


def test_recovery_is_judged_by_its_p95_and_must_have_happened() -> None:
    assert judge_recovery([3.0] * 19 + [9.0], most=5.0) == []
    assert judge_recovery([3.0] * 9 + [9.0], most=5.0) == ["recovery took 9.0 s (p95), more than 5 s"]
    assert judge_recovery([], most=5.0) == ["no worker was killed that held work"]


def test_a_lease_that_ran_out_may_be_taken_where_what_was_half_said_is_void() -> None:
    evidence = good()
    void = {"type": "text_delta", "run_id": RUN, "assignment_id": PART, "superseded": True, "at": moment(5)}
    events = [event for _, event in evidence.events[RUN]]
    events[6:8] = [status(5, "running", PART, worker=OTHER), void]
    evidence.events[RUN] = [(f"{n}-0", event) for n, event in enumerate(events, start=1)]
    assert judge(evidence).good, judge(evidence).broken
    void["superseded"] = False
    assert not judge(evidence).good


def test_time_in_which_nobody_could_write_ends_no_run_late() -> None:
    evidence = good()
    end_late(evidence)
    evidence.outages = [(epoch(0), epoch(0.4)), (epoch(0.6), epoch(0.9)), (epoch(2), epoch(3))]
    assert judge(evidence).good, judge(evidence).broken
    evidence.outages = [(epoch(8), epoch(50))]
    assert not judge(evidence).good
