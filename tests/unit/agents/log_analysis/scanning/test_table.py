"""Columns of events: in order, spilled or not, and handed on from one process to another."""

from __future__ import annotations

import tempfile
from pathlib import Path

from agents.log_analysis.scanning.table import Row, Table


def rows(count: int) -> list[Row]:
    return [Row(n % 3, n, n / 4, n % 7, n % 50, n % 9, n % 11) for n in range(count)]


def test_rows_come_back_in_order_from_memory_and_from_the_file(tmp_path: Path) -> None:
    table, wanted = Table(tmp_path, kept=0), rows(66_000)
    for row in wanted:
        table.add(tuple(row))
    assert table.rows == 66_000
    assert list(table) == wanted
    assert sum(len(columns.time) for columns in table.columns()) == 66_000
    assert table.memory < 65_536 * 25
    table.close()


def test_another_table_takes_what_was_written_into_its_file(tmp_path: Path) -> None:
    with tempfile.TemporaryFile() as file:
        theirs = Table(tmp_path, kept=0, file=file)
        for row in rows(66_000):
            theirs.add(tuple(row))
        theirs.spill()
        place = theirs.store(b"offsets")
        ours = Table(tmp_path, file=file)
        ours.adopt(theirs.chunks)
        assert ours.rows == 66_000
        assert list(ours) == rows(66_000)
        assert ours.fetch(place, 7) == b"offsets"


def test_chunks_are_appended_after_single_rows(tmp_path: Path) -> None:
    one, other = Table(tmp_path), Table(tmp_path)
    one.add(tuple(rows(1)[0]))
    for row in rows(5):
        other.add(tuple(row))
    for columns in other.columns():
        one.extend(columns)
    one.add(tuple(rows(1)[0]))
    assert list(one) == rows(1) + rows(5) + rows(1)
