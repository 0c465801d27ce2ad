"""A plot is well-formed whatever a log says, and says itself what its marks are."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from coordinator.cli.logs_plot import check_plot, plot, write_plot
from kernel.errors import Correctable, Refused

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
    dashed = [line for line in root.iter("{http://www.w3.org/2000/svg}line") if line.get("stroke-dasharray")]
    assert len(dashed) == 1  # the other mark lies outside the window
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


def texts(drawn: str) -> list[str]:
    return [str(element.text) for element in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]


def test_a_picture_alone_says_what_its_marks_and_times_are() -> None:
    marks = [
        {"time": "2026-11-29T10:30:00.000Z", "label": "onset"},
        {"time": "2026-11-29T10:29:00.000Z", "label": "deploy of " + "x" * 300},
    ]
    told = texts(plot(TIMELINE, marks, utc=True))
    assert "2  2026-11-29 10:30:00 +0000  onset" in told
    (deploy,) = [text for text in told if text.startswith("1  2026-11-29 10:29:00 +0000  deploy of")]
    assert deploy.endswith("x…")
    assert [text for text in told if text[2:3] == ":"] == ["10:00", "10:15", "10:30", "10:45", "11:00"]
    assert "2026-11-29 10:00:00 +0000 to 2026-11-29 11:00:00 +0000" in told


def test_one_error_among_many_lines_is_seen() -> None:
    many = {**TIMELINE, "levels": {"info": [100_000, 90_000], "error": [0, 1]}}
    root = ET.fromstring(plot(many, [], utc=True))
    boxes = [box for box in root.iter("{http://www.w3.org/2000/svg}rect") if len(box)]
    (red,) = [box for box in boxes if box.get("fill") == "#dc2626"]
    assert float(red.get("height", 0)) == 3.0
