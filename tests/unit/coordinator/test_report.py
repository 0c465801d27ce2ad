import re
from datetime import timedelta

import pytest

from coordinator.rendering import markdown
from coordinator.report import compose, end_state
from kernel.clock import now
from kernel.contracts import (
    ActionOutcome,
    Evidence,
    Finding,
    MemoryHit,
    NotDone,
    NotificationOutcome,
    Outcome,
    Request,
    Usage,
)
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
    def test_of_a_split_analysis_the_likeliest_part_answers_first(self) -> None:
        def part(key: str, score: float) -> AssignmentRow:
            told = Outcome(answer=f"{key} says", findings=[Finding(title=key, score=score)])
            inputs = {"part_of": "a", "sources": [{"name": f"source-{key}"}], "mentioned": True}
            return row(key, "done", told, inputs=inputs)

        parts = [part("a", 0.3), part("a_2", 0.9), row("b", "done", Outcome(answer="b says"))]
        report = compose(run(), parts, now=NOW)
        assert report.answer.split("\n\n") == [
            "a_2 says",
            "a says",
            "b says",
            "Read because the request mentions it: source-a, source-a_2.",
        ]
        assert [finding.title for finding in report.findings] == ["a_2", "a"]

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
        assert {n.why for n in report.not_done} == {
            "boom",
            "slow",
            "the memory was away: language and length follow the request alone",
        }

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


WISH = MemoryHit(
    id="m9",
    kind="preference",
    tier="high",
    text="keep answers short, in Chinese",
    slots={"language": "zh", "length": "short"},
)


def styled(**slots: str) -> RunRow:
    return run(memories=[WISH.model_copy(update={"slots": slots}).model_dump(mode="json")])


def told() -> Outcome:
    """Return an outcome that has something for every section."""
    quote = "ERROR pool exhausted 连接"
    finding = Finding(
        title="checkout: Timeout: no answer",
        score=0.9,
        severity="critical",
        evidence=[Evidence(source="a.log", line=2, quote=quote)],
    )
    return Outcome(
        answer="最可能的原因：超时",
        findings=[finding],
        not_found=["nothing else"],
        actions=[
            ActionOutcome(name="restart", argv=["restart", "checkout"], state="done", verified=True),
            ActionOutcome(name="resize", state="done", verified=False),
            ActionOutcome(name="look", state="done"),
            ActionOutcome(name="drop", state="denied"),
            ActionOutcome(name="move", state="unknown"),
        ],
        notifications=[
            NotificationOutcome(channel="ops", state="sent"),
            NotificationOutcome(channel="mail", state="failed", detail="no route"),
        ],
        not_done=[NotDone(what="a claim was left out", why="a.log:1 does not say 'x'")],
    )


def test_a_report_in_chinese_has_its_own_words_in_chinese_and_quotes_as_they_are() -> None:
    text = markdown(compose(styled(language="zh"), [row("a", "done", told())], now=NOW))
    assert text.startswith("# 运行 r：成功，1 个结果未知，1 个被拒绝\n")
    assert "1. **checkout: 超时：no answer**（严重，可信度 0.90）" in text
    assert "   - `a.log:2` `ERROR pool exhausted 连接`" in text
    assert "- restart：已完成，已验证：`restart checkout`" in text
    assert "- 略去了一项说法：a.log:1 does not say 'x'" in text
    ours = text
    for theirs in (
        "checkout",
        "no answer",
        "a.log:2",
        "ERROR pool exhausted",
        "restart",
        "resize",
        "look",
        "drop",
        "move",
    ):
        ours = ours.replace(theirs, "")
    for theirs in (
        "mail",
        "ops",
        "no route",
        "nothing else",
        "does not say",
        "[mem:m9] keep answers short, in Chinese",
    ):
        ours = ours.replace(theirs, "")
    left = set(re.findall(r"[A-Za-z]{3,}", ours))
    assert left <= {"log"}, left


