"""What was shown of a run is remembered, and nobody's text becomes a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.cli.marks import recall, remember


def test_it_goes_on_where_it_left_off(tmp_path: Path) -> None:
    assert recall(tmp_path / "marks", "run-1") == "0"
    remember(tmp_path / "marks", "run-1", "1700000000000-3")
    assert recall(tmp_path / "marks", "run-1") == "1700000000000-3"


@pytest.mark.parametrize("run_id", ["../x", ".hidden", "a/b", "", "x" * 300])
def test_ids_that_are_no_names_are_passed_over(tmp_path: Path, run_id: str) -> None:
    remember(tmp_path, run_id, "1-1")
    assert list(tmp_path.rglob("*")) == []
    assert recall(tmp_path, run_id) == "0"


def test_a_broken_mark_starts_anew(tmp_path: Path) -> None:
    (tmp_path / "run-1").write_text("what")
    assert recall(tmp_path, "run-1") == "0"
