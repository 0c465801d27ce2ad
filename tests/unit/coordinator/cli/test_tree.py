"""The tree and the lines that a run is shown as."""

from __future__ import annotations

from rich.console import Console

from coordinator.cli.tree import RunTree, event_line
from kernel.contracts import Evidence, Finding, MemoryHit
from kernel.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    FindingFound,
    MemoryRecalled,
    StatusChange,
    TextDelta,
    ToolCallResult,
    ToolCallStart,
)
from kernel.records import AssignmentRow

RUN = "0123456789abcdef"
ASKED = ApprovalRequested(
    run_id=RUN,
    assignment_id="a",
    agent="action_execution",
    call_id=f"{RUN}:act.1.0",
    tool="restart_service",
    argv=["svc", "restart", "a b", "[red]x[/]"],
    digest="d" * 64,
    risk="high",
    expires_at="",
)
EVENTS: list[Event] = [
    StatusChange(run_id=RUN, state="working"),
    MemoryRecalled(run_id=RUN, memories=[MemoryHit(id="m1", text="the pool was too small")]),
    StatusChange(
        run_id=RUN, assignment_id="a", agent="action_execution", state="running", detail={"worker": "w@h:1"}
    ),
    TextDelta(run_id=RUN, assignment_id="a", agent="action_execution", text="wrong"),
    TextDelta(run_id=RUN, assignment_id="a", agent="action_execution", text="", superseded=True),
    TextDelta(run_id=RUN, assignment_id="a", agent="action_execution", text="I [look]"),
    ToolCallStart(
        run_id=RUN,
        assignment_id="a",
        agent="action_execution",
        call_id="c1",
        tool="search",
        arguments={"q": "x"},
    ),
    ToolCallResult(
        run_id=RUN,
        assignment_id="a",
        agent="action_execution",
        call_id="c1",
        tool="search",
        state="done",
        summary="3 lines",
        seconds=1.234,
    ),
    FindingFound(
        run_id=RUN,
        assignment_id="a",
        agent="action_execution",
        finding=Finding(title="pool", evidence=[Evidence(source="s", line=7, quote="q")]),
    ),
    ASKED,
]


def drawn(tree: RunTree) -> str:
    console = Console(width=160, force_terminal=False, highlight=False)
    with console.capture() as capture:
        console.print(tree.draw())
    return capture.get()


def test_everything_that_happened_is_in_the_tree() -> None:
    tree = RunTree(RUN)
    tree.plan(
        [
            AssignmentRow(
                id="a",
                run_id=RUN,
                key="act",
                agent="action_execution",
                queue="q",
                goal="Restart it",
                needs=["analyse"],
            )
        ]
    )
    for event in EVENTS:
        tree.take(event)
    text = drawn(tree)
    for part in (
        *(
            "working",
            "recalled [mem:m1] the pool",
            "act: action_execution  w@h:1",
            "Restart it  (needs analyse)",
        ),
        *("I [look]", "search(q='x')", "1.23 s", "3 lines", "found: pool  s:7"),
        *("['svc', 'restart', 'a b', '[red]x[/]']", "d" * 64, f"nightdesk approve {RUN} act.1.0"),
    ):
        assert part in text, part
    assert "wrong" not in text


def test_a_decision_takes_the_question_away() -> None:
    tree = RunTree(RUN)
    tree.take(ASKED)
    tree.take(
        ApprovalDecided(
            run_id=RUN,
            assignment_id="a",
            agent="action_execution",
            call_id=ASKED.call_id,
            decision="denied",
            by="eva",
            reason="no",
        )
    )
    text = drawn(tree)
    assert "nightdesk approve" not in text
    assert "denied by eva: no" in text


def test_lines_name_the_agent_and_the_exact_argv() -> None:
    lines = [event_line(event) for event in EVENTS]
    assert "action_execution: search done in 1.23 s: 3 lines" in lines
    assert any(repr(ASKED.argv) in line and ASKED.digest in line and "act.1.0" in line for line in lines)
    assert event_line(TextDelta(run_id=RUN, text="x")) == ""
