"""Years that stamps leave out, in rotated sets and in logs that only share a service."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.log_analysis.formats.times import iso
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.sources.arranging import arrange
from agents.log_analysis.sources.files import LogFile

COPIED = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()


def days(folder: Path, logs: dict[str, tuple[str, ...]], *, readers: int = 1, service: str = "") -> list[str]:
    """Return the days of all lines; every file was last changed when the set was copied."""
    files = []
    for name, stamps in logs.items():
        path = folder / name
        path.write_text("".join(f"{stamp} web shop[12]: line {n}\n" for n, stamp in enumerate(stamps)))
        os.utime(path, (COPIED, COPIED))
        files.append(LogFile(name=name, path=path, roots=(folder,), place=str(path), service=service))
    scan = Scan(folder, 1 << 30, readers=readers)
    scan.read(arrange(files)[0])
    return [iso(time)[:10] for columns in scan.columns() for time in columns.time]


@pytest.mark.parametrize("numbers", [("", ".1", ".2"), ("", "-20260104", "-20251130")])
def test_a_rotated_set_that_passes_new_year_is_dated_from_its_end(
    tmp_path: Path, numbers: tuple[str, ...]
) -> None:
    logs = {
        # by its own last change alone, November would be that of 2026
        f"shop.log{numbers[2]}": ("Nov 28 10:00:00", "Nov 29 10:00:00"),
        f"shop.log{numbers[1]}": ("Nov 30 10:00:00", "Dec 31 23:59:59", "Jan  1 00:00:01"),
        f"shop.log{numbers[0]}": ("Jan  2 10:00:00", "Mar  3 10:00:00"),
    }
    assert days(tmp_path, logs) == [
        "2025-11-28", "2025-11-29", "2025-11-30", "2025-12-31", "2026-01-01", "2026-01-02", "2026-03-03",
    ]  # fmt: skip


def test_two_logs_of_one_service_are_no_set(tmp_path: Path) -> None:
    logs = {
        "error.log": ("Nov 28 10:00:00", "Nov 29 10:00:00"),
        "access.log": ("Jan  2 10:00:00", "Nov 29 11:00:00"),
    }
    assert days(tmp_path, logs, service="shop") == ["2026-11-28", "2026-11-29", "2026-01-02", "2026-11-29"]


def test_no_line_lies_after_the_last_change_of_its_file(tmp_path: Path) -> None:
    logs = {"shop.log": ("Nov 29 10:00:00", "Dec  3 10:00:00", "no stamp")}
    assert days(tmp_path, logs)[:2] == ["2025-11-29", "2025-12-03"]


@pytest.mark.parametrize("before", [1, 300])
def test_lines_with_a_year_date_those_beside_them_and_not_the_last_change(
    tmp_path: Path, before: int
) -> None:
    logs = {
        "messages": (
            *["Jun 14 15:16:01"] * before,
            "Jun 14 15:17:00 at Tue Jun 14 15:17:00 2005 from",
            "Jun 14 15:18:00",
            "Jul 27 14:42:00",
            "Jan  2 10:00:00",
        )
    }
    assert days(tmp_path, logs) == [*["2005-06-14"] * (before + 2), "2005-07-27", "2006-01-02"]


def test_a_date_that_a_line_only_tells_of_settles_no_year(tmp_path: Path) -> None:
    logs = {
        "messages": (
            "Jun 14 15:16:01",
            "Jun 14 15:17:00 built Sat May  8 09:04:50 EDT 2004 on",
            "Jun 14 15:18:00",
        )
    }
    assert days(tmp_path, logs) == ["2026-06-14"] * 3