def test_a_short_report_keeps_what_must_not_be_missed() -> None:
    report = compose(styled(length="short"), [row("a", "done", told())], now=NOW)
    text = markdown(report)
    for gone in ("## Findings", "## Memories", "## Not found", "restart", "ops"):
        assert gone not in text
    for kept in (
        "succeeded, 1 unknown, 1 denied",
        "resize: done, NOT verified",
        "look: done, not verified",
        "drop: denied",
        "move: unknown",
        "mail: failed no route",
        "a claim was left out",
    ):
        assert kept in text
    assert len(report.findings) == 1  # programs get all of it


def test_a_short_answer_of_a_routine_is_cut_at_a_paragraph_and_a_models_is_its_own() -> None:
    long = Outcome(answer="cause " * 50 + "\n\n" + "line " * 50 + "\n\n" + "more " * 200)
    rows = [row("a", "done", long), row("b", "done", long.model_copy(update={"brain": "model:x"}))]
    answer = compose(styled(length="short"), rows, now=NOW).answer
    assert (answer.count("cause"), answer.count("line"), answer.count("more")) == (100, 100, 200)
    assert compose(run(), rows, now=NOW).answer.count("more") == 400


@pytest.mark.parametrize(("brain", "notes"), [("routine", 1), ("model:x", 0)])
def test_a_language_without_words_is_english_and_said_once(brain: str, notes: int) -> None:
    rows = [row(key, "done", Outcome(answer="A", brain=brain)) for key in "ab"]
    report = compose(styled(language="fr"), rows, now=NOW)
    assert (report.language, markdown(report).startswith("# Run r: succeeded")) == ("fr", True)
    assert [n.what for n in report.not_done] == ["a report in French"] * notes


def test_what_the_request_asks_for_holds_at_once() -> None:
    asked = run()
    asked.request = Request(text="why? Answer in Chinese.").model_dump(mode="json")
    report = compose(asked, [row("a", "failed", reason="no route")], now=NOW)
    assert (report.language, report.answer) == ("zh", "没有回答：a: no route。")


def test_what_agents_recalled_is_listed_where_it_is_cited() -> None:
    rows = [row("a", "done", Outcome(answer="As before [mem:m2].", cited_memories=["m2"]))]
    given = run(memories=[MemoryHit(id="m1", text="one").model_dump(mode="json")])
    report = compose(given, rows, now=NOW, recalled={"m1": "cut…", "m2": "two", "m3": "three"})
    told = {(m.id, m.text, m.cited) for m in report.memories}
    assert told == {("m1", "one", False), ("m2", "two", True)}


def test_markdown_shows_what_speaks_for_and_against_a_finding_but_not_in_a_short_report() -> None:
    proof = Evidence(source="a.log", line=2, quote="pool full")
    doubt = Evidence(source="a.log", line=9, quote="pool recovered")
    found = Finding(title="pool", evidence=[proof], reasons=["it is the earliest"], against=[doubt])
    rows = [row("a", "done", Outcome(answer="A", findings=[found]))]
    text = markdown(compose(run(), rows, now=NOW))
    assert "   - speaks for it: it is the earliest\n" in text
    assert "   - speaks against it: `a.log:9` `pool recovered`\n" in text
    zh = markdown(compose(styled(language="zh"), rows, now=NOW))
    assert "反对：`a.log:9` `pool recovered`" in zh
    assert "earliest" not in zh
    assert "speaks" not in markdown(compose(styled(length="short"), rows, now=NOW))


def test_a_preference_that_always_holds_is_obeyed_and_not_listed_unless_it_is_cited() -> None:
    parts = {"similarity": 0.0, "keywords": 0.0, "importance": 0.2, "recency": 0.1}
    always = [WISH.model_copy(update={"id": id_, "explain": parts}) for id_ in ("m9", "m8")]
    asked = WISH.model_copy(update={"id": "m7", "explain": parts | {"keywords": 0.2}})
    rows = [row("a", "done", Outcome(answer="As you like [mem:m8].", cited_memories=["m8"]))]
    given = run(memories=[hit.model_dump(mode="json") for hit in (*always, asked)])
    report = compose(given, rows, now=NOW)
    assert [m.id for m in report.memories] == ["m8", "m7"]
    assert (report.language, report.length) == ("zh", "short")
