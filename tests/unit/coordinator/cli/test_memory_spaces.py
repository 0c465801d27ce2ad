"""What the commands about the index print: a line for each tenth in a pipe, spaces, findings."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.cli.memory_spaces import _alike, _Bar, _became, _rows, _show_findings


def shadow(done: int) -> dict[str, Any]:
    return {"id": "new-2", "model": "new", "dimensions": 3, "done": done, "total": 100, "rate": 50.0}


def test_a_pipe_gets_a_line_for_each_tenth_and_a_program_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with _Bar(silent=False) as bar:
        for done in (0, 5, 9, 10, 35, 39, 100):
            bar.show(shadow(done))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in lines] == ["0", "10", "35", "100"]
    assert lines[1] == "new-2: 10 of 100 memories, 50 rows/s"
    with _Bar(silent=True) as bar:
        bar.show(shadow(5))
    assert capsys.readouterr().err == ""


def test_spaces_are_told_with_their_state() -> None:
    served = {"id": "old-1", "model": "old", "dimensions": 2, "retired_at": None}
    kept = served | {"id": "older-1", "retired_at": "2026-11-30T04:14:08+00:00"}
    standing = {"served": served, "ranked": False, "shadow": shadow(7), "retired": [kept]}
    assert [row[3] for row in _rows(standing)] == [
        "served, without ranking",
        "being built: 7 of 100, 50 rows/s",
        "kept since 2026-11-30T04:14",
    ]


def test_a_finding_says_what_it_means_and_what_to_do_or_that_it_was_mended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    finding = {"what": "points [x]", "count": 3, "means": "they rot", "next_step": "look", "mended": False}
    told = {"well": False, "memories": 9, "points": 8, "space": "s-1"}
    _show_findings(told | {"findings": [finding, finding | {"mended": True}]})
    out = capsys.readouterr().out
    assert "points [x]" in out, "no markup"
    assert ("look" in out, "mended" in out, "they rot" in out) == (True, True, True)
    _show_findings(told | {"findings": [finding | {"next_step": "Run x.", "what": "two models. Run x."}]})
    assert capsys.readouterr().out.count("Run x.") == 1
    assert out.splitlines()[-1] == "not well: 9 memories compared with 8 points of s-1"


def test_a_way_back_tells_of_no_build_and_few_alike_are_said_to_be_another_model() -> None:
    last = {"space": "s-1", "overlap": 0.59, "rows": 30}
    standing = {"served": {"id": "s-1"}, "shadow": None, "last_build": last}
    assert "another model finds other neighbours" in _became(standing, rolled_back=False)
    assert _became(standing, rolled_back=True) == "s-1 is served now: 30 memories"
    assert _alike(1.0) == "100% of the nearest memories are the same as before"
