"""CSV by RFC 4180, and a plot that is well-formed whatever a log says."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree as ET

import pytest

from coordinator.cli.logs_files import plot, rows_of, template_lines, write_csv


def test_csv_quotes_what_must_be_quoted_and_ends_rows_with_crlf(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    write_csv(("LineId", "EventTemplate"), [[1, 'say "hi", 错误'], [2, "a\nb"]])
    out = capfdbinary.readouterr().out
    assert out == 'LineId,EventTemplate\r\n1,"say ""hi"", 错误"\r\n2,a\\x0ab\r\n'.encode()
    assert list(csv.reader(io.StringIO(out.decode(), newline="")))[1] == ["1", 'say "hi", 错误']


def test_lines_are_numbered_from_one_and_rows_hold_the_named_fields() -> None:
    assert list(template_lines([("E1", "a"), ("E2", "b")])) == [(1, "E1", "a"), (2, "E2", "b")]
    assert list(rows_of([{"a": 1, "b": 2}, {"b": 3}], "b", "a")) == [[2, 1], [3, ""]]


TIMELINE = {
    "from": "2026-11-29T10:00:00.000Z",
    "to": "2026-11-29T11:00:00.000Z",
    "levels": {"info": [5, 0, 3], "error": [0, 2, 0], "<odd>": [1, 0, 0]},
}


def test_a_plot_stacks_levels_and_marks_changes() -> None:
    marks = [
        {"time": "2026-11-29T10:30:00.000Z", "label": "<b>deploy</b> \x1b[31m"},
        {"time": "2025-01-01T00:00:00Z"},
    ]
    root = ET.fromstring(plot(TIMELINE, marks, utc=True))
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert names.count("line") == 1  # the other mark lies outside the window
    titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert "error: 2" in titles
    assert any("<b>deploy</b> \\x1b[31m" in str(title) for title in titles)
    assert any("2026-11-29 10:30:00 +0000" in str(title) for title in titles)


def test_a_log_without_events_or_times_still_has_a_plot() -> None:
    ET.fromstring(plot({"from": "", "to": "", "levels": {}}, [], utc=False))
