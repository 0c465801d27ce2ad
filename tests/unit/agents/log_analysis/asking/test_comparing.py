"""Two sets of files held against each other: a file's name stands for a service only where both sides have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agents.log_analysis.asking.comparing import compare_files_of
from agents.log_analysis.reading import Reading
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.sources.files import LogFile
from kernel.redaction import Redactor
from tests.support.log_scans import log

_WELL = log(*((n, f"INFO served {n}") for n in range(200)))
_ILL = log(*((9000 + n, f"ERROR mail cannot be sent by relay, item {n}") for n in range(100)))


def _compared(folder: Path, before: dict[str, str], after: dict[str, str]) -> dict[str, Any]:
    files = []
    for side, texts in (("before", before), ("after", after)):
        (folder / side).mkdir()
        for name, text in texts.items():
            (folder / side / name).write_text(text, encoding="utf-8")
            files.append(LogFile(path=folder / side / name, name=f"{side}/{name}", roots=(folder,)))
    scan = Scan(folder, 1 << 24)
    scan.read(files)
    sides = range(len(before)), range(len(before), len(files))
    return compare_files_of(Reading(scan, Redactor([], salt=b"t")), *sides)


def test_files_named_for_days_are_no_services(tmp_path: Path) -> None:
    found = _compared(tmp_path, {"monday.log": _WELL}, {"tuesday.log": _ILL})
    assert found["new"]
    assert "services" not in found


def test_a_file_named_as_what_the_other_side_speaks_of_did_not_fall_silent(tmp_path: Path) -> None:
    assert "services" not in _compared(tmp_path, {"relay.log": _WELL}, {"tuesday.log": _ILL})


def test_files_of_the_same_names_on_both_sides_are_ranked(tmp_path: Path) -> None:
    found = _compared(
        tmp_path, {"shop.log": _WELL, "relay.log": _WELL}, {"shop.log": _WELL, "relay.log": _ILL}
    )
    assert [row["service"] for row in found["services"]] == ["relay"]
