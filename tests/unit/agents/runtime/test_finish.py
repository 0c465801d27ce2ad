"""What a model hands in becomes an outcome; small mistakes are mended, nothing is invented."""

from __future__ import annotations

from typing import Any

import pytest

from agents.runtime.finish import read_finish
from kernel.contracts import Evidence, MemoryHit, NotDone, Work
from kernel.errors import Correctable

WORK = Work(
    run_id="r", assignment_id="a", agent="x", goal="g", request="q", memories=[MemoryHit(id="m1", text="t")]
)


def read(**arguments: Any) -> Any:
    return read_finish(arguments, WORK, brain="model:x")


def test_a_full_answer() -> None:
    evidence = {"source": "a.log", "line": "812", "quote": "pool …"}
    finding = {"title": "pool", "severity": "CRITICAL", "score": 85, "key": "pool", "evidence": [evidence]}
    outcome = read(
        answer="pool [mem:m1] [mem:made-up]",
        findings=[finding],
        not_found=["deploy", ""],
        not_done=[{"what": "w", "why": "y"}, "z"],
    )
    (found,) = outcome.findings
    assert (found.severity, found.score) == ("critical", 0.85)
    assert found.evidence == [Evidence(source="a.log", line=812, quote="pool …")]
    assert (outcome.not_found, outcome.cited_memories, outcome.brain) == (["deploy"], ["m1"], "model:x")
    assert outcome.not_done == [NotDone(what="w", why="y"), NotDone(what="z", why="not said")]


def test_evidence_that_names_no_line_is_dropped() -> None:
    bad = [
        {"source": "a", "line": 0, "quote": "x"},
        {"line": 3},
        "a:3",
        {"source": "a", "line": "three", "quote": "x"},
    ]
    (found,) = read(
        answer="x", findings=[{"title": "t", "evidence": bad, "score": "high", "severity": "awful"}]
    ).findings
    assert (found.evidence, found.score, found.severity) == ([], 0.5, "error")


def test_odd_shapes() -> None:
    assert [f.title for f in read(findings="pool exhausted").findings] == ["pool exhausted"]
    assert read(answer=None, findings=[{"title": "a"}, {"detail": "no title"}]).answer == "a"
    assert read(answer="x", findings={"title": "one"}, not_found="y").not_found == ["y"]


@pytest.mark.parametrize("arguments", [{}, {"answer": "  "}, {"findings": []}])
def test_nothing_to_say_is_correctable(arguments: dict[str, Any]) -> None:
    with pytest.raises(Correctable):
        read(**arguments)
