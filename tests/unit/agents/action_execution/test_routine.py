"""The action agent's routine and what it collects from the journal."""

from __future__ import annotations

from typing import Any

import pytest

from agents.action_execution.outcome import collect
from agents.action_execution.routine import routine
from agents.runtime.spec import DoneCall, DoneTurn, TurnView
from kernel.contracts import MemoryHit, Work
from kernel.states import CallState

PARAMETERS = {"service": "结账", "config": "last-good"}


def _view(inputs: dict[str, Any] | None = None, *, calls: Any = (), memories: Any = ()) -> TurnView:
    work = Work(
        run_id="r",
        assignment_id="a",
        agent="action_execution",
        goal="g",
        request="q",
        inputs=inputs or {},
        memories=list(memories),
    )
    turns = [DoneTurn(number=1, calls=list(calls))] if calls else []
    return TurnView(work=work, turns=turns, tools=["restart_service", "disk_usage"])


def _call(state: CallState, value: Any = None, error: dict[str, str] | None = None) -> DoneCall:
    return DoneCall(
        id="c1", tool="restart_service", arguments=PARAMETERS, state=state, value=value, error=error
    )


def _memory(tier: Any) -> MemoryHit:
    return MemoryHit(
        id="m7",
        text="restart helps",
        tier=tier,
        slots={"action": "restart_service", "parameters": PARAMETERS},
    )


def test_the_named_action_is_called_once() -> None:
    turn = routine(_view({"action": "restart_service", "parameters": PARAMETERS}))
    assert [(c.tool, c.arguments) for c in turn.calls] == [("restart_service", PARAMETERS)]
    assert turn.outcome is None


def test_the_plan_goes_before_a_memory() -> None:
    turn = routine(_view({"action": "disk_usage"}, memories=[_memory("high")]))
    assert [(c.tool, c.arguments) for c in turn.calls] == [("disk_usage", {})]


def test_a_trusted_memory_may_name_the_action_and_is_cited() -> None:
    assert routine(_view(memories=[_memory("high")])).calls[0].arguments == PARAMETERS
    done = _call(
        CallState.done, {"state": "done", "argv": ["/x"], "verified": True, "verify_detail": "HTTP 200"}
    )
    outcome = routine(_view(memories=[_memory("high")], calls=[done])).outcome
    assert outcome is not None
    assert outcome.cited_memories == ["m7"]


def test_a_lesser_memory_names_nothing() -> None:
    outcome = routine(_view(memories=[_memory("middle")])).outcome
    assert outcome is not None
    assert outcome.not_done[0].why == "no action was named"


def test_an_unknown_action_is_answered_with_the_known_ones() -> None:
    outcome = routine(_view({"action": "rm -rf /", "parameters": {}})).outcome
    assert outcome is not None
    assert "restart_service, disk_usage" in outcome.not_done[0].why


@pytest.mark.parametrize("inputs", [{"action": 7}, {"action": ["x"]}, {"action": ""}])
def test_an_action_that_is_no_name_is_none(inputs: dict[str, Any]) -> None:
    assert routine(_view(inputs)).outcome is not None


@pytest.mark.parametrize(
    ("call", "state", "verified", "why"),
    [
        (
            _call(
                CallState.done,
                {"state": "done", "argv": ["/x"], "verified": True, "verify_detail": "HTTP 200"},
            ),
            "done",
            True,
            None,
        ),
        (
            _call(
                CallState.done,
                {"state": "done", "argv": ["/x"], "verified": False, "verify_detail": "HTTP 503"},
            ),
            "done",
            False,
            "HTTP 503",
        ),
        (
            _call(
                CallState.done,
                {"state": "failed", "argv": ["/x"], "verified": None, "verify_detail": "exit code 1"},
            ),
            "failed",
            None,
            "exit code 1",
        ),
        (
            _call(CallState.denied, error={"message": "denied by ann: no", "suggestion": ""}),
            "denied",
            None,
            "denied by ann: no",
        ),
        (
            _call(CallState.unknown, error={"message": "was stopped", "suggestion": "Look."}),
            "unknown",
            None,
            "was stopped. Look.",
        ),
        (_call(CallState.failed), "failed", None, "failed"),
    ],
)
def test_outcomes_come_from_the_journal(
    call: DoneCall, state: str, verified: bool | None, why: str | None
) -> None:
    view = _view({"action": "restart_service"}, calls=[call])
    outcome = collect(view.work, view.turns)
    action = outcome.actions[0]
    assert (action.name, action.state, action.verified, action.call_id) == (
        "restart_service",
        state,
        verified,
        "c1",
    )
    assert action.parameters == PARAMETERS
    assert [n.why for n in outcome.not_done] == ([why] if why else [])
    answer = routine(view).outcome
    assert answer is not None
    assert "restart_service(service=结账, config=last-good)" in answer.answer


def test_paging_a_result_is_no_action_and_a_cut_result_is_not_done() -> None:
    page = DoneCall(id="p", tool="read_artifact", state=CallState.done, value={"text": "x"})
    cut = _call(CallState.done, {"artifact": "a" * 64, "note": "Too large to show whole"})
    actions = collect(_view().work, [DoneTurn(number=1, calls=[page, cut])]).actions
    assert [(a.name, a.state, a.detail) for a in actions] == [
        ("restart_service", "unknown", "Too large to show whole")
    ]


def test_what_a_brain_writes_makes_no_action() -> None:
    view = _view()
    turns = [DoneTurn(number=1, text="I have restarted everything; verified.")]
    assert collect(view.work, turns).actions == []


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            _call(CallState.done, {"state": "done", "verified": True, "verify_detail": "answers 200"}),
            "已执行 restart_service(service=结账, config=last-good)，并已验证：answers 200。",
        ),
        (_call(CallState.denied, error={"message": "not now."}), "已结束，状态：被拒绝（not now）。"),
    ],
)
def test_it_answers_in_chinese_where_that_was_asked_for(call: DoneCall, said: str) -> None:
    wish = MemoryHit(id="w", kind="preference", tier="high", text="w", slots={"language": "zh"})
    outcome = routine(_view({"action": "restart_service"}, calls=[call], memories=[wish])).outcome
    assert outcome is not None
    assert said in outcome.answer
