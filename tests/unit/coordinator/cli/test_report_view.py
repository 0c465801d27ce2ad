"""A report for people keeps the quotes as they are."""

from __future__ import annotations

import pytest
from rich.console import Console

from coordinator.cli.report_view import print_evidence, print_report
from coordinator.rendering import markdown
from kernel.contracts import Evidence, Finding, Usage
from kernel.reports import AssignmentSummary, Report

QUOTES = ["run `id`", "`whole`", "two `` in a row", "none", "'", "`"]
REPORT = Report(
    run_id="r",
    state="succeeded",
    answer="See `x`.",
    findings=[
        Finding(title="t", evidence=[Evidence(source="s", line=n + 1, quote=q) for n, q in enumerate(QUOTES)])
    ],
)


def test_backticks_of_a_quote_are_fenced_by_more_of_them() -> None:
    text = markdown(REPORT)
    assert "`s:1` `` run `id` ``" in text
    assert "`s:3` ``` two `` in a row ```" in text
    assert "`s:4` `none`" in text
    assert "\ue000" not in text


@pytest.mark.parametrize("terminal", [True, False])
def test_each_quote_is_printed_as_it_is(terminal: bool) -> None:
    console = Console(width=100, force_terminal=terminal, color_system=None, highlight=False)
    with console.capture() as capture:
        print_report(REPORT, console)
    text = capture.get()
    for quote in QUOTES:
        assert quote in text


def test_evidence_is_printed_with_its_surroundings_and_what_became_of_it() -> None:
    around = [{"line": n, "quote": f"line {n}"} for n in (1, 2, 3)]
    row = {"finding": "t", "against": False, "source": "s", "line": 2, "quote": "q\x1b[31m", "note": ""}
    rows = [
        {**row, "state": "stands", "context": around},
        {**row, "against": True, "state": "changed", "note": "no more", "context": around[:1]},
    ]
    console = Console(width=100, color_system=None, highlight=False)
    with console.capture() as capture:
        print_evidence(rows, console)
    assert capture.get().splitlines() == [
        "t",
        "  s:2  (for, stands)",
        "           1  line 1",
        "    >      2  line 2",
        "           3  line 3",
        "  s:2  (against, changed: no more)",
        "      quoted: q\\x1b[31m",
        "           1  line 1",
    ]


def test_who_did_what_is_told_in_the_language_of_the_report() -> None:
    part = AssignmentSummary(key="analyse", agent="log_analysis", state="done")
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        print_report(REPORT.model_copy(update={"language": "zh", "assignments": [part]}), console)
    text = capture.get()
    for word in ("分工", "状态", "已完成", "analyse"):
        assert word in text
    assert "Who did what" not in text


@pytest.mark.parametrize(
    ("language", "foot"),
    [
        ("", "1.5 s, 1 turn, 2 calls, 0 tokens, $0.0000; planned by nobody yet; run r"),
        ("zh", "1.5 秒，1 轮，2 次调用，0 个词元，$0.0000；规划者：尚无；运行 r"),
    ],
)
def test_what_a_run_took_is_told_in_the_language_of_its_report(language: str, foot: str) -> None:
    timings, usage = {"total_seconds": 1.5}, Usage(turns=1, calls=2)
    report = Report(
        run_id="r", state="succeeded", answer="a", language=language, timings=timings, usage=usage
    )
    console = Console(width=200, color_system=None, highlight=False)
    with console.capture() as capture:
        print_report(report, console)
    assert capture.get().splitlines()[-1] == foot


def test_a_line_of_an_answer_speaks_for_nothing() -> None:
    row = {"finding": "quoted", "against": False, "of_answer": True, "source": "s", "line": 2, "quote": "q"}
    console = Console(width=100, color_system=None, highlight=False)
    with console.capture() as capture:
        print_evidence([{**row, "state": "stands", "note": "", "context": []}], console)
    assert capture.get().splitlines() == ["quoted", "  s:2  (stands)"]
