from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from agents.log_analysis.formats.detection import FORMS, form_named
from agents.log_analysis.formats.events import Assembler, Event
from agents.log_analysis.formats.parsing import Parser, detect
from agents.log_analysis.formats.text import clean
from agents.log_analysis.formats.times import iso
from kernel.errors import Correctable
from tests.unit.agents.log_analysis.formats.samples import SAMPLES, Sample
from tests.unit.agents.log_analysis.formats.styles import STYLES

REFERENCE = datetime(2025, 11, 30, tzinfo=UTC)


def read(lines: list[str], form: str = "") -> tuple[list[Event], Parser]:
    parser = Parser(REFERENCE, form)
    return list(Assembler(parser).events(enumerate(map(clean, lines), 1))), parser


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.form)
def test_every_kind_is_told_and_read(sample: Sample) -> None:
    events, parser = read(sample.lines)
    assert (parser.form, parser.confidence > 0.6) == (sample.form, True)
    assert [e.level.name for e in events] == sample.levels
    assert next((iso(e.record.time) for e in events if e.record.time), "") == sample.time
    assert (events[0].message, events[0].record.service) == (sample.message, sample.service)
    assert sum(e.lines for e in events) == len([line for line in sample.lines if line])


@pytest.mark.parametrize("name", STYLES)
def test_every_style_is_read(name: str) -> None:
    sample = STYLES[name]
    events, parser = read(sample.lines)
    assert [e.level.name for e in events] == sample.levels
    assert next((iso(e.record.time) for e in events if e.record.time), "") == sample.time
    assert (events[0].record.message, events[0].record.service) == (sample.message, sample.service)
    assert parser.form == sample.form
    assert sum(e.lines for e in events if e.lines) == len([line for line in sample.lines if line])


def test_every_kind_has_a_sample() -> None:
    assert {s.form for s in SAMPLES} == set(FORMS)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.form)
def test_a_kind_that_is_named_reads_the_same(sample: Sample) -> None:
    events, parser = read(sample.lines, sample.form)
    assert [e.level.name for e in events] == sample.levels
    assert parser.form == sample.form


def test_first_lines_tell_the_kind() -> None:
    lines = ['{"level":"warn","ts":1764411600.5,"msg":"slow"}'] * 3 + ["just words"]
    assert detect(lines, REFERENCE) == ("zap", 0.75)
    assert detect([], REFERENCE) == ("empty", 0.0)


def test_a_named_kind_overrules_and_its_share_is_told() -> None:
    lines = ["a,b", "1,2", '{"level":"error","msg":"x"}']
    events, parser = read(lines, "csv")
    assert events[1].message == "a=1 b=2"
    assert (parser.form, round(parser.confidence, 2)) == ("csv", 0.67)
    events, parser = read(['{"level":"error","msg":"x"}'], "plain")
    assert events[0].message.startswith("{")


@pytest.mark.parametrize(
    ("name", "form"), [("", ""), ("IIS", "w3c"), ("zeek", "tsv"), ("json-file", "docker")]
)
def test_names_of_kinds(name: str, form: str) -> None:
    assert form_named(name) == form


def test_an_unknown_kind_or_zone_says_what_there_is() -> None:
    with pytest.raises(Correctable, match="no format is named") as error:
        Parser(REFERENCE, "excel")
    assert "logfmt" in str(error.value.why)
    with pytest.raises(Correctable, match="no time zone is named"):
        Parser(REFERENCE, zone="Mars/Olympus")


def test_a_line_split_by_docker_is_one() -> None:
    piece = "x" * 16384
    lines = [
        json.dumps({"log": f"ERROR {piece}", "stream": "stderr", "time": "2025-11-29T10:20:00Z"}),
        '{"log":"other\\n","stream":"stdout","time":"2025-11-29T10:20:00Z"}',
        json.dumps({"log": f"{piece} the end\n", "stream": "stderr", "time": "2025-11-29T10:20:00Z"}),
    ]
    events, _ = read(lines)
    assert [(e.level.name, e.lines) for e in events] == [("error", 2), ("unknown", 1)]
    assert events[0].message.endswith("the end")


def test_parts_of_two_containers_stay_apart() -> None:
    lines = [
        "[pod/a/x] 2025-11-29T10:20:00.000000001Z one",
        "2025-11-29T10:20:00.1Z stdout P A-",
        "2025-11-29T10:20:00.2Z stderr P B-",
        "2025-11-29T10:20:00.3Z stdout F A",
        "2025-11-29T10:20:00.4Z stderr F B",
        "2025-11-29T10:20:00.5Z stdout P never ended",
    ]
    events, _ = read(lines)
    assert [(e.message, e.lines) for e in events] == [("one", 1), ("A-A", 2), ("B-B", 2), ("never ended", 1)]


def test_broken_lines_of_a_table_are_still_lines() -> None:
    events, _ = read(["time,level,message", 'no row "', "2025-11-29T10:20:00Z,ERROR,x"])
    assert [e.level.name for e in events] == ["unknown", "unknown", "error"]
