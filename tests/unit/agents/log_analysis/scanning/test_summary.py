"""The summary counted in columns is that of a plain loop over the rows."""

from __future__ import annotations

from collections import Counter
from math import isnan
from pathlib import Path

import pytest

from agents.log_analysis.scanning.summary import PARTS, Summary, summarise
from tests.support.log_scans import log, read

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


def test_the_longest_silence_is_found_across_chunks_and_not_where_lines_jump(tmp_path: Path) -> None:
    scan, found = read(tmp_path, log(*((n, "tick") for n in [*range(100), *range(900, 1000)])))
    assert found.largest_gap[1] - found.largest_gap[0] == 801
    assert (found.start, found.end) == (next(iter(scan.table)).time, next(iter(scan.table)).time + 999)
    _, jumping = read(tmp_path, SHUFFLED)
    assert jumping.largest_gap == (0.0, 0.0)


def test_the_window_is_cut_into_equal_parts(tmp_path: Path) -> None:
    _, found = read(tmp_path, log(*((n, "tick") for n in range(PARTS * 10))))
    assert isinstance(found, Summary)
    assert all(9 <= part <= 12 for part in next(iter(found.groups.values())).parts)
