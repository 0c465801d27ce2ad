from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.parsing import Parser, Record
from agents.log_analysis.formats.times import iso

REFERENCE = datetime(2026, 11, 29, 12, tzinfo=UTC)


def parse(line: str | dict[str, Any]) -> Record:
    return Parser(REFERENCE).parse(line if isinstance(line, str) else json.dumps(line))


@pytest.mark.parametrize(
    "fields",
    [
        {"timestamp": "2024-01-02T03:04:05Z", "level": "ERROR", "service": "pay", "message": "boom"},
        {
            "@timestamp": "2024-01-02T03:04:05Z",
            "log.level": "error",
            "service.name": "pay",
            "message": "boom",
        },
        {"time": 1704164645000, "level": 50, "name": "x", "app": "pay", "msg": "boom"},
        {"ts": 1704164645.0, "level": "error", "logger": "pay", "msg": "boom"},
        {
            "__REALTIME_TIMESTAMP": "1704164645000000",
            "PRIORITY": "3",
            "SYSLOG_IDENTIFIER": "pay",
            "MESSAGE": "boom",
        },
        {"t": {"$date": "2024-01-02T03:04:05Z"}, "s": "E", "app": "pay", "msg": "boom"},
        {"ts": "2024-01-02T03:04:05Z", "@fields": {"lvl": "ERROR", "msg": "boom", "service": "pay"}},
        {
            "time": "2024-01-02T03:04:05Z",
            "stream": "stderr",
            "service": "pay",
            "log": '{"level":"error","msg":"boom"}\n',
        },
    ],
)
def test_json_of_many_makers(fields: dict[str, Any]) -> None:
    record = parse(fields)
    assert iso(record.time) == "2024-01-02T03:04:05.000Z"
    assert (record.level, record.service, record.message) == (Level.error, "pay", "boom")


def test_json_in_json_in_json_names_the_event() -> None:
    inner = json.dumps({"level": "ERROR", "msg": "db down"})
    record = parse({"log": inner + "\n", "stream": "stderr", "time": "2024-02-02T02:02:00.123456789Z"})
    assert (record.level, record.message) == (Level.error, "db down")


def test_a_status_from_500_on_is_an_error_at_any_level() -> None:
    assert parse({"level": "INFO", "status": 503, "message": "OK"}).level == Level.error
    assert parse('1.2.3.4 - - [15/Feb/2013:06:00:31 +0000] "GET / HTTP/1.1" 502 12').level == Level.error
    assert parse('1.2.3.4 - - [15/Feb/2013:06:00:31 +0000] "GET / HTTP/1.1" 200 502').level == Level.unknown


def test_logfmt_and_its_error_field() -> None:
    record = parse(
        'time="2021-09-15T21:17:10Z" level=error msg="cannot get pod" error="PodNotFound: x" service=kube'
    )
    assert (record.level, record.service, record.message) == (
        Level.error,
        "kube",
        "cannot get pod: PodNotFound: x",
    )
    quiet = parse('ts=2025-05-22T06:30:34Z caller=main.go:108 Error="Unable to connect to Database" x=y')
    assert (quiet.level, quiet.message) == (Level.error, "Unable to connect to Database")
    assert parse("ts=2025-05-22T06:30:34Z caller=main.go:108 method=Health error=null").level == Level.unknown


def test_csv_with_a_header_and_w3c() -> None:
    parser = Parser(REFERENCE)
    parser.parse("Timestamp,PodName,Log")
    record = parser.parse(
        '2023-01-29T10:20:10Z,ts-food-service-f5756978c-k8vqf,"{""log"":""ERROR a, b\\n""}"'
    )
    assert (record.level, record.service, record.message) == (Level.error, "ts-food-service", "a, b")
    parser = Parser(REFERENCE)
    parser.parse("#Fields: date time cs-method cs-uri-stem sc-status")
    record = parser.parse("2015-01-13 00:32:17 GET /x 503")
    assert iso(record.time) == "2015-01-13T00:32:17.000Z"
    assert record.level == Level.error


