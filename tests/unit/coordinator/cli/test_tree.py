"""The tree and the lines that a run is shown as."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from rich.console import Console

from coordinator.cli.lines import event_line
from coordinator.cli.tree import RunTree
from kernel.clock import now
from kernel.contracts import Evidence, Finding, MemoryHit
from kernel.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    FindingFound,
    MemoryRecalled,
    QuestionAnswered,
    StatusChange,
    TextDelta,
    ToolCallProgress,
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


def drawn(tree: RunTree, *, later: float = 0.0, live: bool = False) -> str:
    console = Console(width=160, force_terminal=False, highlight=False)
    with console.capture() as capture:
        console.print(tree.draw(now() + timedelta(seconds=later), live=live))
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
            "recalled 1 memory, [mem:m1] the pool",
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


def begun(call_id: str, summary: str | None = None) -> Event:
    told = {
        "run_id": RUN,
        "assignment_id": "a",
        "agent": "log_analysis",
        "call_id": call_id,
        "tool": "search",
    }
    if summary is None:
        return ToolCallStart(**told, at=now().isoformat())
    return ToolCallResult(**told, state="done", summary=summary, seconds=0.0)


def test_a_running_call_and_its_part_have_a_clock_that_stops() -> None:
    tree = RunTree(RUN)
    tree.take(
        StatusChange(
            run_id=RUN, assignment_id="a", agent="log_analysis", state="running", at=now().isoformat()
        )
    )
    tree.take(begun("c1"))
    assert tree.running() == ["log_analysis: search"]
    assert drawn(tree, later=120).count("120 s") == 3  # the run, its part and its call
    tree.take(begun("c1", "found"))
    text = drawn(tree, later=120)
    assert text.count("120 s") == 2
    tree.take(StatusChange(run_id=RUN, state="succeeded"))
    assert drawn(tree, later=120).count("120 s") == 1
    assert "0.00 s  found" in text
    assert tree.running() == ["log_analysis"]


def test_an_event_with_no_time_or_none_of_a_zone_has_a_clock_from_now() -> None:
    for at in ("", "2026-01-01T00:00:00"):
        tree = RunTree(RUN)
        tree.take(ToolCallStart(run_id=RUN, assignment_id="a", agent="x", call_id="c", tool="search", at=at))
        assert "  0 s" in drawn(tree)


def test_states_stand_apart_from_what_follows() -> None:
    tree = RunTree(RUN)
    tree.take(StatusChange(run_id=RUN, state="succeeded"))
    assert drawn(tree).startswith(f"succeeded run {RUN[:13]}")


def test_memories_are_one_line_however_many_and_long() -> None:
    tree = RunTree(RUN)
    hits = [MemoryHit(id=f"m{n}", text="the pool was too small " * 20) for n in range(3)]
    event = MemoryRecalled(run_id=RUN, memories=hits)
    tree.take(event)
    (line,) = [line for line in drawn(tree).splitlines() if "recalled" in line]
    assert "3 memories, the first [mem:m0] the pool" in line
    assert line.endswith("…")
    assert "m1" not in drawn(tree)
    assert "m1" not in event_line(event)


def test_while_it_goes_on_few_calls_are_shown_and_at_the_end_many() -> None:
    tree = RunTree(RUN)
    for number in range(9):
        tree.take(begun(f"c{number}", f"result {number}"))
    assert "… 6 earlier calls" in drawn(tree, live=True)
    assert "result 8" in drawn(tree, live=True)
    assert "result 0" not in drawn(tree, live=True)
    assert "result 0" in drawn(tree)


def test_a_summary_is_one_line_cut_at_a_word_and_its_absence_leaves_no_tail() -> None:
    assert event_line(begun("c", "")) == "log_analysis: search done in 0.00 s"
    assert event_line(begun("c", "a\nb")).endswith("s: a b")
    line = event_line(begun("c", "words " * 100))
    assert line.endswith("words…")
    assert "\n" not in line


def test_a_lost_worker_a_repeat_and_an_answer_are_told_in_both_views() -> None:
    ids: Any = {"run_id": RUN, "assignment_id": "a", "agent": "action_execution"}
    events: list[Event] = [
        StatusChange(
            state="queued", reason="taken back", detail={"attempt": 2, "lost_worker": "w@h:1"}, **ids
        ),
        StatusChange(state="running", detail={"worker": "w@h:2", "attempt": 2}, **ids),
        ToolCallStart(call_id="r:a.1.1", tool="restart", arguments={"what": "x"}, attempt=2, **ids),
        QuestionAnswered(
            call_id="r:a.1.2", tool="drop", answer="not_happened", by="ann", reason="[red]looked[/]", **ids
        ),
    ]
    tree = RunTree(RUN)
    for event in events:
        tree.take(event)
    text = drawn(tree)
    assert "worker w@h:1 was lost; taken over in attempt 2" in text
    assert "restart(what='x', attempt 2)" in text
    assert "drop not happened, said ann: [red]looked[/]" in text
    assert [event_line(event) for event in events[1:]] == [
        "action_execution: running (taken over, attempt 2)",
        "action_execution: restart is made again (attempt 2)",
        "action_execution: drop not happened, said ann: [red]looked[/]",
    ]


GB = 1_000_000_000
READING = {"run_id": RUN, "assignment_id": "a", "agent": "log_analysis", "call_id": "c1", "tool": "overview"}


def test_a_long_call_shows_how_far_it_is_until_it_ends() -> None:
    tree = RunTree(RUN)
    tree.take(StatusChange(run_id=RUN, assignment_id="a", agent="log_analysis", state="running"))
    tree.take(ToolCallStart(**READING))
    tree.take(ToolCallProgress(**READING, what="app.log", done=400_000_000, total=GB))
    assert "reading app.log 40 % (400 MB of 1 GB)" in drawn(tree, live=True)
    assert tree.running() == ["log_analysis: overview reading app.log 40 % (400 MB of 1 GB)"]
    tree.take(ToolCallResult(**READING, state="done", summary="3 problems", seconds=61.0))
    late = ToolCallProgress(**READING, what="app.log", done=500_000_000, total=GB)
    tree.take(late)
    assert "3 problems" in drawn(tree)
    assert "reading" not in drawn(tree)


def test_progress_as_a_line_is_rounded_down_and_says_when_all_is_read() -> None:
    def line(done: int, total: int) -> str:
        return event_line(ToolCallProgress(**READING, what="a\nb.log", done=done, total=total))

    assert line(999_000_000, GB) == "log_analysis: overview is reading a b.log 99 % (999 MB of 1 GB)"
    assert line(GB, GB) == "log_analysis: overview is through with a b.log (1 GB), working out the answer"
    assert line(0, 0) == "log_analysis: overview is reading a b.log"
    assert line(1234, 40_560_000) == "log_analysis: overview is reading a b.log 0 % (1.2 kB of 40.6 MB)"
