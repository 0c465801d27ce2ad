"""The redactor's bench counts hits by rule, and needs logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ops.bench.redaction import measure


def test_hits_are_counted_by_rule(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("all is well\n" * 8 + "tel 13800138000\npassword=hunter2\n")
    told = measure(tmp_path)
    assert told["lines"] == 10
    assert told["by_rule"] == {"keyed4": 1, "phone": 1}
    assert told["hits_per_1000_lines"] == 200
    assert told["megabytes_per_second"] > 0


def test_a_folder_without_logs_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no \.log file"):
        measure(tmp_path)