@pytest.mark.parametrize(
    ("line", "level", "service", "message"),
    [
        ("Jan  1 00:10:00 web1 app[1]: tick 70", Level.unknown, "app", "tick 70"),
        (
            "2026-11-29 19:52:38.7 ERROR: Database connection failed",
            Level.error,
            "",
            "Database connection failed",
        ),
        ("2025-06-20T10:37:30Z [ERROR] auth-service - expired", Level.error, "auth-service", "expired"),
        ("[pod/api-0/main] 2024-01-02T03:04:05Z ERROR x", Level.error, "api-0", "x"),
        ("web-1  | 2024-01-02T03:04:05Z WARN slow", Level.warning, "web-1", "slow"),
        ("2024-03-01 12:00:00,000 ERROR [订单服务] 支付回调失败", Level.error, "订单服务", "支付回调失败"),
    ],
)
def test_plain_lines(line: str, level: Level, service: str, message: str) -> None:
    record = parse(line)
    assert (record.level, record.service, record.message) == (level, service, message)


def test_broken_json_still_gives_level_and_message() -> None:
    record = parse(
        '{"ts": "2024-06-01T00:00:05Z", "level": "error", "msg": "upstream failed", "body": "xxx …[9 bytes cut]… '
    )
    assert (record.level, record.message, iso(record.time)) == (
        Level.error,
        "upstream failed",
        "2024-06-01T00:00:05.000Z",
    )


@given(st.text(max_size=300))
def test_no_line_breaks_it(line: str) -> None:
    assert isinstance(parse(line), Record)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda x: st.dictionaries(st.text(), x, max_size=4),
    )
)
def test_no_json_breaks_it(value: Any) -> None:
    parse(json.dumps({"message": value, "level": value, "time": value, "status": value}))


def test_pairs_of_a_hostile_line_cost_no_more_than_its_length() -> None:
    seconds = []
    for size in (4_000, 32_000):
        started = time.process_time()
        Parser(REFERENCE).parse("a=1 b=2 c=3 " + "_" * size)
        seconds.append(time.process_time() - started)
    assert seconds[1] < 24 * max(seconds[0], 0.01)


@pytest.mark.parametrize(
    ("head", "clock"),
    [([], "10:00:00"), (["#GMT-Offset: -0800"], "18:00:00"), (["#GMT-Offset: +05:30"], "04:30:00")],
)
def test_w3c_times_are_gmt_or_of_the_offset_that_the_log_names(head: list[str], clock: str) -> None:
    lines = [
        "#Version: 1.0",
        *head,
        "#Fields: date time s-ip cs-method sc-status",
        "2026-11-29 10:00:00 h GET 200",
    ]
    parser = Parser(datetime(2026, 11, 30, tzinfo=UTC), zone="Asia/Shanghai")
    parser.prepare(lines)
    assert iso([parser.parse(line) for line in lines][-1].time) == f"2026-11-29T{clock}.000Z"
    assert not [note for note in parser.notes if "zone" in note]
    local = ["#Fields: date-local time-local s-ip sc-status", "2026-11-29 10:00:00 h 200"]
    assert iso([parser.parse(line) for line in local][-1].time) == "2026-11-29T02:00:00.000Z"


@pytest.mark.parametrize(
    "line",
    [
        '{"log":"17:33:16.821 INFO ready\\n","stream":"stdout","time":"2023-01-29T09:33:16.822108812Z"}',
        '{"time":"2023-01-29T09:33:16.822Z","msg":"17:33:16.821 INFO ready"}',
        "2023-01-29T09:33:16.822108812Z stdout F 17:33:16.821 INFO ready",
    ],
)
def test_nothing_is_assumed_of_a_clock_beside_a_full_time(line: str) -> None:
    parser = Parser(datetime(2026, 1, 1, tzinfo=UTC))
    record = parser.parse(line)
    assert record.time == pytest.approx(1_674_984_796.822, abs=0.001)
    assert record.message == "ready"
    assert parser.stamps.notes == []
    parser.parse("17:33:16.821 INFO ready")  # alone it has neither a date nor a zone
    assert len(parser.stamps.notes) in (1, 2)
