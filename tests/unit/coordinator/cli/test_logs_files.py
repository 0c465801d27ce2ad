"""CSV by RFC 4180, and a plot that is well-formed whatever a log says."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from coordinator.cli.logs_files import check_plot, plot, rows_of, template_lines, write_csv, write_plot
from kernel.errors import Correctable, Refused


def test_csv_quotes_what_must_be_quoted_and_ends_rows_with_crlf(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    write_csv(("LineId", "EventTemplate"), [[1, 'say "hi", 错误'], [2, "a\nb"]])
    out = capfdbinary.readouterr().out
    assert out == 'LineId,EventTemplate\r\n1,"say ""hi"", 错误"\r\n2,a\\x0ab\r\n'.encode()
    assert list(csv.reader(io.StringIO(out.decode(), newline="")))[1] == ["1", 'say "hi", 错误']


def test_a_spreadsheet_computes_nothing_that_a_log_says(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_csv(("a",), [["=1+1"], ["@SUM(A1)"], ["+cmd|x"], ["-2+3"], ["-2.5"], [-2.5], ["a=1"], ["\t=1"]])
    out = capfdbinary.readouterr().out.decode()
    assert out.splitlines()[1:] == [
        "'=1+1",
        "'@SUM(A1)",
        "'+cmd|x",
        "'-2+3",
        "-2.5",
        "-2.5",
        "a=1",
        "\\x09=1",
    ]


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


def test_a_plot_replaces_no_log_and_nothing_that_is_no_drawing(tmp_path: Path) -> None:
    log = tmp_path / "in.log"
    log.write_text("2026-11-29 10:00:00 INFO up\n")
    with pytest.raises(Correctable, match="does not end in"):
        check_plot(log, [str(log)])
    drawn = tmp_path / "events.svg"
    drawn.write_text("<svg></svg>")
    with pytest.raises(Refused, match="one of the logs"):
        check_plot(drawn, [str(tmp_path / "." / "events.svg")])
    check_plot(drawn, [str(log)])
    check_plot(tmp_path / "new.svg", [str(log)])
    drawn.write_text("notes of mine")
    with pytest.raises(Refused, match="no SVG"):
        check_plot(drawn, [str(log)])
    folder = tmp_path / "folder.svg"
    folder.mkdir()
    with pytest.raises(Refused, match="no SVG"):
        check_plot(folder, [])


def test_a_plot_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "levels.svg"
    path.write_text("<svg>old</svg>")
    write_plot(path, TIMELINE, [], utc=True)
    ET.fromstring(path.read_text())
    assert [one.name for one in tmp_path.iterdir()] == ["levels.svg"]
    with pytest.raises(Refused, match="cannot be written"):
        write_plot(tmp_path / "none" / "levels.svg", TIMELINE, [], utc=True)
