"""The notification routine, what it writes, and what it collects."""

from __future__ import annotations

from typing import Any

import pytest

from agents.notification.outcome import collect
from agents.notification.routine import routine
from agents.runtime.spec import DoneCall, DoneTurn, TurnView
from kernel.contracts import ActionOutcome, Evidence, Finding, MemoryHit, NotDone, Outcome, Work
from kernel.states import CallState

POOL = Finding(
    title="结账: connection pool exhausted",
    severity="critical",
    score=0.9,
    evidence=[Evidence(source="checkout.log", line=n, quote=f"PoolTimeout {n}") for n in (12, 13, 14, 15)],
)
RESTART = ActionOutcome(
    name="restart_service", state="done", verified=True, parameters={"service": "checkout"}
)
EARLIER = {
    "analyse": Outcome(
        answer="prose", findings=[Finding(title="slow disk", severity="warning", score=0.2), POOL]
    ),
    "repair": Outcome(actions=[RESTART], not_done=[NotDone(what="scale", why="denied by ann")]),
}


def _view(
    *turns: list[DoneCall],
    inputs: Any = None,
    earlier: Any = EARLIER,
    tools: Any = ("list_channels", "notify"),
) -> TurnView:
    work = Work(
        run_id="r",
        assignment_id="a",
        agent="notification",
        goal="g",
        request="why 503?",
        inputs=inputs or {},
        earlier=earlier,
    )
    done = [DoneTurn(number=n, calls=calls) for n, calls in enumerate(turns, start=1)]
    return TurnView(work=work, turns=done, tools=list(tools))


def _listed(*names: str) -> list[DoneCall]:
    value = {"default": list(names), "available": ["console", "webhook"]}
    return [DoneCall(id="l", tool="list_channels", state=CallState.done, value=value)]


def _sent(channel: str, **fields: Any) -> DoneCall:
    value = {"channel": channel, "state": "sent", "detail": "HTTP 200"}
    return DoneCall(
        **{
            "id": f"n-{channel}",
            "tool": "notify",
            "arguments": {"channel": channel},
            "state": CallState.done,
            "value": value,
        }
        | fields
    )


def test_it_asks_for_the_channels_first() -> None:
    assert [call.tool for call in routine(_view()).calls] == ["list_channels"]


def test_one_message_per_default_channel() -> None:
    calls = routine(_view(_listed("console", "webhook", "console"))).calls
    assert [call.arguments["channel"] for call in calls] == ["console", "webhook"]
    assert calls[0].arguments["severity"] == "critical"
    assert calls[0].arguments["title"] == POOL.title


@pytest.mark.parametrize("named", [["webhook"], "webhook"])
def test_channels_of_the_plan_need_no_asking(named: Any) -> None:
    calls = routine(_view(inputs={"channels": named})).calls
    assert [(call.tool, call.arguments["channel"]) for call in calls] == [("notify", "webhook")]


def test_the_body_says_cause_evidence_action_and_what_is_open() -> None:
    body = (
        routine(_view(inputs={"channels": ["console"], "message": "for the night shift"}))
        .calls[0]
        .arguments["body"]
    )
    assert body.splitlines() == [
        "Request: why 503?",
        "for the night shift",
        "Cause: 结账: connection pool exhausted (critical, 90% sure)",
        "  checkout.log:12  PoolTimeout 12",
        "  checkout.log:13  PoolTimeout 13",
        "  checkout.log:14  PoolTimeout 14",
        "  and 1 more lines",
        "Also: slow disk (warning, 20% sure)",
        "Action: restart_service(service=checkout): done, verified",
        "Not done: scale: denied by ann",
    ]


def test_without_findings_it_says_so() -> None:
    call = routine(
        _view(inputs={"channels": ["console"]}, earlier={"a": Outcome(answer="nothing odd")})
    ).calls[0]
    assert "No cause was found.\nnothing odd" in call.arguments["body"]
    assert (call.arguments["severity"], call.arguments["title"]) == ("info", "why 503?")


def test_a_huge_request_stays_within_the_tool_s_schema() -> None:
    view = _view(inputs={"channels": ["console"]}, earlier={})
    work = view.work.model_copy(update={"request": "日" * 30_000})
    arguments = routine(view.model_copy(update={"work": work})).calls[0].arguments
    assert len(arguments["title"]) <= 500
    assert len(arguments["body"]) < 1000


@pytest.mark.parametrize(
    ("view", "why"),
    [(_view(tools=[]), "not available"), (_view(_listed()), "no channel")],
)
def test_when_nobody_can_be_told_it_says_so(view: TurnView, why: str) -> None:
    outcome = routine(view).outcome
    assert outcome is not None
    assert why in outcome.not_done[0].why


def test_the_end_names_each_channel() -> None:
    failed = _sent(
        "webhook", state=CallState.failed, value=None, error={"message": "HTTP 404", "suggestion": "Check."}
    )
    view = _view(_listed("console", "webhook"), [_sent("console"), failed])
    outcome = routine(view).outcome
    assert outcome is not None
    assert outcome.answer == "console: sent (HTTP 200). webhook: failed (HTTP 404 Check.)."
    collected = collect(view.work, view.turns)
    assert [(n.channel, n.state) for n in collected.notifications] == [
        ("console", "sent"),
        ("webhook", "failed"),
    ]
    assert [(n.what, n.why) for n in collected.not_done] == [("notify webhook", "HTTP 404 Check.")]


@pytest.mark.parametrize(
    ("calls", "state"),
    [
        ([_sent("x", state=CallState.failed, value=None), _sent("x")], "sent"),
        ([_sent("x"), _sent("x", value={"state": "skipped"})], "sent"),
        ([_sent("x", state=CallState.unknown, value=None)], "unknown"),
        ([_sent("x", state=CallState.denied, value=None)], "failed"),
        ([_sent("x", value="all fine, sent!")], "unknown"),
    ],
)
def test_one_outcome_per_channel(calls: list[DoneCall], state: str) -> None:
    view = _view(calls)
    assert [n.state for n in collect(view.work, view.turns).notifications] == [state]


def test_what_a_brain_writes_sends_nothing() -> None:
    view = _view()
    assert collect(view.work, [DoneTurn(number=1, text="webhook: sent")]).notifications == []


def test_a_message_in_chinese_keeps_quotes_and_names() -> None:
    view = _view(_listed("console"))
    wish = MemoryHit(id="w", kind="preference", tier="high", text="w", slots={"language": "zh"})
    view = view.model_copy(update={"work": view.work.model_copy(update={"memories": [wish]})})
    [call] = routine(view).calls
    assert call.arguments["body"].splitlines() == [
        "请求：why 503?",
        "原因：结账: connection pool exhausted（严重，可信度 90%）",
        "  checkout.log:12  PoolTimeout 12",
        "  checkout.log:13  PoolTimeout 13",
        "  checkout.log:14  PoolTimeout 14",
        "  还有 1 行",
        "另外：slow disk（警告，可信度 20%）",
        "操作：restart_service(service=checkout): 已完成，已验证",
        "未完成：scale：denied by ann",
    ]
