from __future__ import annotations

import json
from datetime import UTC, datetime

from agents.log_analysis.formats.events import Assembler, Event
from agents.log_analysis.formats.parsing import Parser

ROWS = [
    {"time": "2025-11-29T10:20:00Z", "level": "error", "msg": "boom {"},
    {"time": "2025-11-29T10:20:01Z", "level": "info", "msg": "fine", "more": {"a": [1, 2]}},
]
BATCH = {
    "resourceLogs": [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "pay"}}]},
            "scopeLogs": [
                {
                    "logRecords": [
                        {"timeUnixNano": "1764411600000000000", "severityNumber": n} for n in (9, 17)
                    ]
                }
            ],
        }
    ]
}


def events(text: str) -> list[Event]:
    lines = text.split("\n")
    assembler = Assembler(Parser(datetime(2026, 1, 1, tzinfo=UTC)))
    found = list(assembler.events(enumerate(lines, 1)))
    assert sum(e.lines for e in found) == sum(1 for line in lines if line.strip())
    return found


def test_an_array_over_several_lines_gives_its_records() -> None:
    found = events(json.dumps(ROWS, indent=2))
    assert [(e.level.name, e.record.message, e.line) for e in found] == [
        ("error", "boom {", 1),
        ("info", "fine", 1),
    ]


def test_records_over_several_lines_follow_each_other() -> None:
    text = "\n".join(json.dumps(row, indent=4) for row in ROWS) + "\nplain words"
    found = events(text)
    assert [(e.level.name, e.line, e.lines) for e in found] == [
        ("error", 1, 5),
        ("info", 6, 11),
        ("unknown", 17, 1),
    ]


def test_a_batch_of_telemetry_over_several_lines() -> None:
    found = events(json.dumps(BATCH, indent=1))
    assert [(e.level.name, e.record.service) for e in found] == [("info", "pay"), ("error", "pay")]


def test_what_only_opens_like_a_document_is_read_as_lines() -> None:
    found = events("{\n2025-11-29T10:20:00Z ERROR x\n}\nINFO y")
    assert found[-1].record.message == "y"
    found = events('{\n  "level": "error",\nERROR cut short')
    assert [e.level.name for e in found][-1] == "error"
    assert events("[\n" + "  1,\n" * 60_000)[0].lines <= 50_000
