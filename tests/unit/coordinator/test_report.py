from datetime import timedelta

import pytest

from coordinator.report import compose, end_state, markdown
from kernel.clock import now
from kernel.contracts import ActionOutcome, Evidence, Finding, MemoryHit, NotDone, Outcome, Request, Usage
from kernel.records import AssignmentRow, RunRow
from kernel.states import RunState

NOW = now()


def run(**fields: object) -> RunRow:
    return RunRow(
        id="r",
        request=Request(text="why?").model_dump(mode="json"),
        created_at=NOW - timedelta(seconds=5),
        **fields,
    )


def row(key: str, state: str, outcome: Outcome | None = None, **fields: object) -> AssignmentRow:
    dumped = outcome.model_dump(mode="json") if outcome else None
    return AssignmentRow(
        id=key, run_id="r", key=key, agent=key, queue="q", goal="g", state=state, outcome=dumped, **fields
    )


class TestEndState:
    @pytest.mark.parametrize(
        ("states", "ended"),
        [
            (["done"], RunState.succeeded),
            (["done", "failed"], RunState.succeeded),
            (["failed"], RunState.failed),
            (["expired", "failed"], RunState.expired),
            ([], RunState.failed),
        ],
    )
    def test_one_done_part_is_enough(self, states: list[str], ended: RunState) -> None:
        assert end_state(run(), [row(str(i), s) for i, s in enumerate(states)])[0] is ended

    def test_a_stop_wins(self) -> None:
        stopped = run(stop="cancelled", stop_reason="cancelled by ann")
        assert end_state(stopped, [row("a", "done")]) == (RunState.cancelled, "cancelled by ann")

    def test_the_reason_names_the_part(self) -> None:
        assert end_state(run(), [row("a", "failed", reason="no route")])[1] == "a: no route"


class TestCompose:
    def test_parts_are_joined_and_the_undone_is_said(self) -> None:
        found = Finding(title="pool", score=0.9, evidence=[Evidence(source="a.log", line=2, quote="pool")])
        weak = Finding(title="noise", score=0.2)
        first = Outcome(
            answer="It is the pool [mem:m1].",
            findings=[weak, found],
            cited_memories=["m1"],
            usage=Usage(turns=2, calls=3),
        )
        second = Outcome(
            answer="Restarted.",
            actions=[ActionOutcome(name="restart", state="done", verified=True)],
            usage=Usage(turns=1, calls=1),
        )
        memories = [MemoryHit(id=i, text=i).model_dump(mode="json") for i in ("m1", "m2")]
        report = compose(
            run(memories=memories, memory_note="slow"),
            [row("a", "done", first), row("b", "done", second), row("c", "failed", reason="boom")],
            now=NOW,
        )
        assert report.answer == "It is the pool [mem:m1].\n\nRestarted."
        assert [f.title for f in report.findings] == ["pool", "noise"]
        assert [(m.id, m.cited) for m in report.memories] == [("m1", True), ("m2", False)]
        assert report.usage.calls == 4
        assert report.timings["total_seconds"] == 5.0
        assert {n.why for n in report.not_done} == {"boom", "slow"}

    def test_a_run_without_any_answer_says_why(self) -> None:
        assert compose(run(), [row("a", "failed", reason="boom")], now=NOW).answer == "No answer: a: boom."

    def test_a_large_report_stays_under_a_message(self) -> None:
        evidence = [Evidence(source="a.log", line=i + 1, quote="x" * 300) for i in range(50)]
        many = Outcome(findings=[Finding(title=str(i), evidence=evidence) for i in range(100)])
        assert len(compose(run(), [row("a", "done", many)], now=NOW).model_dump_json()) < 64 * 1024


def test_markdown_shows_evidence_and_keeps_backticks() -> None:
    found = Finding(title="pool", score=0.9, evidence=[Evidence(source="a.log", line=2, quote="`rm`")])
    outcome = Outcome(answer="A", findings=[found], not_done=[NotDone(what="w", why="y")])
    text = markdown(compose(run(), [row("a", "done", outcome)], now=NOW))
    assert "`a.log:2` `` `rm` ``" in text
    assert "- w: y" in text


def test_markdown_says_beside_the_state_what_was_denied_and_what_nobody_knows() -> None:
    made = [
        ActionOutcome(name="start", argv=["systemctl", "start"], state="done", verified=True),
        ActionOutcome(name="wipe", state="unknown"),
        ActionOutcome(name="stop", state="denied"),
    ]
    text = markdown(compose(run(), [row("a", "done", Outcome(answer="A", actions=made))], now=NOW))
    assert text.splitlines()[0] == "# Run r: succeeded, 1 unknown, 1 denied"
    assert "- start: done, verified: `systemctl start`\n- wipe: unknown\n- stop: denied\n" in text
