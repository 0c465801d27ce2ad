"""The summary counted in columns is that of a plain loop over the rows."""

from __future__ import annotations

from collections import Counter
from math import isnan
from pathlib import Path

import pytest

from agents.log_analysis.judging.series import series
from agents.log_analysis.judging.silences import silences
from agents.log_analysis.scanning.summary import PARTS, Summary, summarise
from tests.support.log_scans import START, log, read

ORDERED = log(
    *((n, f"order {n} took {n} ms") for n in range(200)), (50.5, "ERROR boom"), (150.5, "ERROR boom")
)
SHUFFLED = "".join(sorted(ORDERED.splitlines(keepends=True), key=lambda line: line[::-1]))
TIMELESS = "".join(f"order {n} took a while\n" for n in range(50)) + "ERROR boom\n"


@pytest.mark.parametrize("text", [ORDERED, SHUFFLED, TIMELESS, TIMELESS + ORDERED], ids="osts")
@pytest.mark.parametrize("file", [None, 1])
def test_groups_have_the_first_and_last_event_and_all_counts(
    tmp_path: Path, text: str, file: int | None
) -> None:
    scan, _ = read(tmp_path, ORDERED, text, TIMELESS)
    found = summarise(scan, file)
    rows = [row for row in scan.table if file in (None, row.file)]
    assert found.events == len(rows)
    assert found.levels == Counter(row.level for row in rows)
    for number, group in found.groups.items():
        mine = [row for row in rows if scan.miner.final(row.template) == number]
        timed = [row for row in mine if not isnan(row.time)]
        assert group.count == len(mine) == sum(group.parts)
        assert group.level == max(row.level for row in mine)
        assert group.services == Counter(row.service for row in mine)
        if len(timed) == len(mine):
            assert group.first == min(mine, key=lambda row: row.time)
            assert group.last.time == max(row.time for row in mine)
    assert set(found.groups) == {scan.miner.final(row.template) for row in rows}


@pytest.mark.parametrize("far", [-(40 * 365 * 86_400), 475 * 86_400], ids=["1985", "2027"])
def test_a_lone_stamp_far_from_all_others_does_not_stretch_the_window(tmp_path: Path, far: int) -> None:
    lines = [*((n, f"order {n} done") for n in range(60)), (far, "ERROR clock was not set")]
    scan, found = read(tmp_path, log(*lines))
    assert (found.start, found.end, found.strays) == (START, START + 59, 1)
    assert found.events == 61
    lone = next(group for group in found.groups.values() if group.count == 1)
    assert isnan(lone.first.time)
    assert not silences(scan, found)
    assert sum(series(scan, found).total) == 60


def test_a_line_days_after_the_others_belongs_to_the_window(tmp_path: Path) -> None:
    _, found = read(tmp_path, log(*((n, "tick") for n in range(60)), (3 * 86_400, "ERROR gone")))
    assert (found.end, found.strays) == (START + 3 * 86_400, 0)
    _, few = read(tmp_path, log((0, "a"), (1, "b"), (90 * 86_400, "c")))
    assert few.end == START + 90 * 86_400


def test_the_window_is_cut_into_equal_parts(tmp_path: Path) -> None:
    _, found = read(tmp_path, log(*((n, "tick") for n in range(PARTS * 10))))
    assert isinstance(found, Summary)
    assert all(9 <= part <= 12 for part in next(iter(found.groups.values())).parts)


def test_an_event_without_a_time_is_neither_first_nor_last_beside_those_that_have_one(tmp_path: Path) -> None:
    stamped = log((5, "ERROR pool 1 exhausted"), (9, "ERROR pool 2 exhausted"), (2, "ERROR pool 3 exhausted"))
    _, found = read(tmp_path, "ERROR pool 4 exhausted\n", stamped, "ERROR pool 5 exhausted\n")
    group = next(g for g in found.groups.values() if g.count == 5)
    assert (group.first.time, group.last.time) == (START + 2, START + 9)
