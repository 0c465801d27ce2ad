"""Claims of a cause: which sentences are some, and that a hostile text costs no time."""

from __future__ import annotations

import time

import pytest

from agents.runtime.causality import cited_lines, unfounded


def test_sentences_that_claim_a_cause_are_told_apart_from_the_others() -> None:
    text = "It began at 10:00. The root cause is v1.2 of checkout: it leaks. Nothing else fails.\n- due to node-2"
    assert [part.strip() for part in unfounded(text)] == [
        "The root cause is v1.2 of checkout: it leaks.",
        "- due to node-2",
    ]


def test_lines_are_cited_as_source_and_line() -> None:
    assert cited_lines("see `a/b.log:12`, 日志（x.log.1.gz:3）") == [("a/b.log", 12), ("x.log.1.gz", 3)]


@pytest.mark.parametrize("text", ["because " * 20_000, "a" * 100_000 + ":", "." * 100_000, "x:1" * 50_000])
def test_a_hostile_answer_costs_no_time(text: str) -> None:
    begun = time.process_time()
    unfounded(text)
    cited_lines(text)
    assert time.process_time() - begun < 2
